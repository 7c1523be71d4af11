"""What the page calls what its tables and charts show: workloads, devices, disks, configurations, ways a run ended."""

from __future__ import annotations

from collections.abc import Iterable

from sizer.host.stored_host import Installed
from sizer.records.answer import Answer
from sizer.records.configuration import Bottleneck, Configuration
from sizer.records.device import Device, DiskRates
from sizer.records.kinds import FORWARD, FORWARD_BACKWARD, KINDS, OPENCV, PREPROCESSING, TRAIN
from sizer.records.prediction import Spec
from sizer.records.run import DataSet, Run
from sizer.records.run_kinds import Outcome
from sizer.records.study import DiskTier, Study, Workload
from sizer.records.units import format_bytes
from sizer.words.figures import paragraph, whole
from sizer.words.language import _, _n
from sizer.words.names import (
    Terms,
    accelerator_name,
    accelerators_name,
    clauses,
    disk_name,
    either,
    listed,
    outcome_in_words,
    outcomes_counted,
    rate_source,
    resource_name,
    row,
    spec_name,
)
from sizer.words.storage import rate_pair, rates_in_words
from sizer.words.units import rate_in_words

UNKNOWN_FRAMEWORK = "other"
"""Of a command, or of an imported table, that names none."""
_FRAMEWORKS = {"opencv": "OpenCV", "mxnet": "MXNet", "pytorch": "PyTorch", "tensorflow": "TensorFlow"}


def framework_name(framework: str | None) -> str:
    """`PyTorch`: as its makers write it, or as it is given."""
    return _FRAMEWORKS.get(framework or "", framework or "")


def installed_in_words(found: Installed) -> str:
    """`Python 3.12.1 in /opt/torch/bin/python: torch 2.13.0, numpy 2.4.1`."""
    packages = row(f"{name} {version}" for name, version in found.packages.items())
    known = {"version": found.python, "path": found.path}
    if not packages:
        return _("Python {version} in {path}", **known)
    return _("Python {version} in {path}: {packages}", **known, packages=packages)


def runs_counted(number: int) -> str:
    """`1 run`, `17 runs`."""
    return _n("{count} run", "{count} runs", number)


def runs_by_outcome(counts: dict[Outcome, int]) -> str:
    """`17 runs: 15 completed, 2 crashed.`, in the order of these counts."""
    number = sum(counts.values())
    if not number:
        return _("No run has been made.")
    outcomes = outcomes_counted([outcome.value for outcome in counts], list(counts.values()))
    return _n("{count} run: {outcomes}.", "{count} runs: {outcomes}.", number, outcomes=outcomes)


def runs_and_warned(number: int, warned: int) -> str:
    """`3 runs, 1 with a warning`."""
    if not warned:
        return runs_counted(number)
    if number == warned == 1:
        return _("1 run, with a warning")
    return _n("{count} run, {warned} with a warning", "{count} runs, {warned} with a warning", number, warned=warned)


def embedded_data() -> str:
    """What the data set that sizer makes itself is called."""
    return _("embedded data set")


def data_in_words(data: DataSet | None) -> str:
    """The study's own images, with their number where it is known."""
    if data is None:
        return _("Your data set")
    if data.embedded:
        return _("The embedded data set, {count} images", count=whole(data.samples))
    return _("Your whole data set, {count} images", count=whole(data.samples))


def decoders_in_words(runs: Iterable[Run]) -> str | None:
    """By what preprocessing decoded its images; None where its runs do not say, as those of older versions."""
    names = sorted({str(run.stated["decoder"]) for run in runs if "decoder" in run.stated})
    return (
        _("Images decoded by {decoders}.", decoders=listed([decoder_name(each) for each in names])) if names else None
    )


def decoder_name(decoder: str) -> str:
    """The library, as its people write it."""
    return {"opencv": "OpenCV", "pillow": "Pillow"}.get(decoder, decoder)


def device_in_words(device: Device, unit: str) -> str:
    """Where the step is computed: `CPU`, `cuda:0`, `emulated P100, 219 images/s from <source>`."""
    if device.kind == "cpu":
        return resource_name(Bottleneck.CPU, device)
    if device.kind != "emulated":
        return device.label
    name = accelerator_name(device)
    if device.batch_rates:
        each = (
            _("{rate} with a batch of {size}", rate=rate_in_words(rate.samples_per_second, unit), size=rate.batch_size)
            for rate in device.batch_rates
        )
        return clauses([name, *each, rate_source("; ".join(dict.fromkeys(rate.source for rate in device.batch_rates)))])
    if device.samples_per_second is not None:
        name = row([name, rate_in_words(device.samples_per_second, unit)])
    return _("{device} {source}", device=name, source=rate_source(device.source)) if device.source else name


def answer_word(answer: Answer, axis: str) -> str:
    """What a chart calls the place of the answer: only along vCPUs can it be a lower bound."""
    if answer.status != "at_least":
        return _("provisional") if answer.provisional else _("recommended")
    if answer.edge == "unsettled":
        return _("so far")
    return _("at least") if axis == "vcpus" else _("answer")


def ending(run: Run) -> str:
    """How a run that gave no rate ended; one that completed without says just that."""
    return _("no rate") if run.outcome is Outcome.COMPLETED else outcome_in_words(run.outcome)


def stopped_in_words(reason: str) -> str:
    """Why the measurement of a run ended then."""
    return {
        "precision": _("precise enough"),
        "time": _("time was up"),
        "ended": _("end of the workload"),
        "deadline": _("deadline"),
        "interrupted": _("interrupted"),
        "broken_events": _("broken events"),
        "wrong_unit": _("times of another unit"),
        "stood_still": _("sizer stood still"),
    }.get(reason, reason)


def kind_in_words(kind: str) -> str:
    """What sort of work a workload does."""
    return {
        "image_training": _("image training"),
        "image_inference": _("image inference"),
        "language_training": _("training of a language model"),
        "lstm_training": _("LSTM training"),
        PREPROCESSING: _("ImageNet-style preprocessing"),
        "command": _("own command"),
        "imported": _("measured elsewhere"),
    }.get(kind, kind)


def mode_in_words(mode: str) -> str:
    """What is computed of a batch."""
    return {
        FORWARD: _("forward"),
        FORWARD_BACKWARD: _("forward and backward"),
        TRAIN: _("forward, backward and update"),
    }.get(mode, mode)


def workload_in_words(workload: Workload) -> str:
    """What is measured in a few words: `image training · resnet50 · MXNet`."""
    if workload.kind == "command":
        return kind_in_words(workload.kind)
    framework = OPENCV if workload.kind == PREPROCESSING else workload.framework  # older folders call it mxnet
    mode = workload.mode if workload.mode != KINDS[workload.kind].mode else None
    known = framework_name(framework)
    parts = [kind_in_words(workload.kind), workload.network, known, mode and mode_in_words(mode)]
    return " · ".join(part for part in parts if part and part != UNKNOWN_FRAMEWORK)


def state_in_words(input_: str, cache: str) -> str:
    """From where the input came, and what was in the page cache."""
    inputs = {
        "disk": _("Input read from disk."),
        "cached": _("Input cached: the encoded bytes are in the page cache already, decoding still happens."),
        "synthetic": _("Input synthetic: nothing is read or decoded."),
        "replay": _("Input read from disk as the loader reads it, and not used."),
    }
    caches = {
        "cold": _(
            "Cache cold: evicted before the run and at each epoch boundary, as for data much larger than memory."
        ),
        "natural": _("Cache natural: evicted before the run only; the rate is that of the later epochs."),
        "warm": _("Cache warm: the data set was read once before the run."),
    }
    return paragraph([inputs.get(input_, input_), caches.get(cache, cache)])


def input_named(input_: str) -> str:
    """`input cached`, the value as a study spells it."""
    return _("input {value}", value=input_)


def cache_named(cache: str) -> str:
    """`cache warm`, the value as a study spells it."""
    return _("cache {value}", value=cache)


def stage_title(stage: str) -> str:
    """The stage that a run isolates, at the head of its row."""
    return {
        "step": _("Step"),
        "pipeline": _("Input pipeline"),
        "disk": _("Disk"),
        "cache": _("Page cache"),
    }[stage]


def axis_name(axis: str) -> str:
    """What varies along an axis."""
    return {
        "vcpus": _("vCPUs"),
        "memory_bytes": _("memory"),
        "disk": _("disk tier"),
        "batch_size": _("batch size"),
    }[axis]


def resources_agreed(bottlenecks: list[Bottleneck], device: Device) -> str:
    """What repeats agree on; where they differ, all that they name."""
    names = list(dict.fromkeys(resource_name(each, device) for each in bottlenecks))
    return either(names) if names else _("unknown")


def busy_name(name: str) -> str:
    """A resource by the key of its busy share."""
    known = {member.value: member for member in Bottleneck}
    return resource_name(known[name], Device()) if name in known else name.replace("_", " ")


def reading_in_words(rates: DiskRates) -> str:
    """`100 MB/s, 2,000 IOPS` of a tier's reads; its writes where only those are known."""
    return rate_pair(rates.read_bytes_per_second, rates.read_iops) or rates_in_words(rates) or _("nothing")


def declared_in_words(tier: DiskTier) -> str:
    """What a tier declares; one that is not emulated and has no place was imported."""
    if tier.emulated is not None:
        return rates_in_words(tier.emulated)
    return _("nothing, it is a real mount") if tier.path is not None else _("nothing is known")


def tier_nature(tier: DiskTier) -> str:
    """Whether a tier is emulated or real."""
    return _("emulated") if tier.emulated is not None else _("real")


def study_disk(name: str, study: Study) -> str:
    """A disk tier of a study in a column of disks: `ssd (emulated)`."""
    return disk_name(name, name in study.emulated_disks)


def spec_line(spec: Spec, study: Study, device: Device | None = None) -> str:
    """`2 vCPUs · 4 GiB · disk ssd (emulated) · batch 32`, with only what the spec fixes."""
    return spec_name(spec, Terms("", device=device or Device(), emulated_disks=frozenset(study.emulated_disks)), " · ")


def configuration_line(configuration: Configuration, study: Study) -> str:
    """What a run had, as one line, without what an imported table does not say."""
    value = configuration
    return spec_line(
        Spec(value.vcpus, value.memory_bytes, value.disk, value.batch_size, value.gpu, value.gpu_count or 0), study
    )


def batch_named(size: int) -> str:
    """`batch 32`."""
    return _("batch {size}", size=size)


def memory_size(configuration: Configuration) -> str:
    """`8 GiB`; empty where it is not known."""
    return format_bytes(configuration.memory_bytes) if configuration.memory_bytes is not None else ""


def accelerators_in_words(configuration: Configuration) -> str:
    """Kind and count where a run names them; empty otherwise."""
    known = configuration.gpu or configuration.gpu_count
    return accelerators_name(configuration.gpu, configuration.gpu_count) if known else ""

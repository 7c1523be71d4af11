"""What things are called in a sentence: accelerators, disks, bottlenecks, specs, the ways a run ends."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from sizer.model.coordinates import name_of_disk
from sizer.model.feeds import CPU_LABEL
from sizer.model.model import WorkloadModel
from sizer.recommend.accelerators import EMULATED
from sizer.records.configuration import Bottleneck
from sizer.records.device import GIVEN_IN_STUDY, GIVEN_IN_TABLE, HOST_DISK, Device
from sizer.records.prediction import Spec
from sizer.records.run_kinds import Outcome
from sizer.records.units import format_bytes
from sizer.words.language import _, _n
from sizer.words.units import vcpus_in_words


@dataclass(frozen=True)
class Terms:
    """How one workload's things are called: its sample unit, its device, which of its disks are emulated."""

    workload: str
    unit: str = "sample"
    device: Device = Device("cpu")
    emulated_disks: frozenset[str] = frozenset()


def terms_of(model: WorkloadModel) -> Terms:
    """The terms of a workload that was fitted, or refused."""
    emulated = frozenset(name_of_disk(disk.name) for disk in model.measured.disks if disk.emulated)
    return Terms(model.name, model.sample_unit, model.facts.device, emulated)


def row(parts: Iterable[str]) -> str:
    """`2 vCPUs, 8 GiB, disk nvme`: things beside one another, which no `and` joins."""
    return _(", ").join(parts)


def clauses(parts: Iterable[str]) -> str:
    """`12 of 24 runs finished; 3 with a warning`: statements of one line."""
    return _("; ").join(parts)


def listed(names: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    if len(names) < 2:
        return "".join(names)
    return _("{names} and {last}", names=row(names[:-1]), last=names[-1])


def either(names: Sequence[str]) -> str:
    """`a`, `a or b`, `a, b or c`."""
    if len(names) < 2:
        return "".join(names)
    return _("{names} or {last}", names=row(names[:-1]), last=names[-1])


def accelerator_name(device: Device) -> str:
    """`accelerator`, or `emulated P100`: what was emulated is never named without saying so."""
    if device.kind != "emulated":
        return _("accelerator")
    return _("emulated {gpu}", gpu=device.gpu) if device.gpu else _("emulated accelerator")


def gpu_name(gpu: str) -> str:
    """`V100`, `emulated P100`, or `no accelerator` for the CPU."""
    if gpu == CPU_LABEL:
        return _("no accelerator")
    return _("emulated {gpu}", gpu=gpu.removeprefix(EMULATED)) if gpu.startswith(EMULATED) else gpu


def accelerators_name(gpu: str | None, count: float | None, device: Device | None = None) -> str:
    """`2 x V100`, `1 x emulated P100`, `2 accelerators`, `no accelerator`.

    The device names a kind where `gpu` is None; a count of 0, or an unknown one, means one.
    """
    if gpu == CPU_LABEL:
        return _("no accelerator")
    number = max(1, round(count or 0))
    if gpu is None and device is not None and device.gpu is not None:
        gpu = f"{EMULATED if device.kind == 'emulated' else ''}{device.gpu}"
    if gpu is None:
        return _n("{count} accelerator", "{count} accelerators", number)
    return f"{number} x {gpu_name(gpu)}"


def disk_name(name: str, emulated: bool = False) -> str:
    """A disk in a column of disks: `nvme`, `cloud_ssd (emulated)`, `the host's own disk`."""
    if name == HOST_DISK:
        return _("the host's own disk")
    return _("{disk} (emulated)", disk=name) if emulated else name


def disk_in_words(name: str, emulated: bool = False) -> str:
    """`disk nvme`, `disk cloud_ssd (emulated)`, or `the host's own disk` where none was asked for."""
    called = disk_name(name, emulated)
    return called if name == HOST_DISK else _("disk {disk}", disk=called)


def disk_of(name: str, terms: Terms) -> str:
    """The same of a disk of this workload."""
    return disk_in_words(name, name in terms.emulated_disks)


_RESOURCES: Mapping[Bottleneck, Callable[[], str]] = {
    Bottleneck.CPU: lambda: _("CPU"),
    Bottleneck.SERIAL: lambda: _("serial part"),
    Bottleneck.DISK_BANDWIDTH: lambda: _("disk bandwidth"),
    Bottleneck.DISK_IOPS: lambda: _("disk IOPS"),
    Bottleneck.DISK_WRITE: lambda: _("disk writes"),
    Bottleneck.MEMORY: lambda: _("memory"),
    Bottleneck.AMBIGUOUS: lambda: _("no clear bottleneck"),
}
_BOUND: Mapping[Bottleneck, Callable[[], str]] = {
    Bottleneck.CPU: lambda: _("bound by the CPU"),
    Bottleneck.SERIAL: lambda: _("bound by its serial part"),
    Bottleneck.DISK_BANDWIDTH: lambda: _("bound by disk bandwidth"),
    Bottleneck.DISK_IOPS: lambda: _("bound by disk IOPS"),
    Bottleneck.DISK_WRITE: lambda: _("bound by disk writes"),
    Bottleneck.MEMORY: lambda: _("bound by memory"),
    Bottleneck.AMBIGUOUS: lambda: _("with no clear bottleneck"),
}


def resource_name(bottleneck: Bottleneck, device: Device) -> str:
    """`CPU`, `disk bandwidth`, `emulated P100`."""
    return accelerator_name(device) if bottleneck is Bottleneck.ACCELERATOR else _RESOURCES[bottleneck]()


def bound_in_words(bottleneck: Bottleneck, device: Device) -> str:
    """`bound by the CPU`, `bound by disk bandwidth`, `bound by the emulated P100`, `with no clear bottleneck`."""
    if bottleneck is Bottleneck.ACCELERATOR:
        return _("bound by the {accelerator}", accelerator=accelerator_name(device))
    return _BOUND[bottleneck]()


def rate_source(source: str) -> str:
    """Where the rate of an emulated accelerator comes from: `from <source>`, `given in the study file`."""
    if source == GIVEN_IN_STUDY:
        return _("given in the study file")
    return _("given in the imported table") if source == GIVEN_IN_TABLE else _("from {source}", source=source)


_BASES: Mapping[str, Callable[[str, str], str]] = {
    "published": lambda rate, source: _("{rate}, published ({source})", rate=rate, source=source),
    "interpolated": lambda rate, source: _(
        "{rate}, between published batch sizes ({source})", rate=rate, source=source
    ),
    "extrapolated": lambda rate, source: _(
        "{rate}, beyond the published batch sizes ({source})", rate=rate, source=source
    ),
}


def emulated_rate_in_words(rate: str, basis: str | None, source: str) -> str:
    """The rate of an emulated GPU with how it follows from published ones: `330 images/s (229 to 475), published
    (NVIDIA)`. The label of a source begins with the basis where it was not published so (`RateEstimate.source`)."""
    begin = "transferred from "
    if basis == "transferred" and source.startswith(begin) and ": " in source:
        gpus, _colon, told = source.removeprefix(begin).partition(": ")
        return _("{rate}, transferred from {gpus} ({source})", rate=rate, gpus=gpus, source=told)
    if basis is None or basis not in _BASES:
        return row([rate, rate_source(source)] if source else [rate])
    return _BASES[basis](rate, source.removeprefix(f"{basis}: "))


def with_instance(spec: str, instance: str | None) -> str:
    """`1 x T4 (aws g4dn.xlarge)`; one of the two alone where there is no other."""
    return _("{spec} ({instance})", spec=spec, instance=instance) if spec and instance else spec or instance or ""


def machine_unvaried(device: Device) -> str:
    """What a verdict calls a spec of which nothing was varied: its accelerators, or that it has none."""
    return _("a machine without an accelerator") if device.kind == "cpu" else accelerators_name(None, 0, device)


def spec_name(spec: Spec, terms: Terms, between: str | None = None) -> str:
    """`2 vCPUs, 2 x V100, 8 GiB, disk nvme, batch 32`, with only what the spec fixes."""
    parts = [vcpus_in_words(spec.vcpus)] if spec.vcpus is not None else []
    parts += [accelerators_name(spec.gpu, spec.gpu_count, terms.device)] if spec.gpu or spec.gpu_count else []
    parts += [format_bytes(spec.memory_bytes)] if spec.memory_bytes is not None else []
    parts += [_("{count} machines", count=spec.nodes)] if spec.nodes > 1 else []
    parts += [disk_of(spec.disk, terms)] if spec.disk is not None else []
    parts += [_("batch {size}", size=spec.batch_size)] if spec.batch_size is not None else []
    return row(parts) if between is None else between.join(parts)


def outcome_in_words(outcome: Outcome) -> str:
    """How a run ended."""
    return {
        Outcome.COMPLETED: _("completed"),
        Outcome.OUT_OF_MEMORY: _("out of memory"),
        Outcome.TIMEOUT: _("timed out"),
        Outcome.CRASHED: _("crashed"),
        Outcome.INTERRUPTED: _("interrupted"),
        Outcome.UNSUPPORTED: _("unsupported"),
        Outcome.REFUSED: _("refused"),
    }[outcome]


def outcomes_counted(outcomes: Iterable[str], counts: Iterable[float]) -> str:
    """`5 crashed, 2 timed out`."""
    pairs = zip(outcomes, counts, strict=True)
    return row(
        _("{count} {outcome}", count=f"{count:g}", outcome=outcome_in_words(Outcome(outcome)))
        for outcome, count in pairs
    )

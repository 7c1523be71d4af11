"""What things are called in a sentence: accelerators, disks, bottlenecks, specs, endings of runs, floors, batches."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING

from sizer.model.model import CPU_LABEL, GivenUpKind, SearchedFloor, WorkloadModel, name_of_disk
from sizer.records.device import EMULATED_LABEL, GIVEN_IN_STUDY, GIVEN_IN_TABLE, HOST_DISK, Device, DiskRates
from sizer.records.prediction import Bottleneck, Configuration, Spec
from sizer.records.run_kinds import LargestBatch, MemoryPlace, Outcome, SearchEnd
from sizer.records.units import format_bytes, format_price
from sizer.words.language import N_, QUANTITIES, QUANTITIES_OF, Sentence, Templates, _, _n, clauses, row, vcpus_in_words

if TYPE_CHECKING:  # a stored prediction is said without the records of answers
    from sizer.records.answer import Answer, ForeignPrice


@dataclass(frozen=True)
class Terms:
    """How one workload's things are called: its sample unit, its device, which of its disks are emulated."""

    workload: str
    unit: str = "sample"
    device: Device = Device("cpu")
    emulated_disks: frozenset[str] = frozenset()


def terms_of(model: WorkloadModel, gpu: str | None = None) -> Terms:
    """The terms of a workload that was fitted, or refused, on the accelerator of that label, else on its usual one."""
    emulated = frozenset(name_of_disk(disk.name) for disk in model.measured.disks if disk.emulated)
    return Terms(model.name, model.sample_unit, model.facts.device_called(gpu), emulated)


def accelerator_name(device: Device) -> str:
    """`accelerator`, or `emulated P100`: what was emulated is never named without saying so."""
    if device.kind != "emulated":
        return _("accelerator")
    return _("emulated {gpu}", gpu=device.gpu or _("accelerator"))


def gpu_name(gpu: str) -> str:
    """`V100`, `emulated P100`, or `no accelerator` for the CPU."""
    if gpu == CPU_LABEL:
        return _("no accelerator")
    return _("emulated {gpu}", gpu=gpu.removeprefix(EMULATED_LABEL)) if gpu.startswith(EMULATED_LABEL) else gpu


def accelerators_name(gpu: str | None, count: float | None, device: Device | None = None) -> str:
    """`2 x V100`, `1 x emulated P100`, `2 accelerators`, `no accelerator`.

    The device names a kind where `gpu` is None; a count of 0, or an unknown one, means one.
    """
    number = max(1, round(count or 0))
    if gpu is None and device is not None and device.gpu is not None:
        gpu = f"{EMULATED_LABEL if device.kind == 'emulated' else ''}{device.gpu}"
    if gpu is None:
        return _n("{count} accelerator", "{count} accelerators", number)
    return gpu_name(gpu) if gpu == CPU_LABEL else f"{number} x {gpu_name(gpu)}"


def accelerators_in_words(configuration: Configuration) -> str:
    """Kind and count where a run names them; empty otherwise."""
    gpu, count = configuration.gpu, configuration.gpu_count
    return accelerators_name(gpu, count) if gpu or count else ""


batch_named = Sentence("batch {size}")


def disk_name(name: str, emulated: bool = False) -> str:
    """A disk in a column of disks: `nvme`, `cloud_ssd (emulated)`, `the host's own disk`."""
    if name == HOST_DISK:
        return _("the host's own disk")
    return _("{disk} (emulated)", disk=name) if emulated else name


def disk_in_words(name: str, emulated: bool = False) -> str:
    """`disk nvme`, `disk cloud_ssd (emulated)`, or `the host's own disk` where none was asked for."""
    disk = disk_name(name, emulated)
    return disk if name == HOST_DISK else _("disk {disk}", disk=disk)


def rates_in_words(rates: DiskRates) -> str:
    """`read 100 MB/s, 2,000 IOPS; write 100 MB/s, 2,000 IOPS`, leaving out what is not known."""
    read = rate_pair(rates.read_bytes_per_second, rates.read_iops)
    write = rate_pair(rates.write_bytes_per_second, rates.write_iops)
    if read and read == write:
        return _("read and write {rates}", rates=read)
    return clauses([_("[[read {rates}]]", rates=read), _("[[write {rates}]]", rates=write)])


def rate_pair(bytes_per_second: float | None, iops: float | None) -> str:
    """`100 MB/s, 2,000 IOPS`, leaving out what is not known."""
    pairs = (("transfer", bytes_per_second), ("iops", iops))
    return row(QUANTITIES[form](rate) for form, rate in pairs if rate is not None)


_RESOURCES: Templates[Bottleneck, tuple[str, str]] = {
    Bottleneck.CPU: ("CPU", "bound by the CPU"),
    Bottleneck.SERIAL: ("serial part", "bound by its serial part"),
    Bottleneck.DISK_BANDWIDTH: ("disk bandwidth", "bound by disk bandwidth"),
    Bottleneck.DISK_IOPS: ("disk IOPS", "bound by disk IOPS"),
    Bottleneck.DISK_WRITE: ("disk writes", "bound by disk writes"),
    Bottleneck.ACCELERATOR: ("{accelerator}", "bound by the {accelerator}"),
    Bottleneck.MEMORY: ("memory", "bound by memory"),
    Bottleneck.AMBIGUOUS: ("no clear bottleneck", "with no clear bottleneck"),
}
"""Each resource by its name, and that it binds."""


def resource_name(bottleneck: Bottleneck, device: Device) -> str:
    """`CPU`, `disk bandwidth`, `emulated P100`."""
    return _(_RESOURCES[bottleneck][0], accelerator=accelerator_name(device))


def bound_in_words(bottleneck: Bottleneck, device: Device) -> str:
    """`bound by the CPU`, `bound by disk bandwidth`, `bound by the emulated P100`, `with no clear bottleneck`."""
    return _(_RESOURCES[bottleneck][1], accelerator=accelerator_name(device))


def rate_source(source: str) -> str:
    """Where the rate of an emulated accelerator comes from: `from <source>`, `given in the study file`."""
    if source == GIVEN_IN_STUDY:
        return _("given in the study file")
    return _("given in the imported table") if source == GIVEN_IN_TABLE else _("from {source}", source=source)


_BASES: Templates[str | None, str] = {
    "published": "{rate}, published ({source})",
    "interpolated": "{rate}, between published batch sizes ({source})",
    "extrapolated": "{rate}, beyond the published batch sizes ({source})",
    "transferred": "{rate}, {source}",
}


def emulated_rate_in_words(rate: str, basis: str | None, source: str) -> str:
    """The rate of an emulated GPU with how it follows from published ones: `330 images/s (229 to 475), published
    (NVIDIA)`. The label of a source begins with the basis where it was not published so (`RateEstimate.source`)."""
    if basis not in _BASES:
        return row([rate, rate_source(source) if source else ""])
    return _(_BASES[basis], rate=rate, source=source.removeprefix(f"{basis}: "))


def with_instance(spec: str, instance: str | None) -> str:
    """`1 x T4 (aws g4dn.xlarge)`; one of the two alone where there is no other."""
    return _("{spec} ({instance})", spec=spec, instance=instance) if spec and instance else spec or instance or ""


def machine_unvaried(device: Device) -> str:
    """What a verdict calls a spec of which nothing was varied: its accelerators, or that it has none."""
    return _("a machine without an accelerator") if device.kind == "cpu" else accelerators_name(None, 0, device)


def terms_of_answer(answer: Answer, model: WorkloadModel) -> Terms:
    """Those of the device that the answer has: of several that were compared the CPU is the one without a name."""
    return terms_of(model, None if answer.spec is None else answer.spec.gpu or CPU_LABEL)


def device_of(answer: Answer, terms: Terms) -> Device:
    """The workload's, but of a machine of several that were compared which has no accelerator: the CPU."""
    on_cpu = answer.alternatives and answer.spec is not None and not (answer.spec.gpu or answer.spec.gpu_count)
    return Device() if on_cpu else terms.device


def price_an_hour(usd: float | None, spot: float | None = None, foreign: ForeignPrice | None = None) -> str:
    """`$2.07 an hour` with its spot price where that is another, `CNY 12.78 an hour`, or that it is unknown."""
    return _(
        "[[{usd:usd} an hour]][[{other} an hour]][[unknown?price unknown]][[ ({spot:usd} spot)]]",
        usd=usd,
        other="" if foreign is None or usd is not None else format_price(foreign.amount, foreign.currency),
        unknown=usd is None and foreign is None,
        spot=spot if spot != usd else None,
    )


def spec_of(place: Configuration) -> Spec:
    """What a run had, as a spec."""
    return Spec(place.vcpus, place.memory_bytes, place.disk, place.batch_size, place.gpu, place.gpu_count or 0)


def spec_parts(spec: Spec, terms: Terms) -> list[str]:
    """`4 vCPUs`, `1 x V100`, `8 GiB`, `disk nvme`, `batch 32`: only what the spec fixes, a part each."""
    parts = [
        vcpus_in_words(spec.vcpus) if spec.vcpus is not None else "",
        accelerators_name(spec.gpu, spec.gpu_count, terms.device) if spec.gpu or spec.gpu_count else "",
        format_bytes(spec.memory_bytes) if spec.memory_bytes is not None else "",
        _("{count} machines", count=spec.nodes) if spec.nodes > 1 else "",
        disk_in_words(spec.disk, spec.disk in terms.emulated_disks) if spec.disk is not None else "",
        batch_named(spec.batch_size) if spec.batch_size is not None else "",
    ]
    return [*filter(None, parts)]


def spec_name(spec: Spec, terms: Terms) -> str:
    """The same in one: `2 vCPUs, 2 x V100, 8 GiB, disk nvme, batch 32`."""
    return row(spec_parts(spec, terms))


OUTCOMES: Templates[Outcome, str] = {
    Outcome.COMPLETED: "completed",
    Outcome.OUT_OF_MEMORY: "out of memory",
    Outcome.TIMEOUT: "timed out",
    Outcome.CRASHED: "crashed",
    Outcome.INTERRUPTED: "interrupted",
    Outcome.UNSUPPORTED: "unsupported",
    Outcome.REFUSED: "refused",
}


def outcome_in_words(outcome: Outcome) -> str:
    """How a run ended."""
    return _(OUTCOMES[outcome])


def outcomes_counted(outcomes: Iterable[str], counts: Iterable[float]) -> str:
    """`5 crashed, 2 timed out`."""
    pairs = zip(outcomes, counts, strict=True)
    return row(_("{count:g} {outcome}", count=count, outcome=outcome_in_words(Outcome(name))) for name, count in pairs)


# What searches found: the memory floor of a job, and the largest batch that fits.

_FLOORS: Templates[tuple[bool, bool], str] = {
    (
        True,
        True,
    ): "the memory floor is between {low:bytes} and {held:bytes}[[late? (with {low:bytes} it did not finish in time)]]",
    (True, False): "the memory floor is above {low:bytes}: no cap that was tried was enough",
    (False, True): "the memory floor is no higher than {held:bytes}",
    (False, False): "the memory floor is not known",
}
"""By whether a cap that was too small is known, and one that was enough."""
_GIVEN_UP: Templates[GivenUpKind, str] = {
    GivenUpKind.CRASHED: "given up: the run with {figure:bytes} crashed, which shows nothing about the cap",
    GivenUpKind.TIMED_OUT: "given up: the run with {figure:bytes} timed out, and no larger cap completed",
    GivenUpKind.MOST_RUNS: "given up after {figure:runs}",
}
_ALONE = N_("[[alone?that is for the input pipeline alone: the framework of a real GPU needs more]]")
_NOT_FINISHED = N_("the search is not finished")


def floor_in_words(floor_search: SearchedFloor, unfinished: bool = False, searched: bool = True) -> str:
    """`the memory floor is between 212 MiB and 228 MiB`, or why it is not known; `unfinished` where a run is left, not
    `searched` where it is only what the caps of a plan show."""
    low, held, given_up = floor_search.bounds.too_small, floor_search.bounds.held, floor_search.given_up
    floor = _(_FLOORS[low is not None, held is not None], low=low, held=held, late=floor_search.timed_out)
    alone = _(_ALONE, alone=floor_search.pipeline_alone and held is not None)
    if given_up is not None:
        return clauses([floor, alone, _(_GIVEN_UP[given_up.kind], figure=given_up.figure)])
    finished = not searched or floor_search.bounds.close or (held is None and not unfinished)
    return clauses([floor, alone, "" if finished else _(_NOT_FINISHED)])


def floor_sentences(workload: str, floor: str, peak: int) -> str:
    """The memory floor of a workload, with the most memory that a run held and could not drop, in bytes."""
    return _(
        "{workload}: {floor}.[[ It used up to {peak:bytes} of memory that cannot be dropped.]]",
        workload=workload,
        floor=floor,
        peak=peak,
    )


_SEARCH_ENDS: Templates[SearchEnd, str] = {
    SearchEnd.MOST_TRIED: "that was the largest to be tried",
    SearchEnd.WHOLE_DATA: "a larger one would be more than the data set has",
    SearchEnd.TOO_SLOW: "{failed} did not make enough steps in its time, so none larger was tried",
    SearchEnd.CRASHED: "{failed} crashed, which shows nothing about memory",
    SearchEnd.MOST_RUNS: "the search was given up",
    SearchEnd.UNFINISHED: _NOT_FINISHED,
}
_LARGEST: Templates[SearchEnd | None, str] = {
    SearchEnd.NOTHING_FITS: "not even a batch of 1 fits {memory}",
    SearchEnd.CLOSE: "the largest batch that fits {memory} is {size}; {failed} ran out of memory",
    None: "[[a batch of {size} fits {memory}]][[!size?no batch was found that fits {memory}]][[, and "
    "{failed} ran out of memory]]",
}


def largest_in_words(largest: LargestBatch | None, unfinished: bool = False) -> str:
    """`the largest batch that fits 4 GiB is 96; 128 ran out of memory`, or why it is not known; `unfinished` where a
    run is left."""
    left = _(_NOT_FINISHED) if unfinished and (largest is None or largest.ended is not SearchEnd.UNFINISHED) else ""
    if largest is None:
        return clauses([_("the largest batch that fits is not known"), left])
    settled = largest.ended is SearchEnd.NOTHING_FITS or None not in (largest.batch_size, largest.too_large)
    fits = _LARGEST.get(largest.ended if settled else None, _LARGEST[None])
    size = largest.batch_size
    failed = None if size is None else largest.too_large
    return clauses(
        [
            _(fits, size=size, failed=failed, memory=_batch_memory(largest)),
            _(_SEARCH_ENDS[largest.ended], failed=largest.failed) if largest.ended in _SEARCH_ENDS else "",
            _(_ALONE, alone=largest.pipeline_alone),
            left,
        ]
    )


def _batch_memory(largest: LargestBatch) -> str:
    gpu = gpu_name(largest.gpu) if largest.gpu else ""
    if largest.where is MemoryPlace.GPU:
        return _("the memory of the [[{gpu}]][[!gpu?GPU]]", gpu=gpu)
    if gpu:
        return _("a machine with the {gpu}", gpu=gpu)
    return _("the memory that it had") if largest.memory_bytes is None else format_bytes(largest.memory_bytes)


QUANTITIES |= {"disk": disk_in_words, "gpu": gpu_name, "outcome": outcome_in_words, "disk_rates": rates_in_words}
QUANTITIES_OF |= {"resource": resource_name, "bound": bound_in_words, "spec": spec_name}


def day_of_price(as_of: str, today: date) -> str:
    """`2025-03-07, older than a year`."""
    from sizer.catalog.machines import price_is_old  # a stored prediction is said without the catalogue

    if not as_of:
        return _("day unknown")
    return _("{day}[[old?, older than a year]]", day=as_of, old=price_is_old(as_of, today))


_INSTRUCTIONS = {"amx": "AMX", "avx512": "AVX-512", "avx2": "AVX2", "sve": "SVE", "neon": "NEON"}


def instructions_name(instructions: str) -> str:
    """What a CPU computes matrices with, as makers write it."""
    return _INSTRUCTIONS.get(instructions) or _("other instructions")

"""What accelerator and disk would allow by themselves: lines in a chart of throughput."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from statistics import median

from sizer.model.coordinates import disk_of, gpus_of, memory_of
from sizer.records.configuration import Bottleneck
from sizer.records.device import DiskRates
from sizer.records.run import Demand, Run
from sizer.words.language import _
from sizer.words.names import resource_name
from sizer.words.page import ceiling_named, study_disk

from ..charts.plot import Ceiling
from ..subject import Subject

FROM_MEMORY = 0.05
"""Of the bytes of a sample: where less of them comes from the disk, the page cache serves nearly everything."""


def ceilings(axis: str, runs: Iterable[Run], subject: Subject) -> tuple[Ceiling, ...]:
    """Those that are the same for all of these runs along the axis, the accelerator's first.

    What a disk allows changes with what the page cache serves, so a memory axis has no line of it, and what an
    accelerator allows changes with the batch.
    """
    runs = list(runs)
    found = [_accelerator(runs, subject)] if axis in ("vcpus", "memory_bytes") else []
    found += [_disk(runs, subject)] if axis == "vcpus" else []
    return tuple(each for each in found if each is not None)


def reading_sizes(name: str, subject: Subject) -> tuple[int | None, ...]:
    """The memory sizes with each of which another share of a sample comes from the disk, the smallest first.

    A single None where the size does not matter: the page cache is emptied, or one size was measured. Without those
    with which the page cache serves nearly everything: of the disk they say nothing.
    """
    runs = _on_disk(name, subject)
    sizes = sorted({memory_of(run.configuration) for run in runs})
    if len(sizes) < 2 or not all(feeds_from_cache(run) for run in runs):
        return (None,)
    return tuple(size for size in sizes if not _from_memory(demands(name, size, subject), runs))


def disk_allows(name: str, memory_bytes: int | None, subject: Subject) -> float | None:
    """Samples per second that a tier gives at what the runs with so much memory, or all of them, were seen to need of
    it; None where that is not known.

    By what fio measured, or by what the tier declares where that was not measured.
    """
    rates = rates_of(name, subject)
    found = demands(name, memory_bytes, subject)
    pairs = (
        ([each.read_bytes for each in found], rates.read_bytes_per_second),
        ([each.read_ios for each in found], rates.read_iops),
        ([each.written_bytes for each in found], rates.write_bytes_per_second),
        ([each.write_ios for each in found], rates.write_iops),
    )
    allowed = []
    for needed, rate in pairs:
        known = [each for each in needed if each]
        if known and rate:
            allowed.append(rate / median(known))
    return min(allowed, default=None)


def demands(name: str, memory_bytes: int | None, subject: Subject) -> list[Demand]:
    """What a sample cost the runs of the whole job on that disk; with a memory size, those that had it."""
    runs = [run for run in _on_disk(name, subject) if memory_bytes in (None, memory_of(run.configuration))]
    return [run.demand for run in runs if run.demand is not None]


def feeds_from_cache(run: Run) -> bool:
    """Whether the page cache serves what it can of a run's data."""
    return run.spec.workload.assumed_cache == "natural"


def _on_disk(name: str, subject: Subject) -> list[Run]:
    return [run for run in subject.of_the_job if disk_of(run.configuration) == name]


def _from_memory(found: Sequence[Demand], runs: Sequence[Run]) -> bool:
    data = next((run.data_set for run in runs if run.data_set is not None and run.data_set.samples), None)
    read = [each.read_bytes for each in found if each.read_bytes is not None]
    return data is not None and bool(read) and median(read) < FROM_MEMORY * data.bytes / data.samples


def rates_of(name: str, subject: Subject) -> DiskRates:
    """What a tier gives: as measured, else as declared; nothing where neither is known."""
    check, tier = subject.check(name), subject.tier(name)
    if check is not None:
        return check.rates
    return (tier.emulated if tier is not None else None) or DiskRates()


def _accelerator(runs: list[Run], subject: Subject) -> Ceiling | None:
    """Of a single one of one kind: how several work together is fitted, and no ceiling."""
    if len({(run.configuration.gpu, run.configuration.gpu_count) for run in runs}) > 1:
        return None
    devices = {run.spec.device for run in runs}
    if len(devices) > 1 and subject.device.batch_rates:
        return None
    rate = (devices.pop() if subject.device.batch_rates and devices else subject.device).samples_per_second
    if rate is None and subject.model is not None:
        rate = subject.model.facts.accelerator_rate
    if rate is None or any(gpus_of(run.configuration) > 1 for run in runs):
        return None
    name = resource_name(Bottleneck.ACCELERATOR, subject.device)
    return Ceiling(rate, ceiling_named(name, rate, subject.unit))


def _disk(runs: list[Run], subject: Subject) -> Ceiling | None:
    names = {disk_of(run.configuration) for run in runs}
    if len(names) != 1:
        return None
    (name,) = names
    sizes = {memory_of(run.configuration) for run in runs} if all(map(feeds_from_cache, runs)) else {None}
    if len(sizes) > 1:
        return None
    rate = disk_allows(name, sizes.pop(), subject)
    if rate is None:
        return None
    disk = _("disk {name}", name=study_disk(name, subject.study))
    return Ceiling(rate, ceiling_named(disk, rate, subject.unit))

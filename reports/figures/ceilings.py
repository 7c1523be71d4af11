"""What accelerator and disk would allow by themselves: lines in a chart of throughput."""

from __future__ import annotations

from collections.abc import Iterable
from statistics import median

from sizer import words
from sizer.model import disk_of, gpus_of
from sizer.records import Bottleneck, DiskRates, Run
from sizer.words import _

from ..charts import Ceiling
from ..subject import Subject


def ceilings(axis: str, runs: Iterable[Run], subject: Subject) -> tuple[Ceiling, ...]:
    """Those that are the same for all of these runs along the axis, the accelerator's first.

    What a disk allows changes with what the page cache serves, so a memory axis has no line of it, and what an
    accelerator allows changes with the batch.
    """
    runs = list(runs)
    found = [_accelerator(runs, subject)] if axis in ("vcpus", "memory_bytes") else []
    found += [_disk(runs, subject)] if axis == "vcpus" else []
    return tuple(each for each in found if each is not None)


def disk_allows(name: str, runs: Iterable[Run], subject: Subject) -> float | None:
    """Samples per second that a tier gives at what these runs were seen to need of it; None where that is not known.

    By what fio measured, or by what the tier declares where that was not measured.
    """
    rates = rates_of(name, subject)
    demands = [run.demand for run in runs if run.demand is not None and disk_of(run.configuration) == name]
    pairs = (
        ([each.read_bytes for each in demands], rates.read_bytes_per_second),
        ([each.read_ios for each in demands], rates.read_iops),
        ([each.written_bytes for each in demands], rates.write_bytes_per_second),
        ([each.write_ios for each in demands], rates.write_iops),
    )
    allowed = []
    for needed, rate in pairs:
        known = [each for each in needed if each]
        if known and rate:
            allowed.append(rate / median(known))
    return min(allowed, default=None)


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
    rate = subject.device.samples_per_second
    if rate is None and subject.model is not None:
        rate = subject.model.facts.accelerator_rate
    if rate is None or any(gpus_of(run.configuration) > 1 for run in runs):
        return None
    name = words.resource_name(Bottleneck.ACCELERATOR, subject.device)
    return Ceiling(rate, words.ceiling_named(name, rate, subject.unit))


def _disk(runs: list[Run], subject: Subject) -> Ceiling | None:
    names = {disk_of(run.configuration) for run in runs}
    if len(names) != 1:
        return None
    (name,) = names
    rate = disk_allows(name, runs, subject)
    if rate is None:
        return None
    disk = _("disk {name}", name=words.study_disk(name, subject.study))
    return Ceiling(rate, words.ceiling_named(disk, rate, subject.unit))

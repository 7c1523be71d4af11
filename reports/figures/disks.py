"""What accelerator and disk would allow by themselves: lines in a chart of throughput."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from statistics import median

from sizer.model.edge import gain
from sizer.model.equation import as_good
from sizer.model.model import disk_of, gpus_of, memory_of, name_of_disk, vcpus_of
from sizer.model.prediction import predict
from sizer.recommend.job_changes import disk_gain
from sizer.recommend.reasons import most_by_disk
from sizer.records.configuration import Bottleneck, Configuration, Estimate
from sizer.records.device import DiskRates
from sizer.records.messages import NoAnswer
from sizer.records.run import Demand, Run
from sizer.records.units import RELATIVE
from sizer.words.answers import disk_answer as disk_answer_text
from sizer.words.answers import disk_reading, disk_reads_nothing
from sizer.words.language import _, paragraph
from sizer.words.names import resource_name
from sizer.words.page import ceiling_named, study_disk

from ..charts.plot import Ceiling
from ..offers import place_of_answer
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


def disk_answer(subject: Subject) -> str:
    """What a faster disk would gain at the answer, and what the disk is asked for there; '' where nothing says it."""
    here = place_of_answer(subject)
    if here is None or subject.model is None:
        return ""
    try:
        gained = disk_gain(subject.model, here)
    except NoAnswer:
        return _by_other_disks(subject, here)
    if gained is None:
        return ""
    setting = subject.model.facts.feed
    if setting.input != "disk" or setting.cache == "warm":
        return disk_reads_nothing()
    most = most_by_disk(subject.model, here, predict(subject.model, here).throughput.high)
    most = min(most, max(gained.high, _left_open_by_runs(subject, here)))
    return paragraph([disk_answer_text(replace(gained, high=most)), _reading(subject, here)])


def _left_open_by_runs(subject: Subject, here: Configuration) -> float:
    """The most that runs on a better disk may have gained over those on this one, nearest to the answer; 0.0 of none.

    A model that knows what binds is surer than two runs that a busy host disturbed; a reader sees both.
    """
    assert subject.model is not None, "a place has a model"
    name, facts = disk_of(here), subject.model.facts
    own = rates_of(name, subject)
    others = [disk for disk in subject.model.measured.disks if name_of_disk(disk.name) != name]
    better = [disk.name for disk in others if as_good(facts, disk.rates, own)]
    gained: dict[float, float] = {}
    for configuration in {run.configuration for run in subject.of_the_job}:
        slow = subject.measured_at(configuration)
        if disk_of(configuration) != name or slow is None or slow.low <= 0:
            continue
        apart = abs(math.log(vcpus_of(configuration) / vcpus_of(here)))
        for disk in better:
            fast = subject.measured_at(replace(configuration, disk=disk))
            if fast is not None:
                gained[apart] = max(gained.get(apart, -math.inf), fast.high / slow.low - 1)
    return gained[min(gained)] if gained else 0.0


def _reading(subject: Subject, here: Configuration) -> str:
    """The scarcer of bytes and requests, as the runs on that disk needed them, at the rate of the answer.

    Those with its memory, where what the page cache serves changes with that.
    """
    assert subject.model is not None, "a place has a model"
    name, rates = disk_of(here), rates_of(disk_of(here), subject)
    cached = subject.model.facts.natural
    found_there = demands(name, here.memory_bytes if cached else None, subject)
    rate = _rate(subject, here)
    found = []
    for by_requests, key, given in (
        (False, "read_bytes", rates.read_bytes_per_second),
        (True, "read_ios", rates.read_iops),
    ):
        known = [getattr(each, key) for each in found_there if getattr(each, key) is not None]
        if known and given and rate is not None:
            needed = rate.value * median(known)
            found.append((needed / given, needed, given, by_requests))
    if not found:
        return ""
    share, needed, given, by_requests = max(found)
    check = subject.check(name)
    return disk_reading(share, needed, given, by_requests, check is not None)


def _rate(subject: Subject, here: Configuration) -> Estimate | None:
    """Measured there, else by the model; a relative one says nothing of bytes."""
    if subject.model is None or subject.unit == RELATIVE:
        return None
    return subject.measured_at(here) or predict(subject.model, here).throughput


def _by_other_disks(subject: Subject, here: Configuration) -> str:
    """Where no figures of disks are known: what the best of the others gives."""
    assert subject.model is not None, "a place has a model"
    found: list[tuple[str, Estimate]] = []
    for disk in subject.model.measured.disks:
        if name_of_disk(disk.name) == disk_of(here):
            continue
        try:
            gained = gain(subject.model, here, replace(here, disk=disk.name))
        except NoAnswer:
            continue
        if gained is not None:
            found.append((name_of_disk(disk.name), gained))
    if not found:
        return ""
    name, gained = max(found, key=lambda each: each[1].value)
    return disk_answer_text(gained, study_disk(name, subject.study))

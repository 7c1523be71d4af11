"""What accelerator and disk would allow by themselves: lines in a chart of throughput."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from statistics import median

from sizer.model.edge import gain
from sizer.model.equation import as_good
from sizer.model.model import disk_of, gpus_of, memory_of, name_of_disk, vcpus_of
from sizer.model.prediction import predict
from sizer.recommend.job_changes import disk_gain
from sizer.recommend.reasons import most_by_disk
from sizer.records.device import DiskRates
from sizer.records.messages import NoAnswer
from sizer.records.prediction import Bottleneck, Configuration, Estimate
from sizer.records.run import Run
from sizer.records.units import RELATIVE
from sizer.words.answers import disk_answer as disk_answer_text
from sizer.words.answers import disk_reading, disk_reads_nothing
from sizer.words.language import _, paragraph
from sizer.words.names import resource_name
from sizer.words.page import ceiling_named, study_disk

from ..charts.plot import Ceiling
from ..offers import place_of_answer
from ..subject import Subject


def ceilings(axis: str, runs: Iterable[Run], subject: Subject) -> tuple[Ceiling, ...]:
    """Those that are the same for all of these runs along the axis, the accelerator's first.

    What a disk allows changes with what the page cache serves, so a memory axis has no line of it, and what an
    accelerator allows changes with the batch.
    """
    runs = list(runs)
    limits = [_accelerator(runs, subject)] if axis in ("vcpus", "memory_bytes") else []
    limits += [_disk(runs, subject)] if axis == "vcpus" else []
    return tuple(limit for limit in limits if limit is not None)


def disk_allows(name: str, subject: Subject, memory_bytes: int | None = None) -> float | None:
    """Samples per second that a tier gives at what the runs, or those with so much memory, need of it; None
    where that is not known, or where the page cache serves another share of them with each of several memory sizes.

    By what fio measured, or by what the tier declares where that was not measured.
    """
    sizes = {memory_of(run.configuration) for run in _on_disk(name, subject)}
    if memory_bytes is None and len(sizes) > 1 and all(map(_feeds_from_cache, _on_disk(name, subject))):
        return None
    needed, rates = needs(name, memory_bytes, subject), rates_of(name, subject)
    most = {
        "read_bytes": rates.read_bytes_per_second,
        "read_ios": rates.read_iops,
        "written_bytes": rates.write_bytes_per_second,
        "write_ios": rates.write_iops,
    }
    return min((rate / needed[key] for key, rate in most.items() if rate and key in needed), default=None)


def needs(name: str, memory_bytes: int | None, subject: Subject) -> dict[str, float]:
    """What a sample cost the runs of the whole job on that disk in the median, by the fields of a demand that were
    accounted; with a memory size, those that had it."""
    runs = [run for run in _on_disk(name, subject) if memory_bytes in (None, memory_of(run.configuration))]
    costs: dict[str, list[float]] = defaultdict(list)
    for run in runs:
        for field, value in vars(run.demand).items() if run.demand is not None else ():
            if value:
                costs[field].append(value)
    return {field: median(values) for field, values in costs.items()}


def _feeds_from_cache(run: Run) -> bool:
    """Whether the page cache serves what it can of a run's data."""
    return run.spec.workload.assumed_cache == "natural"


def _on_disk(name: str, subject: Subject) -> list[Run]:
    return [run for run in subject.of_the_job if disk_of(run.configuration) == name]


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
    sizes = {memory_of(run.configuration) for run in runs} if all(map(_feeds_from_cache, runs)) else {None}
    if len(names) != 1 or len(sizes) > 1:
        return None
    name = names.pop()
    rate = disk_allows(name, subject, sizes.pop())
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
    needed = needs(name, here.memory_bytes if subject.model.facts.natural else None, subject)
    rate = _rate(subject, here)
    pairs = ((False, "read_bytes", rates.read_bytes_per_second), (True, "read_ios", rates.read_iops))
    asked = [
        (rate.value * needed[field] / given, rate.value * needed[field], given, by_requests)
        for by_requests, field, given in pairs
        if given and rate is not None and field in needed
    ]
    return disk_reading(*max(asked), subject.check(name) is not None) if asked else ""


def _rate(subject: Subject, here: Configuration) -> Estimate | None:
    """Measured there, else by the model; a relative one says nothing of bytes."""
    if subject.model is None or subject.unit == RELATIVE:
        return None
    return subject.measured_at(here) or predict(subject.model, here).throughput


def _by_other_disks(subject: Subject, here: Configuration) -> str:
    """Where no figures of disks are known: what the best of the others gives."""
    assert subject.model is not None, "a place has a model"
    gained: list[tuple[float, str, Estimate]] = []
    for disk in subject.model.measured.disks:
        name = name_of_disk(disk.name)
        with suppress(NoAnswer):
            other = gain(subject.model, here, replace(here, disk=disk.name)) if name != disk_of(here) else None
            gained += [(other.value, name, other)] if other is not None else []
    if not gained:
        return ""
    _value, name, most = max(gained, key=lambda one: one[0])
    return disk_answer_text(most, study_disk(name, subject.study))

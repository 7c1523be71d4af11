"""Whether a faster disk would help, and how that is known, in one place."""

from __future__ import annotations

import math
from dataclasses import replace
from statistics import median

from sizer.model.coordinates import disk_of, name_of_disk, vcpus_of
from sizer.model.edge import gain
from sizer.model.prediction import predict
from sizer.model.stages import as_good
from sizer.recommend.disks import most_by_disk
from sizer.recommend.instead import disk_gain
from sizer.records.configuration import Configuration, Estimate
from sizer.records.errors import NoAnswer
from sizer.records.units import RELATIVE
from sizer.words.answers import disk_answer as disk_answer_text
from sizer.words.answers import disk_other, disk_reading, disk_reads_nothing
from sizer.words.language import paragraph
from sizer.words.page import study_disk

from ..instead import place_of_answer
from ..subject import Subject
from .ceilings import demands, rates_of


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
    setting = subject.model.facts.setting
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
    return disk_other(study_disk(name, subject.study), gained)

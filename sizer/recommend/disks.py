"""The disk tier of an answer: what a better one would buy, and what a cheaper one would cost."""

from __future__ import annotations

import math
from collections.abc import Iterator

from sizer.model.coordinates import disk_of
from sizer.model.model import WorkloadModel
from sizer.recommend.candidates import Candidate
from sizer.recommend.case import Case
from sizer.records.configuration import Configuration
from sizer.records.prediction import Prediction, Reason, ReasonCode, reason

DISK_STAGES = ("disk_bandwidth", "disk_iops", "disk_write")
SLOWER = -0.02
"""A disk that loses more than this is called slower."""
NOTHING = 0.005
"""A gain that rounds to 0 % comes without rates."""
DEPTH = 32
"""How many requests at once gave the IOPS of a disk (fio's queue depth): one alone takes no longer than as many do."""
SMALLEST_REQUEST, LARGEST_REQUEST = 4096, 2**20
"""Bytes: for how many requests there were at the most, and how long one took, where only bytes are known."""


def most_by_disk(model: WorkloadModel, here: Configuration, rate: float) -> float:
    """The most that any other disk can gain at `here`, where so many samples a second are made at the most.

    A stage with the share s of the time gains `1 / (1 - s) - 1` if it takes none: s is how long the bytes take, and the
    requests if each is waited for alone. Infinite where these were not accounted, or nothing is known of the disk.
    """
    facts, disk = model.facts, model.measured.disk(here.disk)
    if disk is None or facts.read_bytes is None or not disk.rates.read_bytes_per_second:
        return math.inf
    rates, written, read = disk.rates, facts.written_bytes or 0.0, disk.rates.read_bytes_per_second
    write = rates.write_bytes_per_second or read
    requests = (facts.read_ios or facts.read_bytes / SMALLEST_REQUEST) + (facts.write_ios or written / SMALLEST_REQUEST)
    one = DEPTH / rates.read_iops if rates.read_iops else LARGEST_REQUEST / read
    share = rate * (facts.read_bytes / read + written / write + requests * one)
    return share / (1 - share) if share < 1 else math.inf


def disk_reasons(case: Case, chosen: Candidate, prediction: Prediction | None) -> Iterator[Reason]:
    """What the best other disk would buy; of a faster one than any measured, only that the disk still binds."""
    others = [each for each in case.candidates if each is not chosen and each.but_for_disk == chosen.but_for_disk]
    fastest = prediction
    if others:
        best = max(others, key=lambda each: each.rate)
        gain = best.rate / chosen.rate - 1
        if not case.table.of_machines:
            gain = min(gain, most_by_disk(case.model, chosen.place, chosen.throughput.high))
        cheaper = best.disk_usd_per_hour < chosen.disk_usd_per_hour
        yield _other_disk(disk_of(chosen.place), disk_of(best.place), gain, chosen.rate, cheaper)
        fastest = case.prediction(best) if gain > 0 else prediction
    if case.table.of_machines:
        return
    if fastest is not None:
        yield from _still_binds(fastest, only=not others)
    measured = case.model.measured.disk(chosen.place.disk)
    if measured is not None and measured.emulated:
        yield reason(ReasonCode.EMULATED, disk=chosen.place.disk)


def _other_disk(here: str, other: str, gain: float, now: float, cheaper: bool) -> Reason:
    """What the best of the other disks gains over the rate `now`; a `cheaper` one is called slower if it is at all."""
    if gain < (0 if cheaper else SLOWER):
        return reason(ReasonCode.OTHER_DISK, disk=here, other=other, loss=-gain if -gain >= NOTHING else None)
    then = now * (1 + gain) if gain >= NOTHING else None
    return reason(ReasonCode.OTHER_DISK, disk=here, other=other, gain=max(0.0, gain), now=now, then=then)


def _still_binds(prediction: Prediction, only: bool) -> Iterator[Reason]:
    share = sum(prediction.shares.get(stage, 0.0) for stage in DISK_STAGES)
    if share > 0.2:
        yield reason(ReasonCode.OTHER_DISK, share=share, only=only)

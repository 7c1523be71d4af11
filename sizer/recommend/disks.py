"""The disk tier of an answer: what a better one would buy, and what a cheaper one would cost."""

from __future__ import annotations

import math
from dataclasses import replace

from sizer.model import WorkloadModel, disk_of, name_of_disk, predict, rates
from sizer.recommend.candidates import Candidate
from sizer.records import Configuration, Prediction, Reason, ReasonCode, reason

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


def disk_reasons(model: WorkloadModel, chosen: Candidate, prediction: Prediction) -> list[Reason]:
    """What the other disks measured would buy; of a faster one than any measured, only that the disk still binds."""
    names = [name_of_disk(measured.name) for measured in model.measured.disks]
    if len(names) < 2:
        return _still_binds(prediction, only=True) + _emulated(model, chosen)
    configurations = [replace(chosen.configuration, disk=name) for name in names]
    found = rates(model, [*configurations, chosen.configuration]).centre
    gains = {name: math.exp(float(found[i] - found[-1])) - 1 for i, name in enumerate(names)}
    here = disk_of(chosen.configuration)
    del gains[here]
    other = max(gains, key=lambda name: gains[name])
    gain = min(gains[other], most_by_disk(model, chosen.configuration, prediction.throughput.high))
    said = other_disk(here, other, gain, prediction.throughput.value, cheaper=chosen.disk_rank == len(names) - 1)
    fastest = predict(model, replace(chosen.configuration, disk=other)) if gain > 0 else prediction
    return [said, *_still_binds(fastest, only=False), *_emulated(model, chosen)]


def other_disk(here: str, other: str, gain: float, now: float, cheaper: bool) -> Reason:
    """What the best of the other disks gains over the rate `now`; a `cheaper` one is called slower if it is at all."""
    if gain < (0 if cheaper else SLOWER):
        return reason(ReasonCode.NO_FASTER_DISK, disk=here, other=other, loss=-gain if -gain >= NOTHING else None)
    then = now * (1 + gain) if gain >= NOTHING else None
    return reason(ReasonCode.FASTER_DISK, disk=here, other=other, gain=max(0.0, gain), now=now, then=then)


def _still_binds(prediction: Prediction, only: bool) -> list[Reason]:
    share = sum(prediction.shares.get(stage, 0.0) for stage in DISK_STAGES)
    return [reason(ReasonCode.DISK_STILL_BINDS, share=share, only=only)] if share > 0.2 else []


def _emulated(model: WorkloadModel, chosen: Candidate) -> list[Reason]:
    measured = model.measured.disk(chosen.configuration.disk)
    emulated = measured is not None and measured.emulated
    return [reason(ReasonCode.DISK_EMULATED, disk=chosen.configuration.disk)] if emulated else []

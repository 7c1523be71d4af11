"""Whether the times that a log tells are those in which its lines come. Pure.

A line tells seconds a batch, and a counter beside it says how many batches came since the line before: a group of the
expression, or any number of the line that grows by the same each time. Without one, each line is of one batch at least.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import pairwise
from statistics import fmean, median

DISAGREES = 1.2
"""How many times the one is as much as the other from which they disagree."""

STEADY = 0.8
"""Share of the intervals that must disagree alike: a stall or an evaluation is one interval of many."""

FEWEST_INTERVALS = 5
TOGETHER_SECONDS = 0.02
"""Lines that come closer together came in one read, after a buffer held them: they are one interval."""

MOST_RANKS = 48
"""A line that comes more often than a batch, up to so many times: as many processes may print it. Above, a factor of 60
is within 20 %, and no reading of such a rate is right."""

NEAR_INTEGER = 0.05
"""A factor this near to a whole number is that number."""

NUMBERS = re.compile(r"(?<![\d.:,+-])\d{1,15}(?![\d.:,%-]|\s?m?s\b)")
"""Whole numbers in a line that may count something: not those of a time, a date, a share or a decimal fraction."""


class Reason(str, Enum):
    """What a steady disagreement most likely comes from."""

    MILLISECONDS = "milliseconds"
    """A factor of 1,000, or one that no other reason explains."""
    MINUTES = "minutes"
    """A factor of 60."""
    BATCHES = "batches"
    """A rate of batches was given as one of samples."""
    RANKS = "ranks"
    """Several processes print the line."""
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class StatedLine:
    """When a line came, the seconds a batch that it states, its counter of batches if its expression has one, and the
    whole numbers in it."""

    time: float
    stated: float
    step: int | None = None
    numbers: tuple[int, ...] = ()


@dataclass(frozen=True)
class Disagreement:
    """Seconds a batch as stated, and as seen: where nothing counts, the most that they can be."""

    reason: Reason
    stated: float
    seen: float


@dataclass(frozen=True)
class _Interval:
    """Seconds between two lines, or bursts of them; batches by the counter, without one as many as lines; and the
    seconds a batch that were stated."""

    seconds: float
    batches: int
    stated: float


def numbers_of(line: str) -> tuple[int, ...]:
    """The whole numbers in a line that may count."""
    return tuple(int(text) for text in NUMBERS.findall(line))


def disagreement(lines: Sequence[StatedLine], batch_size: int, of_samples: bool) -> Disagreement | None:
    """The steady disagreement of these lines with their arrival; None where there is none, or they are too few.

    `of_samples`: a rate of samples was told, of which the time of a batch was made with `batch_size`.
    """
    steps = [line.step for line in lines]
    counted = [step for step in steps if step is not None]
    counter = counted if len(counted) == len(lines) else _counting(lines)
    intervals = _intervals(lines, counter)
    if len(intervals) < FEWEST_INTERVALS:
        return None
    factors = [interval.stated * interval.batches / interval.seconds for interval in intervals]
    factor = median(factors)
    low = [factor for factor in factors if factor < 1 / DISAGREES]
    high = [factor for factor in factors if factor > DISAGREES]
    stated = median(interval.stated for interval in intervals)
    if counter is None:
        # A line may be of many batches: only that it comes too often can be seen.
        if len(high) < STEADY * len(factors):
            return None
        return Disagreement(_of_lines_alone(factor), stated, stated / factor)
    if max(len(low), len(high)) < STEADY * len(factors):
        return None
    if of_samples and batch_size == 1:
        # Nobody has said how many samples a batch has, so a rate of many a batch is none that disagrees.
        return None
    return Disagreement(_reason(factor, batch_size if of_samples else 1, counter), stated, stated / factor)


def _of_lines_alone(factor: float) -> Reason:
    if factor > MOST_RANKS:
        return Reason.MINUTES if _near(factor, 60) else Reason.MILLISECONDS
    return Reason.RANKS if _is_whole(factor) else Reason.UNKNOWN


def _reason(factor: float, batch_size: int, counter: Sequence[int]) -> Reason:
    repeated = sum(after == before for before, after in pairwise(counter)) > len(counter) / 3
    # On a busy host lines come late, so that a batch is seen to take longer than it is told: by less than DISAGREES.
    if batch_size > 1 and _is_factor(factor, batch_size, 1 + NEAR_INTEGER if repeated else DISAGREES):
        return Reason.BATCHES
    if _near(factor, 1000):
        return Reason.MILLISECONDS
    if _near(factor, 60):
        return Reason.MINUTES
    if repeated or (_is_whole(factor) and factor > 1):
        return Reason.RANKS
    return Reason.UNKNOWN


def _near(factor: float, unit: float) -> bool:
    """Whether a factor, or its inverse, is within 20 % of a unit's."""
    return _is_factor(factor, unit) or _is_factor(1 / factor, unit)


def _is_factor(factor: float, unit: float, within: float = DISAGREES) -> bool:
    return unit / within <= factor <= unit * within


def _is_whole(factor: float) -> bool:
    return factor >= 1.5 and abs(factor / round(factor) - 1) < NEAR_INTEGER


def _counting(lines: Sequence[StatedLine]) -> list[int] | None:
    """The first number of the lines that grows by the same from each to the next, and is no clock; None without one."""
    if len({len(line.numbers) for line in lines}) != 1:
        return None
    seconds = lines[-1].time - lines[0].time
    for column in zip(*(line.numbers for line in lines), strict=True):
        grown = {after - before for before, after in pairwise(column)}
        if len(grown) == 1 and min(grown) > 0 and not 0.95 < (column[-1] - column[0]) / max(seconds, 1e-9) < 1.05:
            return list(column)
    return None


def _intervals(lines: Sequence[StatedLine], counter: Sequence[int] | None) -> list[_Interval]:
    """The lines by when they came; what the first ones told is of a time before."""
    bursts: list[list[int]] = []
    for index, line in enumerate(lines):
        if bursts and line.time - lines[bursts[-1][-1]].time < TOGETHER_SECONDS:
            bursts[-1].append(index)
        else:
            bursts.append([index])
    intervals = []
    for before, burst in pairwise(bursts):
        seconds = lines[burst[-1]].time - lines[before[-1]].time
        batches = len(burst) if counter is None else counter[burst[-1]] - counter[before[-1]]
        if batches > 0:
            intervals.append(_Interval(seconds, batches, fmean(lines[index].stated for index in burst)))
    return intervals

"""Batches that are taken as those of all accelerators of a row, and look like those of one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterator, Mapping, Sequence

from sizer.exchange.headers import SECONDS_PER_BATCH
from sizer.exchange.imported_columns import ParsedRow
from sizer.exchange.understanding import MOST_LINES
from sizer.records.study import Note, NoteKind


def batches_like_those_of_one(parsed: Sequence[ParsedRow]) -> Iterator[Note]:
    """A note where most rows of several accelerators, whose rates follow from the time of a batch, are then no faster
    than one accelerator with a batch of that size, or the next larger one: so it is if `batch_size` is that of one."""
    alone: dict[Hashable, dict[int, float]] = defaultdict(dict)
    for row in parsed:
        size, rate = row["batch_size"], row["throughput"]
        if row["gpu_count"] == 1 and rate is not None and size is not None:
            alone[_place(row)][size] = max(rate, alone[_place(row)].get(size, 0.0))
    several = [row for row in parsed if _follows(row) and (row["gpu_count"] or 0) > 1]
    known = [(row, rate) for row in several if (rate := _at_least(alone[_place(row)], row["batch_size"])) is not None]
    lines = [row.row.line for row, rate in known if row["throughput"] <= rate]
    if 2 * len(lines) > len(known):
        more = max(0, len(lines) - MOST_LINES)
        yield Note(NoteKind.BATCH_LIKE_OF_ONE, lines=tuple(lines[:MOST_LINES]), rows=more)


def _at_least(rates: Mapping[int, float], size: int | None) -> float | None:
    """That of the smallest batch that is no smaller."""
    larger = [each for each in rates if size is not None and each >= size]
    return rates[min(larger)] if larger else None


def _follows(row: ParsedRow) -> bool:
    """Whether its rate is its batch over a time."""
    return SECONDS_PER_BATCH in row.values and not row.row.cells.get("throughput") and row["throughput"] is not None


def _place(row: ParsedRow) -> Hashable:
    return row["workload"], row["gpu"], row["input"]

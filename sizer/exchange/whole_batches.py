"""Batches that are taken as those of all accelerators of a row, and look like those of one."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence

from sizer.exchange.headers import SECONDS_PER_BATCH
from sizer.exchange.imported_columns import ParsedRow
from sizer.exchange.understanding import MOST_LINES
from sizer.records import Note, NoteKind


def batches_like_those_of_one(parsed: Sequence[ParsedRow]) -> Iterator[Note]:
    """A note where most rows of several accelerators, whose rates follow from the time of a batch, are then no faster
    than one accelerator with a batch of that size: so it is if `batch_size` is that of one."""
    alone: dict[Hashable, float] = {}
    for row in parsed:
        if row["gpu_count"] == 1 and row["throughput"] is not None:
            alone[_place(row)] = max(row["throughput"], alone.get(_place(row), 0.0))
    several = [row for row in parsed if _follows(row) and (row["gpu_count"] or 0) > 1 and _place(row) in alone]
    lines = [row.row.line for row in several if row["throughput"] <= alone[_place(row)]]
    if 2 * len(lines) > len(several):
        more = max(0, len(lines) - MOST_LINES)
        yield Note(NoteKind.BATCH_LIKE_OF_ONE, lines=tuple(lines[:MOST_LINES]), rows=more)


def _follows(row: ParsedRow) -> bool:
    """Whether its rate is its batch over a time."""
    return SECONDS_PER_BATCH in row.values and not row.row.cells.get("throughput") and row["throughput"] is not None


def _place(row: ParsedRow) -> Hashable:
    return row["workload"], row["gpu"], row["batch_size"], row["input"]

"""Columns whose header leaves out a unit that could be another: what shows which it is, else they are not read."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace

from sizer.exchange.cell_units import SECONDS, plain
from sizer.exchange.headers import (
    LATENCY,
    SECONDS_PER_BATCH,
    SECONDS_PER_EPOCH,
    SECONDS_PER_SAMPLE,
    TIMES,
    UNSAID,
    Meaning,
    says_an_hour,
)
from sizer.files.tables import Table
from sizer.records.study import Note, NoteKind
from sizer.records.units import RELATIVE

ALIKE = (0.67, 1.5)
"""How many times what a batch holds is in flight by its rate and its time, where the two are of one run."""
MOST_BATCHES = 30.0
"""In flight at once, where no column says how many are; units of time are sixty times one another and more."""
DEAREST_HOUR = 300.0
"""USD an hour: no machine that one can rent costs more, so such a price is that of a month or of the machine."""
MOST_GIB = 4096.0
"""So much memory without a unit may be MB."""
_COUNTED = {SECONDS_PER_BATCH: "batch_size", SECONDS_PER_EPOCH: "dataset_samples", SECONDS_PER_SAMPLE: ""}
_IN_FLIGHT = re.compile(r"concurren|in[ _-]?flight|\b(?:clients?|users?|streams?)\b|并发", re.IGNORECASE)
_OFFERED = {
    SECONDS_PER_EPOCH: ("s", "min"),
    "memory_gib": ("GB", "MB"),
    "usd_per_hour": ("per hour",),
    "usd_per_hour_spot": ("per hour",),
}
"""What a header may say, beside (ms) and (s)."""


def with_units(table: Table, found: Mapping[str, Meaning]) -> tuple[dict[str, Meaning], list[Note]]:
    """The meanings with the unit that other columns show, and without those of which nothing does, each with a note.

    A time by which rates are to be computed stays as it is, without a unit.
    """
    read, notes = dict(found), []
    columns = {means.column for means in found.values() if not means.derived}
    for header, means in found.items():
        if means.unit == UNSAID and means.column != "memory_gib":
            of_rates = means.column in TIMES or (means.column == LATENCY and not {"throughput", *TIMES} & columns)
            unit = "s" if _all_said(table, header) else _shown(table, found, header)
            if unit or of_rates:
                read[header] = replace(means, unit=unit or UNSAID)
                continue
        elif not _cannot_be(table, header, means):
            continue
        del read[header]
        units = tuple(f"{header} ({unit})" for unit in offered_units(means.column))
        notes.append(Note(NoteKind.UNIT_LEFT_OUT, columns=(header,), names=units))
    return read, notes


def offered_units(column: str) -> tuple[str, ...]:
    """What the header of a column may say of its unit."""
    return _OFFERED.get(column, ("ms", "s"))


def _cannot_be(table: Table, header: str, means: Meaning) -> bool:
    """Whether the unit that a header without one is read in would make a price or a memory that no machine has."""
    if header == means.column:
        return False
    most = max((_number(row.cells[header].lstrip("$")) or 0.0 for row in table.rows), default=0.0)
    if means.column.startswith("usd_per_hour"):
        return not says_an_hour(header) and most > DEAREST_HOUR
    return means.column == "memory_gib" and means.unit == UNSAID and most > MOST_GIB


def _all_said(table: Table, header: str) -> bool:
    """Whether each cell has a unit of its own."""
    return all(_number(row.cells[header]) is None for row in table.rows)


def _shown(table: Table, found: Mapping[str, Meaning], header: str) -> str:
    """The unit in which the time and the rate of each row are of one batch, or of as many as are in flight; empty where
    none is that, or two are."""
    column = found[header].column
    headers = {means.column: name for name, means in found.items() if not means.derived}
    rate, counted = headers.get("throughput"), _COUNTED.get(column, "batch_size")
    flying = next((name for name in table.columns if column not in TIMES and _IN_FLIGHT.search(name)), None)
    if rate is None or found[rate].per_gpu or found[rate].sample_unit == RELATIVE:
        return ""
    if column in TIMES and counted and counted not in headers:
        return ""
    ratios = []
    for row in table.rows:
        time, samples = _number(row.cells[header]), _number(plain(found[rate], row.cells[rate])[0])
        size = _number(row.cells[headers[counted]]) if counted in headers else 1.0
        several = _number(row.cells[flying]) if flying is not None else 1.0
        if time and samples and size and several:
            ratios.append(samples * time / size / several)
    low, high = ALIKE if flying is not None or column in TIMES else (ALIKE[0], MOST_BATCHES)
    units = ("s", "min", "h") if column == SECONDS_PER_EPOCH else ("us", "ms", "s")
    fitting = [unit for unit in units if all(low <= ratio * SECONDS[unit] <= high for ratio in ratios)]
    return fitting[0] if ratios and len(fitting) == 1 else ""


def _number(text: str) -> float | None:
    """None for what has a unit, or is no number."""
    with suppress(ValueError):
        return float(text.replace(",", ""))
    return None

"""A column of units beside one of rates: `images/min` in one row, `ms/step` in the next."""

from __future__ import annotations

from dataclasses import replace

from sizer.exchange.headers import SECONDS_PER_BATCH, SECONDS_PER_EPOCH, TIMES, UNSAID, Meaning, meaning, sample_unit
from sizer.files.tables import Row
from sizer.records.plain_text import quoted

_SAMPLES_IN = {SECONDS_PER_BATCH: "batch_size", SECONDS_PER_EPOCH: "dataset_samples"}


def unit_of_rate(row: Row, header: str) -> Meaning | None:
    """What the figure of a row is by the cell under `header`; None where that is empty.

    Raises InputError for a unit that is not known: a rate in it would be taken for samples a second.
    """
    text = row.cells[header]
    if not text:
        return None
    counted = sample_unit(text)
    means = Meaning("throughput", sample_unit=counted) if counted else meaning(text)
    if means is None or means.column not in ("throughput", *TIMES) or means.unit == UNSAID:
        raise row.input_error(
            header,
            "{unit} is not a unit of rates that sizer knows; write one such as images/s, images/min, ms/step or "
            "s/epoch.",
            unit=quoted(text),
        )
    return means


def with_rate(row: Row, header: str, means: Meaning) -> Row:
    """The row with the rate that follows from a time, which stands under `means.column`.

    Raises InputError where how many samples took so long is not told.
    """
    cells = dict(row.cells)
    time = cells.pop(means.column, "")
    if not time:
        return replace(row, cells=cells)
    column = _SAMPLES_IN.get(means.column)
    samples = cells.get(column, "") if column is not None else "1"
    if not samples:
        raise row.input_error(
            header, "a rate follows from a time only with `{column}`; add that column.", column=column
        )
    try:
        cells["throughput"] = f"{float(samples) / float(time):.15g}"
    except (ValueError, ZeroDivisionError):
        cells["throughput"] = time
    return replace(row, cells=cells)

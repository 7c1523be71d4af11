"""What a table says of one accelerator, its rate or its price, as that of the whole machine."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from sizer.exchange.headers import NODES
from sizer.exchange.imported_columns import OF_ONE_GPU, ParsedRow
from sizer.records.study import Note, NoteKind

_RATES = ("throughput", "throughput_low", "throughput_high")


def of_whole_machines(
    parsed: Sequence[ParsedRow], per_gpu: Collection[int], headers: Mapping[str, str]
) -> tuple[list[ParsedRow], tuple[Note, ...]]:
    """The rows with rates and prices times their accelerators. `per_gpu` are the lines whose rate is that of one.

    Where neither a count nor a machine is named there is one. Raises InputError where a named machine's are not known.
    """
    whole = [_whole(row, row.row.line in per_gpu) for row in parsed]
    notes = []
    rates = headers.get("throughput", "throughput")
    if per_gpu:
        notes.append(Note(NoteKind.RATE_OF_ONE_GPU, columns=(rates,)))
    priced = tuple(headers.get(column, column) for column in OF_ONE_GPU if any(column in row.values for row in parsed))
    if priced:
        notes.append(Note(NoteKind.PRICE_OF_ONE_GPU, columns=priced))
    return whole, tuple(notes)


def _whole(row: ParsedRow, rate_is_of_one: bool) -> ParsedRow:
    prices = {whole: row[each] for each, whole in OF_ONE_GPU.items() if each in row.values and whole not in row.values}
    multiplied = {column: row[column] for column in _RATES if rate_is_of_one and column in row.values} | prices
    if not multiplied:
        return row
    count, nodes = row["gpu_count"], row[NODES] or 1
    if count is None and row["instance_type"] is not None:
        raise row.input_error(
            "gpu_count",
            "the table has figures of one accelerator; write how many `{machine}` has.",
            machine=row["instance_type"],
        )
    whole = {column: value * max(1, count or 1) for column, value in multiplied.items()}
    return replace(row, values=row.values | whole | {column: whole[column] / nodes for column in prices})

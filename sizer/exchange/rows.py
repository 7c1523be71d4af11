"""One row of a table of measurements as typed values, and what cannot be true of it together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from sizer.exchange import values
from sizer.exchange.headers import BATCH_PER_GPU, GPUS_PER_NODE, OF_ONE_GPU, SAMPLES_OF, TIMES, map_option
from sizer.exchange.measurements import COLUMNS, MODE, MODES
from sizer.exchange.values import Reader
from sizer.files.tables import Row
from sizer.records.messages import InputError
from sizer.records.run_kinds import Outcome
from sizer.records.units import format_seconds, parse_batch_size

READERS: Mapping[str, Reader] = COLUMNS | {
    **dict.fromkeys(OF_ONE_GPU, values.usd),
    **dict.fromkeys(TIMES, values.seconds),
    BATCH_PER_GPU: parse_batch_size,
    GPUS_PER_NODE: values.nodes,
}
"""How a cell of each column that is read becomes a value."""


@dataclass(frozen=True)
class ParsedRow:
    """What one row says: values by column, without those whose cell is empty, and the cells of unknown columns."""

    row: Row
    values: dict[str, Any]
    other: dict[str, str]

    def __getitem__(self, column: str) -> Any:
        """The value in that column; None where the cell is empty or the column is not there."""
        return self.values.get(column)

    @property
    def outcome(self) -> Outcome:
        outcome: Outcome = self.values.get("outcome", Outcome.COMPLETED)
        return outcome

    def having(self, **values: Any) -> ParsedRow:
        """The same row with other values."""
        return replace(self, values=self.values | values)

    def input_error(self, column: str, message: str, /, **values: object) -> InputError:
        """What is wrong with a cell of the row, as `Row.input_error` says it."""
        return self.row.input_error(column, message, **values)


def parse_row(row: Row, headers: Mapping[str, str], readers: Mapping[str, Reader] = READERS) -> ParsedRow:
    """What a row says in the columns of `readers`; `headers` are those of the table by column.

    Raises InputError with file, line and column for a cell that cannot be.
    """
    parsed, other = {}, {}
    failed = (
        "outcome" in readers
        and row.cells.get("outcome")
        and _read(row, "outcome", values.outcome, headers) is not Outcome.COMPLETED
    )
    for column, text in row.cells.items():
        if not text or (failed and column in SAMPLES_OF.keys() | {"throughput"} and not text.strip("0.")):
            continue  # Of a run that failed, 0 is how some write that it has no rate.
        if column not in readers and not (column in MODES and MODE in readers):
            other[column] = text
        elif column not in MODES:
            parsed[column] = _read(row, column, readers[column], headers)
        elif (mode := values.mode(text)) is not None:
            parsed.setdefault(MODE, mode)
        else:
            other[column] = text
    if "gpu" in parsed and parsed["gpu"] is None and ("device" not in parsed or parsed["device"].kind == "cpu"):
        parsed["gpu_count"] = 0  # `1 x cpu` is no accelerator
    return ParsedRow(row, parsed, other)


def _read(row: Row, column: str, reader: Reader, headers: Mapping[str, str]) -> Any:
    try:
        return reader(row.cells[column])
    except InputError as error:
        header = headers.get(column, column)
        if header == column:
            raise row.input_error(column, error) from None
        option = map_option(header, "")
        raise row.input_error(
            column,
            "{problem} If `{header}` is something else, type {option}.",
            problem=error,
            header=header,
            option=option,
        ) from None


def check(parsed: ParsedRow) -> None:
    """Raise InputError where cells of one row cannot be true together, or what is needed is empty."""
    if parsed["workload"] is None:
        raise parsed.input_error("workload", "the cell is empty; write the workload's name in each row.")
    rate, low, high = (parsed[column] for column in ("throughput", "throughput_low", "throughput_high"))
    if rate is None and parsed.outcome is Outcome.COMPLETED:
        raise parsed.input_error(
            "throughput",
            "the cell is empty; write samples a second, or in `outcome` how the run failed, such as out_of_memory.",
        )
    if (low is None) != (high is None):
        raise parsed.input_error(
            "throughput_low" if low is None else "throughput_high",
            "the cell is empty, and the other end of the interval is not; write both or neither.",
        )
    if rate is not None and low is not None and not low <= rate <= high:
        raise parsed.input_error(
            "throughput",
            "{rate} is not within its own interval, {low} to {high}; correct one of them.",
            rate=f"{rate:g}",
            low=f"{low:g}",
            high=f"{high:g}",
        )
    half, nearly_all = parsed["latency_p50_ms"], parsed["latency_p99_ms"]
    if half is not None and nearly_all is not None and nearly_all < half:
        raise parsed.input_error(
            "latency_p99_ms",
            "99 of 100 batches take {most} at the most, but half of them take {half} or more; correct one of them.",
            most=format_seconds(nearly_all),
            half=format_seconds(half),
        )
    device, count, gpu = parsed["device"], parsed["gpu_count"], parsed["gpu"]
    if device is None and gpu is not None and count == 0:
        raise parsed.input_error(
            "gpu_count", "0 GPUs, but `gpu` is {gpu}; write how many there were, or leave `gpu` empty.", gpu=gpu
        )
    if device is not None and device.kind == "cpu" and (gpu is not None or count):
        raise parsed.input_error(
            "device", "cpu, but the row has a GPU; write cuda:0, or leave `gpu` and `gpu_count` empty."
        )
    if device is not None and device.kind != "cpu" and count == 0:
        raise parsed.input_error(
            "gpu_count", "0 GPUs, but `device` is {device}; write how many there were, or nothing.", device=device.label
        )

"""The columns of a table of measurements, and how a cell of each is read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sizer.exchange import table_cells as cells
from sizer.exchange.headers import (
    LATENCY,
    NODES,
    SECONDS_PER_BATCH,
    SECONDS_PER_EPOCH,
    SECONDS_PER_SAMPLE,
    USD_PER_GPU_HOUR,
    USD_PER_GPU_HOUR_SPOT,
)
from sizer.exchange.measurements import (
    COLUMNS,
    DATA_COLUMNS,
    DEMAND_COLUMNS,
    DISK_COLUMNS,
    FURTHER_COLUMNS,
    GPU_COLUMNS,
    LAST_COLUMNS,
    LATENCY_COLUMNS,
    MACHINE_COLUMNS,
    MODE,
    PRECISION,
    RATE_COLUMNS,
)
from sizer.files.tables import Row
from sizer.records.device import BatchRate
from sizer.records.errors import InputError
from sizer.records.run import RentedMachine
from sizer.records.run_kinds import Outcome
from sizer.records.study import Workload
from sizer.records.typed_values import (
    parse_batch_size,
    parse_gpu_count,
    parse_memory_gib,
    parse_vcpus,
)
from sizer.records.units import format_seconds

NEEDED = ("workload", "throughput")
AXES = ("vcpus", "memory_gib", "disk", "batch_size", "gpu", "gpu_count", "instance_type")
"""At least one of these has two values, or the table says nothing of which machine to take."""
COMPARED = (*AXES, NODES)
"""With the number of machines, which a table has in many ways."""
EPOCH = "epoch"
MODES = (MODE, "phase")
"""Columns in which tables say what is computed of a batch; of a cell that says something else, nothing is read."""
RATED_BY = {
    SECONDS_PER_BATCH: "batch_size",
    SECONDS_PER_EPOCH: "dataset_samples",
    SECONDS_PER_SAMPLE: None,
    LATENCY: "batch_size",
}
"""Times from which a rate follows where a table has none, each with the column that says of how many samples."""

READERS: dict[str, Callable[[str], Any]] = {
    "workload": cells.of_domain(Workload, "name"),
    "framework": cells.of_domain(Workload, "framework"),
    "device": cells.device,
    "network": cells.of_domain(Workload, "network"),
    "batch_size": parse_batch_size,
    "vcpus": parse_vcpus,
    "memory_gib": parse_memory_gib,
    "disk": cells.of_domain(Workload, "name"),
    "input": cells.of_domain(Workload, "input"),
    "cache": cells.of_domain(Workload, "cache"),
    "gpu": cells.gpu,
    "gpu_count": parse_gpu_count,
    "throughput": cells.rate,
    "throughput_low": cells.end_of_interval,
    "throughput_high": cells.end_of_interval,
    "sample_unit": cells.short_text,
    "outcome": cells.outcome,
    **dict.fromkeys(DEMAND_COLUMNS.values(), cells.amount),
    "bottleneck": cells.bottleneck,
    "hit_rate": cells.amount,
    "warnings": cells.marks,
    "started_at": cells.moment,
    "repeat": cells.repeat,
    "kind": cells.of_domain(Workload, "kind"),
    "format": cells.data_format,
    "dataset": cells.short_text,
    "dataset_gib": cells.gib,
    "dataset_samples": cells.count,
    "first_epoch_throughput": cells.amount,
    "peak_anonymous_gib": cells.gib,
    "accelerator_samples_per_second": cells.rate,
    "accelerator_rate_low": cells.rate,
    "accelerator_rate_high": cells.rate,
    "accelerator_rate_basis": cells.of_domain(BatchRate, "basis"),
    "accelerator_scaling_loss": cells.share,
    "isolates": cells.stage,
    "disk_class": cells.disk_class,
    "disk_read_iops": cells.amount,
    "disk_read_mbps": cells.megabytes,
    "disk_write_iops": cells.amount,
    "disk_write_mbps": cells.megabytes,
    "disk_emulated": cells.truth,
    PRECISION: cells.of_domain(Workload, "precision"),
    MODE: cells.mode,
    **dict.fromkeys(LATENCY_COLUMNS, cells.milliseconds),
    **{name: cells.of_domain(RentedMachine, name) for name in ("provider", "instance_type", "region")},
    **dict.fromkeys(GPU_COLUMNS, cells.amount),
    "gpu_memory_peak_gib": cells.gib,
    **dict.fromkeys(("gpu_sm_mhz", "gpu_memory_mhz"), cells.megabytes),
    "usd_per_hour": cells.usd,
    "usd_per_hour_spot": cells.usd,
    NODES: cells.nodes,
    EPOCH: cells.epoch,
}
"""Every column that means something to sizer; `epoch` alone is none of measurements.csv."""

OF_ONE_GPU = {USD_PER_GPU_HOUR: "usd_per_hour", USD_PER_GPU_HOUR_SPOT: "usd_per_hour_spot"}
"""Columns that are no columns of sizer: a price of one accelerator, by the column of what the whole machine costs."""

assert set(READERS) == {
    *COLUMNS,
    *DEMAND_COLUMNS.values(),
    *FURTHER_COLUMNS,
    *DATA_COLUMNS,
    *DISK_COLUMNS,
    *LAST_COLUMNS,
    PRECISION,
    *LATENCY_COLUMNS,
    *MACHINE_COLUMNS,
    MODE,
    *GPU_COLUMNS,
    *RATE_COLUMNS,
    NODES,
    EPOCH,
}


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
        found: Outcome = self.values.get("outcome", Outcome.COMPLETED)
        return found

    def input_error(self, column: str, message: str, /, **values: object) -> InputError:
        """What is wrong with a cell of the row, as `Row.input_error` says it."""
        return self.row.input_error(column, message, **values)


def parse_row(row: Row, rated_by: str | None = None) -> ParsedRow:
    """What a row says; `rated_by` is the column of times from which its rate follows, where it has none.

    Raises InputError with file, line and column for a cell that cannot be, or is missing.
    """
    values: dict[str, Any] = {}
    other: dict[str, str] = {}
    failed = _failed(row)
    for column, text in row.cells.items():
        usual = cells.usd if column in OF_ONE_GPU else cells.seconds if column == rated_by else None
        reader = READERS.get(column, usual)
        if column in MODES:
            mode = cells.mode(text)
            if mode is not None:
                values.setdefault(MODE, mode)
            elif text:
                other[column] = text
        elif reader is None:
            other |= {column: text} if text else {}
        elif text and not (failed and column in ("throughput", rated_by) and _is_nought(text)):
            values[column] = _read(row, column, reader, text)
    if "gpu" in values and values["gpu"] is None and ("device" not in values or values["device"].kind == "cpu"):
        values["gpu_count"] = 0  # `1 x cpu` is no accelerator
    parsed = ParsedRow(row, values, other)
    if rated_by is not None and rated_by in values and "throughput" not in values:
        values["throughput"] = _rate(parsed, rated_by)
    _check(parsed)
    return parsed


def _rate(parsed: ParsedRow, rated_by: str) -> float:
    """Samples a second from the time of a batch, of an epoch or of one sample."""
    counted = RATED_BY[rated_by]
    samples = 1 if counted is None else parsed[counted]
    if counted is not None and not samples:
        raise parsed.input_error(
            counted, "the cell is empty, and `{time}` becomes a rate by it; write how many samples.", time=rated_by
        )
    found: float = samples / parsed[rated_by]
    if not cells.SLOWEST <= found <= cells.FASTEST:
        raise parsed.input_error(rated_by, "the rate that follows, {rate} samples a second, cannot be.", rate=found)
    return found


def _read(row: Row, column: str, reader: Callable[[str], Any], text: str) -> Any:
    try:
        return reader(text)
    except InputError as error:
        raise row.input_error(column, error) from None


def _failed(row: Row) -> bool:
    text = row.cells.get("outcome", "")
    return bool(text) and _read(row, "outcome", cells.outcome, text) is not Outcome.COMPLETED


def _is_nought(text: str) -> bool:
    """Of a run that failed, 0 is how some write that it has no rate."""
    return not text.strip("0.")


def _check(parsed: ParsedRow) -> None:
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
        lacking = "throughput_low" if low is None else "throughput_high"
        raise parsed.input_error(
            lacking, "the cell is empty, and the other end of the interval is not; write both or neither."
        )
    if rate is not None and low is not None and not low <= rate <= high:
        raise parsed.input_error(
            "throughput",
            "{rate} is not within its own interval, {low} to {high}; correct one of them.",
            rate=f"{rate:g}",
            low=f"{low:g}",
            high=f"{high:g}",
        )
    half, nearly_all = (parsed[column] for column in LATENCY_COLUMNS)
    if half is not None and nearly_all is not None and nearly_all < half:
        raise parsed.input_error(
            "latency_p99_ms",
            "99 of 100 batches take {most} at the most, but half of them take {half} or more; correct one of them.",
            most=format_seconds(nearly_all),
            half=format_seconds(half),
        )
    _check_device(parsed)


def _check_device(parsed: ParsedRow) -> None:
    device, count, gpu = parsed["device"], parsed["gpu_count"], parsed["gpu"]
    if device is None:
        if gpu is not None and count == 0:
            raise parsed.input_error(
                "gpu_count", "0 GPUs, but `gpu` is {gpu}; write how many there were, or leave `gpu` empty.", gpu=gpu
            )
    elif device.kind == "cpu" and (gpu is not None or count):
        raise parsed.input_error(
            "device", "cpu, but the row has a GPU; write cuda:0, or leave `gpu` and `gpu_count` empty."
        )
    elif device.kind != "cpu" and count == 0:
        raise parsed.input_error(
            "gpu_count", "0 GPUs, but `device` is {device}; write how many there were, or nothing.", device=device.label
        )

"""measurements.csv: one row a run, the figures that leave sizer and the ones it takes in, column by column."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import fields
from pathlib import PurePath
from typing import Any

from sizer.exchange import values
from sizer.exchange.values import Reader, of_domain, scaled
from sizer.files.tables import harmless
from sizer.records.device import BatchRate
from sizer.records.kinds import IMPORTED
from sizer.records.run import Demand, RentedMachine, Run, WarningKind
from sizer.records.run_kinds import SEARCHES
from sizer.records.study import Workload
from sizer.records.units import GIB, parse_batch_size, parse_gpu_count, parse_memory_gib, parse_vcpus

Cell = str | int | float | None
Writer = Callable[[Run], Cell]

NODES = "nodes_together"
"""How many machines ran the job of a row together. Under this name, which sizer writes, a row has what all of them
have, under any other perhaps what each has."""
MODE, PRECISION, EPOCH = "mode", "precision", "epoch"
DEMANDS = {f"{field.name}_per_sample": field.name for field in fields(Demand)}
"""Core-seconds, bytes, IOs, and seconds waited for input or busy on the accelerator, each a sample."""
DISK_FIGURES = {
    "disk_read_iops": "read_iops",
    "disk_read_mbps": "read_bytes_per_second",
    "disk_write_iops": "write_iops",
    "disk_write_mbps": "write_bytes_per_second",
}
"""What the disk gives, IOs or MB (10^6) a second, by the field of its rates."""
GPU_FIGURES = {
    "gpu_busy": "busy",
    "gpu_memory_peak_gib": "peak_memory_bytes",
    "gpu_watts": "watts",
    "gpu_joules_per_sample": "joules",
    "gpu_sm_mhz": "sm_hertz",
    "gpu_memory_mhz": "memory_hertz",
    "gpu_sent_bytes_per_sample": "sent_bytes",
    "gpu_received_bytes_per_sample": "received_bytes",
}
"""What the driver told of the GPU, by the field of its use; of several GPUs the highest."""
MACHINE = ("provider", "instance_type", "region", "usd_per_hour", "usd_per_hour_spot")
"""What was rented, as an imported table says it."""
EMBEDDED = "embedded"
"""The data set that sizer made itself."""


def _number(value: float) -> float:
    """Whole numbers without their point; every other digit is kept, so that bytes can be had back exactly."""
    return int(value) if float(value).is_integer() else value


UNITS: dict[str, tuple[Reader, Callable[[float], Cell]]] = {
    "gib": (values.gib, lambda size: _number(size / GIB)),
    "mbps": (values.megabytes, lambda rate: scaled(rate, -6)),
    "mhz": (values.megabytes, lambda rate: scaled(rate, -6)),
    "ms": (values.milliseconds, lambda time: scaled(time, 3)),
    "iops": (values.amount, _number),
}
"""How figures are read and written by the last word of their column; any other is the plain number."""


def _figure(column: str, figure: Callable[[Run], float | None]) -> tuple[Reader, Writer]:
    read, write = UNITS.get(column.rpartition("_")[2], (values.amount, lambda value: value))
    return read, lambda run: None if (value := figure(run)) is None else write(value)


def _device(run: Run) -> Cell:
    """None where a table has no `device`, whether or not it names a GPU."""
    device = run.spec.workload.device
    return None if device is None or device.index is None else device.label


def _gpu_count(run: Run) -> Cell:
    """An emulated rate without a GPU's name counts as one, too."""
    if run.configuration.gpu_count is None:
        return None
    return run.configuration.gpu_count or (0 if run.spec.workload.computes_on.kind == "cpu" else 1)


def _marks(run: Run) -> Iterator[str]:
    """The kind of each warning, and a text that is not sizer's own as it is. A run of a search is marked, too, since
    its rate is ignored."""
    if run.spec.purpose in SEARCHES:
        yield run.spec.purpose.value
    for warning in run.warnings:
        yield (warning.text or warning.kind.value) if warning.kind is WarningKind.OTHER else warning.kind.value


def _data_set(run: Run) -> Cell:
    """The name alone: where it lies is nobody else's business."""
    data = run.data_set
    return None if data is None else EMBEDDED if data.embedded else PurePath(data.path).name


def _interval(end: str) -> Writer:
    return lambda run: getattr(run.throughput, end) if run.throughput and run.throughput.has_interval else None


def _demand(name: str) -> Callable[[Run], float | None]:
    return lambda run: getattr(run.demand, name, None)


def _disk_figure(name: str) -> Callable[[Run], float | None]:
    """The figures to compute with: measured where they were, declared where they were not."""
    return lambda run: getattr(run.disk.rates, name) if run.disk else None


def _gpu_figure(name: str) -> Callable[[Run], float | None]:
    return lambda run: max(
        (value for gpu in run.conditions.gpus if (value := getattr(gpu, name)) is not None), default=None
    )


def _machine(column: str) -> tuple[Reader, Writer]:
    read = values.usd if column.startswith("usd") else of_domain(RentedMachine, column)
    return read, lambda run: getattr(run.declared.machine, column, None)


def _of_workload(column: str) -> tuple[Reader, Writer]:
    return of_domain(Workload, column), lambda run: getattr(run.spec.workload, column)


WRITTEN: dict[str, tuple[Reader, Writer]] = {
    "workload": (of_domain(Workload, "name"), lambda run: run.spec.workload.name),
    "framework": _of_workload("framework"),
    "device": (values.device, _device),
    "network": _of_workload("network"),
    "batch_size": (parse_batch_size, lambda run: run.configuration.batch_size),
    "vcpus": (parse_vcpus, lambda run: None if (vcpus := run.configuration.vcpus) is None else _number(vcpus)),
    "memory_gib": (parse_memory_gib, _figure("memory_gib", lambda run: run.configuration.memory_bytes)[1]),
    "disk": (of_domain(Workload, "name"), lambda run: run.configuration.disk),
    "input": _of_workload("input"),
    "cache": _of_workload("cache"),
    "gpu": (values.gpu, lambda run: run.configuration.gpu or run.spec.workload.computes_on.gpu),
    "gpu_count": (parse_gpu_count, _gpu_count),
    "throughput": (values.rate, lambda run: run.throughput.value if run.throughput else None),
    "throughput_low": (values.end_of_interval, _interval("low")),
    "throughput_high": (values.end_of_interval, _interval("high")),
    "sample_unit": (values.short_text, lambda run: run.sample_unit),
    "outcome": (values.outcome, lambda run: run.outcome.value),
    **{column: _figure(column, _demand(name)) for column, name in DEMANDS.items()},
    "bottleneck": (values.bottleneck, lambda run: run.evidence.bottleneck.value if run.evidence else None),
    "hit_rate": _figure("hit_rate", lambda run: run.conditions.hit_rate),
    "warnings": (values.marks, lambda run: "; ".join(_marks(run))),
    "started_at": (values.moment, lambda run: run.started_at),
    "repeat": (values.repeat, lambda run: run.spec.repeat + 1),
    "kind": (of_domain(Workload, "kind"), lambda run: {IMPORTED: None}.get(kind := run.spec.workload.kind, kind)),
    "format": (values.data_format, lambda run: run.spec.workload.format),
    "dataset": (values.short_text, _data_set),
    "dataset_gib": _figure("dataset_gib", lambda run: run.data_set.bytes if run.data_set else None),
    "dataset_samples": (values.count, lambda run: run.data_set.samples if run.data_set else None),
    "first_epoch_throughput": _figure("first_epoch_throughput", lambda run: run.rate.first_epoch_throughput),
    **{column: _figure(column, _disk_figure(name)) for column, name in DISK_FIGURES.items()},
    "disk_class": (values.disk_class, lambda run: run.disk.tier.disk_class if run.disk else None),
    "disk_emulated": (values.truth, lambda run: "yes" if run.disk and run.disk.tier.emulated is not None else None),
    "peak_anonymous_gib": _figure("peak_anonymous_gib", lambda run: run.memory.peak_anonymous_bytes),
    "accelerator_samples_per_second": (values.rate, lambda run: run.spec.device.samples_per_second),
    "isolates": (values.stage, lambda run: run.spec.stage),
    PRECISION: (of_domain(Workload, "precision"), lambda run: run.precision),
    "latency_p50_ms": _figure("latency_p50_ms", lambda run: run.rate.latency_p50),
    "latency_p99_ms": _figure("latency_p99_ms", lambda run: run.rate.latency_p99),
    **{column: _machine(column) for column in MACHINE},
    MODE: (values.mode, lambda run: run.spec.workload.computed_mode),
    **{column: _figure(column, _gpu_figure(name)) for column, name in GPU_FIGURES.items()},
    "accelerator_rate_low": (values.rate, lambda run: run.spec.device.rate_low),
    "accelerator_rate_high": (values.rate, lambda run: run.spec.device.rate_high),
    "accelerator_rate_basis": (of_domain(BatchRate, "basis"), lambda run: run.spec.device.rate_basis),
    "accelerator_scaling_loss": (values.share, lambda run: run.spec.device.scaling_loss),
}
"""The columns of measurements.csv in their order: how a cell of each is read, and what is written of a run."""
COLUMNS: dict[str, Reader] = {column: read for column, (read, _) in WRITTEN.items()} | {
    NODES: values.nodes,
    EPOCH: values.epoch,
}
"""Every column that means something to sizer, with those that measurements.csv has only sometimes, or never."""


def row(run: Run) -> dict[str, Cell]:
    """One run by column: `vcpus` and `memory_gib` are what it really had, low and high the 95 % interval."""
    cells = {column: write(run) for column, (_, write) in WRITTEN.items()}
    return cells | ({NODES: run.nodes} if run.nodes > 1 else {})


def write_tables(runs: Iterable[Run]) -> tuple[str, str]:
    """The runs as `write_csv` has them, and the same as a JSON list, a run a line, where a figure that a run does not
    have is left out."""
    rows = [(row(run), run.declared.other) for run in runs]
    filled = ({name: cell for name, cell in {**other, **cells}.items() if cell is not None} for cells, other in rows)
    return _as_csv(rows), "[\n" + ",\n".join(json.dumps(cells) for cells in filled) + "\n]\n"


def write_csv(runs: Iterable[Run]) -> str:
    """The runs as CSV with a header; a figure that a run does not have is an empty cell.

    After the columns of sizer that every table has come those of an imported table that it does not know, by their own
    names.
    """
    return _as_csv([(row(run), run.declared.other) for run in runs])


def _as_csv(rows: list[tuple[dict[str, Cell], dict[str, str]]]) -> str:
    columns = list(dict.fromkeys((*WRITTEN, *(name for cells, other in rows for name in (*cells, *other)))))
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([name if name in WRITTEN else harmless(name) for name in columns])
    for cells, other in rows:
        # A folder of a sizer before has some of these columns among those that it did not know.
        line: list[Any] = [other.get(name) if cells.get(name) is None else cells[name] for name in columns]
        writer.writerow([harmless(cell) if isinstance(cell, str) else cell for cell in line])
    return text.getvalue()

"""measurements.csv: one row a run, the figures that leave sizer and the ones it takes in."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from pathlib import PurePath

from sizer.exchange.headers import NODES
from sizer.exchange.table_cells import in_megabytes, in_milliseconds
from sizer.files.tables import harmless
from sizer.records.device import Device, DiskRates
from sizer.records.kinds import IMPORTED
from sizer.records.run import Demand, Run, WarningKind
from sizer.records.run_kinds import SEARCHES
from sizer.records.units import GIB

COLUMNS = (
    "workload",
    "framework",
    "device",
    "network",
    "batch_size",
    "vcpus",
    "memory_gib",
    "disk",
    "input",
    "cache",
    "gpu",
    "gpu_count",
    "throughput",
    "throughput_low",
    "throughput_high",
    "sample_unit",
    "outcome",
)
DEMAND_COLUMNS = {field.name: f"{field.name}_per_sample" for field in fields(Demand)}
"""Core-seconds, bytes, IOs, and seconds waited for input or busy on the accelerator, each a sample."""
FURTHER_COLUMNS = ("bottleneck", "hit_rate", "warnings", "started_at", "repeat")
"""What helps to judge a figure. With `started_at` and `repeat`, which counts from 1, the order of the runs is known."""

DATA_COLUMNS = ("kind", "format", "dataset", "dataset_gib", "dataset_samples", "first_epoch_throughput")
"""What was run, over which data; `dataset` is its name, or `embedded` where sizer made it."""
DISK_COLUMNS = {
    "disk_read_iops": "read_iops",
    "disk_read_mbps": "read_bytes_per_second",
    "disk_write_iops": "write_iops",
    "disk_write_mbps": "write_bytes_per_second",
}
"""What the disk gives, IOs or MB (10^6) a second, by the field of its rates."""
LAST_COLUMNS = ("disk_class", "disk_emulated", "peak_anonymous_gib", "accelerator_samples_per_second", "isolates")
RATE_COLUMNS = {
    "accelerator_rate_low": "rate_low",
    "accelerator_rate_high": "rate_high",
    "accelerator_rate_basis": "rate_basis",
    "accelerator_scaling_loss": "scaling_loss",
}
"""How sure the rate of an emulated accelerator is, by the field of the device: its 90 %, and what it follows from; and
what several were said to lose to each other."""
LATENCY_COLUMNS = {"latency_p50_ms": "latency_p50", "latency_p99_ms": "latency_p99"}
"""Milliseconds from asking to the answer, by the field of the run, which holds seconds."""
GPU_COLUMNS = {
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
MACHINE_COLUMNS = ("provider", "instance_type", "region", "usd_per_hour", "usd_per_hour_spot")
"""What was rented, as an imported table says it."""
MODE, PRECISION = "mode", "precision"
"""What is computed of a batch, and in which numbers."""
EMBEDDED = "embedded"

Cell = str | int | float | None


Rows = Sequence[tuple[Mapping[str, "Cell"], Run]]
"""Each run with its cells by column."""


def write_tables(runs: Iterable[Run]) -> tuple[str, str]:
    """The runs as `write_csv` has them, and the same as a JSON list, a run a line, where a figure that a run does not
    have is left out."""
    rows = _rows(runs)
    return _as_csv(rows), _as_json(rows)


def write_csv(runs: Iterable[Run]) -> str:
    """The runs as CSV with a header; a figure that a run does not have is an empty cell.

    After the columns of sizer that every table has come those of an imported table that it does not know, by their own
    names.
    """
    return _as_csv(_rows(runs))


def _rows(runs: Iterable[Run]) -> Rows:
    return [(row(run), run) for run in runs]


def _as_csv(rows: Rows) -> str:
    others = tuple(
        dict.fromkeys(name for cells, run in rows for name in (*cells, *run.other) if name not in ALL_COLUMNS)
    )
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*ALL_COLUMNS, *map(harmless, others)])
    for cells, run in rows:
        # A folder of a sizer before has some of these columns among those that it did not know.
        known = (run.other.get(column) if cells[column] is None else cells[column] for column in ALL_COLUMNS)
        writer.writerow(
            [_harmless(cell) for cell in (*known, *(cells.get(name, run.other.get(name)) for name in others))]
        )
    return text.getvalue()


def _as_json(rows: Rows) -> str:
    known = ({name: cell for name, cell in {**run.other, **cells}.items() if cell is not None} for cells, run in rows)
    return "[\n" + ",\n".join(json.dumps(cells) for cells in known) + "\n]\n"


def _harmless(cell: Cell) -> Cell:
    return harmless(cell) if isinstance(cell, str) else cell


def row(run: Run) -> dict[str, Cell]:
    """One run by column: `vcpus` and `memory_gib` are what it really had, low and high the 95 % interval."""
    workload, throughput, configuration = run.spec.workload, run.throughput, run.configuration
    cells: dict[str, Cell] = {
        "workload": workload.name,
        "framework": workload.framework,
        "device": _device(workload.device),
        "network": workload.network,
        "batch_size": configuration.batch_size,
        "vcpus": None if configuration.vcpus is None else _number(configuration.vcpus),
        "memory_gib": _gibibytes(configuration.memory_bytes),
        "disk": configuration.disk,
        "input": workload.input,
        "cache": workload.cache,
        "gpu": configuration.gpu or workload.computes_on.gpu,
        "gpu_count": _gpu_count(run),
        "throughput": throughput.value if throughput else None,
        "throughput_low": throughput.low if throughput and throughput.has_interval else None,
        "throughput_high": throughput.high if throughput and throughput.has_interval else None,
        "sample_unit": run.sample_unit,
        "outcome": run.outcome.value,
    }
    for name, column in DEMAND_COLUMNS.items():
        cells[column] = getattr(run.demand, name) if run.demand else None
    return cells | _further(run) | _data(run) | _disk(run) | _rented(run) | _gpus(run)


def _further(run: Run) -> dict[str, Cell]:
    return {
        "bottleneck": run.evidence.bottleneck.value if run.evidence else None,
        "hit_rate": run.hit_rate,
        "warnings": "; ".join(_marks(run)),
        "started_at": run.started_at,
        "repeat": run.spec.repeat + 1,
    }


def _marks(run: Run) -> Iterator[str]:
    """The kind of each warning, and a text that is not sizer's own as it is. A run of a search is marked,
    too, since its rate is ignored."""
    if run.spec.purpose in SEARCHES:
        yield run.spec.purpose.value
    yield from (
        warning.text or warning.kind.value if warning.kind is WarningKind.OTHER else warning.kind.value
        for warning in run.warnings
    )


def _data(run: Run) -> dict[str, Cell]:
    """Of the data set the name alone: where it lies is nobody else's business."""
    data = run.data_set
    return {
        "kind": None if run.spec.workload.kind == IMPORTED else run.spec.workload.kind,
        "format": run.spec.workload.format,
        "dataset": None if data is None else EMBEDDED if data.embedded else PurePath(data.path).name,
        "dataset_gib": None if data is None else _gibibytes(data.bytes),
        "dataset_samples": None if data is None else data.samples,
        "first_epoch_throughput": run.first_epoch_throughput,
        "peak_anonymous_gib": _gibibytes(run.peak_anonymous_bytes),
        "accelerator_samples_per_second": run.spec.device.samples_per_second,
        **{column: getattr(run.spec.device, name) for column, name in RATE_COLUMNS.items()},
        "isolates": run.spec.stage,
    }


def _disk(run: Run) -> dict[str, Cell]:
    """The figures to compute with: measured where they were, declared where they were not."""
    tier = run.disk.tier if run.disk else None
    rates = run.disk.rates if run.disk else DiskRates()
    figures = {column: getattr(rates, name) for column, name in DISK_COLUMNS.items()}
    return {
        **{
            column: None if figure is None else in_megabytes(figure) if column.endswith("mbps") else _number(figure)
            for column, figure in figures.items()
        },
        "disk_class": tier.disk_class if tier else None,
        "disk_emulated": "yes" if tier and tier.emulated is not None else None,
    }


def _rented(run: Run) -> dict[str, Cell]:
    """What the run was computed with, how long an answer took, and the machine that a table names."""
    latencies = {column: getattr(run, name) for column, name in LATENCY_COLUMNS.items()}
    return {
        PRECISION: run.precision,
        MODE: run.spec.workload.computed_mode,
        **{column: None if seconds is None else in_milliseconds(seconds) for column, seconds in latencies.items()},
        **{column: getattr(run.machine, column, None) for column in MACHINE_COLUMNS},
        **({NODES: run.nodes} if run.nodes > 1 else {}),
    }


def _gpus(run: Run) -> dict[str, Cell]:
    cells: dict[str, Cell] = {}
    for column, name in GPU_COLUMNS.items():
        known = [value for gpu in run.gpus if (value := getattr(gpu, name)) is not None]
        most = max(known) if known else None
        if column.endswith("_mhz"):
            cells[column] = None if most is None else in_megabytes(most)
        else:
            cells[column] = _gibibytes(most) if column.endswith("_gib") else most
    return cells


def _device(device: Device | None) -> str | None:
    """None where a table has no `device`, whether or not it names a GPU."""
    return None if device is None or device.index is None else device.label


def _gpu_count(run: Run) -> int | None:
    """An emulated rate without a GPU's name counts as one, too."""
    if run.configuration.gpu_count is None:
        return None
    return run.configuration.gpu_count or (0 if run.spec.workload.computes_on.kind == "cpu" else 1)


def _gibibytes(size: int | None) -> float | None:
    return None if size is None else _number(size / GIB)


def _number(value: float) -> float:
    """Whole numbers without their point; every other digit is kept, so that bytes can be had back exactly."""
    return int(value) if float(value).is_integer() else value


ALL_COLUMNS = (
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
)

"""measurements.csv: one row a run, the figures that leave sizer and the ones it takes in."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from dataclasses import fields

from sizer.plain_text import printable
from sizer.records import Demand, Device, Run

BYTES_PER_GIB = 2**30
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
"""What helps to judge a figure. With `started_at` and `repeat`, which counts from 1, the order of the runs is told."""

FORMULA = ("=", "+", "-", "@")
"""What a formula begins with in one spreadsheet or another (OWASP, "CSV injection")."""

Cell = str | int | float | None


def write_csv(runs: Iterable[Run]) -> str:
    """The runs as CSV with a header; a figure that a run does not have is an empty cell."""
    text = io.StringIO()
    writer = csv.DictWriter(text, (*COLUMNS, *DEMAND_COLUMNS.values(), *FURTHER_COLUMNS), lineterminator="\n")
    writer.writeheader()
    writer.writerows({column: _harmless(cell) for column, cell in row(run).items()} for run in runs)
    return text.getvalue()


def _harmless(cell: Cell) -> Cell:
    """Text in one line, behind an apostrophe where a spreadsheet would take it for a formula."""
    if not isinstance(cell, str):
        return cell
    text = printable(cell)
    return f"'{text}" if text.startswith(FORMULA) else text


def row(run: Run) -> dict[str, Cell]:
    """One run by column: `vcpus` and `memory_gib` are where it really stood, low and high the 95 % interval."""
    workload, throughput = run.spec.workload, run.throughput
    cells: dict[str, Cell] = {
        "workload": workload.name,
        "framework": workload.framework,
        "device": workload.device.label,
        "network": workload.network,
        "batch_size": run.configuration.batch_size,
        "vcpus": _number(run.configuration.vcpus),
        "memory_gib": _number(run.configuration.memory_bytes / BYTES_PER_GIB),
        "disk": run.configuration.disk,
        "input": workload.input,
        "cache": workload.cache,
        "gpu": workload.device.gpu,
        "gpu_count": _gpu_count(workload.device),
        "throughput": throughput.value if throughput else None,
        "throughput_low": throughput.low if throughput else None,
        "throughput_high": throughput.high if throughput else None,
        "sample_unit": run.sample_unit,
        "outcome": run.outcome.value,
    }
    for name, column in DEMAND_COLUMNS.items():
        cells[column] = getattr(run.demand, name) if run.demand else None
    return cells | _further(run)


def _further(run: Run) -> dict[str, Cell]:
    return {
        "bottleneck": run.evidence.bottleneck.value if run.evidence else None,
        "hit_rate": run.hit_rate,
        "warnings": "; ".join(run.warnings),
        "started_at": run.started_at,
        "repeat": run.spec.repeat + 1,
    }


def _gpu_count(device: Device) -> int:
    """An emulated rate without a GPU's name stands for one, too."""
    return 0 if device.kind == "cpu" else 1


def _number(value: float) -> float:
    """Whole numbers without their point; every other digit is kept, so that bytes can be had back exactly."""
    return int(value) if float(value).is_integer() else value

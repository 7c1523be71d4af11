"""Published rates of accelerators, one number of one source each with what it was measured with; and what makers' data
sheets say of them.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from io import StringIO
from typing import Any

from sizer.catalog.gpus import is_alike, read_gpu_name
from sizer.records.domains import Amount, Batch, Count, Rate, Text
from sizer.records.units import GIB

RATE_FILES = ("accelerator_rates.csv", "accelerator_rates_aws_neuron.csv")
"""Apart, because the second is under a licence of its own: docs/accelerators.md."""
PROCESSOR = "CPU "
"""Names of what is no accelerator begin so: rows of CPUs stand in the same published tables."""


@dataclass(frozen=True, kw_only=True)
class AcceleratorRate:
    """What accelerators do when they never wait for input: samples per second of all `gpu_count` together.

    `batch_size` is of one accelerator; without it none was published. `input_size` is an image's side, a length or a
    data set, `data` where the samples came from, `path` and `commit` where in a repository the number stands.
    """

    mode: Text
    network: Text
    gpu: Text
    precision: Text | None = None
    batch_size: Batch | None = None
    samples_per_second: Rate
    framework: Text | None = None
    as_of: Text
    source: Text
    gpu_count: Count = 1
    form: Text | None = None
    gpu_memory_gib: Amount | None = None
    sample_unit: Text | None = None
    input_size: Text | None = None
    data: Text | None = None
    framework_version: Text | None = None
    path: Text | None = None
    commit: Text | None = None
    note: Text | None = None

    @property
    def gpu_form(self) -> str:
        """The model with its form where that is published: `A100 PCIe`."""
        return f"{self.gpu} {self.form}" if self.form and self.form not in self.gpu else self.gpu

    @property
    def framework_name(self) -> str:
        """As a study names it: `mxnet` of `MXNet(Gluon)`."""
        return (self.framework or "").lower().split("(")[0].split("/")[0].strip()

    @property
    def table(self) -> tuple[str, ...]:
        """The published table that it is of: its source, framework and precision, whatever the network and the GPU."""
        source = self.source.split(" (")[0]
        return source, self.framework_name, self.framework_version or "", self.precision or ""


@lru_cache(maxsize=1)
def shipped_rates() -> tuple[AcceleratorRate, ...]:
    """Those that come with sizer."""
    return tuple(_rate(row) for name in RATE_FILES for row in shipped_rows(name))


def shipped_rows(name: str) -> Iterator[dict[str, Any]]:
    """The rows of a table that comes with sizer, by column; an empty cell is None."""
    for row in csv.DictReader(StringIO((files("sizer.catalog") / name).read_text(encoding="utf-8"))):
        yield {column: cell or None for column, cell in row.items()}


def _rate(row: dict[str, Any]) -> AcceleratorRate:
    step, memory = row.pop("seconds_per_step"), row["gpu_memory_gib"]
    count, batch = int(row["gpu_count"]), row["batch_size"] and int(row["batch_size"])
    row |= {"gpu_count": count, "batch_size": batch, "gpu_memory_gib": memory and float(memory)}
    row["samples_per_second"] = count * (batch or 0) / float(step) if step else float(row["samples_per_second"])
    return AcceleratorRate(**row)


# What makers' data sheets say of an accelerator: memory, its bandwidth, arithmetic by precision.

HALF = ("mixed", "fp16", "bf16")
"""Precisions whose matrix products are of 16 bits."""


@dataclass(frozen=True)
class DataSheet:
    """One product. GB/s and dense TFLOP/s, None where the sheet has no figure."""

    gpu: str
    form: str
    arch: str
    memory_gib: float
    memory_gbps: float
    fp32_tflops: float | None
    tf32_tflops: float | None
    fp16_tflops: float | None

    @property
    def memory_bytes(self) -> int:
        """Of one accelerator."""
        return round(self.memory_gib * GIB)

    @property
    def has_bf16(self) -> bool:
        """Whether it computes in bfloat16: NVIDIA's do from compute capability 8.0 on (CUDA C++ Programming Guide)."""
        return self.arch not in ("Kepler", "Maxwell", "Pascal", "Volta", "Turing")

    def tflops(self, precision: str | None) -> float | None:
        """The arithmetic that a job of this precision gets; by 8-bit units no figure is at hand, so that of 16 bits."""
        if precision == "tf32":
            return self.tf32_tflops or self.fp32_tflops
        if precision is None or precision == "fp32":
            return self.fp32_tflops or self.fp16_tflops
        return self.fp16_tflops or self.fp32_tflops


@lru_cache(maxsize=1)
def data_sheets() -> tuple[DataSheet, ...]:
    """Those that come with sizer."""
    names = ("memory_gbps", "fp32_tflops", "tf32_tflops", "fp16_tflops")
    sheets = []
    for row in shipped_rows("accelerator_data_sheets.csv"):
        figures: dict[str, Any] = {name: row[name] and float(row[name]) for name in names}
        sheets.append(DataSheet(row["gpu"], row["form"], row["arch"], float(row["gpu_memory_gib"]), **figures))
    return tuple(sheets)


@lru_cache(maxsize=1024)
def data_sheet(gpu: str, form: str | None = None, memory_gib: float | None = None) -> DataSheet | None:
    """The sheet of the product that is meant; None for an unknown one.

    What the name does not say is taken as the module on a server's board (SXM) with the least memory.
    """
    name = read_gpu_name(gpu)
    alike = [sheet for sheet in data_sheets() if read_gpu_name(sheet.gpu).key == name.key]
    form, memory = name.form or (form or "")[:3], name.memory_gb or memory_gib
    if not alike:
        return None
    return min(
        alike,
        key=lambda sheet: (
            bool(form) and sheet.form[:3].lower() != form[:3].lower(),
            memory is not None and not is_alike(sheet.memory_gib, memory),
            not sheet.form.startswith("SXM"),
            sheet.memory_gib,
        ),
    )

"""Published rates of accelerators, one number of one source each with what it was measured with; and what makers' data
sheets say of them.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from io import StringIO

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
    def seconds_per_step(self) -> float | None:
        """Seconds of one step of all accelerators; None without a batch size."""
        return None if not self.batch_size else self.gpu_count * self.batch_size / self.samples_per_second

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
    return tuple(_rate(row) for name in RATE_FILES for row in _rows(name))


def shipped_rows(name: str) -> list[dict[str, str]]:
    """The rows of a table that comes with sizer, by column."""
    return list(_rows(name))


def _rows(name: str) -> csv.DictReader[str]:
    return csv.DictReader(StringIO((files("sizer.catalog") / name).read_text(encoding="utf-8")))


def _rate(row: Mapping[str, str]) -> AcceleratorRate:
    count, batch = int(row["gpu_count"]), int(row["batch_size"]) if row["batch_size"] else None
    step = row["seconds_per_step"]
    return AcceleratorRate(
        mode=row["mode"],
        network=row["network"],
        gpu=row["gpu"],
        precision=row["precision"] or None,
        batch_size=batch,
        samples_per_second=count * (batch or 0) / float(step) if step else float(row["samples_per_second"]),
        framework=row["framework"] or None,
        as_of=row["as_of"],
        source=row["source"],
        gpu_count=count,
        form=row["form"] or None,
        gpu_memory_gib=float(row["gpu_memory_gib"]) if row["gpu_memory_gib"] else None,
        sample_unit=row["sample_unit"] or None,
        input_size=row["input_size"] or None,
        data=row["data"] or None,
        framework_version=row["framework_version"] or None,
        path=row["path"] or None,
        commit=row["commit"] or None,
        note=row["note"] or None,
    )


# What makers' data sheets say of an accelerator: memory, its bandwidth, arithmetic by precision.

HALF = ("mixed", "fp16", "bf16")
"""Precisions whose matrix products are of 16 bits."""


@dataclass(frozen=True)
class DataSheet:
    """One product. GB/s and dense TFLOP/s, None where the sheet has no figure; `recalled` ones were read nowhere."""

    gpu: str
    form: str
    memory_gib: float
    memory_gbps: float
    fp32_tflops: float | None
    tf32_tflops: float | None
    fp16_tflops: float | None
    year: int
    source: str
    as_of: str
    recalled: tuple[str, ...] = ()
    arch: str = ""

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
    return tuple(
        DataSheet(
            row["gpu"],
            row["form"],
            float(row["gpu_memory_gib"]),
            float(row["memory_gbps"]),
            _figure(row["fp32_tflops"]),
            _figure(row["tf32_tflops"]),
            _figure(row["fp16_tflops"]),
            int(row["year"]),
            row["source"],
            row["as_of"],
            tuple(row["recalled"].split()),
            row["arch"],
        )
        for row in shipped_rows("accelerator_data_sheets.csv")
    )


def _figure(cell: str) -> float | None:
    return float(cell) if cell else None


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

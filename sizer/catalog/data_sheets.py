"""What makers' data sheets say of an accelerator: memory, its bandwidth, arithmetic by precision."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from sizer.catalog.accelerator_rates import shipped_rows
from sizer.catalog.gpus import is_alike, read_gpu_name
from sizer.records.units import GIB

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

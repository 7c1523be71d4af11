"""The rate of a network on a GPU that it was not published on, from its rate on others and from other networks on both.

The logarithm of a published rate is what its table shares: a level for each network in each table, what GB/s of memory
and TFLOP/s of the precision are worth, the latter by the kind of network (a large product follows the arithmetic, a
light network the memory), less where a GPU has much of both (launches and the host become no faster), and what neither
says: of the GPU, and in each table of its architecture, since a framework's version has kernels for an architecture.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from sizer.catalog.accelerator_rates import PROCESSOR, AcceleratorRate
from sizer.catalog.data_sheets import HALF, data_sheet
from sizer.catalog.gpus import PCIE, read_gpu_name
from sizer.catalog.networks import family_of, kind_of, passes_of
from sizer.catalog.shared_effects import Effect, SharedEffects
from sizer.records.frameworks import plain_precision

BANDWIDTH_UNIT, ARITHMETIC_UNIT = 700.0, 20.0
"""GB/s and TFLOP/s that a GPU is compared with: the middle of the data sheets."""
TRANSFER_90 = 1.47
"""Standard deviations that hold 90 % of rates where a network or a whole GPU is left out:
`benchmarks/accelerators/accelerators.py --fit`."""
LEVEL_VARIANCE = 25.0
"""Of a network's level in a table: any, since each is known from one rate."""
MEAN = 6.0
"""Ln samples per second in the middle of the tables; with the level's variance it decides nothing."""
EMULATORS = ("DLIO", "MLPerf Storage")
"""Step times that were set for an emulator, at batch sizes that differ from GPU to GPU: no comparison of GPUs."""


@dataclass(frozen=True)
class PublishedStep:
    """One rate of one accelerator as the transfer sees it; `table` is the published one, `series` its row of GPUs."""

    network: str
    mode: str
    precision: str
    gpu: str
    table: tuple[str, ...]
    series: tuple[str, ...]
    bandwidth: float
    arithmetic: float
    architecture: str
    log_rate: float
    batch_size: int | None


@dataclass(frozen=True)
class TransferVariances:
    """Of ln rate, by what is shared; fitted to the shipped tables by `benchmarks/accelerators` with --fit."""

    gpu: float = 0.00493
    architecture_in_table: float = 0.0256
    bandwidth: float = 0.399
    arithmetic: float = 0.0576
    saturation: float = 0.00803
    arithmetic_of_family: float = 0.00396
    arithmetic_of_kind: float = 0.038
    noise: float = 0.0044

    def effects(self) -> tuple[Effect[PublishedStep], ...]:
        """What rates share."""
        return (
            Effect(self.gpu, lambda step: step.gpu),
            Effect(self.architecture_in_table, lambda step: (step.architecture, step.table)),
            Effect(self.bandwidth, lambda _: 0, lambda step: step.bandwidth),
            Effect(self.arithmetic, lambda _: 0, lambda step: step.arithmetic),
            Effect(self.saturation, lambda _: 0, lambda step: step.bandwidth * step.arithmetic),
            Effect(
                self.arithmetic_of_family,
                lambda step: (family_of(step.network), passes_of(step.mode)),
                lambda step: step.arithmetic,
            ),
            Effect(self.arithmetic_of_kind, lambda step: kind_of(step.network), lambda step: step.arithmetic),
            Effect(LEVEL_VARIANCE, lambda step: step.series),
        )


def precision_class(precision: str | None) -> str:
    """`single` for fp32 and what a container makes of it (TF32), `half` for 16 bits, else the precision itself."""
    plain = plain_precision(precision or "")
    if plain in HALF:
        return "half"
    return "single" if plain in ("fp32", "tf32") else plain.split(" ")[0]


def gpu_label(gpu: str, form: str | None = None) -> str:
    """One name for a model, apart for its PCIe card where it is sold as a module, too."""
    name = read_gpu_name(gpu)
    sheet = data_sheet(gpu, form)
    both = sheet is not None and sheet.form == PCIE and name.key in ("a100", "h100")
    return f"{name.key} {PCIE}" if both else name.key


def published_steps(rates: Sequence[AcceleratorRate]) -> tuple[PublishedStep, ...]:
    """One rate of each GPU in each series: that of the largest batch size that all its GPUs have, else the largest.

    GPUs without a data sheet, emulators' settings and rates of several accelerators are left out.
    """
    series: dict[tuple[str, ...], dict[str, list[PublishedStep]]] = {}
    for rate in rates:
        step = published_step(rate)
        if step is not None:
            series.setdefault(step.series, {}).setdefault(step.gpu, []).append(step)
    return tuple(step for by_gpu in series.values() for step in _one_each(by_gpu))


def _one_each(by_gpu: dict[str, list[PublishedStep]]) -> list[PublishedStep]:
    common = set.intersection(*({step.batch_size for step in steps} for steps in by_gpu.values()))
    return [
        max(steps, key=lambda step: (step.batch_size in common, step.batch_size or 0, step.log_rate))
        for steps in by_gpu.values()
    ]


def published_step(rate: AcceleratorRate) -> PublishedStep | None:
    """As the transfer sees it; None for what is left out."""
    if rate.gpu_count != 1 or rate.gpu.startswith(PROCESSOR) or rate.source.startswith(EMULATORS):
        return None
    sheet = data_sheet(rate.gpu, rate.form, rate.gpu_memory_gib)
    tflops = sheet.tflops(rate.precision) if sheet is not None else None
    if sheet is None or not tflops:
        return None
    table = (table_of(rate), rate.framework or "", precision_class(rate.precision))
    return PublishedStep(
        rate.network,
        rate.mode,
        rate.precision or "",
        gpu_label(rate.gpu, rate.form),
        table,
        (*table, rate.mode, rate.network, rate.input_size or ""),
        math.log(sheet.memory_gbps / BANDWIDTH_UNIT),
        math.log(tflops / ARITHMETIC_UNIT),
        sheet.arch,
        math.log(rate.samples_per_second),
        rate.batch_size,
    )


def table_of(rate: AcceleratorRate) -> str:
    """Who measured: parts of one collection and of one round of a benchmark compare GPUs alike."""
    source = rate.source.split(" (")[0]
    return " ".join(source.split()[:3]) if source.startswith("MLPerf") else source.removeprefix("NVIDIA ").split()[0]


def rate_model(
    steps: Sequence[PublishedStep], variances: TransferVariances = TransferVariances()
) -> SharedEffects[PublishedStep]:
    """What published rates say of another one."""
    return SharedEffects(steps, [step.log_rate for step in steps], variances.effects(), variances.noise, MEAN)


@lru_cache(maxsize=4)
def transfer_model(rates: tuple[AcceleratorRate, ...]) -> SharedEffects[PublishedStep]:
    """The same of a catalogue's rates."""
    return rate_model(published_steps(rates))

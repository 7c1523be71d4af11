"""What published rates say of a network on a GPU, or of several of one, that nobody measured: by what they share with
others.

Each `Effect` adds to every figure a quantity that all figures with the same label have in common, times the `size` that
each figure gives it: a network's own level, a GPU's own, what a TFLOP/s more is worth. A figure of a new combination
follows from the effects it shares with known ones; what it shares with none widens its interval.

The logarithm of a published rate is what its table shares: a level for each network in each table, what GB/s of memory
and TFLOP/s of the precision are worth, the latter by the kind of network (a large product follows the arithmetic, a
light network the memory), less where a GPU has much of both (launches and the host become no faster), and what neither
says: of the GPU, and in each table of its architecture, since a framework's version has kernels for an architecture.

With e(n) the rate of n accelerators over n times that of one, `-ln e(n) = loss * 2 (n - 1) / n`: what each sends
in a ring all-reduce of n (Patarasuk and Yuan, Bandwidth optimal all-reduce algorithms, 2009, section 3). The loss of a
job is what it shares with others: its network, its GPU, its precision, its framework, its own table.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Generic, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from sizer.catalog.accelerator_rates import HALF, PROCESSOR, AcceleratorRate, data_sheet, shipped_rates
from sizer.catalog.gpus import PCIE, read_gpu_name
from sizer.records.frameworks import plain_precision
from sizer.records.prediction import NORMAL_90

# What kind of arithmetic a network is: which figure of an accelerator it follows, and which networks are alike.

_LIGHT = ("mobilenet", "efficientnet", "squeezenet", "shufflenet")
_MATRICES = ("bert", "vit", "transformer", "gpt", "gnmt", "lstm", "convnext", "llama", "fcn")
_VARIANTS = ("_features", "_squad", "_owt", "_no_groups")

TRAINING = ("train", "forward_backward")


def kind_of(network: str) -> str:
    """`light`: few operations a byte (depthwise convolutions); `matrices`: large products; else `convolutions`.

    A light network follows an accelerator's memory bandwidth, large products its arithmetic.
    """
    if network.startswith(_LIGHT):
        return "light"
    return "matrices" if network.startswith(_MATRICES) else "convolutions"


def family_of(network: str) -> str:
    """Networks that differ in what they are used for, or in a last layer, are one: `bert_large_squad`, `bert_large`."""
    for variant in _VARIANTS:
        network = network.removesuffix(variant)
    return "bert" if network.startswith("bert") else network


def passes_of(mode: str) -> str:
    """`train` where a step goes forward and backward, `infer` where it goes forward alone."""
    return "train" if mode in TRAINING else "infer"


# Published figures as sums of what they share, a Gaussian process over labels, and what they say of another one.

Array = NDArray[np.float64]
Figure = TypeVar("Figure")


@dataclass(frozen=True)
class Effect(Generic[Figure]):
    """What figures with one label share. `variance` is the square of how far such quantities lie apart."""

    variance: float
    label: Callable[[Figure], Hashable]
    size: Callable[[Figure], float] | None = None


@dataclass(frozen=True)
class Expected:
    """A figure that is not known: its mean, and the standard deviation of a newly published one around it."""

    mean: float
    deviation: float


@dataclass(frozen=True, eq=False)
class SharedEffects(Generic[Figure]):
    """Known figures with their values. `noise` is the variance of what a figure shares with none."""

    figures: Sequence[Figure]
    values: Sequence[float]
    effects: Sequence[Effect[Figure]]
    noise: float
    mean: float

    def expected(self, figure: Figure) -> Expected:
        """What the known figures say of this one."""
        return self.several([figure])[0]

    def several(self, asked: Sequence[Figure]) -> list[Expected]:
        """The same of many."""
        shared = covariance(self.effects, asked, self.figures)
        means = self.mean + shared @ (self._inverse @ self._residuals)
        own = covariance(self.effects, asked, asked).diagonal() + self.noise
        variances = own - np.einsum("ij,jk,ik->i", shared, self._inverse, shared)
        return [
            Expected(float(mean), math.sqrt(max(float(variance), 0.0)))
            for mean, variance in zip(means, variances, strict=True)
        ]

    @cached_property
    def _residuals(self) -> Array:
        return np.array(self.values, dtype=float) - self.mean

    @cached_property
    def _inverse(self) -> Array:
        shared = covariance(self.effects, self.figures, self.figures)
        return np.asarray(np.linalg.inv(shared + self.noise * np.eye(len(self.figures))))


def covariance(effects: Sequence[Effect[Figure]], these: Sequence[Figure], those: Sequence[Figure]) -> Array:
    """What figures share, (these, those)."""
    total = np.zeros((len(these), len(those)))
    for effect in effects:
        total += effect.variance * overlap(effect, these, those)
    return total


def overlap(effect: Effect[Figure], these: Sequence[Figure], those: Sequence[Figure]) -> Array:
    """The same of one effect, of variance one."""
    codes: dict[Hashable, int] = {}
    one, other = (
        np.array([codes.setdefault(effect.label(run), len(codes)) for run in some]) for some in (these, those)
    )
    same: Array = (one[:, None] == other[None]).astype(float)
    if effect.size is not None:
        sizes = [np.array([effect.size(figure) for figure in some]) for some in (these, those)]
        same = same * sizes[0][:, None] * sizes[1][None]
    return same


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
    return tuple(step for by_gpu in series.values() for step in _one_by_gpu(by_gpu))


def _one_by_gpu(by_gpu: dict[str, list[PublishedStep]]) -> list[PublishedStep]:
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


# How much of n accelerators a training job gets: published tables of 1, 2, 4 and 8, and what they say of another job.

LEAST_LOSS = 0.004
"""Of the exponent of e(n): some tables say that n accelerators do a little more than n times what one does."""


@dataclass(frozen=True)
class ScaledRun:
    """One published number of n accelerators beside that of one, with all else alike."""

    table: tuple[object, ...]
    network: str
    gpu: str
    precision: str
    framework: str
    gpu_count: int
    efficiency: float
    source: str = ""

    @property
    def loss(self) -> float:
        """Ln of the loss that the ring would have for this efficiency."""
        return math.log(max(-math.log(self.efficiency), LEAST_LOSS) / exchanged(self.gpu_count))


@dataclass(frozen=True)
class ScalingEfficiency:
    """The rate of `gpu_count` accelerators over so many times that of one; low and high hold 90 % of such tables.

    `basis`: `published` for this network, GPU and count; `interpolated` from other counts of both; `transferred` from
    other networks and GPUs; `independent` where nothing is exchanged: several of them that only infer.
    """

    gpu_count: int
    value: float
    low: float
    high: float
    basis: Literal["published", "interpolated", "transferred", "independent"]
    sources: tuple[str, ...] = ()


@dataclass(frozen=True)
class ScalingVariances:
    """Of ln loss, by what is shared; fitted to the shipped tables by `benchmarks/accelerators` with --fit."""

    network: float = 0.496
    gpu: float = 0.77
    precision: float = 0.254
    framework: float = 0.833
    table: float = 0.337
    noise: float = 0.0895

    def effects(self) -> tuple[Effect[ScaledRun], ...]:
        """What tables share."""
        return (
            Effect(self.network, lambda run: family_of(run.network)),
            Effect(self.gpu, lambda run: run.gpu),
            Effect(self.precision, lambda run: run.precision in HALF),
            Effect(self.framework, lambda run: run.framework),
            Effect(self.table, lambda run: run.table),
            Effect(MEAN_VARIANCE, lambda _: 0),
        )


MEAN_LOSS, MEAN_VARIANCE = -3.0, 9.0
"""Before any table is read: a loss of e^-3 = 5 %, anything from 0.04 % to all; the tables decide."""


def exchanged(gpu_count: int) -> float:
    """How often each of n accelerators sends its gradients in a ring all-reduce."""
    return 2 * (gpu_count - 1) / gpu_count


def scaled_runs(rates: Sequence[AcceleratorRate]) -> tuple[ScaledRun, ...]:
    """The numbers of several accelerators whose table has that of one, too."""
    ones = {_table(rate): rate.samples_per_second for rate in rates if rate.gpu_count == 1}
    return tuple(
        ScaledRun(
            _table(rate),
            rate.network,
            read_gpu_name(rate.gpu).key,
            rate.precision or "",
            rate.framework_name,
            rate.gpu_count,
            rate.samples_per_second / rate.gpu_count / ones[_table(rate)],
            rate.source,
        )
        for rate in rates
        if rate.gpu_count > 1
        and passes_of(rate.mode) == "train"
        and _table(rate) in ones
        and not rate.gpu.startswith(PROCESSOR)
    )


def _table(rate: AcceleratorRate) -> tuple[object, ...]:
    plain = replace(rate, gpu_count=1, samples_per_second=1.0, note=None, commit=None, as_of="", source="")
    return tuple(vars(plain).values())


def scaling_efficiency(
    network: str,
    gpu: str,
    gpu_count: int,
    *,
    mode: str = "train",
    precision: str | None = None,
    framework: str | None = None,
    rates: Sequence[AcceleratorRate] | None = None,
) -> ScalingEfficiency:
    """What published tables say of `gpu_count` accelerators of one machine that train this network together.

    Of what is None the usual one counts: the framework that most tables have, fp32. Accelerators that only infer
    exchange nothing, so nothing is lost between them.
    """
    if gpu_count == 1 or passes_of(mode) == "infer":
        return ScalingEfficiency(gpu_count, 1.0, 1.0, 1.0, "independent")
    scaled = scaled_runs(shipped_rates() if rates is None else rates)
    model = _shipped_model() if rates is None else loss_model(scaled)
    key = read_gpu_name(gpu).key
    alike = [
        run
        for run in scaled
        if (run.network, run.gpu) == (network, key)
        and (precision is None or run.precision == precision)
        and (framework is None or run.framework == framework)
    ]
    usual = Counter(run.framework for run in alike or scaled).most_common(1)
    asked = ScaledRun((), network, key, precision or "fp32", framework or usual[0][0], gpu_count, 1.0)
    low, value, high = efficiency_range(model, asked)
    exact = [run for run in alike if run.gpu_count == gpu_count]
    sources = tuple(dict.fromkeys(run.source for run in exact or alike))
    if not exact:
        return ScalingEfficiency(gpu_count, value, low, high, "interpolated" if alike else "transferred", sources)
    published = math.exp(sum(math.log(run.efficiency) for run in exact) / len(exact))
    return ScalingEfficiency(gpu_count, published, min(low, published), max(high, published), "published", sources)


def scaling_loss(network: str, gpu: str, counts: Sequence[int], mode: str = "train") -> tuple[float, str]:
    """What several accelerators of a machine lose to each other, by published tables, and which ones: the loss that
    comes nearest to what these say of so many; `counts` are above one.

    The efficiency of n of them is `exp(-loss * 2 (n - 1) / n)`.
    """
    efficiencies = [scaling_efficiency(network, gpu, count, mode=mode) for count in counts]
    loss = sum(-math.log(one.value) / exchanged(one.gpu_count) for one in efficiencies) / len(efficiencies)
    most = efficiencies[-1]
    if most.basis == "independent":
        return 0.0, "several that only infer exchange nothing"
    if most.basis == "transferred":
        span = f"{most.gpu_count} of them {100 * most.low:.0f} to {100 * most.high:.0f} %"
        return max(0.0, loss), f"transferred from published tables of other networks and GPUs, {span}"
    return max(0.0, loss), f"{most.basis}: {', '.join(most.sources)}"


def loss_model(runs: Sequence[ScaledRun], variances: ScalingVariances = ScalingVariances()) -> SharedEffects[ScaledRun]:
    """What tables of several accelerators say of the loss of another."""
    return SharedEffects(runs, [run.loss for run in runs], variances.effects(), variances.noise, MEAN_LOSS)


@lru_cache(maxsize=1)
def _shipped_model() -> SharedEffects[ScaledRun]:
    return loss_model(scaled_runs(shipped_rates()))


def efficiency_range(model: SharedEffects[ScaledRun], asked: ScaledRun) -> tuple[float, float, float]:
    """The efficiency that is expected between the bounds of its 90 % interval; all of them are as fast as one."""
    loss = model.expected(asked)
    half = NORMAL_90 * loss.deviation
    low, value, high = (
        math.exp(-math.exp(loss.mean + side * half) * exchanged(asked.gpu_count)) for side in (1, 0, -1)
    )
    return max(low, 1 / asked.gpu_count), value, high

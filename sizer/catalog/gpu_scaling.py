"""How much of n accelerators a training job gets: published tables of 1, 2, 4 and 8, and what they say of another job.

With e(n) the rate of n accelerators over n times that of one, `-ln e(n) = loss * 2 (n - 1) / n`: what each sends
in a ring all-reduce of n (Patarasuk and Yuan, Bandwidth optimal all-reduce algorithms, 2009, section 3). The loss of a
job is what it shares with others: its network, its GPU, its precision, its framework, its own table.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal

from sizer.catalog.accelerator_rates import PROCESSOR, AcceleratorRate, shipped_rates
from sizer.catalog.data_sheets import HALF
from sizer.catalog.gpus import read_gpu_name
from sizer.catalog.networks import family_of, passes_of
from sizer.catalog.shared_effects import Effect, SharedEffects
from sizer.records.configuration import NORMAL_90

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


@dataclass(frozen=True)
class ScalingLoss:
    """What several accelerators of a machine lose to each other, by published tables, and which ones.

    The efficiency of n of them is `exp(-loss * 2 (n - 1) / n)`.
    """

    loss: float
    source: str


def scaling_loss(network: str, gpu: str, counts: Sequence[int], mode: str = "train") -> ScalingLoss:
    """The loss that comes nearest to what published tables say of so many accelerators; `counts` are above one."""
    efficiencies = [scaling_efficiency(network, gpu, count, mode=mode) for count in counts]
    loss = sum(-math.log(efficiency.value) / exchanged(efficiency.gpu_count) for efficiency in efficiencies) / len(
        efficiencies
    )
    most = efficiencies[-1]
    if most.basis == "independent":
        return ScalingLoss(0.0, "several that only infer exchange nothing")
    if most.basis == "transferred":
        span = f"{most.gpu_count} of them {100 * most.low:.0f} to {100 * most.high:.0f} %"
        return ScalingLoss(max(0.0, loss), f"transferred from published tables of other networks and GPUs, {span}")
    return ScalingLoss(max(0.0, loss), f"{most.basis}: {', '.join(most.sources)}")


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

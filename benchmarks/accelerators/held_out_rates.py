"""Published rates left out, told from the others, and what a plain rival tells: batch sizes, accelerators, networks.

Variances and the width of intervals come from other networks (batch sizes: other sources) than the judged one.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from itertools import combinations, permutations
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from sizer.catalog.accelerator_rates import PROCESSOR, AcceleratorRate
from sizer.catalog.gpu_transfer import (
    EMULATORS,
    MEAN,
    MEAN_LOSS,
    TRANSFER_90,
    Effect,
    PublishedStep,
    ScaledRun,
    ScalingVariances,
    TransferVariances,
    efficiency_range,
    family_of,
    gpu_label,
    loss_model,
    overlap,
    passes_of,
    precision_class,
    published_steps,
    rate_model,
    scaled_runs,
    table_of,
)
from sizer.catalog.rate_estimate import rate_at

Array = NDArray[np.float64]
Figure = TypeVar("Figure")
Variances = TypeVar("Variances")

PRIOR_DEVIATION = 1.0
"""Of ln variance around the prior's: without one, effects with few labels run to 0 or beyond all reason."""
SCALING_PRIOR = (0.37,) * 6
TRANSFER_PRIOR = (0.05,) * len(fields(TransferVariances))
TRANSFER_PRIOR_DEVIATION = 3.0
LEAST_SIZES = 3
LARGE = 16
EIGHT = 8
FIRST_YEAR = "2017"
"""Frameworks of before differ by more than any that is in use."""


@dataclass(frozen=True)
class LeftOut:
    """A rate that was left out: ln of what was told over what is true, and the same of plain rivals.

    `deviation` is the standard deviation that was told with it, `covered` whether its interval holds the truth; None
    where the width of intervals is that of the other `group`s (sources, families of networks, GPUs). `others` counts
    what of its own table is known beside it.
    """

    group: str
    error: float
    rivals: tuple[float, ...] = ()
    deviation: float = 1.0
    covered: bool | None = None
    others: int = 0


def covering(some: Sequence[LeftOut]) -> float:
    """How many standard deviations on each side hold 90 % of these."""
    return float(np.quantile([abs(rate.error) / rate.deviation for rate in some], 0.9))


def covered_share(some: Sequence[LeftOut]) -> float:
    """How many intervals hold the truth, where their width is told or is that of the other groups."""
    if some[0].covered is not None:
        return sum(bool(rate.covered) for rate in some) / len(some)
    inside = 0
    for group in {rate.group for rate in some}:
        half = covering([rate for rate in some if rate.group != group])
        inside += sum(abs(rate.error) <= half * rate.deviation for rate in some if rate.group == group)
    return inside / len(some)


def relative(errors: Sequence[float]) -> tuple[float, float]:
    """Median and 90th percentile of what ln errors are as shares."""
    shares = [abs(math.expm1(error)) for error in errors]
    return float(np.median(shares)), float(np.quantile(shares, 0.9))


def curves(rates: Sequence[AcceleratorRate]) -> dict[tuple[object, ...], dict[int, float]]:
    """Rates by batch size that differ in nothing else, where there are enough."""
    by_setting: dict[tuple[object, ...], dict[int, float]] = {}
    for rate in rates:
        if rate.batch_size:
            plain = replace(rate, batch_size=1, samples_per_second=1.0, note=None, commit=None)
            by_setting.setdefault(tuple(vars(plain).values()), {})[rate.batch_size] = rate.samples_per_second
    return {key: dict(sorted(curve.items())) for key, curve in by_setting.items() if len(curve) >= LEAST_SIZES}


def batches_left_out(rates: Sequence[AcceleratorRate]) -> list[LeftOut]:
    """Every second batch size of a curve, each half in turn; its rival are rates that are linear in ln batch."""
    return [
        LeftOut(
            str(key[8]),
            math.log(rate_at(kept, asked).value / curve[asked]),
            (math.log(float(np.interp(math.log(asked), np.log(list(kept)), list(kept.values()))) / curve[asked]),),
        )
        for key, curve in curves(rates).items()
        for kept, asked in _halves(curve)
    ]


def _halves(curve: Mapping[int, float]) -> Iterator[tuple[dict[int, float], int]]:
    sizes = list(curve)
    for start in (0, 1):
        kept = {size: curve[size] for size in sizes[start::2]}
        for asked in sizes[1 - start :: 2]:
            if min(kept) < asked < max(kept):
                yield kept, asked


def growth(rates: Sequence[AcceleratorRate]) -> tuple[float, float]:
    """Ln rate an e-fold of batch between any two large sizes of an accelerator's curve: the median, and its 90 %."""
    slopes = [
        math.log(curve[more] / curve[less]) / math.log(more / less)
        for key, curve in curves(rates).items()
        if not str(key[2]).startswith(PROCESSOR)
        for less in curve
        for more in curve
        if LARGE <= less < more
    ]
    middle = float(np.median(slopes))
    return middle, float(np.quantile([abs(slope - middle) for slope in slopes], 0.9))


def scaling_variances(runs: Sequence[ScaledRun]) -> ScalingVariances:
    """The most likely ones of these runs."""
    values = [run.loss - MEAN_LOSS for run in runs]
    return fitted(ScalingVariances, ScalingVariances.effects, runs, values, SCALING_PRIOR)


def counts_left_out(rates: Sequence[AcceleratorRate]) -> list[LeftOut]:
    """The efficiency of each table's eight accelerators; its rival is that of the largest count that is known."""
    runs = scaled_runs(rates)
    families = {family_of(run.network) for run in runs}
    others = {
        family: scaling_variances([run for run in runs if family_of(run.network) != family]) for family in families
    }
    left_out = []
    for run in (run for run in runs if run.gpu_count == EIGHT):
        fewer = [other for other in runs if other.table == run.table and other.gpu_count < EIGHT]
        others_known = [other for other in runs if other.table != run.table] + fewer
        low, middle, high = efficiency_range(loss_model(others_known, others[family_of(run.network)]), run)
        last = max(fewer, key=lambda run: run.gpu_count).efficiency if fewer else 1.0
        true = run.efficiency
        errors = math.log(middle / true), (math.log(last / true),)
        left_out.append(LeftOut(run.network, *errors, covered=low <= true <= high, others=len(fewer)))
    return left_out


def transfer_variances(steps: Sequence[PublishedStep]) -> TransferVariances:
    """The most likely ones of these rates."""
    values = [step.log_rate - MEAN for step in steps]
    kind = TransferVariances
    return fitted(kind, kind.effects, steps, values, TRANSFER_PRIOR, TRANSFER_PRIOR_DEVIATION)


def networks_left_out(rates: Sequence[AcceleratorRate]) -> list[LeftOut]:
    """Every network between any two GPUs of a table that have another one in common, at the same precision.

    Its rivals are the median ratio of the others, which are counted, and that of peak TFLOP/s.
    """
    steps = published_steps(rates)
    pairs = [
        (given, asked, others)
        for same in _ratios(steps).values()
        for given, asked in same
        if (others := [pair for pair in same if _family(pair[0]) != _family(given)])
    ]
    left_out = []
    for family in sorted({_family(given) for given, *_ in pairs}):
        rest = [step for step in steps if _family(step) != family]
        variances = transfer_variances(rest)
        for given in dict.fromkeys(given for given, *_ in pairs if _family(given) == family):
            model = rate_model([*rest, given], variances)
            asked = [(other, beside) for one, other, beside in pairs if one == given]
            for (other, beside), transferred in zip(asked, model.several([other for other, _ in asked]), strict=True):
                ratio = float(np.median([two.log_rate - one.log_rate for one, two in beside]))
                peak = other.arithmetic - given.arithmetic
                rivals = tuple(given.log_rate + step - other.log_rate for step in (ratio, peak))
                count = len({_family(one) for one, _ in beside})
                left_out.append(
                    LeftOut(family, transferred.mean - other.log_rate, rivals, transferred.deviation, others=count)
                )
    return left_out


def _family(step: PublishedStep) -> str:
    return family_of(step.network)


def _ratios(steps: Sequence[PublishedStep]) -> dict[tuple[object, ...], list[tuple[PublishedStep, PublishedStep]]]:
    """By table, passes, precision and both GPUs: the two rates of each network."""
    series: dict[tuple[str, ...], list[PublishedStep]] = defaultdict(list)
    for step in steps:
        series[step.series].append(step)
    ratios: dict[tuple[object, ...], list[tuple[PublishedStep, PublishedStep]]] = defaultdict(list)
    for same in series.values():
        for one, other in permutations(same, 2):
            if one.precision == other.precision:
                ratios[one.table, passes_of(one.mode), one.precision, one.gpu, other.gpu].append((one, other))
    return ratios


def fitted(
    kind: Callable[..., Variances],
    effects: Callable[[Variances], Sequence[Effect[Figure]]],
    figures: Sequence[Figure],
    values: Sequence[float],
    prior: Sequence[float],
    prior_deviation: float = PRIOR_DEVIATION,
) -> Variances:
    """Variances of `kind`, whose fields are those of its effects in their order, then the noise.

    Effects beyond these fields have a variance of their own, which stays. `prior` are the variances that are likely
    before any figure is seen.
    """
    start, residuals = np.log(prior), np.array(values)
    made = effects(kind(*prior))
    shared = [overlap(effect, figures, figures) for effect in made]
    free = len(prior) - 1
    fixed = sum(
        (effect.variance * part for effect, part in zip(made[free:], shared[free:], strict=True)),
        start=np.zeros((len(figures), len(figures))),
    )
    parts = [*shared[:free], np.eye(len(figures))]

    def cost(logs: Array) -> tuple[float, Array]:
        variances = np.exp(logs)
        total = fixed + sum(variance * part for variance, part in zip(variances, parts, strict=True))
        inverse = np.linalg.inv(total)
        weights = inverse @ residuals
        towards = (logs - start) / prior_deviation
        spread = inverse - np.outer(weights, weights)
        slopes = [
            0.5 * variance * float((spread * part).sum()) for variance, part in zip(variances, parts, strict=True)
        ]
        value = (
            0.5 * float(residuals @ weights) + 0.5 * float(np.linalg.slogdet(total)[1]) + 0.5 * float(towards @ towards)
        )
        return value, np.array(slopes) + towards / prior_deviation

    optimum = minimize(cost, start, jac=True, method="L-BFGS-B", bounds=[(math.log(1e-4), math.log(10.0))] * len(prior))
    return kind(*(float(f"{value:.3g}") for value in np.exp(optimum.x)))


def judged(rates: Sequence[AcceleratorRate]) -> list[AcceleratorRate]:
    """Rates of one accelerator that somebody measured."""
    return [
        rate
        for rate in rates
        if rate.gpu_count == 1 and not rate.gpu.startswith(PROCESSOR) and not rate.source.startswith(EMULATORS)
    ]


def without_gpu(rates: Sequence[AcceleratorRate]) -> list[LeftOut]:
    """Every rate on a GPU, told from each series' rate on the GPU that is nearest by its data sheet.

    The variances, too, come from the other GPUs alone.
    """
    steps, left_out = published_steps(rates), []
    for gpu in sorted({step.gpu for step in steps}):
        rest = [step for step in steps if step.gpu != gpu]
        asked = [(step, near) for step in steps if step.gpu == gpu and (near := _nearest(step, rest)) is not None]
        if not asked:
            continue
        model = rate_model(rest, transfer_variances(rest))
        for (step, near), transferred in zip(asked, model.several([step for step, _ in asked]), strict=True):
            peak = near.log_rate + step.arithmetic - near.arithmetic - step.log_rate
            error = transferred.mean - step.log_rate
            covered = abs(error) <= TRANSFER_90 * transferred.deviation
            left_out.append(LeftOut(gpu, error, (peak,), transferred.deviation, covered))
    return left_out


def _nearest(step: PublishedStep, rest: Sequence[PublishedStep]) -> PublishedStep | None:
    def apart(other: PublishedStep) -> float:
        return abs(other.bandwidth - step.bandwidth) + abs(other.arithmetic - step.arithmetic)

    return min((other for other in rest if other.series == step.series), key=apart, default=None)


def apart(rates: Sequence[AcceleratorRate], same_framework: bool) -> tuple[float, int]:
    """Ln of how far 90 % of two tables lie apart at one GPU, network, precision and batch size, and how many pairs.

    Of one framework: tables of two publishers. Of two frameworks: also a publisher's own comparison, and every pair of
    publishers weighs the same, since one compares ten frameworks and another two.
    """
    by_publishers: dict[tuple[str, ...], list[float]] = defaultdict(list)
    for one, other in _pairs(rates):
        publishers = tuple(sorted((table_of(one), table_of(other))))
        same = one.framework_name == other.framework_name
        if same is same_framework and (not same or len(set(publishers)) > 1):
            by_publishers[publishers].append(abs(math.log(one.samples_per_second / other.samples_per_second)))
    weight = {key: 1.0 if same_framework else 1 / len(gaps) for key, gaps in by_publishers.items()}
    sized = sorted((gap, weight[key]) for key, gaps in by_publishers.items() for gap in gaps)
    total, seen = sum(share for _, share in sized), 0.0
    for gap, share in sized:
        seen += share
        if seen >= 0.9 * total:
            return gap, len(sized)
    raise ValueError("no two tables have a rate in common")


def _pairs(rates: Sequence[AcceleratorRate]) -> Iterator[tuple[AcceleratorRate, AcceleratorRate]]:
    alike: dict[tuple[object, ...], list[AcceleratorRate]] = defaultdict(list)
    for rate in judged(rates):
        if rate.as_of >= FIRST_YEAR:
            key = (
                gpu_label(rate.gpu, rate.form),
                rate.network,
                passes_of(rate.mode),
                precision_class(rate.precision),
                rate.batch_size,
                rate.input_size,
            )
            alike[key].append(rate)
    for same in alike.values():
        yield from combinations(same, 2)

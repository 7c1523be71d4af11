"""Configurations -> predicted throughput with its interval, the share of each stage and the bottleneck."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np

from sizer.model.beliefs import of_cpus
from sizer.model.equation import STAGES, Array, Draws, Solution, build_rows, solve, without
from sizer.model.memory import does_not_fit
from sizer.model.model import Gpus, WhatIf, WorkloadModel, batch_of, disk_of, gpus_of, memory_of, name_of_disk, vcpus_of
from sizer.model.posterior import FREEDOM, Misfit, Places, believed, misfit_of
from sizer.model.refusals import check_axes, check_what_if, not_fitted
from sizer.model.runs import with_usual_accelerator
from sizer.model.transfer import refused_there, transferred
from sizer.records.prediction import Bottleneck, Configuration, Estimate, Prediction, ReasonCode, Refusal, Refused

AT_ONCE = 256
"""Configurations that are computed together: of more, the numbers no longer lie in the CPU's cache."""
FURTHER = 0.2
"""Standard deviation of ln rate added for each e-fold outside the measured range. By hand."""
LOW, HIGH = 0.05, 0.95
"""Ends of an interval."""
NOISE_VALUES = 4
"""Values of the noise of a new run for each draw."""
FEWEST_OTHERS = 4
"""Configurations from which on each is told by the others."""
UNKNOWN_NEXT = 0.4
"""Width of the 90 % interval of ln gain from which on the next limit is rather believed than known."""
SEED = 2018
SLOWEST = -50.0
"""Ln of a rate that no machine is below."""
CLOSE = 0.15
"""Two leading shares closer than this name no single bottleneck."""
CPU_LIKE = {Bottleneck.CPU, Bottleneck.SERIAL}
DISK_LIKE = {Bottleneck.DISK_BANDWIDTH, Bottleneck.DISK_IOPS, Bottleneck.DISK_WRITE, Bottleneck.MEMORY}
STAGES_OF = {
    Bottleneck.CPU: ("cpu",),
    Bottleneck.SERIAL: ("serial",),
    Bottleneck.DISK_IOPS: ("read", "latency"),
    Bottleneck.DISK_BANDWIDTH: ("read", "latency"),
    Bottleneck.DISK_WRITE: ("write",),
    Bottleneck.ACCELERATOR: ("accelerator",),
    Bottleneck.MEMORY: ("memory",),
}


@dataclass(frozen=True)
class Rates:
    """What the draws say of n configurations.

    `mean` (D, n) is ln rate, pulled to what was measured; `left` (D, n) is the variance of what the equation does not
    say there, `further` (n,) of what it says less and less well beyond what was measured; `noise` the standard
    deviation of ln rate of a new run.
    """

    mean: Array
    left: Array
    further: Array
    noise: float
    solution: Solution

    @property
    def centre(self) -> Array:
        """Ln rate (n,)."""
        return np.asarray(np.median(self.mean, axis=0))

    def drawn(self, times: int) -> Array:
        """Ln of the true mean rates (times x D, n): what the equation does not say of each is drawn by itself."""
        random = np.random.default_rng(SEED)
        mean, left = np.tile(self.mean, (times, 1)), np.tile(self.left, (times, 1))
        return np.asarray(mean + np.sqrt(left) * random.standard_normal(mean.shape))

    def gained(self, place: int, other: int) -> Array:
        """Ln of how many times as fast the other place is (D,): what the equation does not say of each is drawn."""
        pair = [place, other]
        drawn = np.random.default_rng(SEED).standard_normal((len(self.mean), 2))
        both = self.mean[:, pair] + np.sqrt(self.left[:, pair]) * drawn
        return np.asarray(both[:, 1] - both[:, 0])

    def reaches(self, place: int, other: int, share: float) -> float:
        """P(the true rate of one place >= share x that of another)."""
        from scipy.special import ndtr

        margin = self.mean[:, place] - self.mean[:, other] - math.log(share)
        spread = np.sqrt(self.left[:, place] + self.left[:, other])
        return float(ndtr(margin / np.maximum(spread, 1e-9)).mean())

    def gives(self, place: int, rate: float) -> float:
        """P(a new run there makes at least so many samples per second)."""
        from scipy.special import ndtr

        margin = self.mean[:, place] - math.log(rate)
        return float(ndtr(margin / np.sqrt(self.left[:, place] + self.further[place] + self.noise**2)).mean())

    def new_runs(self) -> list[Estimate]:
        """Of each the rate, with the 90 % interval of a new run."""
        spread = np.sqrt(self.left + self.further + self.noise**2)
        some = [self.mean + spread * _noise(len(self.mean), part)[:, None] for part in range(NOISE_VALUES)]
        low, high = np.exp(np.quantile(np.concatenate(some), (LOW, HIGH), axis=0))
        value = np.exp(self.centre)
        return [
            Estimate(float(v), min(float(v), float(a)), max(float(v), float(b)))
            for v, a, b in zip(value, low, high, strict=True)
        ]


@cache
def _noise(count: int, part: int) -> Array:
    """Student's t (count,), the same each time."""
    return np.asarray(np.random.default_rng([SEED, part]).standard_t(FREEDOM, count))


def rates(model: WorkloadModel, configurations: Sequence[Configuration], what_if: WhatIf = WhatIf()) -> Rates:
    """The draws at many configurations at once; asks nothing about whether they were measured."""
    assert model.posterior is not None, "only fitted models are asked"
    usual = [with_usual_accelerator(model.measured, configuration) for configuration in configurations]
    rows = build_rows(model.facts, model.measured, usual, what_if)
    learnt = _learnt(model)
    machines = [*model.facts.measured_on, *filter(None, rows.machines)] if any(rows.machines) else []
    solution = solve(believed(learnt.draws, of_cpus(model.facts, machines)) if machines else learnt.draws, rows)
    there = Places(model.facts, usual, [model.facts.feed] * len(usual))
    pull, left = learnt.misfit.conditional(learnt.residuals, learnt.scale, there)
    log_rate = np.nan_to_num(solution.log_rate, nan=SLOWEST, neginf=SLOWEST, posinf=-SLOWEST)
    further = np.array([(FURTHER * outside(model, configuration)) ** 2 for configuration in usual])
    return Rates(log_rate + pull, left, further, model.posterior.noise, solution)


def on_real_gpus(model: WorkloadModel, configurations: Sequence[Configuration]) -> Array | None:
    """Draws (D, n) of ln of how many times as fast as it was measured each of these is where its emulated accelerator
    is a real one, 0 where its rate is a published one; None where all are."""
    if model.posterior is None or not any(name.startswith("real:") for name in model.posterior.names):
        return None
    rows, draws = build_rows(model.facts, model.measured, configurations), _learnt(model).draws
    return np.asarray(solve(draws, rows).log_rate - solve(draws, replace(rows, observed=True)).log_rate)


def throughputs(model: WorkloadModel, configurations: Sequence[Configuration]) -> list[Estimate]:
    """What `predict` says of the rate at each; asks nothing about whether it can be predicted."""
    return _as_measured(model, configurations, rates(model, configurations))


def throughputs_or_none(model: WorkloadModel, configurations: Sequence[Configuration]) -> list[Estimate | None]:
    """The same; None where it cannot, or a run would not complete."""
    usual = [with_usual_accelerator(model.measured, configuration) for configuration in configurations]
    has_rate = [_without_rate(model, configuration, WhatIf()) is None for configuration in usual]
    asked = [configuration for configuration, has in zip(usual, has_rate, strict=True) if has]
    estimates = iter(throughputs(model, asked) if asked else [])
    return [next(estimates) if has else None for has in has_rate]


@dataclass(frozen=True)
class _Learnt:
    """The draws, and how far each measured configuration lies off each (D, n)."""

    draws: Draws
    misfit: Misfit
    residuals: Array
    scale: Array


def _learnt(model: WorkloadModel) -> _Learnt:
    """Kept by the posterior, as every question needs it."""
    posterior = model.posterior
    assert posterior is not None, "only fitted models are asked"
    if "learnt" not in posterior.kept:
        draws = Draws(posterior.names, np.array(posterior.vectors))
        fed = [observation for observation in posterior.seen if not observation.starved]
        rows = build_rows(model.facts, model.measured, [observation.configuration for observation in fed], seen=fed)
        residuals = np.array([observation.log_rate for observation in fed]) - solve(draws, rows).log_rate
        misfit = misfit_of(model.facts, fed)
        posterior.kept["learnt"] = _Learnt(draws, misfit, residuals, np.exp(draws["misfit"]))
    learnt: _Learnt = posterior.kept["learnt"]
    return learnt


@dataclass(frozen=True)
class LeftOut:
    """A measured configuration, and what is predicted of it without its own runs; samples/s."""

    configuration: Configuration
    measured: float
    predicted: float


def left_out(model: WorkloadModel) -> list[LeftOut]:
    """Of each configuration that predictions are about what the others tell; none of fewer than four.

    Draws are weighed by one over the likelihood of what is left out (Gelfand 1996).
    """
    posterior = model.posterior
    fed = [] if posterior is None else [observation for observation in posterior.seen if not observation.starved]
    if len(fed) < FEWEST_OTHERS:
        return []
    learnt = _learnt(model)
    off, variance = learnt.misfit.left_out(learnt.residuals, learnt.scale)
    log_weight = 0.5 * (off**2 / variance + np.log(variance))
    weight = np.exp(log_weight - log_weight.max(axis=0))
    mean = (weight * off).sum(axis=0) / weight.sum(axis=0)
    return [
        LeftOut(
            observation.configuration, math.exp(observation.log_rate), math.exp(observation.log_rate - float(error))
        )
        for observation, error in zip(fed, mean, strict=True)
        if observation.feed == model.facts.feed
    ]


def outside(model: WorkloadModel, configuration: Configuration) -> float:
    """How far outside the measured range, in e-folds over the axes; 0 inside."""
    measured = model.measured
    axes: tuple[tuple[float, Sequence[float]], ...] = (
        (vcpus_of(configuration), measured.vcpus),
        (batch_of(configuration), measured.batch_size),
        (gpus_of(configuration), measured.counts),
        (memory_of(configuration), measured.memory_bytes if model.facts.may_cache else ()),
    )
    return sum(
        max(0.0, math.log(measured[0] / value), math.log(value / measured[-1]))
        for value, measured in axes
        if measured and value
    )


def predict(model: WorkloadModel, configuration: Configuration, what_if: WhatIf = WhatIf()) -> Prediction:
    """The model's answer at one configuration.

    Raises Refused where the runs cannot say: an axis with fewer than three values between its measured ones, a disk
    without figures, a what-if about a stage that was not separated.
    """
    (prediction,) = predict_several(model, [configuration], what_if)
    if isinstance(prediction, Refusal):
        raise Refused(prediction)
    return prediction


def is_out_of_memory(model: WorkloadModel, configuration: Configuration, what_if: WhatIf = WhatIf()) -> bool:
    """Whether it would run out of memory; raises Refused where `predict` does."""
    without = _without_rate(model, with_usual_accelerator(model.measured, configuration), what_if)
    if isinstance(without, Refusal):
        raise Refused(without)
    return without is not None


def predict_several(
    model: WorkloadModel, configurations: Sequence[Configuration], what_if: WhatIf = WhatIf()
) -> list[Prediction | Refusal]:
    """The model's answer at each of many configurations, or why it has none, which `predict` raises.

    What one of them gives does not depend on the others.
    """
    answers_of_all: list[Prediction | Refusal] = []
    for start in range(0, len(configurations), AT_ONCE):
        some = [
            with_usual_accelerator(model.measured, configuration)
            for configuration in configurations[start : start + AT_ONCE]
        ]
        refusals = [_without_rate(model, run, what_if) for run in some]
        asked = [at for at, its in zip(some, refusals, strict=True) if its is None]
        answers = iter(_predictions(model, asked, what_if) if asked else [])
        answers_of_all += [next(answers) if its is None else its for its in refusals]
    return answers_of_all


def predictions(model: WorkloadModel, configurations: Sequence[Configuration]) -> dict[Configuration, Prediction]:
    """The model's answers by configuration. Raises Refused where one has none."""
    distinct = list(dict.fromkeys(configurations))
    by_configuration: dict[Configuration, Prediction] = {}
    for configuration, answer in zip(distinct, predict_several(model, distinct), strict=True):
        if isinstance(answer, Refusal):
            raise Refused(answer)
        by_configuration[configuration] = answer
    return by_configuration


def _without_rate(model: WorkloadModel, at: Configuration, what_if: WhatIf) -> Prediction | Refusal | None:
    """What is said of one that would run out of memory, or of whose rate the runs say nothing; else None."""
    try:
        check_what_if(model, at, what_if)
        if does_not_fit(model.measured, at):
            nothing, beyond = Estimate(0.0, 0.0, 0.0), outside(model, at) > 0
            return Prediction(model.name, at, nothing, Bottleneck.MEMORY, {"memory": 1.0}, beyond, True)
        is_measured = what_if == WhatIf() and model.measured.rate_at(at) is not None
        # Where only a curve is lacking, a measured size on another machine needs none.
        no_curve = model.refused is not None and model.refused.reason.code is ReasonCode.TOO_FEW_VALUES
        if model.refused and not is_measured and not (no_curve and at.machine is not None):
            raise not_fitted(model)
        check_axes(model, at)
        if (elsewhere := refused_there(model.facts, at)) is not None:
            raise Refused(elsewhere)
        if model.posterior is None:
            raise not_fitted(model)
    except Refused as error:
        return error.refusal
    return None


def _predictions(model: WorkloadModel, configurations: Sequence[Configuration], what_if: WhatIf) -> list[Prediction]:
    """Of configurations that have an answer and enough memory."""
    answered, plain = rates(model, configurations, what_if), what_if == WhatIf()
    rows = answered.solution.rows
    shares = [shares_by_bottleneck(*parts) for parts in zip(answered.solution.shares, rows.read_is_iops, strict=True)]
    evidence = [model.measured.evidence_at(configuration) if plain else None for configuration in configurations]
    binding = [bottleneck_of(share, its) for share, its in zip(shares, evidence, strict=True)]
    for place, configuration in enumerate(configurations):
        if not _is_shown(model, configuration, binding[place], bool(rows.is_free[place])):
            binding[place], shares[place] = Bottleneck.AMBIGUOUS, {}
    headrooms = _headrooms(answered, binding) if plain else [None] * len(binding)
    estimates = _as_measured(model, configurations, answered) if plain else answered.new_runs()
    return [
        Prediction(
            workload=model.name,
            configuration=configuration,
            throughput=estimate,
            bottleneck=bottleneck,
            shares=share,
            extrapolated=what_if.disk_rates is not None or outside(model, configuration) > 0,
            headroom=headroom,
            transferred=transferred(model.facts, configuration),
        )
        for configuration, estimate, bottleneck, share, headroom in zip(
            configurations, estimates, binding, shares, headrooms, strict=True
        )
    ]


def _as_measured(model: WorkloadModel, configurations: Sequence[Configuration], answered: Rates) -> list[Estimate]:
    """Of rows without accounting what their own runs gave: the answer among rows and a prediction are one figure."""
    if model.refused is None and model.facts.core_seconds is not None:
        return answered.new_runs()
    rows = [model.measured.rate_at(configuration) for configuration in configurations]
    return [
        estimate if row is None else row.of_new_run for row, estimate in zip(rows, answered.new_runs(), strict=True)
    ]


def _headrooms(answered: Rates, binding: Sequence[Bottleneck]) -> list[float | None]:
    """The relative gain if this resource cost no time; None where no other limit is known, or none is named."""
    gains: list[float | None] = [None] * len(binding)
    for bottleneck in set(binding) & set(STAGES_OF):
        places = [place for place, bound_by in enumerate(binding) if bound_by is bottleneck]
        drawn = without(answered.solution, STAGES_OF[bottleneck])[:, places]
        for place, (low, value, high) in zip(places, np.quantile(drawn, (LOW, 0.5, HIGH), axis=0).T, strict=True):
            gains[place] = math.expm1(value) if high - low <= UNKNOWN_NEXT else None
    return gains


def shares_by_bottleneck(shares: Array, read_is_iops: bool) -> dict[str, float]:
    """Shares of the stages (stages,) by the name of the resource.

    Only resources that the workload touches are named; shares sum to one.
    """
    stage = dict(zip(STAGES, map(float, shares), strict=True))
    other = Bottleneck.DISK_BANDWIDTH if read_is_iops else Bottleneck.DISK_IOPS
    named = {
        name.value: sum(stage[stage_name] for stage_name in its) for name, its in STAGES_OF.items() if name is not other
    }
    total = sum(named.values())
    return {name: share / total for name, share in named.items() if share > 1e-9}


def bottleneck_of(shares: dict[str, float], evidence: Bottleneck | None) -> Bottleneck:
    """The largest share; ambiguous where two are close, or where accounting of the same configuration names another.

    Of CPU and a serial part that are close, accounting decides: it sees whether the vCPUs were busy.
    """
    first, *others = sorted(map(Bottleneck, shares), key=lambda name: shares[name], reverse=True)
    if others and shares[first] - shares[others[0]] <= CLOSE and not _alike(first, others[0]):
        return Bottleneck.AMBIGUOUS
    if evidence is None or evidence is first:
        return first
    if {evidence, first} == CPU_LIKE and shares[first] - shares.get(evidence, 0.0) <= CLOSE:
        return evidence
    return first if _alike(evidence, first) else Bottleneck.AMBIGUOUS


def _is_shown(model: WorkloadModel, configuration: Configuration, bottleneck: Bottleneck, disk_is_free: bool) -> bool:
    """Whether the runs can tell that this binds: by accounting, or because what relieves it was varied.

    Only runs at several numbers of vCPUs on one disk tell a CPU, a serial part and an accelerator apart, and at one of
    them only accounting shows a serial part. Only other disks, or sizes of memory, show a disk of which nothing but
    rates is known, which `disk_is_free` says.
    """
    facts, measured = model.facts, model.measured
    evidence = measured.evidence_at(configuration)
    if bottleneck is Bottleneck.SERIAL and len(measured.vcpus) == 1:
        return evidence is bottleneck
    if bottleneck in DISK_LIKE and disk_is_free:
        return evidence is bottleneck or len(measured.disks) > 1 or len(measured.memory_bytes) > 1
    if facts.core_seconds is not None or evidence is not None or bottleneck in DISK_LIKE:
        return True
    if bottleneck is Bottleneck.ACCELERATOR and facts.accelerator_rates:
        return True
    disk = disk_of(configuration)
    vcpus = (vcpus_of(rate.configuration) for rate in measured.rates if disk_of(rate.configuration) == disk)
    first = next(vcpus, None)
    return any(others != first for others in vcpus)


def _alike(one: Bottleneck, other: Bottleneck) -> bool:
    """Accounting cannot distinguish a serial part from a busy CPU, nor a disk's limits from one another."""
    return any({one, other} <= kind for kind in (CPU_LIKE, DISK_LIKE))


def filled(model: WorkloadModel, given: Mapping[str, Any]) -> Configuration:
    """The configuration with what is given (by field of Configuration), and the rest as it was measured.

    Each axis at its largest where that was measured, or sizer accounted what a sample needs; else that of the fastest
    measured configuration with all that is given, or of one that ran out of memory with it.
    """
    measured = model.measured
    usual = measured.gpus[0] if measured.gpus else Gpus()
    if "gpu" in given:
        usual = next((gpu for gpu in measured.gpus if gpu.gpu == given["gpu"]), Gpus(given["gpu"], usual.count))
    largest = Configuration(
        vcpus=max(measured.vcpus, default=None),
        memory_bytes=max(measured.memory_bytes, default=None),
        disk=measured.disks[0].name if measured.disks else None,
        batch_size=max(measured.batch_size, default=None),
        gpu=usual.gpu,
        gpu_count=usual.count,
    )
    largest = replace(largest, **given)
    if model.facts.core_seconds is not None or any(rate.configuration == largest for rate in measured.rates):
        return largest
    fastest = sorted(measured.rates, key=lambda rate: -rate.throughput.value)
    agreeing = [at for at in (*(r.configuration for r in fastest), *measured.did_not_fit) if _agrees(at, given)]
    return replace(agreeing[0], **given) if agreeing else largest


def _agrees(at: Configuration, given: Mapping[str, Any]) -> bool:
    return all(
        disk_of(at) == name_of_disk(value) if name == "disk" else getattr(at, name) == value
        for name, value in given.items()
    )

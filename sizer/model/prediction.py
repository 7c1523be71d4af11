"""Configurations -> predicted throughput with its interval, the share of each stage and the bottleneck."""

from __future__ import annotations

import itertools
import math
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import NamedTuple

import numpy as np

from sizer.model import advice
from sizer.model.attribution import (
    FASTER,
    Attributed,
    Rivals,
    at_measured_vcpus,
    bottleneck_of,
    may_be_the_disk,
    not_the_disks,
    rivals,
    shares_by_bottleneck,
    shown,
    shown_by_an_axis,
    with_accounted_cpu,
)
from sizer.model.coordinates import memory_of, or_unknown, vcpus_of
from sizer.model.equation import LATENCY, Array
from sizer.model.feeds import with_usual_accelerator
from sizer.model.intervals import outside, place_of, throughputs
from sizer.model.memory import does_not_fit, needed_bytes
from sizer.model.model import WhatIf, WorkloadModel
from sizer.model.onward import Onward, is_open, look_onward, onward, split_by_last_doubling
from sizer.model.predicted_rates import PredictedRates, mean_rates, predict_rates
from sizer.model.relief import headrooms
from sizer.model.stages import as_good
from sizer.records import Bottleneck, Configuration, Estimate, Prediction, Refusal, Refused

AT_ONCE = 256
"""Configurations that are computed together: of more, the numbers no longer lie in the CPU's cache."""


def predict(model: WorkloadModel, configuration: Configuration, what_if: WhatIf = WhatIf()) -> Prediction:
    """The model's answer at one configuration.

    Raises Refused where the runs cannot say: an axis with fewer than three values between its measured ones, a disk
    without figures, a what-if about a stage that was not separated.
    """
    (found,) = predict_several(model, [configuration], what_if)
    if isinstance(found, Refusal):
        raise Refused(found)
    return found


def predict_rate(model: WorkloadModel, configuration: Configuration, what_if: WhatIf = WhatIf()) -> Estimate:
    """Its throughput alone, for a quarter of the time; 0 where it would run out of memory. Raises Refused as well."""
    return _without_binding(model, configuration, what_if).throughput


def _without_binding(model: WorkloadModel, configuration: Configuration, what_if: WhatIf = WhatIf()) -> Prediction:
    """Raises Refused."""
    (found,) = predict_several(model, [configuration], what_if, with_headroom=False, with_bottleneck=False)
    if isinstance(found, Refusal):
        raise Refused(found)
    return found


def predict_several(
    model: WorkloadModel,
    configurations: Sequence[Configuration],
    what_if: WhatIf = WhatIf(),
    with_headroom: bool = True,
    with_bottleneck: bool = True,
) -> list[Prediction | Refusal]:
    """The model's answer at each of many configurations, or why it has none, which `predict` raises.

    What one of them gives does not depend on the others. Without its headroom an answer takes half of the time; with
    neither that nor its bottleneck, which is ambiguous then, and without shares, a quarter.
    """
    found: list[Prediction | Refusal] = []
    for start in range(0, len(configurations), AT_ONCE):
        some = _answered(model, configurations[start : start + AT_ONCE], what_if, with_bottleneck)
        if what_if != WhatIf():
            some = _held_by_measured_disks(model, some, what_if)
        elif with_headroom and with_bottleneck:
            some = _with_headroom(model, some)
        found += some
    return found


def predictions(model: WorkloadModel, configurations: Sequence[Configuration]) -> dict[Configuration, Prediction]:
    """The model's answers, without their headrooms, by configuration. Raises Refused where one has none."""
    distinct = list(dict.fromkeys(configurations))
    found: dict[Configuration, Prediction] = {}
    for configuration, answer in zip(distinct, predict_several(model, distinct, with_headroom=False), strict=True):
        if isinstance(answer, Refusal):
            raise Refused(answer)
        found[configuration] = answer
    return found


def _answered(
    model: WorkloadModel, configurations: Sequence[Configuration], what_if: WhatIf, with_bottleneck: bool = True
) -> list[Prediction | Refusal]:
    """By each configuration's own disk alone, and without headrooms."""
    found: dict[int, Prediction | Refusal] = {}
    asked: dict[int, Configuration] = {}
    for number, configuration in enumerate(configurations):
        usual = with_usual_accelerator(model.measured, configuration)
        try:
            if _fits(model, usual, what_if):
                asked[number] = usual
            else:
                found[number] = _out_of_memory(model, usual)
        except Refused as error:
            found[number] = error.refusal
    if asked:
        found.update(zip(asked, _predictions(model, list(asked.values()), what_if, with_bottleneck), strict=True))
    return [found[number] for number in range(len(configurations))]


def _fits(model: WorkloadModel, configuration: Configuration, what_if: WhatIf) -> bool:
    """Whether a run would have enough memory; raises Refused where it would and the runs cannot say how fast it is."""
    advice.check_what_if(model, configuration, what_if)
    if does_not_fit(model.measured, configuration):
        return False
    if model.refused and (what_if != WhatIf() or model.measured.rate_at(configuration) is None):
        raise advice.not_fitted(model)
    advice.check_axes(model, configuration)
    if not model.members:
        raise advice.not_fitted(model)
    return True


def _out_of_memory(model: WorkloadModel, configuration: Configuration) -> Prediction:
    nothing = Estimate(0.0, 0.0, 0.0)
    beyond = outside(model, configuration) > 0
    return Prediction(model.name, configuration, nothing, Bottleneck.MEMORY, {"memory": 1.0}, beyond, True)


def _held_by_measured_disks(
    model: WorkloadModel, found: Sequence[Prediction | Refusal], what_if: WhatIf
) -> list[Prediction | Refusal]:
    """The same, on a supposed disk no faster than on a measured one that is as good in every figure.

    Runs show of a disk what its figures do not: how long it makes a worker wait, and how much of its figures a job
    gets. Nothing is known of that for a supposed one, which must not look faster for it.
    """
    held = list(found)
    if what_if.disk_rates is None:
        return held
    asked = {n: each for n, each in enumerate(found) if isinstance(each, Prediction) and not each.out_of_memory}
    for disk in model.measured.disks:
        if not as_good(model.facts, disk.rates, what_if.disk_rates):
            continue
        places = [replace(each.configuration, disk=disk.name) for each in asked.values()]
        measured = _answered(model, places, replace(what_if, disk_rates=None))
        for number, there in zip(asked, measured, strict=True):
            if isinstance(there, Prediction):
                rate = asked[number].throughput
                factor = min(1.0, there.throughput.value / rate.value)
                rate = Estimate(rate.value * factor, rate.low * factor, rate.high * factor)
                asked[number] = held[number] = replace(asked[number], throughput=rate)
    return held


def _with_headroom(model: WorkloadModel, found: Sequence[Prediction | Refusal]) -> list[Prediction | Refusal]:
    asked = {n: each for n, each in enumerate(found) if isinstance(each, Prediction) and not each.out_of_memory}
    places, binding = [each.configuration for each in asked.values()], [each.bottleneck for each in asked.values()]
    with_it = {
        number: replace(prediction, headroom=headroom)
        for (number, prediction), headroom in zip(asked.items(), headrooms(model, places, binding), strict=True)
    }
    return [with_it.get(number, each) for number, each in enumerate(found)]


def _predictions(
    model: WorkloadModel, configurations: Sequence[Configuration], what_if: WhatIf, with_bottleneck: bool
) -> list[Prediction]:
    """Of configurations that have an answer and enough memory, without headrooms."""
    between = _rates_between(model, configurations, what_if)
    rates, plain = between.rates, what_if == WhatIf()
    look_onward(model, configurations, with_shares=with_bottleneck)
    beyond = [onward(model, each) if plain else None for each in configurations]
    places = [place_of(model, each) for each in configurations]
    estimates = throughputs(model, places, rates, between.around, what_if, beyond)
    bound = [_Bound(Bottleneck.AMBIGUOUS, {})] * len(configurations)
    if with_bottleneck:
        bound = _bound(model, configurations, rates, plain, beyond)
    return [
        Prediction(
            workload=model.name,
            configuration=place.configuration,
            throughput=estimate,
            bottleneck=each.bottleneck,
            shares=each.shares,
            extrapolated=what_if.disk_rates is not None or place.is_beyond,
            or_disk=each.or_disk,
        )
        for place, estimate, each in zip(places, estimates, bound, strict=True)
    ]


class _Bound(NamedTuple):
    """What binds a configuration; no shares where the runs do not show it."""

    bottleneck: Bottleneck
    shares: dict[str, float]
    or_disk: bool = False


def _bound(
    model: WorkloadModel,
    configurations: Sequence[Configuration],
    rates: PredictedRates,
    plain: bool,
    beyond: Sequence[Onward | None],
) -> list[_Bound]:
    found = _attributed(model, configurations, rates)
    own = _own_rates(model, [c for c, each in zip(configurations, beyond, strict=True) if each is not None])
    told = zip(configurations, found, _may_be_disks(model, configurations, found), beyond, strict=True)
    return [_binding(model, here, each.shares, plain, doubted, further, own) for here, each, doubted, further in told]


def _may_be_disks(
    model: WorkloadModel, configurations: Sequence[Configuration], found: Sequence[Attributed]
) -> list[bool]:
    """Of each whether it is a plateau that may as well be the disk's."""
    together = zip(configurations, found, strict=True)
    doubted = dict.fromkeys(here for here, each in together if may_be_the_disk(model, here, each))
    others = {here: not_the_disks(model, here) for here in doubted}
    alike = {here: replace(here, vcpus=None) for here in doubted}
    curves = {each: at_measured_vcpus(model, each) for each in dict.fromkeys(alike.values())}
    asked = (each for some in others.values() for each, _ in some)
    known = _own_rates(model, [*doubted, *asked, *itertools.chain(*curves.values())])
    highest = {each: list(itertools.accumulate((known[at] for at in curve), max)) for each, curve in curves.items()}

    def may_be(here: Configuration) -> bool:
        fewer = bisect_left(model.measured.vcpus, vcpus_of(here))
        gains = [sign * (known[other] - known[here]) for other, sign in others[here]]
        gains += [highest[alike[here]][fewer - 1] - known[here]] if fewer else []
        return max(gains, default=0.0) <= FASTER

    return [here in doubted and may_be(here) for here in configurations]


def _binding(
    model: WorkloadModel,
    configuration: Configuration,
    shares: dict[str, float],
    plain: bool,
    doubted: bool,
    beyond: Onward | None,
    own: Mapping[Configuration, float],
) -> _Bound:
    evidence = model.measured.evidence_at(configuration) if plain else None
    open_ended = beyond is not None and is_open(own[configuration], beyond)
    bottleneck = Bottleneck.AMBIGUOUS if open_ended else bottleneck_of(shares, evidence)
    if not shown(model, configuration, bottleneck, shares):
        return _Bound(Bottleneck.AMBIGUOUS, {})
    return _Bound(Bottleneck.AMBIGUOUS if doubted else bottleneck, shares, doubted)


def _attributed(
    model: WorkloadModel, configurations: Sequence[Configuration], rates: PredictedRates
) -> list[Attributed]:
    """Of each the shares by the name of the resource, as far as the runs show them."""
    found = [
        split_by_last_doubling(
            model,
            configuration,
            shares_by_bottleneck(rates.shares[row], float(rates.contention[row]), bool(rates.read_is_iops[row])),
        )
        for row, configuration in enumerate(configurations)
    ]
    others = [rivals(model, each, shares) for each, shares in zip(configurations, found, strict=True)]
    known = _own_rates(model, [rival for each in others for rival in (*each.elsewhere, *each.with_more)])
    return [
        _shown(model, configuration, shares, float(rates.shares[row, LATENCY]), others[row], rates.mean[row], known)
        for row, (configuration, shares) in enumerate(zip(configurations, found, strict=True))
    ]


def _shown(
    model: WorkloadModel,
    configuration: Configuration,
    shares: dict[str, float],
    waits: float,
    others: Rivals,
    here: float,
    known: Mapping[Configuration, float],
) -> Attributed:
    """The shares by what the best of the others gain in ln rate over the rate here."""
    elsewhere, with_more = (
        max((known[each] for each in some), default=-math.inf) - here for some in (others.elsewhere, others.with_more)
    )
    found = shown_by_an_axis(model, configuration, shares, waits, elsewhere, with_more)
    return replace(found, shares=with_accounted_cpu(model, configuration, found.shares))


def _own_rates(model: WorkloadModel, configurations: Sequence[Configuration]) -> dict[Configuration, float]:
    """Ln rates of the configurations themselves, whatever lies around them in memory."""
    distinct = list(dict.fromkeys(configurations))
    return dict(zip(distinct, map(float, mean_rates(model, distinct)), strict=True)) if distinct else {}


@dataclass(frozen=True)
class _Between:
    """Rates of n configurations, and the least and the most ln rate (n,) of the levels of memory around them."""

    rates: PredictedRates
    around: tuple[Array, Array]


def _rates_between(model: WorkloadModel, configurations: Sequence[Configuration], what_if: WhatIf) -> _Between:
    """Each from the two levels of memory that it lies between, where memory has levels."""
    levels = [_between_levels(model, each) for each in configurations]
    inside = np.array([row for row, (*_, position) in enumerate(levels) if position > 0], dtype=np.intp)
    lower, upper = [each for each, *_ in levels], [levels[row][1] for row in inside]
    both = predict_rates(model, [*lower, *upper], what_if, turns=[0] * len(lower) + [1] * len(upper))
    least, most = both.mean[: len(lower)].copy(), both.mean[: len(lower)].copy()
    least[inside] = np.minimum(least[inside], both.mean[len(lower) :])
    most[inside] = np.maximum(most[inside], both.mean[len(lower) :])
    return _Between(both.between(inside, np.array([levels[row][2] for row in inside])), (least, most))


def _between_levels(model: WorkloadModel, configuration: Configuration) -> tuple[Configuration, Configuration, float]:
    """The neighbours in memory where memory has levels, and where between them (0 to 1 in ln bytes) this one lies."""
    known = model.measured.memory_bytes
    levels = any(member.structure.memory_levels for member in model.members)
    if (
        not levels
        or not known
        or not known[0] < memory_of(configuration) < known[-1]
        or memory_of(configuration) in known
    ):
        return configuration, configuration, 0.0
    low = max(level for level in known if level < memory_of(configuration))
    high = min(level for level in known if level > memory_of(configuration))
    position = math.log(memory_of(configuration) / low) / math.log(high / low)
    return replace(configuration, memory_bytes=low), replace(configuration, memory_bytes=high), position


def best_measured(model: WorkloadModel) -> Prediction:
    """The highest predicted throughput of the measured values, over every disk and batch size.

    Not between them: a peak that no run shows is the form's, and everything would be judged against it.
    """
    return predict(model, best_place(model))


def best_place(model: WorkloadModel) -> Configuration:
    """Where that is, without what binds it."""
    if model.refused or not model.members:
        raise advice.not_fitted(model)
    configurations = measured_values(model)
    best = configurations[int(np.argmax(mean_rates(model, configurations)))]
    return _without_binding(model, best).configuration


def measured_values(model: WorkloadModel) -> list[Configuration]:
    """Every measured value of each axis with every one of the others that it was measured with, cheapest first."""
    measured = model.measured
    configurations = []

    @cache
    def holding(c: float | None, batch: int | None) -> list[int]:
        known = measured.memory_bytes
        return [m for m in known if len(known) == 1 or m >= (needed_bytes(measured, c, batch) or m)]

    axes = (or_unknown(measured.vcpus), or_unknown(measured.batch_size), measured.disks, measured.gpus)
    for c, batch, disk, gpus in itertools.product(*axes):
        fitting = holding(c, batch)
        configurations += [
            Configuration(c, memory, disk.name, batch, gpus.gpu, gpus.count)
            for memory in fitting or or_unknown(measured.memory_bytes[-1:])
        ]
    return [each for each in configurations if model.measured_together(each)] or configurations

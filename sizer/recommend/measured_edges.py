"""Whether more than the most measured may be the answer, and the run that would settle it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist

from sizer.model import ENOUGH, NORMAL_90, not_bought, predict
from sizer.recommend.beyond import Beyond, look_beyond
from sizer.recommend.candidates import next_sold
from sizer.recommend.comparison import MERITS, Comparison, kind_of
from sizer.recommend.growth import Growth, gap_below, with_count, with_memory, with_vcpus
from sizer.recommend.machine_prices import cheapest_holding, instances_like
from sizer.recommend.machines import Machine
from sizer.recommend.measured_binding import binding
from sizer.recommend.measured_choice import MeasuredChoice
from sizer.recommend.measured_reasons import closeness, surely
from sizer.recommend.other_inputs import input_binds
from sizer.recommend.settling import once_more
from sizer.recommend.settling_machine import settling_machine
from sizer.records import (
    Action,
    Bottleneck,
    Estimate,
    Reason,
    ReasonCode,
    Suggestion,
    reason,
)

BENT = 0.4
"""A last doubling that gained less is bent: less than half of it, in logarithms, went into the rate."""


def growth_of(choice: MeasuredChoice, chosen: Machine) -> tuple[Growth, ...]:
    """Why more than the most measured may be the answer; nothing where the rate that is asked for is reached."""
    if choice.objective.rate is not None or choice.slips:
        return ()
    found = [growth_with_vcpus(choice, chosen), with_memory(chosen, choice.machines)]
    if choice.objective.counts == "fastest" or _more_may_pay(choice, chosen):
        found = [with_count(chosen, choice.machines), *found]
    open_ = [each for each in found if each is not None and not each.settled]
    return tuple(each for each in open_ if is_sold(choice, chosen, each))


def growth_with_vcpus(choice: MeasuredChoice, machine: Machine) -> Growth | None:
    """Of the last doubling of vCPUs, with what binds there now if vCPUs do not buy it, or may.

    A step across the knee gains, and the rate rises no further; but so does one onto the second thread of each core,
    and more cores would pay. A curve alone does not tell the two apart, so nothing is said to rise, nor to be enough.
    """
    found = with_vcpus(machine, choice.machines)
    if found is None or found.gain >= BENT:
        return found
    here = binding(choice, machine)
    return replace(found, bound_by=not_bought(here.bottleneck or Bottleneck.AMBIGUOUS, here.shares))


def is_sold(choice: MeasuredChoice, chosen: Machine, growth: Growth) -> bool:
    """Whether there is a larger machine to grow to; of what the catalogue does not know, there may be."""
    if growth.code is ReasonCode.RISES_WITH_GPUS:
        return _sold(choice, chosen, 2 * kind_of(chosen)[1])
    return growth.code is not ReasonCode.RISES_TO_MOST_VCPUS or _larger(choice, chosen)


def _larger(choice: MeasuredChoice, chosen: Machine) -> bool:
    """Whether its provider sells a machine with as many accelerators and more vCPUs; what is not known may be sold."""
    bare, device = replace(chosen.spec, vcpus=1.0, memory_bytes=None), choice.model.facts.device
    count, vcpus = chosen.accelerators.number(device), chosen.configuration.vcpus or 0.0
    provider = chosen.offer.provider if chosen.rented is not None and chosen.offer is not None else None
    alike = [
        each
        for each in instances_like(bare, chosen.accelerators, device, choice.catalog)
        if each.gpu_count == count and provider in (None, each.provider)
    ]
    return not any(each.vcpus >= vcpus for each in alike) or any(each.vcpus > vcpus for each in alike)


def _more_may_pay(choice: MeasuredChoice, chosen: Machine) -> bool:
    """Whether what the objective makes least fell with each step to its count of accelerators, and may fall further."""
    merit = MERITS[choice.objective.counts]
    kind, count = kind_of(chosen)
    fewer = [merit(each) for each in choice.machines if kind_of(each)[0] == kind and 0 < kind_of(each)[1] < count]
    fell = bool(fewer) and math.isfinite(min(fewer)) and merit(chosen) < min(fewer)
    return fell and not _dearer_at_best(choice, chosen, 4.0 if choice.objective.counts == "balanced" else 2.0)


def _dearer_at_best(choice: MeasuredChoice, chosen: Machine, most: float) -> bool:
    """Whether the cheapest machine with twice the accelerators costs `most` times as much or more: too much for twice
    the rate."""
    twice = replace(chosen.accelerators, count=2 * kind_of(chosen)[1])
    bare = replace(chosen.spec, vcpus=None, memory_bytes=None)
    cheapest = cheapest_holding(bare, twice, choice.model.facts.device, choice.catalog)
    if cheapest is None or cheapest.usd_per_hour is None or chosen.offer is None:
        return False
    return cheapest.usd_per_hour >= most * (chosen.usd_per_hour or math.inf)


def chance_between(choice: MeasuredChoice, chosen: Machine, growth: Growth) -> float | None:
    """The probability that half of these vCPUs, which nobody measured, is enough; None where no curve describes it."""
    if not choice.one_curve or len(choice.model.measured.vcpus) < ENOUGH:
        return None
    half = predict(choice.model, replace(chosen.configuration, vcpus=growth.most / 2)).throughput
    spread = math.hypot(math.log(half.high / half.low) / (2 * NORMAL_90), chosen.level_deviation)
    best = max(each.level_rate for each in choice.machines if kind_of(each) == kind_of(chosen))
    needed = choice.objective.rate or choice.objective.target * best
    return NormalDist().cdf(math.log(half.value / needed) / spread)


@dataclass(frozen=True)
class Gap:
    """Sizes that nobody measured just below the one taken, and the probability that one of them is enough."""

    step: Growth
    chance: float


def gap_under(choice: MeasuredChoice, chosen: Machine) -> Gap | None:
    """None where what is smaller is measured, too slow in any case or not cheaper, or no curve describes it."""
    if choice.objective.counts == "fastest" or choice.slips:
        return None
    step = gap_below(chosen, choice.machines)
    chance = None if step is None else chance_between(choice, chosen, step)
    return None if step is None or chance is None or surely(1 - chance) else Gap(step, chance)


def growth_reason(growth: Growth) -> Reason:
    code, most = growth.code if growth.seen else ReasonCode.GROWTH_UNSETTLED, {_MOST[growth.code]: growth.most}
    if code is ReasonCode.RISES_WITH_MEMORY:
        return reason(code, **most)
    if growth.after is not None:
        return reason(ReasonCode.GROWTH_UNSETTLED, **most, gain=growth.gain, after=growth.after)
    bound = {} if growth.bound_by is None else {"bottleneck": growth.bound_by.value}
    return reason(code, **most, gain=growth.gain, **bound)


_MOST = {
    ReasonCode.RISES_WITH_GPUS: "gpu_count",
    ReasonCode.RISES_WITH_MEMORY: "memory_bytes",
    ReasonCode.RISES_TO_MOST_VCPUS: "vcpus",
}


def beyond_measured(choice: MeasuredChoice, chosen: Machine, growth: Sequence[Growth]) -> Beyond | None:
    """What lies above the most vCPUs, where the curve of one kind of machine is known."""
    model = choice.model
    rises = any(each.code is ReasonCode.RISES_TO_MOST_VCPUS and each.seen for each in growth)
    if not rises or not choice.one_curve or len(model.measured.vcpus) < 3:
        return None
    found = look_beyond(model, chosen.configuration, choice.catalog)
    return None if found is None or chosen.configuration.vcpus is None else _at_most_in_proportion(found, chosen)


def _at_most_in_proportion(beyond: Beyond, chosen: Machine) -> Beyond:
    """Twice the vCPUs make a job at most twice as fast as it was measured."""
    factor = (beyond.prediction.configuration.vcpus or 0.0) / (chosen.configuration.vcpus or 1.0)
    rate, most = beyond.prediction.throughput, factor * chosen.rate
    held = Estimate(min(rate.value, most), min(rate.low, most), min(rate.high, factor * chosen.throughput.high))
    figures = dict(beyond.reason.figures) | {"rate": held.value, "low": held.low, "high": held.high}
    return replace(
        beyond,
        prediction=replace(beyond.prediction, throughput=held),
        reason=replace(beyond.reason, figures=figures),
    )


def measured_next_run(
    choice: MeasuredChoice, comparison: Comparison, growth: Sequence[Growth], beyond: Beyond | None, likely: float
) -> Suggestion | None:
    assert comparison.chosen is not None
    chosen = comparison.chosen.machine
    if beyond is not None:
        return beyond.next_run
    for each in growth:
        found = more_of(choice, chosen, each)
        if found is not None:
            return found
    if len(choice.machines) == 1:
        return None
    if choice.slips:
        return Suggestion(Action.REPEAT, choice.slips[0])
    unpriced = [each for each in choice.machines if each.usd_per_hour is None]
    most = 2 * len(unpriced) > len(choice.machines)
    if unpriced and choice.objective.counts != "fastest" and (kind_of(chosen)[1] or most):
        return Suggestion(Action.IMPORT, column="usd_per_hour_spot" if choice.objective.spot else "usd_per_hour")
    close = closeness(choice, comparison, likely)
    if close is None:
        asked = choice.objective.rate is not None or choice.objective.latency_p99 is not None
        return once_more(chosen.spec) if asked and not surely(likely) else None
    return settling_machine(choice.machines, comparison, choice.objective, likely) or Suggestion(Action.REPEAT, close)


def more_of(choice: MeasuredChoice, chosen: Machine, growth: Growth) -> Suggestion | None:
    """The next size up, where it is sold and something shows that it may pay."""
    said = growth_reason(growth)
    if growth.code is ReasonCode.RISES_WITH_GPUS:
        if input_binds(chosen, choice.other_inputs):
            return None
        return Suggestion(Action.MEASURE, said, gpu=chosen.spec.gpu, gpu_count=2 * kind_of(chosen)[1])
    if growth.code is ReasonCode.RISES_WITH_MEMORY:
        return Suggestion(Action.MEASURE, said, memory_bytes=2 * int(growth.most))
    if growth.after is None:
        return Suggestion(Action.MEASURE, said, vcpus=(2 * growth.most,))
    between = max(growth.after, math.sqrt(growth.after * growth.most))
    sold = next_sold(between, choice.catalog)
    return Suggestion(Action.MEASURE, said, vcpus=(sold if sold < growth.most else between,))


def _sold(choice: MeasuredChoice, chosen: Machine, count: int) -> bool:
    """Whether some instance type has so many of these; of a kind that the catalogue does not know, it may be."""
    device, kind = choice.model.facts.device, chosen.accelerators
    bare = replace(chosen.spec, vcpus=None, memory_bytes=None)
    if not instances_like(bare, replace(kind, count=1), device, choice.catalog):
        return True
    return bool(instances_like(bare, replace(kind, count=count), device, choice.catalog))

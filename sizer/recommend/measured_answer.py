"""The answer among machines that were measured, as they are."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from sizer.catalog import Catalog
from sizer.model import WorkloadModel
from sizer.recommend.beyond import Beyond, look_beyond
from sizer.recommend.comparison import Comparison, Contender, compare, hourly, kind_of
from sizer.recommend.growth import Growth, with_count, with_memory, with_vcpus
from sizer.recommend.instances import offers
from sizer.recommend.jobs import job_at
from sizer.recommend.machine_prices import cheapest_holding, instances_like
from sizer.recommend.machines import Machine, is_imported, measured_machines
from sizer.recommend.measured_reasons import (
    Binding,
    MeasuredChoice,
    binding,
    closeness,
    doubts,
    named_baseline,
    rejections,
    slipped,
    surely,
    why,
    why_none,
)
from sizer.recommend.other_inputs import input_binds
from sizer.recommend.prices import usd_per_million
from sizer.recommend.scoring import rounded
from sizer.records import (
    Action,
    Alternative,
    Answer,
    Baseline,
    Estimate,
    Objective,
    Reason,
    ReasonCode,
    Run,
    Suggestion,
    reason,
)


def machines_to_compare(
    model: WorkloadModel, runs: Sequence[Run], objective: Objective, catalog: Catalog
) -> tuple[Machine, ...]:
    """The machines that were measured, where the answer is one of them; empty where a curve says which size to take.

    A table that others measured is compared as it is, and so are runs on several kinds or counts of accelerators. A
    curve is for what sizer measured itself, where accounting shows what a size between two measured ones gives. A
    latency is asked of machines that it was measured on: no curve says what it is between them.
    """
    measured = measured_machines(runs, model.measured.disks, catalog, objective.spot)
    several = len({kind_of(each) for each in measured}) > 1
    machines = tuple(each for each in measured if _rentable(each))
    if several and not machines:
        machines = tuple(measured)
    if objective.latency_p99 is not None:
        machines = machines or tuple(measured)
        return machines if any(each.latency_p99 is not None for each in machines) else ()
    of_a_table = is_imported(runs[0]) and model.facts.core_seconds is None
    named = len(machines) > 1 and any(each.rented is not None for each in machines)
    return machines if of_a_table or several or named else ()


def _rentable(machine: Machine) -> bool:
    """Fractions of a vCPU are limits of a run, and no machine."""
    vcpus = machine.configuration.vcpus
    return vcpus is None or (vcpus >= 1 and float(vcpus).is_integer())


def measured_answer(choice: MeasuredChoice) -> Answer:
    """The machine that does what is asked at the least cost; refused where none does."""
    comparison = compare(choice.machines, choice.objective)
    if comparison.chosen is None:
        return _none_is_enough(choice, comparison)
    chosen = comparison.chosen.machine
    growth = _growth(choice, chosen)
    beyond = _beyond(choice, chosen, growth)
    likely = rounded(comparison.probability)
    bound = binding(choice, chosen)
    return replace(
        _answered(choice, comparison, comparison.chosen, bound),
        status="at_least" if growth else "recommended",
        edge="settled" if not growth else "rising" if any(each.seen for each in growth) else "unsettled",
        probability=likely,
        provisional=_provisional(choice, comparison, likely),
        reasons=(
            *(_grows(each) for each in growth),
            *([beyond.reason] if beyond else []),
            *why(choice, comparison, bound, likely),
            *doubts(choice),
        ),
        next_run=_next_run(choice, comparison, growth, beyond, likely),
        beyond=beyond.prediction if beyond else None,
    )


def _provisional(choice: MeasuredChoice, comparison: Comparison, likely: float) -> bool:
    assert comparison.chosen is not None
    chosen = comparison.chosen.machine
    doubtful = choice.quality.rests_on_doubt(chosen.configuration) or bool(slipped(choice))
    return doubtful or len(choice.machines) == 1 or _prices_missing(choice, comparison) or not surely(likely)


def _prices_missing(choice: MeasuredChoice, comparison: Comparison) -> bool:
    """Whether prices that are not known could make another machine the answer."""
    assert comparison.chosen is not None
    with_price = sum(each.usd_per_hour is not None for each in choice.machines)
    if choice.objective.spot and with_price < len(choice.machines):
        return True
    if choice.objective.counts == "fastest":
        return False
    if comparison.chosen.machine.usd_per_hour is not None:
        return with_price == 1 < len(choice.machines)
    return with_price > 0 or len({kind_of(each.machine) for each in comparison.contenders if each.passes}) > 1


def _answered(choice: MeasuredChoice, comparison: Comparison, chosen: Contender, bound: Binding) -> Answer:
    """What every answer with a machine says of it."""
    model, machine = choice.model, chosen.machine
    others = comparison.others()
    deadline = choice.objective.deadline
    return Answer(
        workload=model.name,
        status="recommended",
        spec=machine.spec,
        throughput=machine.throughput,
        sample_unit=model.sample_unit,
        bottleneck=bound.bottleneck,
        next_bottleneck=bound.next_bottleneck,
        headroom=bound.headroom,
        rejected=rejections(choice, comparison, chosen),
        runner_up=others[0].machine.spec if others else None,
        instances=offers(machine, model, choice.catalog),
        baseline=_baseline(choice, machine),
        job=None if deadline is None else job_at(machine, deadline),
        alternatives=alternatives(choice.machines, choice.model.sample_unit),
    )


def alternatives(machines: Sequence[Machine], unit: str) -> tuple[Alternative, ...]:
    """Every machine, the least cost of the work first."""
    found, dominated = [], _dominated(machines)
    for each in sorted(machines, key=lambda machine: (machine.cost, -machine.rate)):
        found.append(
            Alternative(
                spec=each.spec,
                throughput=each.throughput,
                instance_type=each.name,
                usd_per_hour=each.usd_per_hour,
                usd_per_million_samples=usd_per_million(each.usd_per_hour, each.rate, unit),
                dominated=id(each) in dominated,
                usd_per_hour_spot=each.usd_per_hour_spot,
                latency_p99=each.latency_p99,
            )
        )
    return tuple(found)


def _dominated(machines: Sequence[Machine]) -> set[int]:
    """The ids of the machines than which another one is no slower, no dearer an hour with its disk, and as prompt."""
    priced = [each for each in machines if each.usd_per_hour is not None]
    front: list[Machine] = []
    found: set[int] = set()
    for each in sorted(priced, key=lambda machine: (hourly(machine), -machine.rate, machine.latency_p99 or 0.0)):
        # What is before it costs no more, so only those that nothing dominates need be asked.
        if any(_no_worse(other, each) for other in front):
            found.add(id(each))
        else:
            front.append(each)
    return found


def _no_worse(one: Machine, other: Machine) -> bool:
    """Of two of which the first costs no more: whether it is no slower and as prompt, and better in something."""
    known = (one.latency_p99, other.latency_p99)
    prompt = known[1] is None or (known[0] is not None and known[0] <= known[1])
    return one.rate >= other.rate and prompt and (one.rate > other.rate or hourly(one) < hourly(other))


def _growth(choice: MeasuredChoice, chosen: Machine) -> tuple[Growth, ...]:
    """Why more than the most measured may be the answer; nothing where the rate that is asked for is reached."""
    if choice.objective.rate is not None or slipped(choice):
        return ()
    found = [with_vcpus(chosen, choice.machines), with_memory(chosen, choice.machines)]
    may_pay = _cheaper_with_count(chosen, choice.machines) and not _dearer_at_best(choice, chosen)
    if choice.objective.prefer == "fastest" or may_pay:
        found = [with_count(chosen, choice.machines), *found]
    open_ = [each for each in found if each is not None and not each.settled]
    return tuple(each for each in open_ if each.code is not ReasonCode.RISES_TO_MOST_VCPUS or _larger(choice, chosen))


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


def _cheaper_with_count(chosen: Machine, machines: Sequence[Machine]) -> bool:
    """Whether the work cost less with each step to its count of accelerators, so that one more may cost less still."""
    kind, count = kind_of(chosen)
    fewer = [each.cost for each in machines if kind_of(each)[0] == kind and 0 < kind_of(each)[1] < count]
    return bool(fewer) and math.isfinite(min(fewer)) and chosen.cost < min(fewer)


def _dearer_at_best(choice: MeasuredChoice, chosen: Machine) -> bool:
    """Whether the work costs more on twice the accelerators, even twice as fast, on the cheapest machine with them."""
    twice = replace(chosen.accelerators, count=2 * kind_of(chosen)[1])
    bare = replace(chosen.spec, vcpus=None, memory_bytes=None)
    cheapest = cheapest_holding(bare, twice, choice.model.facts.device, choice.catalog)
    if cheapest is None or cheapest.usd_per_hour is None or chosen.offer is None:
        return False
    return cheapest.usd_per_hour >= 2 * (chosen.usd_per_hour or math.inf)


def _grows(growth: Growth) -> Reason:
    code, most = growth.code if growth.seen else ReasonCode.GROWTH_UNSETTLED, {_MOST[growth.code]: growth.most}
    return reason(code, **most) if code is ReasonCode.RISES_WITH_MEMORY else reason(code, **most, gain=growth.gain)


_MOST = {
    ReasonCode.RISES_WITH_GPUS: "gpu_count",
    ReasonCode.RISES_WITH_MEMORY: "memory_bytes",
    ReasonCode.RISES_TO_MOST_VCPUS: "vcpus",
}


def _beyond(choice: MeasuredChoice, chosen: Machine, growth: Sequence[Growth]) -> Beyond | None:
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


def _next_run(
    choice: MeasuredChoice, comparison: Comparison, growth: Sequence[Growth], beyond: Beyond | None, likely: float
) -> Suggestion | None:
    assert comparison.chosen is not None
    chosen = comparison.chosen.machine
    if beyond is not None:
        return beyond.next_run
    for each in growth:
        found = _more(choice, chosen, each)
        if found is not None:
            return found
    if len(choice.machines) == 1:
        return None
    slips = slipped(choice)
    if slips:
        return Suggestion(Action.REPEAT, slips[0])
    unpriced = [each for each in choice.machines if each.usd_per_hour is None]
    most = 2 * len(unpriced) > len(choice.machines)
    if unpriced and choice.objective.counts != "fastest" and (kind_of(chosen)[1] or most):
        return Suggestion(Action.IMPORT, column="usd_per_hour_spot" if choice.objective.spot else "usd_per_hour")
    close = closeness(choice, comparison, likely)
    return Suggestion(Action.REPEAT, close) if close is not None else None


def _more(choice: MeasuredChoice, chosen: Machine, growth: Growth) -> Suggestion | None:
    """The next size up, where it is sold and something shows that it may pay."""
    said = _grows(growth)
    if growth.code is ReasonCode.RISES_WITH_GPUS:
        count = 2 * kind_of(chosen)[1]
        if input_binds(chosen, choice.other_inputs) or not _sold(choice, chosen, count):
            return None
        return Suggestion(Action.MEASURE, said, gpu=chosen.spec.gpu, gpu_count=count)
    if growth.code is ReasonCode.RISES_WITH_MEMORY:
        return Suggestion(Action.MEASURE, said, memory_bytes=2 * int(growth.most))
    return Suggestion(Action.MEASURE, said, vcpus=(2 * growth.most,))


def _sold(choice: MeasuredChoice, chosen: Machine, count: int) -> bool:
    """Whether some instance type has so many of these; of a kind that the catalogue does not know, it may be."""
    device, kind = choice.model.facts.device, chosen.accelerators
    bare = replace(chosen.spec, vcpus=None, memory_bytes=None)
    if not instances_like(bare, replace(kind, count=1), device, choice.catalog):
        return True
    return bool(instances_like(bare, replace(kind, count=count), device, choice.catalog))


def _baseline(choice: MeasuredChoice, chosen: Machine) -> Baseline | None:
    """The fastest machine measured, or the one that was named, where it is among them."""
    named = choice.machine
    other = max(choice.machines, key=lambda each: each.rate) if named is None else named_baseline(choice)
    if other is None:
        return None
    before, now = other.usd_per_hour, chosen.usd_per_hour
    return Baseline(
        spec=other.spec,
        throughput=other.throughput,
        share=chosen.rate / other.rate,
        usd_per_hour=before,
        instance_type=other.name,
        answer_usd_per_hour=now,
        answer_instance_type=chosen.name,
        saving=1 - now / before if before and now is not None else None,
        named=named is not None,
    )


def _none_is_enough(choice: MeasuredChoice, comparison: Comparison) -> Answer:
    """No machine gives the rate that is asked for: the fastest, and how far it is from that."""
    likeliest, deadline = comparison.likeliest, choice.objective.deadline
    refused = Answer(
        choice.model.name,
        "refused",
        sample_unit=choice.model.sample_unit,
        reasons=tuple(why_none(choice, comparison)),
        alternatives=alternatives(choice.machines, choice.model.sample_unit),
    )
    if likeliest is None:
        return refused
    machine = likeliest.machine
    grown = with_count(machine, choice.machines) or with_vcpus(machine, choice.machines)
    if grown is None or not grown.seen:
        return replace(refused, job=None if deadline is None else job_at(machine, deadline))
    return replace(
        _answered(choice, comparison, likeliest, binding(choice, machine)),
        status="at_least",
        edge="rising",
        probability=rounded(likeliest.probability),
        reasons=(*refused.reasons, _grows(grown)),
        next_run=_more(choice, machine, grown),
    )

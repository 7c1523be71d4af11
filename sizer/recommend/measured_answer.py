"""The answer among machines that were measured, as they are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from sizer.catalog import Catalog
from sizer.model import MeasuredRate, WorkloadModel, labelled
from sizer.recommend import events
from sizer.recommend.alternatives import alternatives
from sizer.recommend.comparison import Comparison, Contender, compare, fastest_of, kind_of
from sizer.recommend.growth import Growth, with_count
from sizer.recommend.instances import offers
from sizer.recommend.jobs import job_at
from sizer.recommend.machines import Machine, measured_machines
from sizer.recommend.measured_binding import binding
from sizer.recommend.measured_choice import Binding, MeasuredChoice, named_baseline
from sizer.recommend.measured_edges import (
    beyond_measured,
    chance_between,
    gap_under,
    growth_of,
    growth_reason,
    growth_with_vcpus,
    is_sold,
    measured_next_run,
    more_of,
)
from sizer.recommend.measured_reasons import doubts, surely, why, why_none
from sizer.recommend.measured_rejections import rejections
from sizer.recommend.memory_levels import levelled
from sizer.recommend.options import measured_options
from sizer.recommend.scoring import rounded
from sizer.records import (
    Answer,
    Baseline,
    Objective,
    ReasonCode,
    Run,
)


def machines_to_compare(
    model: WorkloadModel, runs: Sequence[Run], objective: Objective, catalog: Catalog
) -> tuple[Machine, ...]:
    """The machines that were measured, where the answer is one of them; empty where a curve says which size to take.

    A table that others measured is compared as it is, and so are runs on several kinds or counts of accelerators. A
    curve is for what sizer measured itself, where accounting shows what a size between two measured ones gives. A
    latency is asked of machines that it was measured on: no curve says what it is between them.
    """
    usual = _on_usual_host(model, runs)
    measured = levelled(measured_machines(runs, model.measured.disks, catalog, objective.spot, usual))
    several = len({kind_of(each) for each in measured}) > 1
    machines = tuple(each for each in measured if _rentable(each))
    if several and not machines:
        machines = measured
    if objective.latency_p99 is not None:
        machines = machines or measured
        return machines if any(each.latency_p99 is not None for each in machines) else ()
    of_a_table = runs[0].imported and model.facts.core_seconds is None
    named = len(machines) > 1 and any(each.rented is not None for each in machines)
    return machines if of_a_table or several or named else ()


def _on_usual_host(model: WorkloadModel, runs: Sequence[Run]) -> dict[int, MeasuredRate]:
    """By `id(run)` what the model says of its configuration; of a table what it says counts as it is."""
    if runs[0].imported:
        return {}
    named = zip(runs, labelled(runs), strict=True)
    known = ((run, model.measured.rate_at(alike.configuration)) for run, alike in named)
    return {id(run): rate for run, rate in known if rate is not None}


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
    growth = growth_of(choice, chosen)
    beyond = beyond_measured(choice, chosen, growth)
    gap = None if growth else gap_under(choice, chosen)
    likely = rounded(comparison.probability * (1 - gap.chance if gap else 1.0))
    bound = binding(choice, chosen)
    return replace(
        _answered(choice, comparison, comparison.chosen, bound),
        status="at_least" if growth else "recommended",
        edge="settled" if not growth else "rising" if any(each.seen for each in growth) else "unsettled",
        **_sureness(choice, comparison, growth, likely),
        provisional=_provisional(choice, comparison, likely),
        reasons=(
            *(growth_reason(each) for each in growth),
            *([beyond.reason] if beyond else []),
            *([growth_reason(gap.step)] if gap else []),
            *why(choice, comparison, bound, rounded(comparison.probability)),
            *doubts(choice, chosen),
        ),
        next_run=measured_next_run(choice, comparison, [gap.step] if gap else growth, beyond, likely),
        beyond=beyond.prediction if beyond else None,
    )


def _sureness(
    choice: MeasuredChoice, comparison: Comparison, growth: Sequence[Growth], likely: float
) -> dict[str, Any]:
    """The probability and what it is that of; nothing where there was nothing to choose from.

    Of a lower bound in vCPUs or memory it is that what is smaller in these is too slow, measured or between; in memory
    only where its rate may rise with that.
    """
    assert comparison.chosen is not None
    if len(choice.machines) == 1 and choice.objective.rate is None and choice.objective.latency_p99 is None:
        return events.UNKNOWN
    taken = comparison.chosen.machine
    less = [
        (each.machine.configuration, each.probability)
        for each in comparison.contenders
        if kind_of(each.machine) == kind_of(taken)
    ]
    for each in growth:
        if each.after is not None:
            between = chance_between(choice, taken, each)
            if between is None:
                return events.UNKNOWN
            less.append((replace(taken.configuration, vcpus=each.most / 2), between))
    bounds = {each.code for each in growth} - {ReasonCode.RISES_WITH_GPUS}
    found = events.less_too_little(less, taken.configuration, ReasonCode.RISES_WITH_MEMORY in bounds) if bounds else {}
    return found or events.known(likely, comparison.event)


def _provisional(choice: MeasuredChoice, comparison: Comparison, likely: float) -> bool:
    assert comparison.chosen is not None
    chosen = comparison.chosen.machine
    doubtful = choice.quality.rests_on_doubt(chosen.configuration) or bool(choice.slips)
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
        options=measured_options(choice),
    )


def _baseline(choice: MeasuredChoice, chosen: Machine) -> Baseline | None:
    """The fastest machine measured, or the one that was named, where it is among them."""
    named = choice.machine
    other = fastest_of(choice.machines) if named is None else named_baseline(choice)
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
    grown = with_count(machine, choice.machines) or growth_with_vcpus(choice, machine)
    if grown is None or not grown.seen or not is_sold(choice, machine, grown):
        return replace(refused, job=None if deadline is None else job_at(machine, deadline))
    return replace(
        _answered(choice, comparison, likeliest, binding(choice, machine)),
        status="at_least",
        edge="rising",
        probability=rounded(likeliest.probability),
        probability_of=events.of_rate(choice.objective),
        reasons=(*refused.reasons, growth_reason(grown)),
        next_run=more_of(choice, machine, grown),
    )

"""The answer among machines that were measured, as they are: which of them, what the work costs there and elsewhere."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from sizer.catalog import Catalog, InstanceType
from sizer.model import GAIN, WorkloadModel
from sizer.recommend.comparison import (
    SURE,
    Comparison,
    Contender,
    compare,
    kind_of,
    rises_with_count,
    rises_with_vcpus,
)
from sizer.recommend.instances import offers
from sizer.recommend.jobs import job_at
from sizer.recommend.machines import Machine, is_imported, measured_machines
from sizer.recommend.prices import usd_per_million
from sizer.recommend.quality import Quality
from sizer.recommend.scoring import rounded
from sizer.records import (
    Action,
    Alternative,
    Answer,
    Baseline,
    Figure,
    Objective,
    Reason,
    ReasonCode,
    Rejection,
    Run,
    Suggestion,
    reason,
)

MOST_REJECTED = 6
"""Cheaper machines of which it is said why they were not taken."""


@dataclass(frozen=True)
class MeasuredChoice:
    """One workload's machines and what is asked of them."""

    model: WorkloadModel
    objective: Objective
    catalog: Catalog
    quality: Quality
    machines: tuple[Machine, ...]
    machine: InstanceType | None = None


def machines_to_compare(model: WorkloadModel, runs: Sequence[Run], catalog: Catalog) -> tuple[Machine, ...]:
    """The machines that were measured, where the answer is one of them; empty where a curve says which size to take.

    Machines are compared where runs were made on several kinds or counts of accelerators, where the table names them or
    their prices, where what differs between them moves together, and where there are too few values for a curve.
    """
    machines = tuple(each for each in measured_machines(runs, catalog) if _rentable(each))
    if len(machines) < 2:
        return ()
    several = len({kind_of(each) for each in machines}) > 1
    named = any(each.rented is not None for each in machines)
    of_a_table = is_imported(runs[0]) and (moves_together(machines) or _too_few(model))
    return machines if several or named or of_a_table else ()


def _too_few(model: WorkloadModel) -> bool:
    return model.refused is not None and model.refused.reason.code is ReasonCode.TOO_FEW_VALUES


def _rentable(machine: Machine) -> bool:
    """Fractions of a vCPU are limits of a run, and no machine."""
    vcpus = machine.configuration.vcpus
    return vcpus is None or (vcpus >= 1 and float(vcpus).is_integer())


def moves_together(machines: Sequence[Machine]) -> bool:
    """Whether vCPUs and memory both differ between the machines, and nowhere one without the other."""
    sizes = {(each.configuration.vcpus, each.configuration.memory_bytes) for each in machines}
    vcpus, memory = {size[0] for size in sizes}, {size[1] for size in sizes}
    return len(vcpus) > 1 and len(sizes) == len(vcpus) == len(memory)


def measured_answer(choice: MeasuredChoice) -> Answer:
    """The machine that does what is asked at the least cost; refused where none does."""
    comparison = compare(choice.machines, choice.objective)
    if comparison.chosen is None:
        return _none_is_enough(choice, comparison)
    chosen = comparison.chosen.machine
    rising = _rising(choice, comparison)
    doubtful = choice.quality.is_provisional(chosen.configuration)
    unpriced = chosen.usd_per_hour is None and choice.objective.prefer != "fastest"
    likely = rounded(comparison.probability)
    return replace(
        _answered(choice, comparison, comparison.chosen),
        status="at_least" if rising else "recommended",
        edge="rising" if rising else "settled",
        probability=likely,
        provisional=doubtful or unpriced or likely < SURE,
        reasons=(*rising, *_why(choice, comparison), *_doubts(choice, likely)),
        next_run=_next_run(choice, chosen, rising, likely),
    )


def _answered(choice: MeasuredChoice, comparison: Comparison, chosen: Contender) -> Answer:
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
        bottleneck=machine.evidence,
        rejected=_rejections(choice, comparison, chosen),
        runner_up=others[0].machine.spec if others else None,
        instances=offers(machine, model, choice.catalog),
        baseline=_baseline(choice, machine),
        job=None if deadline is None else job_at(machine, deadline),
        alternatives=alternatives(choice.machines, choice.model.sample_unit),
    )


def alternatives(machines: Sequence[Machine], unit: str) -> tuple[Alternative, ...]:
    """Every machine, the least cost of the work first."""
    found = []
    for each in sorted(machines, key=lambda machine: (machine.usd_a_sample, -machine.rate)):
        known = math.isfinite(each.usd_a_sample)
        found.append(
            Alternative(
                spec=each.spec,
                throughput=each.throughput,
                instance_type=each.name,
                usd_per_hour=each.usd_per_hour,
                usd_per_million_samples=usd_per_million(each.usd_per_hour, each.rate, unit),
                dominated=known and any(_dominates(other, each) for other in machines),
            )
        )
    return tuple(found)


def _dominates(one: Machine, other: Machine) -> bool:
    if one.usd_per_hour is None or other.usd_per_hour is None:
        return False
    no_worse = one.rate >= other.rate and one.usd_per_hour <= other.usd_per_hour
    return no_worse and (one.rate > other.rate or one.usd_per_hour < other.usd_per_hour)


def _rising(choice: MeasuredChoice, comparison: Comparison) -> tuple[Reason, ...]:
    """Why more than the most measured may be the answer."""
    assert comparison.chosen is not None
    chosen = comparison.chosen.machine
    by_rate = choice.objective.prefer == "fastest" and choice.objective.rate is None
    found = []
    gain = rises_with_count(chosen, choice.machines)
    if gain is not None and gain > GAIN and (by_rate or _cheaper_with_count(chosen, choice.machines)):
        count = float(kind_of(chosen)[1])
        found.append(reason(ReasonCode.RISES_WITH_GPUS, gpu_count=count, gain=gain))
    gain = rises_with_vcpus(chosen, choice.machines)
    if gain is not None and gain > GAIN and choice.objective.rate is None:
        found.append(reason(ReasonCode.RISES_TO_MOST_VCPUS, vcpus=chosen.configuration.vcpus, gain=gain))
    return tuple(found)


def _cheaper_with_count(chosen: Machine, machines: Sequence[Machine]) -> bool:
    """Whether the work cost less with each step to its count of accelerators, so that one more may cost less still."""
    kind, count = kind_of(chosen)
    fewer = [each.usd_a_sample for each in machines if kind_of(each)[0] == kind and 0 < kind_of(each)[1] < count]
    return bool(fewer) and math.isfinite(min(fewer)) and chosen.usd_a_sample < min(fewer)


def _why(choice: MeasuredChoice, comparison: Comparison) -> list[Reason]:
    """Three things: what the work costs there, what it costs on the next machine, and how fast the fastest is."""
    assert comparison.chosen is not None
    chosen = comparison.chosen.machine
    count = float(len(choice.machines))
    figures: dict[str, Figure] = {"machines": count, "instance_type": chosen.name, "rate": chosen.rate}
    if chosen.usd_per_hour is None:
        code = ReasonCode.FASTEST_WITHOUT_PRICE if comparison.priced else ReasonCode.PRICES_UNKNOWN
        first = Reason(code, figures, chosen.spec)
    else:
        figures |= {"usd_per_million": _of_million(chosen, choice), "usd_per_hour": chosen.usd_per_hour}
        figures["slower_cost_less"] = _slower_cost_less(comparison, chosen, choice.objective)
        code = {
            "fastest": ReasonCode.FASTEST_OF_MACHINES,
            "balanced": ReasonCode.LEAST_COST_AND_TIME,
        }.get(choice.objective.prefer if choice.objective.rate is None else "cheapest", ReasonCode.LEAST_COST)
        first = Reason(code, figures, chosen.spec)
    found = [first]
    others = [each for each in comparison.others() if each.machine.usd_per_hour is not None]
    if others and chosen.usd_per_hour is not None:
        found.append(_beside(ReasonCode.NEXT_MACHINE, others[0].machine, chosen, choice))
    fastest = max(choice.machines, key=lambda each: each.rate)
    if fastest is not chosen and (not others or fastest is not others[0].machine):
        found.append(_beside(ReasonCode.FASTEST_MACHINE, fastest, chosen, choice))
    return found


def _slower_cost_less(comparison: Comparison, chosen: Machine, objective: Objective) -> bool:
    """Whether the work costs less on some machine that is too slow for what is asked."""
    power = 1 if objective.prefer == "balanced" and objective.rate is None else 0
    own = chosen.usd_a_sample / chosen.rate**power
    slow = [each.machine for each in comparison.priced if not each.passes]
    return any(each.usd_a_sample / each.rate**power < own for each in slow)


def _of_million(machine: Machine, choice: MeasuredChoice) -> float | None:
    return usd_per_million(machine.usd_per_hour, machine.rate, choice.model.sample_unit)


def _beside(code: ReasonCode, other: Machine, chosen: Machine, choice: MeasuredChoice) -> Reason:
    """Another machine beside the chosen one: its rate as a multiple, and the cost of the same work as a multiple."""
    priced = other.usd_per_hour is not None and chosen.usd_per_hour is not None
    figures: dict[str, Figure] = {
        "instance_type": other.name,
        "rate": other.rate,
        "speed": other.rate / chosen.rate,
        "cost": other.usd_a_sample / chosen.usd_a_sample if priced else None,
        "usd_per_million": _of_million(other, choice),
    }
    return Reason(code, figures, other.spec)


def _rejections(choice: MeasuredChoice, comparison: Comparison, chosen: Contender) -> tuple[Rejection, ...]:
    """Each machine that costs less an hour, the dearest first: too slow for what is asked, or dearer for the work."""
    taken = chosen.machine
    if taken.usd_per_hour is None:
        return ()
    cheaper = [
        each
        for each in comparison.priced
        if each.machine.usd_per_hour is not None and each.machine.usd_per_hour < taken.usd_per_hour
    ]
    cheaper.sort(key=lambda each: -(each.machine.usd_per_hour or 0.0))
    return tuple(Rejection(each.machine.spec, (_why_not(choice, each, taken),)) for each in cheaper[:MOST_REJECTED])


def _why_not(choice: MeasuredChoice, each: Contender, taken: Machine) -> Reason:
    needed = choice.objective.rate
    if choice.objective.prefer == "fastest" and needed is None:
        return _beside(ReasonCode.SLOWER_MACHINE, each.machine, taken, choice)
    if not each.passes and needed is not None:
        return reason(ReasonCode.BELOW_RATE, rate=each.machine.rate, needed=needed, probability=each.probability)
    if not each.passes:
        return reason(ReasonCode.OF_TARGET, share=each.fraction / choice.objective.target, bottleneck=None)
    return _beside(ReasonCode.DEARER_MACHINE, each.machine, taken, choice)


def _doubts(choice: MeasuredChoice, likely: float) -> list[Reason]:
    found, quality = [], choice.quality
    unpriced = sum(each.usd_per_hour is None for each in choice.machines)
    if 0 < unpriced < len(choice.machines):
        found.append(
            reason(ReasonCode.SOME_PRICES_UNKNOWN, unknown=float(unpriced), machines=float(len(choice.machines)))
        )
    if likely < SURE:
        found.append(reason(ReasonCode.CHOICE_CLOSE, probability=likely))
    found += [each for each in (quality.differing, quality.warning, quality.failed) if each is not None]
    return found


def _next_run(choice: MeasuredChoice, chosen: Machine, rising: tuple[Reason, ...], likely: float) -> Suggestion | None:
    if choice.quality.differing is not None:
        return Suggestion(Action.REPEAT)
    for why in rising:
        if why.code is ReasonCode.RISES_WITH_GPUS:
            return Suggestion(Action.MEASURE, why, gpu=chosen.spec.gpu, gpu_count=2 * kind_of(chosen)[1])
        if chosen.configuration.vcpus is not None:
            return Suggestion(Action.MEASURE, why, vcpus=(2 * chosen.configuration.vcpus,))
    if chosen.usd_per_hour is None and choice.objective.prefer != "fastest":
        return Suggestion(Action.IMPORT, column="usd_per_hour")
    if likely < SURE:
        return Suggestion(Action.REPEAT, reason(ReasonCode.CHOICE_CLOSE, probability=likely))
    return None


def _baseline(choice: MeasuredChoice, chosen: Machine) -> Baseline | None:
    """The fastest machine measured, or the one that was named, where it is among them."""
    named = choice.machine
    if named is None:
        other = max(choice.machines, key=lambda each: each.rate)
    else:
        name = f"{named.provider} {named.instance_type}"
        found = [each for each in choice.machines if each.name in (name, named.instance_type)]
        if not found:
            return None
        other = max(found, key=lambda each: each.rate)
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
    likeliest = max(comparison.contenders, key=lambda each: (each.probability, each.machine.rate))
    machine, needed = likeliest.machine, choice.objective.rate or 0.0
    deadline = choice.objective.deadline
    gain = rises_with_count(machine, choice.machines)
    why = [
        Reason(
            ReasonCode.NO_MACHINE_ENOUGH,
            {
                "rate": machine.rate,
                "needed": needed,
                "probability": likeliest.probability,
                "seconds": None if deadline is None else deadline.samples / machine.rate,
                "within": None if deadline is None else deadline.seconds,
                "samples": None if deadline is None else deadline.samples,
            },
            machine.spec,
        )
    ]
    count = kind_of(machine)[1]
    rising = gain is not None and gain > GAIN
    if not rising:
        return Answer(
            choice.model.name,
            "refused",
            sample_unit=choice.model.sample_unit,
            reasons=tuple(why),
            next_run=Suggestion(Action.MEASURE, gpu=machine.spec.gpu, gpu_count=2 * count) if count else None,
            job=None if deadline is None else job_at(machine, deadline),
            alternatives=alternatives(choice.machines, choice.model.sample_unit),
        )
    rises = reason(ReasonCode.RISES_WITH_GPUS, gpu_count=float(count), gain=gain)
    return replace(
        _answered(choice, comparison, likeliest),
        status="at_least",
        edge="rising",
        probability=rounded(likeliest.probability),
        reasons=(*why, rises),
        next_run=Suggestion(Action.MEASURE, rises, gpu=machine.spec.gpu, gpu_count=2 * count),
    )

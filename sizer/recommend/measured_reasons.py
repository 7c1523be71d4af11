"""Why a machine of those that were measured, why not the others, and what speaks against the answer."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from sizer.catalog import Catalog, InstanceType
from sizer.model import SHOWN_BY_VCPUS, WorkloadModel, disk_of, predict, vcpus_of
from sizer.recommend.accelerators import Accelerators
from sizer.recommend.comparison import Comparison, Contender, but_for_disk, hourly, kind_of
from sizer.recommend.disks import other_disk
from sizer.recommend.growth import sizes_apart
from sizer.recommend.jobs import job_at, job_reasons
from sizer.recommend.machines import Machine
from sizer.recommend.other_inputs import EFFICIENT, efficiency, input_binds, rates_of
from sizer.recommend.prices import usd_per_million
from sizer.recommend.quality import Quality
from sizer.recommend.reasons import bound_by, next_bottleneck
from sizer.recommend.scoring import rounded
from sizer.recommend.thresholds import DISK_LOSS, SURE
from sizer.records import (
    Bottleneck,
    Configuration,
    Figure,
    Objective,
    Prediction,
    Reason,
    ReasonCode,
    Rejection,
    Spec,
    reason,
)

MOST_REJECTED = 6
"""Cheaper machines of which it is said why they were not taken."""
MUCH_LESS = 0.8
"""Of the cost of the work on the answer: what costs less than that, but is slower than the target, is named."""
HALF = 0.5
"""Of the growth of vCPUs: with less than this of it in the rate, it is not the CPU that binds; with more, it is."""
SAME = 0.005
"""Shares that differ by less are the same in whole percents."""


@dataclass(frozen=True)
class MeasuredChoice:
    """One workload's machines and what is asked of them.

    `other_inputs` are rates with synthetic input by kind and count of accelerator; `one_curve`: the machines are sizes
    of one kind, so that the model's curve describes them.
    """

    model: WorkloadModel
    objective: Objective
    catalog: Catalog
    quality: Quality
    machines: tuple[Machine, ...]
    machine: InstanceType | None = None
    other_inputs: Mapping[Accelerators, float] = field(default_factory=dict)

    @property
    def one_curve(self) -> bool:
        kinds = {kind_of(each) for each in self.machines}
        named = any(each.rented is not None for each in self.machines)
        return len(kinds) == 1 and not named and bool(self.model.members) and self.model.refused is None


@dataclass(frozen=True)
class Binding:
    """What holds a machine back, where the runs show it."""

    bottleneck: Bottleneck | None = None
    next_bottleneck: Bottleneck | None = None
    headroom: float | None = None
    reasons: tuple[Reason, ...] = ()


def binding(choice: MeasuredChoice, machine: Machine) -> Binding:
    """By its accounting; else by the curve of one kind of machine, where it shows that."""
    if machine.evidence is not None or not choice.one_curve or slipped(choice):
        return Binding(machine.evidence)
    prediction: Prediction = predict(choice.model, machine.configuration)
    if prediction.bottleneck is Bottleneck.AMBIGUOUS or _contradicted(prediction.bottleneck, machine, choice.machines):
        return Binding()
    said = tuple(bound_by(choice.model, prediction, bound=True))
    return Binding(prediction.bottleneck, next_bottleneck(prediction), prediction.headroom, said)


def _contradicted(bottleneck: Bottleneck, machine: Machine, machines: Sequence[Machine]) -> bool:
    """Whether the next more vCPUs measured say otherwise: a busy CPU gains by them, and what else binds does not."""
    here = vcpus_of(machine.configuration)
    bare = replace(machine.configuration, vcpus=None, memory_bytes=None)
    more = [
        each
        for each in machines
        if replace(each.configuration, vcpus=None, memory_bytes=None) == bare and vcpus_of(each.configuration) > here
    ]
    if not more or bottleneck not in SHOWN_BY_VCPUS:
        return False
    following = min(more, key=lambda each: vcpus_of(each.configuration))
    gained = math.log(following.rate / machine.rate) / math.log(vcpus_of(following.configuration) / here)
    return (gained < HALF) is (bottleneck is Bottleneck.CPU)


def why(choice: MeasuredChoice, comparison: Comparison, bound: Binding, likely: float) -> list[Reason]:
    """What the work costs there, what is in doubt, the next machine and the fastest, and what binds: by importance."""
    assert comparison.chosen is not None
    contender = comparison.chosen
    chosen = contender.machine
    surer, baseline = comparison.surer(), _beside_baseline(choice, chosen)
    close = closeness(choice, comparison, likely)
    asked, sure_one = _asked(choice, contender), [] if surer is None else [_surer(surer, chosen, choice)]
    return [
        *_job(choice, chosen),
        *slipped(choice),
        *([] if contender.sure else asked),
        *(sure_one if asked else []),
        _first(choice, comparison, chosen),
        *(asked if contender.sure else []),
        *([] if baseline is None else [baseline]),
        *([] if close is None else [close]),
        *([] if asked else sure_one),
        *_input(choice, chosen),
        *_below_target(choice, comparison, chosen),
        *_disks(choice, chosen),
        *_other_machines(choice, comparison, chosen),
        *bound.reasons,
    ]


def _job(choice: MeasuredChoice, chosen: Machine) -> list[Reason]:
    """How long the job of the deadline takes there, and what it costs."""
    deadline = choice.objective.deadline
    if deadline is None:
        return []
    return job_reasons(job_at(chosen, deadline), choice.quality.rests_on_doubt(chosen.configuration))


def _asked(choice: MeasuredChoice, chosen: Contender) -> list[Reason]:
    """That it is fast enough, and prompt enough, where that is asked for."""
    objective, found = choice.objective, []
    if objective.at_least is not None and objective.deadline is None:
        figures = {"rate": chosen.machine.rate, "needed": objective.at_least}
        found.append(reason(ReasonCode.FAST_ENOUGH, **figures, probability=rounded(chosen.probability)))
    if objective.latency_p99 is not None:
        latencies = {"latency": chosen.machine.latency_p99, "most": objective.latency_p99}
        found.append(reason(ReasonCode.LATENCY_KEPT, **latencies, probability=rounded(chosen.prompt)))
    return found


def _first(choice: MeasuredChoice, comparison: Comparison, chosen: Machine) -> Reason:
    fastest = choice.objective.counts == "fastest"
    by_price = chosen.usd_per_hour is not None and not fastest
    counted = comparison.priced if by_price else comparison.contenders
    figures: dict[str, Figure] = {
        "machines": float(len({_but_for_batch(each.machine) for each in counted})),
        "configurations": float(len(counted)),
        "instance_type": chosen.name,
        "rate": chosen.rate,
        "by_latency": not all(each.prompt_enough for each in counted),
        "only_priced": by_price and len(counted) == 1,
        "spot": choice.objective.spot,
    }
    if len(choice.machines) == 1:
        code = ReasonCode.ONLY_WITH_THIS_INPUT if choice.other_inputs else ReasonCode.ONLY_MACHINE
        return Reason(code, figures | {"usd_per_million": _of_million(chosen, choice)}, chosen.spec)
    if chosen.usd_per_hour is None:
        return Reason(_without_price(comparison, chosen, fastest), figures, chosen.spec)
    less = (1 - SAME) * comparison.merit(chosen)
    figures |= {"usd_per_million": _of_million(chosen, choice), "usd_per_hour": chosen.usd_per_hour}
    figures["slower_cost_less"] = _slower_cost_less(comparison, chosen, choice.objective)
    figures["surer"] = any(each.passes and comparison.merit(each.machine) < less for each in comparison.priced)
    if fastest:
        first = chosen.rate == comparison.fastest.rate
        code = ReasonCode.FASTEST_OF_MACHINES if first else ReasonCode.NEARLY_FASTEST
    elif choice.objective.counts == "balanced":
        code = ReasonCode.LEAST_COST_AND_TIME
    else:
        code = ReasonCode.LEAST_COST
    return Reason(code, figures, chosen.spec)


def _but_for_batch(machine: Machine) -> tuple[object, ...]:
    """What makes a machine, whatever batch it was given."""
    return replace(machine.configuration, batch_size=None), machine.rented, kind_of(machine)


def _without_price(comparison: Comparison, chosen: Machine, fastest: bool) -> ReasonCode:
    passing = [each.machine for each in comparison.contenders if each.passes]
    nearly = chosen.rate < comparison.fastest.rate
    if fastest:
        return ReasonCode.NEARLY_FASTEST if nearly else ReasonCode.FASTEST_WITHOUT_PRICE
    if len({kind_of(each) for each in passing}) > 1:
        return ReasonCode.PRICES_UNKNOWN
    if nearly and len({but_for_disk(each.machine) for each in comparison.contenders}) == 1:
        return ReasonCode.DISK_ENOUGH
    return ReasonCode.SMALLEST_OF_MACHINES if nearly else ReasonCode.FASTEST_WITHOUT_PRICE


def _slower_cost_less(comparison: Comparison, chosen: Machine, objective: Objective) -> bool:
    """Whether the work costs less on some machine that is too slow for what is asked."""
    power = 1 if objective.counts == "balanced" else 0
    own = chosen.cost / chosen.rate**power
    slow = [each.machine for each in comparison.priced if not each.passes]
    return any(each.cost / each.rate**power < own for each in slow)


def _surer(surer: Contender, chosen: Machine, choice: MeasuredChoice) -> Reason:
    found = beside(ReasonCode.SURER_MACHINE, surer.machine, chosen, choice)
    return replace(found, figures=dict(found.figures) | {"probability": rounded(min(surer.probability, surer.prompt))})


def _below_target(choice: MeasuredChoice, comparison: Comparison, chosen: Machine) -> list[Reason]:
    """The fastest machine of its kind on which the work costs a good deal less, at a rate below the target."""
    if choice.objective.rate is not None or choice.objective.counts == "fastest" or chosen.usd_per_hour is None:
        return []
    slower = [
        each
        for each in comparison.priced
        if kind_of(each.machine) == kind_of(chosen) and each.prompt_enough and not each.fast_enough
    ]
    cheaper = [each for each in slower if each.machine.cost <= MUCH_LESS * chosen.cost]
    fastest = max(cheaper, key=lambda each: each.machine.rate, default=None)
    if fastest is None:
        return []
    found = beside(ReasonCode.CHEAPER_BELOW_TARGET, fastest.machine, chosen, choice)
    return [replace(found, figures=dict(found.figures) | {"target": math.floor(100 * fastest.fraction) / 100})]


def _beside_baseline(choice: MeasuredChoice, chosen: Machine) -> Reason | None:
    """The machine that was named, beside the chosen one; None where none was, or it is the chosen one."""
    if choice.machine is None:
        return None
    other = named_baseline(choice)
    if other is None:
        return reason(ReasonCode.NO_BASELINE, instance_type=f"{choice.machine.provider} {choice.machine.instance_type}")
    return None if other is chosen else beside(ReasonCode.BASELINE_MACHINE, other, chosen, choice)


def named_baseline(choice: MeasuredChoice) -> Machine | None:
    """The fastest that was measured on the machine that was named."""
    if choice.machine is None:
        return None
    name = f"{choice.machine.provider} {choice.machine.instance_type}"
    found = [each for each in choice.machines if each.name in (name, choice.machine.instance_type)]
    return max(found, key=lambda each: each.rate, default=None)


def _other_machines(choice: MeasuredChoice, comparison: Comparison, chosen: Machine) -> list[Reason]:
    """The next by the objective, and the fastest of all, where it is another and no other disk of the same."""
    found = []
    by_price = choice.objective.counts != "fastest"
    surer = comparison.surer()
    others = [each for each in comparison.others() if each.machine.usd_per_hour is not None or not by_price]
    others = [each for each in others if surer is None or each.machine is not surer.machine]
    if others and chosen.usd_per_hour is not None:
        found.append(beside(ReasonCode.NEXT_MACHINE, others[0].machine, chosen, choice))
    fastest = comparison.fastest
    another = fastest.rate > chosen.rate and but_for_disk(fastest) != but_for_disk(chosen)
    if another and (not others or fastest is not others[0].machine):
        found.append(beside(ReasonCode.FASTEST_MACHINE, fastest, chosen, choice))
    return found


def _disks(choice: MeasuredChoice, chosen: Machine) -> list[Reason]:
    """What the best other disk gives, all else alike."""
    alike = but_for_disk(chosen)
    others = [each for each in choice.machines if each is not chosen and but_for_disk(each) == alike]
    if not others:
        return []
    best = max(others, key=lambda each: each.rate)
    gain = best.rate / chosen.rate - 1
    here, other = disk_of(chosen.configuration), disk_of(best.configuration)
    return [other_disk(here, other, gain, chosen.rate, cheaper=best.disk_usd_per_hour < chosen.disk_usd_per_hour)]


def _input(choice: MeasuredChoice, chosen: Machine) -> list[Reason]:
    """That the rows are of another input than a job's; that its input holds it back, or what the accelerators do."""
    fed = choice.model.facts.setting.input
    other = [reason(ReasonCode.OTHER_INPUT, input=fed)] if fed != "disk" else []
    steps = choice.other_inputs if fed == "disk" else rates_of(choice.machines) if fed == "synthetic" else {}
    without = input_binds(chosen, choice.other_inputs) if fed == "disk" else None
    if without is not None:
        return [reason(ReasonCode.INPUT_BINDS, rate=without, speed=without / chosen.rate)]
    kept = efficiency(chosen.accelerators, steps)
    if kept is None or kept.share > EFFICIENT:
        return other
    counts = {"gpu_count": float(kept.count), "fewer": float(kept.fewer)}
    return [*other, reason(ReasonCode.INTERCONNECT_BINDS, share=kept.share, **counts)]


def _of_million(machine: Machine, choice: MeasuredChoice) -> float | None:
    return usd_per_million(machine.usd_per_hour, machine.rate, choice.model.sample_unit)


def beside(code: ReasonCode, other: Machine, chosen: Machine, choice: MeasuredChoice) -> Reason:
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


def rejections(choice: MeasuredChoice, comparison: Comparison, chosen: Contender) -> tuple[Rejection, ...]:
    """Each machine that costs less an hour, or is smaller where no price is known, and what ran out of memory.

    And what would do the work for less if it answered soon enough.
    """
    taken = chosen.machine
    if taken.usd_per_hour is not None:
        cheaper = [each for each in comparison.priced if _speaks_against(each, chosen)]
        cheaper.sort(key=lambda each: -hourly(each.machine))
    else:
        cheaper = [
            each
            for each in comparison.contenders
            if kind_of(each.machine) == kind_of(taken) and each.machine.size < taken.size
        ]
        cheaper.sort(key=lambda each: each.machine.size, reverse=True)
    found = [_rejection(choice, each, taken) for each in cheaper[:MOST_REJECTED]]
    return (*found, *_did_not_fit(choice, taken))


def _speaks_against(each: Contender, chosen: Contender) -> bool:
    if each is chosen:
        return False
    cheaper = hourly(each.machine) < hourly(chosen.machine)
    return cheaper or (not each.prompt_enough and each.machine.cost < chosen.machine.cost)


def _rejection(choice: MeasuredChoice, each: Contender, taken: Machine) -> Rejection:
    return Rejection(each.machine.spec, (_why_not(choice, each, taken),), _own_name(each.machine))


def _own_name(machine: Machine) -> str | None:
    """What the table calls it."""
    return machine.name if machine.rented is not None else None


def _did_not_fit(choice: MeasuredChoice, taken: Machine) -> list[Rejection]:
    killed = choice.model.measured.did_not_fit[:MOST_REJECTED]
    return [Rejection(_spec_like(taken, each), (reason(ReasonCode.OUT_OF_MEMORY),)) for each in killed]


def _spec_like(machine: Machine, configuration: Configuration) -> Spec:
    """The configuration with the axes of a spec that the machine's has."""
    own = machine.spec
    gpu = configuration.gpu if configuration.gpu is not None else own.gpu
    return Spec(
        configuration.vcpus,
        configuration.memory_bytes,
        configuration.disk if own.disk is not None else None,
        configuration.batch_size,
        gpu,
        max(1, configuration.gpu_count or 0) if gpu is not None else 0,
    )


def _why_not(choice: MeasuredChoice, each: Contender, taken: Machine) -> Reason:
    objective, machine = choice.objective, each.machine
    if not each.prompt_enough and objective.latency_p99 is not None:
        return reason(ReasonCode.LATENCY_TOO_LONG, latency=machine.latency_p99, most=objective.latency_p99)
    if objective.rate is not None and not each.passes:
        figures = {"rate": machine.rate, "needed": objective.rate}
        return reason(ReasonCode.BELOW_RATE, **figures, probability=each.probability)
    if each.disk_loss > DISK_LOSS:
        return reason(ReasonCode.DISK_LOSES, loss=each.disk_loss, most=DISK_LOSS)
    share = each.fraction / objective.target
    if not each.passes and share >= 1 - SAME:
        return reason(ReasonCode.TARGET_UNLIKELY, probability=each.probability)
    if not each.passes:
        return reason(ReasonCode.OF_TARGET, share=share, bottleneck=None)
    if objective.rate is None and (objective.prefer == "fastest" or machine.usd_per_hour is None):
        return beside(ReasonCode.SLOWER_MACHINE, machine, taken, choice)
    if objective.counts == "balanced":
        both = (machine.cost / machine.rate) / (taken.cost / taken.rate)
        return Reason(ReasonCode.DEARER_IN_TIME, {"rate": machine.rate, "cost": both}, machine.spec)
    return beside(ReasonCode.DEARER_MACHINE, machine, taken, choice)


def doubts(choice: MeasuredChoice) -> list[Reason]:
    """What else speaks against relying on the answer: prices that are not known, and what the runs say."""
    found = []
    unpriced = sum(each.usd_per_hour is None for each in choice.machines)
    if 0 < unpriced < len(choice.machines):
        found.append(
            reason(ReasonCode.SOME_PRICES_UNKNOWN, unknown=float(unpriced), machines=float(len(choice.machines)))
        )
    if choice.objective.spot:
        known = any(each.usd_per_hour is not None for each in choice.machines)
        found.append(reason(ReasonCode.SPOT_PRICES if known else ReasonCode.NO_SPOT_PRICES))
    found += [each for each in (choice.quality.warning, choice.quality.failed) if each is not None]
    return found


def surely(likely: float) -> bool:
    """Whether a probability is enough as it is printed, with two digits."""
    return round(likely, 2) >= SURE


def closeness(choice: MeasuredChoice, comparison: Comparison, likely: float) -> Reason | None:
    """Why the choice is not sure: the target is only just kept, or others are close; None where it is sure."""
    assert comparison.chosen is not None
    if surely(likely):
        return None
    if rounded(min(comparison.chosen.probability, comparison.chosen.prompt)) > likely:
        return reason(ReasonCode.CHOICE_CLOSE, probability=likely)
    if choice.objective.rate is not None or choice.objective.latency_p99 is not None:
        return None  # it is said with the rate, or with the latency
    return reason(ReasonCode.TARGET_CLOSE, probability=likely, target=choice.objective.target)


def slipped(choice: MeasuredChoice) -> list[Reason]:
    """The machines of which one run must be wrong; else one that does not go with the next smaller one."""
    found = [
        Reason(ReasonCode.RUNS_APART, {"factor": each.apart}, each.spec) for each in choice.machines if each.slipped
    ]
    odd = None if found else sizes_apart(choice.machines)
    if odd is None:
        return found
    figures = {"factor": max(odd.ratio, 1 / odd.ratio), "slower": odd.ratio < 1, "fewer": float(odd.fewer)}
    return [Reason(ReasonCode.SIZES_APART, figures, odd.machine.spec)]


def why_none(choice: MeasuredChoice, comparison: Comparison) -> Sequence[Reason]:
    """No machine gives what is asked for: the one that comes nearest."""
    objective = choice.objective
    likeliest = comparison.likeliest
    fast = [each for each in comparison.contenders if each.fast_enough]
    figures: dict[str, Figure] = {"most": objective.latency_p99, "needed": objective.rate}
    if likeliest is None:
        known = [each.machine for each in comparison.contenders if each.machine.latency_p99 is not None]
        soonest = min(known, key=lambda each: each.latency_p99 or 0.0)
        return [Reason(ReasonCode.LATENCY_NOT_KEPT, figures | {"latency": soonest.latency_p99}, soonest.spec)]
    if fast:
        nearest = max(fast, key=lambda each: (each.prompt, each.machine.rate)).machine
        figures |= {"latency": nearest.latency_p99, "rate": nearest.rate}
        return [Reason(ReasonCode.NOT_FAST_AND_PROMPT, figures, nearest.spec)]
    deadline, machine = objective.deadline, likeliest.machine
    figures |= {
        "rate": machine.rate,
        "probability": likeliest.probability,
        "seconds": None if deadline is None else deadline.samples / machine.rate,
        "within": None if deadline is None else deadline.seconds,
        "samples": None if deadline is None else deadline.samples,
    }
    return [Reason(ReasonCode.NO_MACHINE_ENOUGH, figures, machine.spec), *_input(choice, machine)]

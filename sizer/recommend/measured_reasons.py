"""Why a machine of those that were measured, and what speaks against the answer."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from sizer.model import disk_of
from sizer.recommend.comparison import Comparison, Contender, but_for_disk, kind_of
from sizer.recommend.disks import other_disk
from sizer.recommend.jobs import job_at, job_reasons
from sizer.recommend.machine_prices import gpu_gone
from sizer.recommend.machines import Machine
from sizer.recommend.measured_choice import Binding, MeasuredChoice, beside, named_baseline, of_million
from sizer.recommend.other_inputs import EFFICIENT, efficiency, input_binds, rates_of
from sizer.recommend.scoring import rounded
from sizer.recommend.thresholds import SURE
from sizer.records import (
    Figure,
    Reason,
    ReasonCode,
    reason,
)

MUCH_LESS = 0.8
"""Of the cost of the work on the answer: what costs less than that, but is slower than the target, is named."""
LESS = 0.995
"""A cost below this share of the answer's is less than it."""


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
        *choice.slips,
        *([] if contender.sure else asked),
        *(sure_one if asked else []),
        _first(choice, comparison, chosen),
        *_memory(chosen),
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
        return Reason(code, figures | {"usd_per_million": of_million(chosen, choice)}, chosen.spec)
    if chosen.usd_per_hour is None:
        return Reason(_without_price(comparison, chosen, fastest), figures, chosen.spec)
    less = LESS * comparison.merit(chosen)
    figures |= {"usd_per_million": of_million(chosen, choice), "usd_per_hour": chosen.usd_per_hour}
    figures["slower_cost_less"] = not fastest and _slower_cost_less(comparison, chosen)
    figures["surer"] = any(each.passes and comparison.merit(each.machine) < less for each in comparison.priced)
    if fastest:
        first = chosen.rate == comparison.fastest.rate
        code = ReasonCode.FASTEST_OF_MACHINES if first else ReasonCode.NEARLY_FASTEST
    elif choice.objective.counts == "balanced":
        code = ReasonCode.LEAST_COST_AND_TIME
    else:
        code = ReasonCode.LEAST_COST
    return Reason(code, figures, chosen.spec)


def _memory(chosen: Machine) -> list[Reason]:
    """That more memory makes no difference, where it is the smallest of such sizes."""
    level = chosen.level
    if level is None or level.sizes[0] < (chosen.configuration.memory_bytes or 0):
        return []
    sizes, rates = (
        {"least": level.sizes[0], "most": level.sizes[-1]},
        {"low": min(level.rates), "high": max(level.rates)},
    )
    return [reason(ReasonCode.MEMORY_ALIKE, **sizes, **rates)]


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


def _slower_cost_less(comparison: Comparison, chosen: Machine) -> bool:
    """Whether the work costs less on some machine that is too slow for what is asked."""
    own = comparison.merit(chosen)
    return any(comparison.merit(each.machine) < own for each in comparison.priced if not each.passes)


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
        return reason(ReasonCode.NO_BASELINE, instance_type=choice.machine.name)
    return None if other is chosen else beside(ReasonCode.BASELINE_MACHINE, other, chosen, choice)


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


def retired_reason(code: ReasonCode, machines: Sequence[Machine]) -> Reason:
    """The machines measured that nobody can rent any more, each with its year."""
    years = dict.fromkeys((each.name or "", each.retired) for each in machines)
    return reason(code, names=tuple(name for name, _ in years), years=tuple(float(year or 0) for _, year in years))


def doubts(choice: MeasuredChoice, chosen: Machine) -> list[Reason]:
    """What else there is to know beside the answer: what cannot be rented, prices that are not known, and the runs'."""
    found = [retired_reason(ReasonCode.MACHINES_RETIRED, choice.retired)] if choice.retired else []
    gpu = chosen.accelerators.catalog_name(choice.model.facts.device)
    gone = None if gpu is None else gpu_gone(gpu, choice.catalog, choice.objective.spot)
    found += [] if gone is None or chosen.usd_per_hour is not None else [gone]
    unpriced = sum(each.usd_per_hour is None for each in choice.machines)
    if 0 < unpriced < len(choice.machines):
        found.append(
            reason(ReasonCode.SOME_PRICES_UNKNOWN, unknown=float(unpriced), machines=float(len(choice.machines)))
        )
    if choice.objective.spot:
        known = any(each.usd_per_hour is not None for each in choice.machines)
        found.append(reason(ReasonCode.SPOT_PRICES if known else ReasonCode.NO_SPOT_PRICES))
    said = (choice.quality.lower_bounds, choice.quality.warning, choice.quality.failed)
    found += [each for each in said if each is not None]
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
        return reason(ReasonCode.CHOICE_CLOSE, probability=likely, event=comparison.event.value)
    if choice.objective.rate is not None or choice.objective.latency_p99 is not None:
        return None  # it is said with the rate, or with the latency
    return reason(ReasonCode.TARGET_CLOSE, probability=likely, target=choice.objective.target)


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

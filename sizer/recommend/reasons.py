"""Why a candidate is the answer, and what speaks against it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

from sizer.model.coordinates import vcpus_of
from sizer.model.edge import GAIN
from sizer.model.model import WorkloadModel
from sizer.recommend.candidates import Candidate
from sizer.recommend.case import Case
from sizer.recommend.disks import disk_reasons
from sizer.recommend.jobs import job_of, job_reasons
from sizer.recommend.machine_prices import gpu_gone
from sizer.recommend.memory import memory_reasons
from sizer.recommend.other_inputs import EFFICIENT, efficiency, input_binds, rates_of
from sizer.recommend.prices import usd_per_million
from sizer.recommend.table import SURE, Row, rounded
from sizer.records.answer import Event
from sizer.records.configuration import Bottleneck
from sizer.records.prediction import Figure, Prediction, Reason, ReasonCode, reason

INTERVAL = {"rate_low": "low", "rate_high": "high", "rate_basis": "basis"}
"""What a reason calls the fields of a device that say how sure its rate is."""
MUCH_LESS = 0.8
"""Of the cost of the work on the answer: what costs less than that, but is slower than the target, is named."""


@dataclass(frozen=True)
class Binding:
    """What holds a candidate back, by its accounting or by the curve; None where neither says."""

    bottleneck: Bottleneck | None = None
    next_bottleneck: Bottleneck | None = None
    headroom: float | None = None
    prediction: Prediction | None = None


def binding(case: Case, candidate: Candidate, known: bool) -> Binding:
    """`known` False: the runs move by more than is at stake, so no bottleneck is named."""
    found = case.prediction(candidate)
    if candidate.evidence is not None and case.table.of_machines:
        return Binding(candidate.evidence)
    if found is None:
        return Binding()
    if not known or not found.shares or found.bottleneck is Bottleneck.AMBIGUOUS:
        return Binding(None if case.table.of_machines else Bottleneck.AMBIGUOUS, prediction=found)
    return Binding(found.bottleneck, next_bottleneck(found), found.headroom, found)


def next_bottleneck(prediction: Prediction) -> Bottleneck | None:
    """What would bind if the present bottleneck were relieved: the largest other share, where there is one."""
    bound = prediction.bottleneck.value
    others = {name: share for name, share in prediction.shares.items() if name != bound and share >= 1e-4}
    if bound not in prediction.shares or not others:
        return None
    return Bottleneck(max(others, key=others.__getitem__))


def surely(probability: float) -> bool:
    """Whether a probability is enough as it is printed, with two digits."""
    return round(probability, 2) >= SURE


def why(case: Case, chosen: Row, bound: Binding, probability: float) -> Iterator[Reason]:
    """The reasons of an answer, the most important first."""
    yield from case.slips
    if case.table.of_machines:
        yield from _of_machines(case, chosen, probability)
        yield from _input(case, chosen.candidate)
    else:
        yield from _asked(case, chosen)
        if case.objective.rate is None:
            yield _reaches(case, chosen)
        else:
            yield from _surer(case, chosen)
    if bound.prediction is not None:
        yield from bound_by(case.model, bound)
    yield from disk_reasons(case, chosen.candidate, bound.prediction)
    if not case.table.of_machines:
        yield from _size(case.model, chosen.candidate)
        yield from memory_reasons(case.model, chosen.candidate)
    yield from step_emulated(case.model, chosen.candidate.place.batch_size)


def _asked(case: Case, chosen: Row) -> Iterator[Reason]:
    """That it is in time, fast and prompt enough, where that is asked for."""
    objective = case.objective
    if objective.deadline is not None:
        doubtful = case.quality.rests_on_doubt(chosen.candidate.place)
        yield from job_reasons(job_of(chosen, objective.deadline), doubtful)
    elif objective.at_least is not None:
        likely = rounded(chosen.probability)
        yield reason(ReasonCode.GIVES, rate=chosen.candidate.rate, needed=objective.at_least, probability=likely)
    if objective.latency_p99 is not None:
        latencies = {"latency": chosen.candidate.latency_p99, "most_latency": objective.latency_p99}
        yield reason(ReasonCode.LATENCY, **latencies, probability=rounded(chosen.prompt))


def _reaches(case: Case, chosen: Row) -> Reason:
    best = case.best
    assert best is not None, "sizes are held against the best"
    figures: dict[str, Figure] = {"vcpus": chosen.candidate.spec.vcpus, "share": chosen.fraction}
    return reason(ReasonCode.GIVES, **figures, rate=case.best_rate, best=best.vcpus)


def _of_machines(case: Case, chosen: Row, probability: float) -> Iterator[Reason]:
    """What the work costs there, what is in doubt, the machine to compare with, the next and the fastest."""
    choice, taken = case.choice, chosen.candidate
    if chosen.sure and case.objective.deadline is None:
        yield _first(case, chosen)
        yield from _asked(case, chosen)
    else:
        yield from _asked(case, chosen)
        yield from _surer(case, chosen)
        yield _first(case, chosen)
    if case.machine is not None:
        other = named(case)
        if other is None:
            yield reason(ReasonCode.BASELINE, instance_type=case.machine.name)
        elif other is not taken:
            yield beside("baseline", other, taken, case)
    yield from _close(case, chosen, probability)
    yield from _below_target(case, chosen)
    priced = [row for row in choice.others if row.candidate.usd_per_hour is not None or _fastest(case)]
    if chosen.sure and priced and taken.usd_per_hour is not None:
        yield beside("next", priced[0].candidate, taken, case)
    fastest = choice.fastest
    another = fastest.rate > taken.rate and fastest.but_for_disk != taken.but_for_disk
    if another and (not priced or fastest is not priced[0].candidate):
        yield beside("fastest", fastest, taken, case)


def _surer(case: Case, chosen: Row) -> Iterator[Reason]:
    """The best of those that are sure, where the chosen one is not."""
    surer = next((row for row in case.choice.others if row.sure), None)
    if surer is not None and not chosen.sure:
        found = beside("surer", surer.candidate, chosen.candidate, case)
        yield replace(found, figures={**found.figures, "probability": rounded(surer.chance)})


def _fastest(case: Case) -> bool:
    return case.objective.counts == "fastest"


def _first(case: Case, chosen: Row) -> Reason:
    choice, taken, fastest = case.choice, chosen.candidate, _fastest(case)
    by_price = taken.usd_per_hour is not None and not fastest
    counted = choice.priced if by_price else choice.table.rows
    merit = choice.table.merit
    figures: dict[str, Figure] = {
        "machines": float(len({_but_for_batch(row.candidate) for row in counted})),
        "configurations": float(len(counted)),
        "instance_type": taken.name,
        "rate": taken.rate,
        "by": _by(case, taken, by_price),
        "nearly": fastest and taken.rate < choice.fastest.rate,
        "by_latency": not all(row.prompt_enough for row in counted),
        "only_priced": by_price and len(counted) == 1,
        "spot": case.objective.spot,
        "usd_per_million": of_million(taken, case),
        "usd_per_hour": taken.usd_per_hour,
        "surer": by_price and any(merit(row) < merit(chosen) for row in choice.priced if row.passes and not row.sure),
        "slower_cost_less": by_price and any(merit(row) < merit(chosen) for row in choice.priced if not row.passes),
    }
    if len(case.candidates) == 1:
        code = ReasonCode.ONLY_MACHINE
        figures |= {"input": case.model.facts.setting.input if case.other_inputs else None}
    elif taken.usd_per_hour is not None:
        code = ReasonCode.BEST_OF_MACHINES
    else:
        code = ReasonCode.UNPRICED
    return Reason(code, figures, taken.spec)


def _by(case: Case, taken: Candidate, by_price: bool) -> str:
    """What it is the best by; where no price is known, that may be what an accelerator makes, or the size or disk."""
    choice = case.choice
    if by_price:
        return "cost_and_time" if case.objective.counts == "balanced" else "cost"
    if _fastest(case):
        return "rate"
    if len({row.candidate.kind for row in choice.table.rows if row.passes}) > 1:
        return "accelerator"
    if taken.rate == choice.fastest.rate:
        return "rate"
    return "disk" if len({row.candidate.but_for_disk for row in choice.table.rows}) == 1 else "size"


def _but_for_batch(each: Candidate) -> tuple[object, ...]:
    """What makes a machine, whatever batch it was given."""
    return replace(each.place, batch_size=None), each.rented, each.kind


def _close(case: Case, chosen: Row, probability: float) -> Iterator[Reason]:
    """Why the choice is not sure: the target is only just kept, or others are close."""
    if case.choice.chosen is None or surely(probability):
        return
    if rounded(chosen.chance) > probability:
        yield reason(ReasonCode.CHOICE_CLOSE, probability=probability, event=case.choice.event.value)
    elif case.objective.rate is None and case.objective.latency_p99 is None:
        yield reason(
            ReasonCode.CHOICE_CLOSE,
            probability=probability,
            event=Event.REACHES_TARGET.value,
            share=case.objective.target,
        )


def _below_target(case: Case, chosen: Row) -> Iterator[Reason]:
    """The fastest of its kind on which the work costs a good deal less, at a rate below the target."""
    taken = chosen.candidate
    if case.objective.rate is not None or _fastest(case) or taken.usd_per_hour is None:
        return
    priced = case.choice.priced
    slower = [row for row in priced if row.candidate.kind == taken.kind and row.prompt_enough and not row.sure]
    cheaper = [row for row in slower if row.candidate.cost <= MUCH_LESS * taken.cost]
    if cheaper:
        fastest = max(cheaper, key=lambda row: row.candidate.rate)
        found = beside("cheaper", fastest.candidate, taken, case)
        yield replace(found, figures={**found.figures, "target": math.floor(100 * fastest.fraction) / 100})


def named(case: Case) -> Candidate | None:
    """The fastest that was measured on the machine that the answer is to be compared with."""
    if case.machine is None:
        return None
    found = [each for each in case.candidates if each.name in (case.machine.name, case.machine.instance_type)]
    return max(found, key=lambda each: each.rate, default=None)


def beside(role: str, other: Candidate, chosen: Candidate, case: Case) -> Reason:
    """Another beside the chosen one, in its role: its rate, and the cost of the same work, as multiples."""
    priced = other.usd_per_hour is not None and chosen.usd_per_hour is not None
    figures: dict[str, Figure] = {
        "role": role,
        "instance_type": other.name,
        "rate": other.rate,
        "speed": other.rate / chosen.rate,
        "cost": other.usd_a_sample / chosen.usd_a_sample if priced else None,
        "usd_per_million": of_million(other, case),
    }
    return Reason(ReasonCode.BESIDE, figures, other.spec)


def of_million(each: Candidate, case: Case) -> float | None:
    return usd_per_million(each.usd_per_hour, each.rate, case.model.sample_unit)


def _input(case: Case, taken: Candidate) -> Iterator[Reason]:
    """That the rows are of another input than a job's; that its input holds it back, or what the accelerators do."""
    fed = case.model.facts.setting.input
    if fed != "disk":
        yield reason(ReasonCode.OTHER_INPUT, input=fed)
    without = input_binds(taken, case.other_inputs) if fed == "disk" else None
    if without is not None:
        yield reason(ReasonCode.HELD_BACK, rate=without, speed=without / taken.rate)
        return
    steps = case.other_inputs if fed == "disk" else rates_of(case.candidates) if fed == "synthetic" else {}
    kept = efficiency(taken.accelerators, steps)
    if kept is not None and kept.share <= EFFICIENT:
        counts = {"gpu_count": float(kept.count), "fewer": float(kept.fewer)}
        yield reason(ReasonCode.HELD_BACK, share=kept.share, **counts)


def bound_by(model: WorkloadModel, bound: Binding) -> Iterator[Reason]:
    """What binds; nothing where the table shows no resource that could."""
    prediction, measured = bound.prediction, model.measured
    if prediction is None or (not prediction.shares and not measured.vcpus):
        return
    ordered = sorted(prediction.shares.items(), key=lambda item: item[1], reverse=True)
    shares: dict[str, Figure] = {}
    if ordered:
        shares = {"resources": tuple(name for name, _ in ordered), "shares": tuple(share for _, share in ordered)}
    rate = measured.rate_at(prediction.configuration)
    accounted: dict[str, Figure] = {}
    if rate is not None and rate.evidence is not None:
        accounted = {"accounted": rate.evidence.value, "busy": rate.busy}
    if bound.bottleneck not in (None, Bottleneck.AMBIGUOUS):
        yield reason(ReasonCode.BOUND_BY, bottleneck=prediction.bottleneck.value, **shares, **accounted)
    elif not shares or prediction.bottleneck is not Bottleneck.AMBIGUOUS:
        of_one_size = len(measured.vcpus) == 1 and model.facts.core_seconds is not None and not prediction.shares
        one_size = {"one_size": of_one_size} if of_one_size else {}
        yield reason(ReasonCode.BOTTLENECK_UNKNOWN, **(shares if measured.vcpus else {}), **one_size)
    else:
        yield reason(ReasonCode.BOTTLENECK_UNKNOWN, **shares, **accounted)


def _size(model: WorkloadModel, chosen: Candidate) -> Iterator[Reason]:
    known, judged = model.measured.vcpus, vcpus_of(chosen.place)
    if chosen.spec.vcpus is None:
        if chosen.spec.gpu is None:  # an accelerator comes with the vCPUs of its machine
            yield reason(ReasonCode.NOT_IN_TABLE, column="vcpus")
    elif len(known) == 1:
        yield reason(ReasonCode.NOT_VARIED, vcpus=judged)
    elif judged < chosen.spec.vcpus:
        yield reason(ReasonCode.SMALLEST_SOLD, vcpus=chosen.spec.vcpus, judged=judged)
    elif judged == known[0] > 1:
        yield reason(ReasonCode.FEWER_NOT_MEASURED, vcpus=judged)


def step_emulated(model: WorkloadModel, batch_size: int | None) -> Iterator[Reason]:
    """The rate that an emulated GPU has with this batch, how sure it is, and where it comes from."""
    device = model.facts.device
    if device.kind != "emulated":
        return
    here = device.at_batch(batch_size) if batch_size is not None else device
    rate = here.samples_per_second if device.batch_rates else model.facts.accelerator_rate
    how = {name: value for name, value in vars(here).items() if name in INTERVAL and value is not None}
    said = {INTERVAL[name]: value for name, value in how.items()}
    yield reason(ReasonCode.EMULATED, rate=rate or None, source=here.source or None, **said)


def doubts(case: Case, chosen: Candidate | None) -> Iterator[Reason]:
    """What else there is to know: what cannot be rented, prices that are not known, and what the runs say."""
    if case.retired:
        yield retired_reason(case.retired)
    gpu = None if chosen is None else chosen.accelerators.catalog_name(case.model.facts.device)
    gone = None if gpu is None else gpu_gone(gpu, case.catalog, case.objective.spot)
    if gone is not None and (chosen is None or chosen.usd_per_hour is None):
        yield gone
    unpriced = sum(each.usd_per_hour is None for each in case.candidates)
    if case.table.of_machines and 0 < unpriced < len(case.candidates):
        yield reason(ReasonCode.PRICES, unknown=float(unpriced), machines=float(len(case.candidates)))
    if case.objective.spot:
        known = any(case.usd_per_hour(each) is not None for each in case.candidates)
        yield reason(ReasonCode.PRICES, spot=True, known=known)
    if chosen is not None:
        yield from _beside_others(case, chosen)
    said = (case.quality.lower_bounds, case.quality.warning, case.quality.failed)
    yield from (each for each in said if each is not None)


def _beside_others(case: Case, chosen: Candidate) -> Iterator[Reason]:
    """That the rate told is not the one measured there, where other programs took a part of the host meanwhile."""
    others = case.quality.others.get(chosen.place)
    measured = case.model.measured.rate_at(chosen.place)
    if others is None or measured is None:
        return
    if abs(math.log(chosen.rate / measured.throughput.value)) > math.log1p(GAIN):
        figures = {"measured_rate": measured.throughput.value, "cores": others, "rate": chosen.rate}
        yield reason(ReasonCode.MEASURED_BESIDE_OTHERS, **figures)


def retired_reason(machines: tuple[Candidate, ...], everything: bool = False) -> Reason:
    """The machines measured that nobody can rent any more, each with its year; whether that is everything measured."""
    years = dict.fromkeys((each.name or "", each.retired) for each in machines)
    names, known = tuple(name for name, _ in years), tuple(float(year or 0) for _, year in years)
    return reason(ReasonCode.RETIRED, names=names, years=known, all=everything)

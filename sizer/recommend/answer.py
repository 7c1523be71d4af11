"""The answer for one workload: the spec, how sure it is, and what speaks against each cheaper one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sizer.catalog import Catalog
from sizer.model import WhatIf, WorkloadModel
from sizer.model.advice import vcpus_to_measure
from sizer.recommend import reasons
from sizer.recommend.beyond import Beyond, look_beyond
from sizer.recommend.candidates import Candidate, candidates
from sizer.recommend.instances import matching
from sizer.recommend.judgement import Judged, judge, rises_with_memory, rises_with_vcpus
from sizer.recommend.prices import prices
from sizer.recommend.words import bound, memory, percent, spec_words
from sizer.records import Answer, Bottleneck, Objective, Prediction, Rejection, Spec

SURE = 0.9
"""A spec is taken if it reaches the target with at least this probability."""
TIE = 0.99
"""`fastest` takes the cheapest of those within one percent of the highest rate."""


@dataclass(frozen=True)
class Judgement:
    """A candidate with its standing against the best."""

    candidate: Candidate
    judged: Judged

    @property
    def passes(self) -> bool:
        return self.judged.probability >= SURE


def answer(model: WorkloadModel, objective: Objective, catalog: Catalog) -> Answer:
    """The recommendation for one workload; refused where its model is."""
    if model.refused or not model.members:
        return _refused(model)
    best = model.best()
    stand = best.configuration
    price = prices(catalog, model.facts.device.gpu)
    offered = candidates(model, catalog, price, stand.batch_size)
    judged = judge(model, [candidate.stand for candidate in offered], stand, objective.target)
    field = [Judgement(candidate, standing) for candidate, standing in zip(offered, judged, strict=True)]
    rises, more_memory = rises_with_vcpus(model, stand), rises_with_memory(model, stand)
    allowed = _at_edge(field, model) if rises else field
    if more_memory:
        allowed = [j for j in allowed if j.candidate.stand.memory_bytes == model.measured.memory_bytes[-1]] or allowed
    chosen = _choose(allowed, objective)
    prediction = model.predict(chosen.candidate.stand, WhatIf())
    beyond = look_beyond(model, stand, catalog) if rises and len(model.measured.vcpus) > 2 else None
    return Answer(
        workload=model.name,
        status="at_least" if rises or more_memory else "recommended",
        spec=chosen.candidate.spec,
        throughput=prediction.throughput,
        sample_unit=model.sample_unit,
        probability=round(chosen.judged.probability, 3),
        bottleneck=prediction.bottleneck,
        next_bottleneck=_next(prediction),
        reasons=(
            *_edges(model, rises, beyond, more_memory),
            *reasons.all_of(model, chosen.candidate, chosen.judged, prediction, best),
        ),
        rejected=_rejected(model, field, chosen, objective),
        runner_up=None if rises else _runner_up(field, chosen),
        next_run=_next_run(model, chosen, beyond, more_memory),
        instances=matching(model, chosen.candidate.spec, stand.batch_size, prediction.throughput.value, catalog),
        beyond=beyond.prediction if beyond else None,
    )


def _refused(model: WorkloadModel) -> Answer:
    reason = model.refused or "nothing was fitted"
    _, _, advice = reason.rpartition("; ")
    return Answer(model.name, "refused", sample_unit=model.sample_unit, reasons=(reason,), next_run=advice)


def _edges(model: WorkloadModel, rises: bool, beyond: Beyond | None, more_memory: bool) -> list[str]:
    """Where the answer stops at what was measured, first of all reasons."""
    found = [f"the rate still rises at {model.measured.vcpus[-1]:g} vCPU, the most measured"] if rises else []
    found += [beyond.reason] if beyond else []
    largest = model.measured.memory_bytes[-1]
    return found + ([f"more memory than {memory(largest)}, the most measured, may still pay"] if more_memory else [])


def _at_edge(field: Sequence[Judgement], model: WorkloadModel) -> list[Judgement]:
    return [j for j in field if j.candidate.stand.vcpus == model.measured.vcpus[-1]] or list(field)


def _choose(field: Sequence[Judgement], objective: Objective) -> Judgement:
    """By the objective.

    `cheapest`: the least costly that passes. `fastest`: the least costly of the fastest. `balanced`: the least cost x
    time, that is the price of a sample times the time it takes; a cost alone would always take the smallest.
    """
    if objective.prefer == "fastest":
        top = max(j.judged.fraction for j in field)
        return min((j for j in field if j.judged.fraction >= TIE * top), key=lambda j: j.candidate.cost)
    if objective.prefer == "balanced":
        return min(field, key=lambda j: (j.candidate.usd_per_hour / j.judged.fraction**2, j.candidate.disk_rank))
    passing = [j for j in field if j.passes]
    if passing:
        return min(passing, key=lambda j: j.candidate.cost)
    return max(field, key=lambda j: (j.judged.probability, j.judged.fraction, -j.candidate.usd_per_hour))


def _next(prediction: Prediction) -> Bottleneck | None:
    """What would bind if the present bottleneck were relieved: the second largest share, where there is one."""
    shares = sorted(prediction.shares.items(), key=lambda item: item[1], reverse=True)
    if len(shares) < 2 or shares[1][1] < 1e-4:
        return None
    return Bottleneck(shares[1][0])


def _runner_up(field: Sequence[Judgement], chosen: Judgement) -> Spec | None:
    """The next best: the cheapest other spec that passes, else the likeliest of the others."""
    others = [j for j in field if j.candidate.spec != chosen.candidate.spec]
    passing = [j for j in others if j.passes]
    if passing:
        return min(passing, key=lambda j: j.candidate.cost).candidate.spec
    return max(others, key=lambda j: j.judged.probability).candidate.spec if others else None


def _rejected(
    model: WorkloadModel, field: Sequence[Judgement], chosen: Judgement, objective: Objective
) -> tuple[Rejection, ...]:
    """Each cheaper neighbour: one axis smaller, the others as chosen; the nearest first."""
    found = []
    seen: set[Spec] = set()
    for standing in reversed(field):
        one = _neighbour(standing, field, chosen)
        if one and standing.candidate.spec not in seen and standing.candidate.cost < chosen.candidate.cost:
            seen.add(standing.candidate.spec)
            found.append(Rejection(standing.candidate.spec, _why(model, standing, objective)))
    return (*found, *_too_small(model, chosen))


def _neighbour(standing: Judgement, field: Sequence[Judgement], chosen: Judgement) -> bool:
    spec, taken = standing.candidate.spec, chosen.candidate.spec
    if spec.vcpus == taken.vcpus:
        return (spec.memory_bytes == taken.memory_bytes) != (spec.disk == taken.disk)
    if spec.vcpus > taken.vcpus or spec.disk != taken.disk:
        return False
    same = [j for j in field if (j.candidate.spec.vcpus, j.candidate.spec.disk) == (spec.vcpus, spec.disk)]
    return standing is min(same, key=lambda j: (-round(j.judged.fraction, 3), j.candidate.cost))


def _why(model: WorkloadModel, standing: Judgement, objective: Objective) -> str:
    """`1 vCPU: 61 % of the target, CPU-bound`"""
    share = standing.judged.fraction / objective.target
    held = bound(model.predict(standing.candidate.stand, WhatIf()).bottleneck)
    if objective.prefer == "fastest":
        return f"{spec_words(standing.candidate.spec)}: {percent(standing.judged.fraction)} of the best, {held}"
    words = f"{spec_words(standing.candidate.spec)}: {percent(share)} of the target, {held}"
    if share >= 1 and not standing.passes:
        words += f"; reaches it with probability {standing.judged.probability:.2f} only"
    return words


def _too_small(model: WorkloadModel, chosen: Judgement) -> list[Rejection]:
    """The largest memory cap that was too small."""
    floor = model.floor
    if floor is None or floor.out_of_memory_bytes is None:
        return []
    spec = replace(chosen.candidate.spec, memory_bytes=floor.out_of_memory_bytes)
    return [Rejection(spec, f"{memory(floor.out_of_memory_bytes)}: runs out of memory")]


def _next_run(model: WorkloadModel, chosen: Judgement, beyond: Beyond | None, more_memory: bool) -> str | None:
    """The run that would settle what is open; None where nothing is."""
    known = model.measured.vcpus
    if beyond is not None:
        return beyond.next_run
    if more_memory:
        return f"measure `{model.name}` with {memory(2 * model.measured.memory_bytes[-1])}: more memory may still pay"
    if 1 < len(known) < 3:
        return f"measure `{model.name}` at {vcpus_to_measure(known)} vCPU: with three values what lies between is known"
    if len(known) == 1:
        return f"measure `{model.name}` at {vcpus_to_measure(known)} vCPU: how many it needs was not measured"
    if chosen.candidate.stand.vcpus == known[0] > 1:
        return f"measure `{model.name}` at {max(1, known[0] / 2):g} vCPU: the fewest measured are enough"
    return None

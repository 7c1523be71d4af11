"""What speaks against each cheaper spec."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sizer.model import WhatIf, WorkloadModel
from sizer.recommend.candidates import Candidate, family_memory
from sizer.recommend.field import Judgement
from sizer.recommend.judgement import judge
from sizer.recommend.words import bound
from sizer.records import Configuration, Objective, Rejection, Spec
from sizer.units import format_bytes, format_share


@dataclass(frozen=True)
class Verdict:
    """What was chosen from which field, against which best; `bound` False where what binds is not known."""

    model: WorkloadModel
    objective: Objective
    best: Configuration
    field: Sequence[Judgement]
    chosen: Judgement
    bound: bool = True


def rejections(verdict: Verdict) -> tuple[Rejection, ...]:
    """Each cheaper neighbour, one axis smaller and the others as chosen, the nearest first; then what is not sold."""
    found: dict[Spec, Rejection] = {}
    for standing in reversed(verdict.field):
        spec = standing.candidate.spec
        if _cheaper(standing, verdict) and _neighbour(standing, verdict):
            found.setdefault(spec, Rejection(spec, _why(verdict, standing)))
    return (*found.values(), *_fraction(verdict), *_too_small(verdict))


def _cheaper(standing: Judgement, verdict: Verdict) -> bool:
    return standing.candidate.cost < verdict.chosen.candidate.cost


def _neighbour(standing: Judgement, verdict: Verdict) -> bool:
    """Of fewer vCPUs, the memory that does best among the cheaper ones."""
    spec, taken = standing.candidate.spec, verdict.chosen.candidate.spec
    if spec.vcpus == taken.vcpus:
        return (spec.memory_bytes == taken.memory_bytes) != (spec.disk == taken.disk)
    if spec.vcpus > taken.vcpus or spec.disk != taken.disk:
        return False
    alike = [
        j
        for j in verdict.field
        if (j.candidate.spec.vcpus, j.candidate.spec.disk) == (spec.vcpus, spec.disk) and _cheaper(j, verdict)
    ]
    return standing is min(alike, key=lambda j: (-round(j.judged.fraction, 3), j.candidate.cost))


def _why(verdict: Verdict, standing: Judgement) -> str:
    """`61 % of the target, CPU-bound`"""
    words = _share(verdict, standing)
    if verdict.bound:
        model = verdict.model
        words += f", {bound(model.predict(standing.candidate.stand, WhatIf()).bottleneck, model.facts.device)}"
    if not standing.candidate.exists:
        spec = standing.candidate.spec
        return f"{words}; families offer at most {format_bytes(family_memory(spec.vcpus)[-1])} with so few vCPUs"
    if verdict.objective.prefer != "fastest" and _reaches(verdict, standing) and not standing.passes:
        words += f"; reaches it with a probability of {standing.judged.probability:.2f} only"
    return words


def _share(verdict: Verdict, standing: Judgement) -> str:
    if verdict.objective.prefer == "fastest":
        return f"{format_share(standing.judged.fraction)} of the best"
    return f"{format_share(standing.judged.fraction / verdict.objective.target)} of the target"


def _reaches(verdict: Verdict, standing: Judgement) -> bool:
    return standing.judged.fraction >= verdict.objective.target


def _fraction(verdict: Verdict) -> list[Rejection]:
    """The largest fraction of a vCPU that was measured, where the smallest size sold was chosen."""
    taken, model = verdict.chosen.candidate, verdict.model
    smallest = min(j.candidate.spec.vcpus for j in verdict.field)
    less = [vcpus for vcpus in model.measured.vcpus if vcpus < min(smallest, taken.stand.vcpus)]
    if taken.spec.vcpus != smallest or not less:
        return []
    stand = replace(taken.stand, vcpus=less[-1])
    (judged,) = judge(model, [stand], verdict.best, verdict.objective.target)
    spec = replace(taken.spec, vcpus=less[-1])
    standing = Judgement(Candidate(spec, stand, 0.0, taken.disk_rank), judged)
    if standing.passes:
        return [Rejection(spec, f"{_share(verdict, standing)}, but fractions of a vCPU are not sold")]
    return [Rejection(spec, _why(verdict, standing))]


def _too_small(verdict: Verdict) -> list[Rejection]:
    """The largest memory cap that was too small."""
    floor = verdict.model.floor
    if floor is None or floor.out_of_memory_bytes is None:
        return []
    spec = replace(verdict.chosen.candidate.spec, memory_bytes=floor.out_of_memory_bytes)
    return [Rejection(spec, "runs out of memory")]

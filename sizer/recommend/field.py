"""The candidates with their standing against the best, and the choice among them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sizer.catalog import Catalog
from sizer.model import WorkloadModel
from sizer.recommend.candidates import Candidate, candidates
from sizer.recommend.edges import Edges
from sizer.recommend.judgement import Judged, judge
from sizer.recommend.prices import prices
from sizer.records import Configuration, Objective, Spec

SURE = 0.9
"""A spec is taken if it reaches the target with at least this probability."""
LIKELY = 0.5
"""Where it is not settled whether more vCPUs pay, a size below this probability is too small."""

TIE = 0.99
"""`fastest` takes the cheapest of those within one percent of the highest rate."""

ALIKE = 0.02
"""Where no spec is sure, the cheapest of those whose probability differs less than draws of the parameters can tell."""


@dataclass(frozen=True)
class Judgement:
    """A candidate with its standing against the best."""

    candidate: Candidate
    judged: Judged

    @property
    def passes(self) -> bool:
        return self.judged.probability >= SURE


def lay_out(model: WorkloadModel, best: Configuration, objective: Objective, catalog: Catalog) -> list[Judgement]:
    """Every candidate with its standing, cheapest first."""
    price = prices(catalog, model.facts.device.gpu)
    offered = candidates(model, catalog, price, best.batch_size)
    judged = judge(model, [candidate.stand for candidate in offered], best, objective.target)
    return [Judgement(candidate, standing) for candidate, standing in zip(offered, judged, strict=True)]


def allowed(field: Sequence[Judgement], model: WorkloadModel, edges: Edges) -> list[Judgement]:
    """What may be chosen: a size that exists, and where the rate still rises, the most measured."""
    found = [j for j in field if j.candidate.exists] or list(field)
    if edges.more_vcpus:
        found = [j for j in found if j.candidate.stand.vcpus == model.measured.vcpus[-1]] or found
    if edges.more_memory:
        found = [j for j in found if j.candidate.stand.memory_bytes == model.measured.memory_bytes[-1]] or found
    return found


def lower_bound(field: Sequence[Judgement]) -> Judgement | None:
    """The cheapest that is likelier to reach the target than not: what is needed at the least."""
    likely = [j for j in field if j.judged.probability >= LIKELY]
    return min(likely, key=lambda j: j.candidate.cost, default=None)


def choose(field: Sequence[Judgement], objective: Objective) -> Judgement:
    """By the objective.

    `fastest`: the least costly of the fastest, whatever the target. Of those that are sure to reach the target,
    `cheapest` takes the least costly and `balanced` the least cost x time, that is the price of a sample times the
    time it takes. Where none is sure, the cheapest of the likeliest.
    """
    if objective.prefer == "fastest":
        top = max(j.judged.fraction for j in field)
        return min((j for j in field if j.judged.fraction >= TIE * top), key=lambda j: j.candidate.cost)
    passing = [j for j in field if j.passes]
    if not passing:
        likeliest = max(j.judged.probability for j in field)
        return min((j for j in field if j.judged.probability >= likeliest - ALIKE), key=lambda j: j.candidate.cost)
    if objective.prefer == "balanced":
        return min(passing, key=lambda j: (j.candidate.usd_per_hour / j.judged.fraction**2, j.candidate.disk_rank))
    return min(passing, key=lambda j: j.candidate.cost)


def runner_up(field: Sequence[Judgement], chosen: Judgement) -> Spec | None:
    """The next best: the cheapest other spec that passes, else the likeliest of the others."""
    others = [j for j in field if j.candidate.spec != chosen.candidate.spec]
    passing = [j for j in others if j.passes]
    if passing:
        return min(passing, key=lambda j: j.candidate.cost).candidate.spec
    return max(others, key=lambda j: j.judged.probability).candidate.spec if others else None

"""The candidates with their scores against what was asked for, and the choice among them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from sizer.catalog import Catalog
from sizer.model import WorkloadModel
from sizer.recommend.candidates import Candidate, candidates
from sizer.recommend.comparison import ALIKE as ALIKE_COSTS
from sizer.recommend.edges import Edges
from sizer.recommend.instances import cheapest
from sizer.recommend.scoring import Score, score_against_best, score_in_time
from sizer.recommend.thresholds import DISK_LOSS, SURE, TIE
from sizer.records import Configuration, Objective, Spec

LIKELY = 0.5
"""Where it is not settled whether more vCPUs pay, a size below this probability is too small."""

HOPELESS = 0.1
"""Where no spec reaches the target with this probability, probabilities do not distinguish the near from the far."""
ALIKE = 0.02
"""Where no spec is sure, the cheapest of those whose probability differs less than draws of the parameters can show."""


@dataclass(frozen=True)
class ScoredCandidate:
    """A candidate with its score against what was asked for.

    `rented_usd_per_hour` is the price of the cheapest machine that holds it, with the disk, infinite where none has a
    price: what decides where a rate is asked for, since a job pays for the machine and not for the part it needs.
    """

    candidate: Candidate
    score: Score
    rented_usd_per_hour: float = math.inf

    @property
    def passes(self) -> bool:
        return self.score.probability >= SURE

    @property
    def usd_a_sample(self) -> float:
        """Up to a factor."""
        return self.rented_usd_per_hour / self.score.rate if self.score.rate > 0 else math.inf


def score_candidates(
    model: WorkloadModel, best: Configuration, objective: Objective, catalog: Catalog
) -> list[ScoredCandidate]:
    """Every candidate with its score, cheapest first."""
    offered = candidates(model, catalog, best.batch_size)
    configurations = [candidate.configuration for candidate in offered]
    if objective.rate is None:
        judged = score_against_best(model, configurations, best, objective.target)
        return [ScoredCandidate(candidate, score) for candidate, score in zip(offered, judged, strict=True)]
    judged = score_in_time(model, configurations, best, objective.rate)
    return [
        ScoredCandidate(candidate, score, _rented(model, candidate, catalog))
        for candidate, score in zip(offered, judged, strict=True)
    ]


def _rented(model: WorkloadModel, candidate: Candidate, catalog: Catalog) -> float:
    instance = cheapest(model, candidate.spec, candidate.configuration.batch_size, catalog)
    price = instance.usd_per_hour if instance is not None else None
    return math.inf if price is None else price + candidate.disk_usd_per_hour


def sold(field: Sequence[ScoredCandidate]) -> list[ScoredCandidate]:
    """What exists; where nothing does, what comes nearest to it."""
    return [j for j in field if j.candidate.exists] or list(field)


def allowed(field: Sequence[ScoredCandidate], model: WorkloadModel, edges: Edges) -> list[ScoredCandidate]:
    """What may be chosen: a size that exists on a disk worth having, and where the rate still rises, the most measured
    or one that reaches the target of the best measured for sure: of a better one less is known, and no less is needed.

    A disk costs little beside vCPUs, memory and accelerators, so what it loses is not weighed against the target: the
    target is for how many of those are bought.
    """
    offered = sold(field)
    top = best_of_disks(offered)
    found = _cheapest_disk([j for j in offered if disk_loss(j, top) <= DISK_LOSS])
    if edges.more_vcpus:
        most = model.measured.vcpus[-1]
        found = [j for j in found if j.passes or j.candidate.configuration.vcpus == most] or found
    if edges.more_memory:
        largest = model.measured.memory_bytes[-1]
        found = [j for j in found if j.passes or j.candidate.configuration.memory_bytes == largest] or found
    return found


def _size(scored: ScoredCandidate) -> Spec:
    return replace(scored.candidate.spec, disk=None)


def _cheapest_disk(field: Sequence[ScoredCandidate]) -> list[ScoredCandidate]:
    """Of each size the one on the cheapest disk that is left; `field` is in the order of cost."""
    found: dict[Spec, ScoredCandidate] = {}
    for scored in field:
        found.setdefault(_size(scored), scored)
    return list(found.values())


def best_of_disks(field: Sequence[ScoredCandidate]) -> dict[Spec, float]:
    """The highest rate over best of each size, whatever the disk; the key is the spec without its disk."""
    top: dict[Spec, float] = {}
    for scored in field:
        size = _size(scored)
        top[size] = max(top.get(size, 0.0), scored.score.fraction)
    return top


def disk_loss(scored: ScoredCandidate, top: dict[Spec, float]) -> float:
    """The share of its rate that this size loses by its disk against the best of all disks."""
    return 1 - scored.score.fraction / top[_size(scored)]


def lower_bound(field: Sequence[ScoredCandidate]) -> ScoredCandidate | None:
    """The cheapest that is likelier to reach the target than not: what is needed at the least."""
    likely = [j for j in field if j.score.probability >= LIKELY]
    return min(likely, key=lambda j: j.candidate.cost, default=None)


def choose(field: Sequence[ScoredCandidate], objective: Objective) -> ScoredCandidate:
    """By the objective.

    `fastest`: the least costly of the fastest, whatever the target. Of those that are sure to reach the target,
    `cheapest` takes the least costly and `balanced` the least cost x time, that is the price of a sample times the
    time it takes. Where none is sure, the cheapest of the likeliest; where none has a chance, of the fastest.
    """
    if objective.prefer == "fastest":
        top = max(j.score.fraction for j in field)
        return min((j for j in field if j.score.fraction >= TIE * top), key=lambda j: j.candidate.cost)
    passing = [j for j in field if j.passes]
    most = _most_likely(field)
    if not passing and most < HOPELESS:
        top = max(j.score.fraction for j in field)
        return min((j for j in field if j.score.fraction >= TIE * top), key=lambda j: j.candidate.cost)
    if not passing:
        return _cheapest_of_likeliest(field, most)
    if objective.prefer == "balanced":
        return min(passing, key=lambda j: (j.candidate.usd_per_hour / j.score.fraction**2, j.candidate.disk_rank))
    return min(passing, key=lambda j: j.candidate.cost)


def in_time(field: Sequence[ScoredCandidate]) -> ScoredCandidate | None:
    """Of those that are sure to finish in time, the one whose machine costs least for the whole job; None if none is.

    Not the least an hour: a machine with an accelerator that is starved of vCPUs costs less an hour and more a sample.
    Of those for which that is alike, the smallest: rates are not known so well that a larger one would be cheaper.
    """
    passing = [j for j in field if j.passes]
    if not passing:
        return None
    least = min(j.usd_a_sample for j in passing)
    return min((j for j in passing if j.usd_a_sample <= (1 + ALIKE_COSTS) * least), key=lambda j: j.candidate.cost)


def likeliest(field: Sequence[ScoredCandidate]) -> ScoredCandidate | None:
    """The cheapest of the likeliest, where that is likelier than not; it is not sure."""
    most = _most_likely(field)
    return _cheapest_of_likeliest(field, most) if most >= LIKELY else None


def _most_likely(field: Sequence[ScoredCandidate]) -> float:
    return max((j.score.probability for j in field), default=0.0)


def _cheapest_of_likeliest(field: Sequence[ScoredCandidate], most: float) -> ScoredCandidate:
    return min((j for j in field if j.score.probability >= most - ALIKE), key=lambda j: j.candidate.cost)


def runner_up(field: Sequence[ScoredCandidate], chosen: ScoredCandidate) -> Spec | None:
    """The next best: the cheapest other spec that passes, else the likeliest of the others."""
    others = [j for j in field if j.candidate.spec != chosen.candidate.spec]
    passing = [j for j in others if j.passes]
    if passing:
        return min(passing, key=lambda j: j.candidate.cost).candidate.spec
    return max(others, key=lambda j: j.score.probability).candidate.spec if others else None

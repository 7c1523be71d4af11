"""What speaks against each cheaper spec."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from sizer.catalog import Catalog
from sizer.model import WorkloadModel, name_of_disk, predict, predictions, vcpus_of
from sizer.recommend.candidates import Candidate, family_memory
from sizer.recommend.field import ScoredCandidate, best_of_disks, disk_loss
from sizer.recommend.instances import cheapest
from sizer.recommend.jobs import why_not
from sizer.recommend.prices import disk_prices
from sizer.recommend.scoring import score_against_best, score_in_time
from sizer.recommend.thresholds import DISK_LOSS
from sizer.records import Bottleneck, Configuration, Objective, Prediction, Reason, ReasonCode, Rejection, Spec, reason

OF_VCPUS = (Bottleneck.CPU, Bottleneck.SERIAL, Bottleneck.ACCELERATOR, Bottleneck.AMBIGUOUS)
"""What runs at one number of vCPUs do not tell apart."""


@dataclass(frozen=True)
class Choice:
    """What was chosen from which field, against which best; `bound` False where what binds is not known."""

    model: WorkloadModel
    objective: Objective
    best: Configuration
    field: Sequence[ScoredCandidate]
    chosen: ScoredCandidate
    catalog: Catalog
    bound: bool = True

    @cached_property
    def top(self) -> dict[Spec, float]:
        """The best of all disks at each size."""
        return best_of_disks(self.field)

    @cached_property
    def rate(self) -> float:
        """Of the answer, in samples per second."""
        return predict(self.model, self.chosen.candidate.configuration).throughput.value

    @cached_property
    def usd_per_hour(self) -> float | None:
        """Of the answer, as of what is compared with it."""
        return _usd_per_hour(self, self.chosen.candidate)


def rejections(choice: Choice) -> tuple[Rejection, ...]:
    """Each cheaper neighbour, one axis smaller and the others as chosen, the nearest first; then what is not sold."""
    nearest: dict[Spec, ScoredCandidate] = {}
    for scored in reversed(choice.field):
        if _cheaper(scored, choice) and _neighbour(scored, choice):
            nearest.setdefault(scored.candidate.spec, scored)
    found = _rejected(choice, list(nearest.values()))
    return (*found, *_fraction(choice), *_too_small(choice))


def _rejected(choice: Choice, those: Sequence[ScoredCandidate]) -> list[Rejection]:
    """Each with why. Raises Refused where one has no answer."""
    known = predictions(choice.model, [each.candidate.configuration for each in those])
    found = []
    for scored in those:
        prediction = known[scored.candidate.configuration]
        found.append(_rejection(choice, scored, _why(choice, scored, prediction), prediction))
    return found


def _rejection(choice: Choice, scored: ScoredCandidate, why: tuple[Reason, ...], prediction: Prediction) -> Rejection:
    """With what it would give and save, where that is known."""
    candidate = scored.candidate
    rate = prediction.throughput
    found = Rejection(candidate.spec, why)
    found = replace(found, throughput=rate, share=rate.value / choice.rate if choice.rate else None)
    usd, taken = _usd_per_hour(choice, candidate) if candidate.exists else None, choice.usd_per_hour
    if usd is None or not taken:
        return found
    return replace(found, usd_saved_per_hour=taken - usd, saving=1 - usd / taken)


def _usd_per_hour(choice: Choice, candidate: Candidate) -> float | None:
    """Of the cheapest instance type that holds it, and of its disk where several were measured."""
    spec, disks = candidate.spec, choice.model.measured.disks
    instance = cheapest(choice.model, spec, candidate.configuration.batch_size, choice.catalog)
    if instance is None or instance.usd_per_hour is None:
        return None
    volume = disk_prices(disks, choice.catalog)[name_of_disk(spec.disk)] if len(disks) > 1 else 0.0
    return instance.usd_per_hour + volume


def _cheaper(scored: ScoredCandidate, choice: Choice) -> bool:
    return scored.candidate.cost < choice.chosen.candidate.cost


def _neighbour(scored: ScoredCandidate, choice: Choice) -> bool:
    """Of fewer vCPUs, the memory that does best among the cheaper ones."""
    spec, taken = scored.candidate.spec, choice.chosen.candidate.spec
    if spec.vcpus == taken.vcpus:
        differs = (spec.memory_bytes != taken.memory_bytes, spec.disk != taken.disk, _gpus(spec) != _gpus(taken))
        return sum(differs) == 1
    if (spec.vcpus or 0) > (taken.vcpus or 0) or (spec.disk, *_gpus(spec)) != (taken.disk, *_gpus(taken)):
        return False
    size = replace(spec, memory_bytes=None)
    alike = [j for j in choice.field if replace(j.candidate.spec, memory_bytes=None) == size and _cheaper(j, choice)]
    return scored is min(alike, key=lambda j: (-round(j.score.fraction, 3), j.candidate.cost))


def _gpus(spec: Spec) -> tuple[str | None, int]:
    return spec.gpu, spec.gpu_count


def _why(choice: Choice, scored: ScoredCandidate, prediction: Prediction) -> tuple[Reason, ...]:
    """How far from what is asked for, with what binds there; then why it was not taken all the same."""
    bottleneck = prediction.bottleneck
    known = choice.bound or bottleneck not in OF_VCPUS
    share = _share(choice, scored, bottleneck if known else None)
    spec = scored.candidate.spec
    if not scored.candidate.exists and spec.vcpus is not None:
        most = float(family_memory(spec.vcpus)[-1])
        return (share, reason(ReasonCode.MEMORY_NOT_SOLD, memory_bytes=most, vcpus=spec.vcpus))
    by_target = choice.objective.rate is None and choice.objective.prefer != "fastest"
    return (share, *_not_taken(choice, scored)) if by_target and _reaches(choice, scored) else (share,)


def _not_taken(choice: Choice, scored: ScoredCandidate) -> tuple[Reason, ...]:
    """Why one that is expected to reach the target was not taken all the same."""
    if not scored.passes:
        return (reason(ReasonCode.TARGET_UNLIKELY, probability=scored.score.probability),)
    loss = disk_loss(scored, choice.top)
    if loss > DISK_LOSS:
        return (reason(ReasonCode.DISK_LOSES, loss=loss, most=DISK_LOSS),)
    same_disk = scored.candidate.spec.disk == choice.chosen.candidate.spec.disk
    return (reason(ReasonCode.BEST_UNKNOWN),) if same_disk else ()


def _share(choice: Choice, scored: ScoredCandidate, bottleneck: Bottleneck | None = None) -> Reason:
    named = bottleneck.value if bottleneck is not None else None
    if choice.objective.deadline is not None:
        return why_not(scored, choice.chosen, choice.objective.deadline, named)
    if choice.objective.at_least is not None:
        return _beside_rate(choice, scored, choice.objective.at_least)
    fraction = scored.score.fraction
    if choice.objective.prefer == "fastest":
        return reason(ReasonCode.OF_BEST, share=fraction, bottleneck=named)
    return reason(ReasonCode.OF_TARGET, share=fraction / choice.objective.target, bottleneck=named)


def _beside_rate(choice: Choice, scored: ScoredCandidate, needed: float) -> Reason:
    """Where a rate is asked for. What is fast enough and not sold has no cost."""
    if not scored.passes:
        figures = {"rate": scored.score.rate, "needed": needed}
        return reason(ReasonCode.BELOW_RATE, **figures, probability=scored.score.probability)
    dearer = scored.usd_a_sample / choice.chosen.usd_a_sample
    if 1 < dearer < math.inf:
        return reason(ReasonCode.DEARER_MACHINE, rate=scored.score.rate, cost=dearer)
    return reason(ReasonCode.GIVES, rate=scored.score.rate)


def _reaches(choice: Choice, scored: ScoredCandidate) -> bool:
    return scored.score.fraction >= choice.objective.target


def _fraction(choice: Choice) -> list[Rejection]:
    """The largest fraction of a vCPU that was measured, where the smallest size sold was chosen."""
    taken, model = choice.chosen.candidate, choice.model
    smallest = min(j.candidate.spec.vcpus or 0 for j in choice.field)
    less = [vcpus for vcpus in model.measured.vcpus if vcpus < min(smallest, vcpus_of(taken.configuration))]
    if taken.spec.vcpus != smallest or not less:
        return []
    configuration = replace(taken.configuration, vcpus=less[-1])
    needed = choice.objective.rate
    if needed is not None:
        (judged,) = score_in_time(model, [configuration], choice.best, needed)
    else:
        (judged,) = score_against_best(model, [configuration], choice.best, choice.objective.target)
    spec = replace(taken.spec, vcpus=less[-1])
    scored = ScoredCandidate(Candidate(spec, configuration, taken.usd_per_hour, taken.disk_rank), judged)
    prediction = predict(model, configuration)
    why: tuple[Reason, ...]
    if scored.passes:
        enough = reason(ReasonCode.IN_TIME) if choice.objective.deadline is not None else _share(choice, scored)
        why = (enough, reason(ReasonCode.FRACTION_NOT_SOLD))
    else:
        why = _why(choice, scored, prediction)
    # What is not sold has no price to save.
    return [replace(_rejection(choice, scored, why, prediction), usd_saved_per_hour=None, saving=None)]


def _too_small(choice: Choice) -> list[Rejection]:
    """The largest memory cap that was too small."""
    floor = choice.model.floor
    if floor is None or floor.out_of_memory_bytes is None:
        return []
    spec = replace(choice.chosen.candidate.spec, memory_bytes=floor.out_of_memory_bytes)
    return [Rejection(spec, (reason(ReasonCode.OUT_OF_MEMORY),))]

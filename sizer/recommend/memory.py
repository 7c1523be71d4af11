"""How much memory is recommended, and why it is that much."""

from __future__ import annotations

from collections.abc import Iterable

from sizer.model.floor_runs import SearchedFloor
from sizer.model.memory import (
    MARGIN,
    anonymous_bytes,
    needed_bytes,
    only_completed,
    undroppable_bytes,
)
from sizer.model.model import WorkloadModel
from sizer.recommend.candidates import Candidate, family_memory
from sizer.recommend.memory_sizes import few_memory_caps
from sizer.recommend.sizes import memory_varied
from sizer.records.prediction import Figure, Reason, ReasonCode, reason

MOST_LISTED = 4
"""Caps that are named one by one."""


def memory_reasons(model: WorkloadModel, chosen: Candidate) -> list[Reason]:
    """Which caps were tried, and what holds the size above the smallest that held; nothing where no run tells one."""
    if not model.measured.memory_bytes:
        return []
    peak = anonymous_bytes(model.measured, chosen.place.vcpus, chosen.place.batch_size)
    why = _why_this_much(model, chosen, chosen.spec.memory_bytes)
    needed = [reason(ReasonCode.MEMORY_FLOOR, memory_bytes=float(peak))] if peak else []
    few = few_memory_caps(model, chosen.place)
    return [*_caps(model), *few, *_rate_not_measured(model, chosen), why, *needed]


def cap_to_try(model: WorkloadModel, chosen: Candidate) -> int | None:
    """The smallest memory that families offer, that was not tried, and in which this job may well run; None if none."""
    measured, floor = model.measured, model.floor
    configuration, size = chosen.place, chosen.spec.memory_bytes
    held = needed_bytes(measured, configuration.vcpus, configuration.batch_size)
    if size is None or held is None or chosen.spec.vcpus is None:
        return None
    peak = undroppable_bytes(measured, configuration.vcpus, configuration.batch_size)
    too_small = max(MARGIN * (peak or 0), (floor.out_of_memory_bytes or 0) if floor else 0)
    open_sizes = (offer for offer in family_memory(chosen.spec.vcpus) if too_small < offer < min(held, size))
    return next(open_sizes, None)


def completes(model: WorkloadModel, chosen: Candidate, size: int) -> bool:
    """Whether only a search shows that this memory is enough, so that no rate was measured there."""
    between = only_completed(model.measured, chosen.place.vcpus, chosen.place.batch_size)
    return between is not None and between[0] <= size < between[1]


def _caps(model: WorkloadModel) -> list[Reason]:
    """Between which caps the memory floor lies.

    A floor that was searched for is known closely by many caps; then what the search found says all.
    """
    if model.measured.search is not None:
        return [floor_found(model.measured.search)]
    floor, alone = model.floor, model.facts.device.kind == "emulated"
    if not memory_varied(model.measured) or floor is None or floor.completed_bytes is None:
        return []
    trials = model.measured.trials
    killed = _sorted(trial.memory_bytes for trial in trials if not trial.completed)
    held = _sorted(trial.memory_bytes for trial in trials if trial.memory_bytes >= floor.completed_bytes)
    if floor.out_of_memory_bytes is None:
        return [reason(ReasonCode.MEMORY_FLOOR, high_bytes=held[0], pipeline_alone=alone)]
    listed = len({*killed, *held}) <= MOST_LISTED
    return [
        reason(
            ReasonCode.MEMORY_FLOOR,
            low_bytes=float(floor.out_of_memory_bytes),
            high_bytes=float(floor.completed_bytes),
            caps_killed=killed if listed else (),
            caps_held=held if listed else (),
            pipeline_alone=alone,
        )
    ]


def floor_found(search: SearchedFloor) -> Reason:
    """What a search for the memory floor found."""
    low, held = search.bounds.too_small, search.bounds.held
    return reason(
        ReasonCode.MEMORY_FLOOR,
        searched=True,
        low_bytes=None if low is None else float(low),
        high_bytes=None if held is None else float(held),
        timed_out=search.timed_out,
        given_up=search.given_up.kind.value if search.given_up is not None else None,
        given_up_at=float(search.given_up.figure) if search.given_up is not None else None,
        pipeline_alone=search.pipeline_alone,
    )


def _rate_not_measured(model: WorkloadModel, chosen: Candidate) -> list[Reason]:
    """Said where a search makes the size look larger than it must be, or is all that backs it."""
    between = only_completed(model.measured, chosen.place.vcpus, chosen.place.batch_size)
    if between is None:
        return []
    low, high = between
    size = chosen.spec.memory_bytes
    offers = family_memory(chosen.spec.vcpus) if chosen.spec.vcpus is not None else []
    smaller = [offer for offer in offers if low <= offer < (size or high)]
    if size is not None and size >= high and not smaller:
        return []
    return [reason(ReasonCode.LESS_MEMORY, low_bytes=float(low), high_bytes=float(high))]


def _why_this_much(model: WorkloadModel, chosen: Candidate, size: int | None) -> Reason:
    if size is None:
        had = chosen.place.memory_bytes or model.measured.memory_bytes[-1]
        return reason(ReasonCode.NOT_VARIED, memory_bytes=float(had))
    figures: dict[str, Figure] = {"memory_bytes": float(size), "vcpus": chosen.spec.vcpus}
    if chosen.spec.vcpus is None:
        return reason(ReasonCode.SMALLEST_SOLD, memory_bytes=float(size))
    offers = family_memory(chosen.spec.vcpus)
    untried = cap_to_try(model, chosen)
    held = needed_bytes(model.measured, chosen.place.vcpus, chosen.place.batch_size) or size
    if not chosen.exists:
        return reason(ReasonCode.NOT_SOLD, **figures, most=float(offers[-1]))
    if size == offers[0]:
        return reason(ReasonCode.SMALLEST_SOLD, **figures)
    if untried is not None and completes(model, chosen, untried):
        return reason(ReasonCode.LESS_MEMORY, **figures, untried=float(untried), rated=float(held))
    if untried is not None:
        return reason(ReasonCode.LESS_MEMORY, **figures, untried=float(untried), held=float(held))
    if any(held <= offer < size for offer in offers):
        return reason(ReasonCode.LESS_MEMORY, **figures)
    if completes(model, chosen, held):
        return reason(ReasonCode.SMALLEST_SOLD, **figures, needed_memory=float(held))
    return reason(ReasonCode.SMALLEST_SOLD, **figures, held=float(held))


def _sorted(sizes: Iterable[int]) -> tuple[float, ...]:
    return tuple(map(float, sorted(set(sizes))))

"""How much memory is recommended, and why it is that much."""

from __future__ import annotations

from sizer.model import (
    MARGIN,
    PIPELINE_ALONE,
    WorkloadModel,
    anonymous_bytes,
    needed_bytes,
    only_completed,
    undroppable_bytes,
)
from sizer.recommend.candidates import Candidate, family_memory, memory_varied
from sizer.recommend.words import listed
from sizer.records import format_bytes, format_vcpus

MOST_LISTED = 4
"""Caps that are named one by one."""


def memory_reasons(model: WorkloadModel, chosen: Candidate) -> list[str]:
    """Which caps were tried, and what holds the size above the smallest that held."""
    peak = anonymous_bytes(model.measured, chosen.stand.vcpus, chosen.stand.batch_size)
    needed = f"the runs needed {format_bytes(peak)} that cannot be dropped" if peak else ""
    if chosen.spec.memory_bytes is None:
        why = "memory was not varied, so none is recommended"
    else:
        why = _why_this_much(model, chosen)
    return [*_caps(model), *_rate_not_measured(model, chosen), "; ".join(part for part in (why, needed) if part)]


def cap_to_try(model: WorkloadModel, chosen: Candidate) -> int | None:
    """The smallest memory that families offer, that was not tried, and in which this job may well run; None if none."""
    measured, floor = model.measured, model.floor
    stand, size = chosen.stand, chosen.spec.memory_bytes
    held = needed_bytes(measured, stand.vcpus, stand.batch_size)
    if size is None or held is None or chosen.spec.vcpus is None:
        return None
    peak = undroppable_bytes(measured, stand.vcpus, stand.batch_size)
    too_small = max(MARGIN * (peak or 0), (floor.out_of_memory_bytes or 0) if floor else 0)
    open_sizes = (offer for offer in family_memory(chosen.spec.vcpus) if too_small < offer < min(held, size))
    return next(open_sizes, None)


def completes(model: WorkloadModel, chosen: Candidate, size: int) -> bool:
    """Whether only a search tells that this memory holds, so that no rate was measured there."""
    between = only_completed(model.measured, chosen.stand.vcpus, chosen.stand.batch_size)
    return between is not None and between[0] <= size < between[1]


def _caps(model: WorkloadModel) -> list[str]:
    """`the memory floor is between 192 MiB and 4 GiB: 192 MiB runs out of memory, 4 GiB holds`.

    A floor that was searched for is known closely by many caps; then what the search found says all.
    """
    if model.measured.search is not None:
        return [model.measured.search.told()]
    floor, alone = model.floor, PIPELINE_ALONE if model.facts.device.kind == "emulated" else ""
    if not memory_varied(model.measured) or floor is None or floor.completed_bytes is None:
        return []
    trials = model.measured.trials
    killed = {trial.memory_bytes for trial in trials if not trial.completed}
    held = {trial.memory_bytes for trial in trials if trial.memory_bytes >= floor.completed_bytes}
    holding = f"{_sizes(held)} {'holds' if len(held) == 1 else 'hold'}"
    if floor.out_of_memory_bytes is None:
        return [
            f"every memory cap measured held ({_sizes(held)}): the memory floor is no higher than the smallest{alone}"
        ]
    between = f"between {format_bytes(floor.out_of_memory_bytes)} and {format_bytes(floor.completed_bytes)}"
    if len(killed | held) > MOST_LISTED:
        return [f"the memory floor is {between}{alone}"]
    verb = "runs" if len(killed) == 1 else "run"
    return [f"the memory floor is {between}: {_sizes(killed)} {verb} out of memory, {holding}{alone}"]


def _rate_not_measured(model: WorkloadModel, chosen: Candidate) -> list[str]:
    """Said where a search makes the size look larger than it must be, or is all that backs it."""
    between = only_completed(model.measured, chosen.stand.vcpus, chosen.stand.batch_size)
    if between is None:
        return []
    low, high = between
    size = chosen.spec.memory_bytes
    offers = family_memory(chosen.spec.vcpus) if chosen.spec.vcpus is not None else []
    smaller = [offer for offer in offers if low <= offer < (size or high)]
    if size is not None and size >= high and not smaller:
        return []
    said = (
        f"memory between {format_bytes(low)} and {format_bytes(high)} was only tried for completing, not for its rate"
    )
    return [said]


def _why_this_much(model: WorkloadModel, chosen: Candidate) -> str:
    size = chosen.spec.memory_bytes or 0
    if chosen.spec.vcpus is None:
        return f"{format_bytes(size)} is the least sold that is known to hold the job and to keep its rate"
    words, vcpus = format_bytes(size), format_vcpus(chosen.spec.vcpus)
    offers = family_memory(chosen.spec.vcpus)
    untried = cap_to_try(model, chosen)
    held = needed_bytes(model.measured, chosen.stand.vcpus, chosen.stand.batch_size) or size
    if not chosen.exists:
        return f"no family offers {words} with {vcpus}, only {format_bytes(offers[-1])}: take a size with more vCPUs"
    if size == offers[0]:
        return f"{words} is the least that families offer with {vcpus}"
    if untried is not None and completes(model, chosen, untried):
        return f"{words} and not {format_bytes(untried)}, because no rate was measured below {format_bytes(held)}"
    if untried is not None:
        return f"{words} and not {format_bytes(untried)}, because no cap below {format_bytes(held)} is known to hold"
    if any(held <= offer < size for offer in offers):
        return f"less than {words} holds, but is not sure to be as fast"
    why = "with a margin above what cannot be dropped" if completes(model, chosen, held) else "that holds"
    return f"{words} is the least that families offer with {vcpus} from {format_bytes(held)} on, the least {why}"


def _sizes(sizes: set[int]) -> str:
    return listed([format_bytes(size) for size in sorted(sizes)])

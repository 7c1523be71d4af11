"""Sentences about a memory floor that was searched for."""

from __future__ import annotations

from sizer.model import GivenUp, GivenUpKind, SearchedFloor
from sizer.records import format_bytes
from sizer.words.language import _, _n


def floor_in_words(found: SearchedFloor, what: str | None = None) -> str:
    """`the memory floor is between 212 MiB and 228 MiB`, or why it is not known; `what` names whose it is."""
    floor = what if what is not None else _("the memory floor")
    said = _bounds(found, floor)
    if found.given_up is not None:
        return _("{floor}; {why}", floor=said, why=_given_up(found.given_up))
    return (
        said
        if found.bounds.close or found.bounds.held is None
        else _("{floor}; the search is not finished", floor=said)
    )


def searched_floor_sentences(workload: str, found: SearchedFloor, peak: int) -> str:
    """The memory floor that was searched for, with the most memory that a run held and could not drop, in bytes."""
    return _("{workload}: {floor}.", workload=workload, floor=floor_in_words(found)) + _peak(peak)


def killed_floor_sentences(workload: str, killed: int, completed: int | None, pipeline_alone: bool, peak: int) -> str:
    """Between which two caps, in bytes, the floor is of a workload that was killed for memory, with the same."""
    known = {"workload": workload, "killed": format_bytes(killed)}
    if completed is None:
        return _(
            "{workload}: killed with {killed}, and no larger cap completed, so its memory floor lies above that.",
            **known,
        )
    known["completed"] = format_bytes(completed)
    if pipeline_alone:
        said = _(
            "{workload}: killed with {killed}, completed with {completed}: its memory floor lies between the two. That "
            "is for the input pipeline alone; the framework of a real GPU needs more.",
            **known,
        )
    else:
        said = _(
            "{workload}: killed with {killed}, completed with {completed}: its memory floor lies between the two.",
            **known,
        )
    return f"{said}{_peak(peak)}"


def _peak(peak: int) -> str:
    return " " + _("It used up to {size} of memory that cannot be dropped.", size=format_bytes(peak)) if peak else ""


def _bounds(found: SearchedFloor, floor: str) -> str:
    low, held = found.bounds.too_small, found.bounds.held
    if held is None:
        return _("{floor} was not found: no cap was enough", floor=floor)
    high = format_bytes(held)
    if low is None:
        said = _("{floor} is no higher than {high}", floor=floor, high=high)
    elif found.timed_out:
        said = _(
            "{floor} is between {low} and {high} (with {low} it did not finish in time)",
            floor=floor,
            low=format_bytes(low),
            high=high,
        )
    else:
        said = _("{floor} is between {low} and {high}", floor=floor, low=format_bytes(low), high=high)
    if found.pipeline_alone:
        return _("{floor}, for the input pipeline alone: the framework of a real GPU needs more", floor=said)
    return said


def _given_up(given_up: GivenUp) -> str:
    if given_up.kind is GivenUpKind.CRASHED:
        size = format_bytes(given_up.figure)
        return _("given up: the run with {size} crashed, which shows nothing about the cap", size=size)
    if given_up.kind is GivenUpKind.TIMED_OUT:
        size = format_bytes(given_up.figure)
        return _("given up: the run with {size} timed out, and no larger cap completed", size=size)
    return _n("given up after {count} run", "given up after {count} runs", given_up.figure)

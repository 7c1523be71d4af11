"""Sentences about a memory floor that was searched for."""

from __future__ import annotations

from sizer.model.floor_runs import GivenUp, GivenUpKind, SearchedFloor
from sizer.records.units import format_bytes
from sizer.words.language import _, _n
from sizer.words.names import clauses


def floor_in_words(found: SearchedFloor, unfinished: bool = False) -> str:
    """`the memory floor is between 212 MiB and 228 MiB`, or why it is not known; `unfinished` where a run is left."""
    said = _bounds(found)
    if found.given_up is not None:
        return clauses([said, _given_up(found.given_up)])
    if found.bounds.close or (found.bounds.held is None and not unfinished):
        return said
    return clauses([said, _("the search is not finished")])


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


def _bounds(found: SearchedFloor) -> str:
    low, held = found.bounds.too_small, found.bounds.held
    if held is None and low is None:
        return _("the memory floor is not known")
    known = {"low": "" if low is None else format_bytes(low), "high": "" if held is None else format_bytes(held)}
    if held is None:
        return _("the memory floor is above {low}: no cap that was tried was enough", **known)
    if low is None and found.pipeline_alone:
        return _(
            "the memory floor is no higher than {high}, for the input pipeline alone: the framework of a real GPU "
            "needs more",
            **known,
        )
    if low is None:
        return _("the memory floor is no higher than {high}", **known)
    if found.timed_out and found.pipeline_alone:
        return _(
            "the memory floor is between {low} and {high} (with {low} it did not finish in time), for the input "
            "pipeline alone: the framework of a real GPU needs more",
            **known,
        )
    if found.timed_out:
        return _("the memory floor is between {low} and {high} (with {low} it did not finish in time)", **known)
    if found.pipeline_alone:
        return _(
            "the memory floor is between {low} and {high}, for the input pipeline alone: the framework of a real GPU "
            "needs more",
            **known,
        )
    return _("the memory floor is between {low} and {high}", **known)


def _given_up(given_up: GivenUp) -> str:
    if given_up.kind is GivenUpKind.CRASHED:
        size = format_bytes(given_up.figure)
        return _("given up: the run with {size} crashed, which shows nothing about the cap", size=size)
    if given_up.kind is GivenUpKind.TIMED_OUT:
        size = format_bytes(given_up.figure)
        return _("given up: the run with {size} timed out, and no larger cap completed", size=size)
    return _n("given up after {count} run", "given up after {count} runs", given_up.figure)

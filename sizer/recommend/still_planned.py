"""Advice that keeps to the plan of a study: what it still has is measured before anything that it has not. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from math import log
from typing import Any

from sizer.model.advice import ENOUGH
from sizer.model.isolation import as_asked
from sizer.model.model import MeasuredRange
from sizer.records.configuration import Configuration
from sizer.records.prediction import Action, ReasonCode, Suggestion, reason
from sizer.records.run import Run

AXES = ("vcpus", "memory_bytes", "batch_size", "gpu_count")
"""What a suggestion may ask for other values of, as it and a configuration call it."""


@dataclass(frozen=True)
class StillPlanned:
    """What the plan of a study still has of one workload: the `places` that no run was made at; and where an adaptive
    plan makes its `next_run`, or would if its bound had room, which is `again` where one was made there. Of that place
    only what the study varies is given, and the vCPUs."""

    places: tuple[Configuration, ...] = ()
    next_run: Configuration | None = None
    again: bool = False


def as_planned(suggestion: Suggestion, left: StillPlanned, measured: MeasuredRange, runs: Sequence[Run]) -> Suggestion:
    """The suggestion, or in its place what the study still has: the next run of an adaptive plan, or the nearest values
    of the same axis that no run had. `runs` are all of the workload; what is to be mended first stays."""
    if suggestion.action not in (Action.MEASURE, Action.REPEAT) or suggestion.repeat_how is not None:
        return suggestion
    if left.next_run is not None:
        return _next_run(suggestion, left.next_run, left.again)
    named = [axis for axis in AXES if _asked(suggestion, axis)]
    if suggestion.action is not Action.MEASURE or len(named) != 1:
        return suggestion
    return _on_axis(suggestion, named[0], left.places, measured, runs)


def _next_run(suggestion: Suggestion, place: Configuration, again: bool) -> Suggestion:
    found = Suggestion(
        Action.REPEAT if again else Action.MEASURE,
        suggestion.why,
        () if place.vcpus is None else (place.vcpus,),
        place.memory_bytes,
        place.disk,
        place.batch_size,
        gpu_count=place.gpu_count,
    )
    return found if found == suggestion else replace(found, why=reason(ReasonCode.RUN_WOULD_SETTLE))


def _on_axis(
    suggestion: Suggestion, axis: str, places: Iterable[Configuration], measured: MeasuredRange, runs: Sequence[Run]
) -> Suggestion:
    """On the side of what was tried that the suggestion is on; anywhere, where a curve needs more values first."""
    wanted, known = _asked(suggestion, axis), _values(axis, (run.configuration for run in as_asked(runs)))
    needs_more = axis == "vcpus" or suggestion.why is None
    few = needs_more and 0 < len(_measured(axis, measured)) < ENOUGH
    left = _values(axis, places) - known
    found = _nearest(wanted, [value for value in left if few or _side(value, known) == _side(wanted[0], known)])
    if not found:
        return suggestion
    why = suggestion.why
    if why is None or why.figures or why.spec:  # which are of the other size
        why = reason(ReasonCode.RUN_WOULD_SETTLE)
    value: Any = tuple(found) if axis == "vcpus" else round(found[0])
    return replace(suggestion, why=why, **{axis: value})


def _asked(suggestion: Suggestion, axis: str) -> tuple[float, ...]:
    value = getattr(suggestion, axis)
    return () if value is None else value if isinstance(value, tuple) else (value,)


def _measured(axis: str, measured: MeasuredRange) -> set[float]:
    values = [gpus.count for gpus in measured.gpus] if axis == "gpu_count" else getattr(measured, axis)
    return set(filter(None, values))


def _values(axis: str, places: Iterable[Configuration]) -> set[float]:
    return set(filter(None, (getattr(place, axis) for place in places)))


def _side(value: float, known: Iterable[float]) -> int:
    """Whether a value is below, between or above those that were tried."""
    return (value > min(known, default=0.0)) + (value > max(known, default=0.0))


def _nearest(wanted: Sequence[float], values: Iterable[float]) -> list[float]:
    """Of these values the nearest to each that is wanted, by their ratio, none twice; rising."""
    left, found = sorted(values), []
    for each in wanted[: len(left)]:
        found.append(min(left, key=lambda value: abs(log(value / each))))
        left.remove(found[-1])
    return sorted(found)

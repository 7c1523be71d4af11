"""From runs to what a chart draws of them: points with whiskers and the marks of failed runs."""

from __future__ import annotations

from collections.abc import Iterable

from sizer.records.run import Run
from sizer.words.language import _, rate_interval
from sizer.words.page import ending

from .. import results
from ..charts.plot import FailureMark, Point
from ..subject import Subject
from .series import Series


def points(runs: Iterable[Run], axis: str, subject: Subject) -> tuple[Point, ...]:
    """Runs that gave a rate; on the disk axis, which has no numbers, all are at 0."""
    return tuple(
        Point(place(run, axis), run.throughput, title(run, subject))
        for run in runs
        if results.measured(run) and run.throughput is not None
    )


def failures(runs: Iterable[Run], axis: str, subject: Subject) -> tuple[FailureMark, ...]:
    """Runs that gave none, with the word of their outcome."""
    return tuple(
        FailureMark(place(run, axis), ending(run), title(run, subject)) for run in runs if not results.measured(run)
    )


def measured_places(series: Series, axis: str) -> list[float]:
    """Where on the axis its runs gave a rate, one for each of them."""
    return [place(run, axis) for run in series.runs if results.measured(run)]


def place(run: Run, axis: str) -> float:
    return 0.0 if axis == "disk" else float(getattr(run.configuration, axis))


def title(run: Run, subject: Subject) -> str:
    """What pointing at a mark shows."""
    where = subject.place_named(run.configuration)
    if run.throughput is not None and results.measured(run):
        came_out = rate_interval(run.throughput, subject.unit)
    else:
        came_out = ending(run)
    return _("{configuration}: {result}, run {id}", configuration=where, result=came_out, id=run.id)


def is_modelled(series: Series, subject: Subject) -> bool:
    """Whether the model speaks of these runs: of the workload as asked for, not of runs that isolate one stage."""
    if subject.model is None or series.base is None:
        return False
    asked = subject.plan.workload if subject.plan is not None else None
    return asked is None or (series.input, series.cache) == (asked.assumed_input, asked.assumed_cache)

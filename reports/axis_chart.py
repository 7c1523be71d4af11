"""Throughput against vCPUs, memory or batch size."""

from __future__ import annotations

from collections.abc import Sequence

from sizer import words
from sizer.records import GIB, MIB, format_bytes
from sizer.words import _

from . import marks, results
from .curves import CurvePoint, grid, segments
from .plot import Line, Plot
from .scales import is_wide
from .series import Series
from .subject import Subject

BEYOND = 1.5
"""How far past the largest measured vCPU count the model's line goes on, dashed."""


def axis_chart(axis: str, title: str, series: Sequence[Series], subject: Subject) -> Plot:
    """The picture for one continuous axis of a workload."""
    lines = tuple(_line(axis, each, subject) for each in series)
    places = [place for line in lines for place in line.places]
    x_label, unit = _x_words(axis, max(places))
    logarithmic = is_wide(places)
    y_label = words.rates_axis(subject.unit)
    return Plot(
        label=f"{title}, {y_label}",
        x_label=_("{axis}, logarithmic scale", axis=x_label) if logarithmic else x_label,
        y_label=y_label,
        unit=unit,
        lines=lines,
        logarithmic=logarithmic,
        mark=_mark(axis, subject, min(places), max(places)),
    )


def _line(axis: str, series: Series, subject: Subject) -> Line:
    return Line(
        points=marks.points(series.runs, axis, subject),
        failures=marks.failures(series.runs, axis, subject),
        stretches=_stretches(axis, series, subject),
    )


def _stretches(axis: str, series: Series, subject: Subject) -> tuple[tuple[CurvePoint, ...], ...]:
    if subject.model is None or series.base is None or not marks.is_modelled(series, subject):
        return ()
    places = [marks.place(run, axis) for run in series.runs if results.measured(run)]
    if not places:
        return ()
    low, high = min(places), max(places) * (BEYOND if axis == "vcpus" else 1.0)
    spread = grid(low, high, is_wide([low, high]), places)
    return tuple(tuple(each) for each in segments(subject.model, series.base, axis, spread))


def _x_words(axis: str, highest: float) -> tuple[str, float]:
    """The axis' name, and what it counts in."""
    if axis == "memory_bytes":
        return (_("memory (GiB)"), GIB) if highest >= GIB else (_("memory (MiB)"), MIB)
    return words.axis_name(axis), 1.0


def _mark(axis: str, subject: Subject, lowest: float, highest: float) -> tuple[float, str] | None:
    """Where the answer is; nothing where it lies so far out that marking it would crowd what was measured."""
    if subject.answer is None or subject.answer.spec is None:
        return None
    value = getattr(subject.answer.spec, axis)
    if value is None or not lowest / BEYOND <= value <= highest * BEYOND:
        return None
    size = format_bytes(value) if axis == "memory_bytes" else f"{value:g}"
    return float(value), f"{words.answer_word(subject.answer, axis)} {size}"

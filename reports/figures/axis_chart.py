"""Throughput against vCPUs, memory or batch size."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sizer.model.memory import anonymous_bytes, floor_at
from sizer.model.model import batch_of, vcpus_of
from sizer.model.observations import measured_rate
from sizer.records.configuration import Configuration
from sizer.records.units import GIB, MIB, RELATIVE, format_bytes
from sizer.words.language import _, rates_axis
from sizer.words.page import (
    answer_word,
    axis_name,
    cache_fit_named,
    ceilings_above,
    floor_named,
    knee_named,
    place_named,
    stop_line,
    time_axis,
)

from ..charts import legend
from ..charts.legend import Key
from ..charts.plot import CurvePoint, Line, Pile, PlaceMark, Plot, Stop
from ..charts.svg import is_wide
from ..subject import Subject
from . import binding
from .disks import ceilings
from .series import (
    Series,
    described,
    failure_marks,
    grid,
    is_modelled,
    labels,
    measured_places,
    moved,
    run_points,
    segments,
)

BEYOND = 1.5
"""How far past the largest measured vCPU count the model's line goes on, dashed."""
NEAR_THE_END = 0.75
"""Of the largest measured value of an axis."""
BETWEEN = 3
"""Of the places where the model's line was computed, every third shows its words when it is pointed at."""
SCALES = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))
"""Units in which the time of a sample is counted, the largest first."""


@dataclass(frozen=True)
class AxisChart:
    """A picture with what its legend and the sentence under it say beside the series."""

    plot: Plot
    keys: tuple[Key, ...]
    above: str


def axis_chart(axis: str, title: str, series: Sequence[Series], subject: Subject) -> AxisChart:
    """The picture for one continuous axis of a workload."""
    lines = tuple(_line(axis, each, subject) for each in series)
    places = [place for line in lines for place in line.places]
    x_label, unit = _x_words(axis, max(places))
    logarithmic = is_wide(places)
    y_label = rates_axis(subject.unit)
    runs = [run for each in series for run in each.runs]
    piles = _piles(axis, series, subject)
    scale, scale_name = _scale(piles)
    plot = Plot(
        label=f"{title}, {y_label}",
        x_label=_("{axis}, logarithmic scale", axis=x_label) if logarithmic else x_label,
        y_label=y_label,
        unit=unit,
        lines=lines,
        logarithmic=logarithmic,
        marks=_place_marks(axis, series, subject, min(places), max(places)),
        ceilings=ceilings(axis, runs, subject),
        knee=_knee(lines, subject),
        piles=piles,
        pile_label=time_axis(scale_name, subject.unit) if piles else "",
        pile_unit=scale,
        stops=tuple(_stops(axis, series, lines, subject)),
        description=described(series, subject),
    )
    return AxisChart(plot, tuple(_keys(axis, plot, series, subject)), _above(plot))


def _line(axis: str, series: Series, subject: Subject) -> Line:
    return Line(
        points=run_points(series.runs, axis, subject),
        failures=failure_marks(series.runs, axis, subject),
        stretches=_stretches(axis, series, subject),
        is_light=series.is_light,
    )


def _stretches(axis: str, series: Series, subject: Subject) -> tuple[tuple[CurvePoint, ...], ...]:
    if subject.model is None or series.base is None or not is_modelled(series, subject) or series.is_light:
        return ()
    places = _reached(axis, series)
    if not places:
        return ()
    low, high = min(places), max(places) * (BEYOND if axis == "vcpus" else 1.0)
    spread = grid(low, high, is_wide([low, high]), places)
    return tuple(tuple(each) for each in segments(subject.model, series.base, axis, spread))


def _reached(axis: str, series: Series) -> list[float]:
    return [*measured_places(series, axis), *series.reach]


def _piles(axis: str, series: Sequence[Series], subject: Subject) -> tuple[Pile, ...]:
    """Of the series nearest to the answer of those that the model speaks of; they come in that order."""
    first = piled(series, subject)
    if axis != "vcpus" or first is None or first.base is None or subject.unit == RELATIVE:
        return ()
    places = _reached(axis, first)
    return binding.piles(axis, places, first.base, subject)


def piled(series: Sequence[Series], subject: Subject) -> Series | None:
    """The series of which a picture shows where the time goes."""
    return next((each for each in series if is_modelled(each, subject) and not each.is_light), None)


def _scale(piles: Sequence[Pile]) -> tuple[float, str]:
    most = max((pile.seconds for pile in piles), default=1.0)
    return next(((size, name) for size, name in SCALES if most >= size), SCALES[-1])


def _knee(lines: Sequence[Line], subject: Subject) -> tuple[float, float] | None:
    """Where the model's line first gives what is asked of the highest rate in the measured range.

    Nothing for several series, nothing where that is the first place already, and nothing near the last one: there the
    rate may rise on, and the highest is only the last.
    """
    inside = [point for line in lines for each in line.stretches for point in each if not point.extrapolated]
    if sum(not line.is_light for line in lines) != 1 or len(inside) < BETWEEN:
        return None
    enough = subject.objective.target * max(point.throughput.value for point in inside)
    found = next(point for point in inside if point.throughput.value >= enough)
    if found is inside[0] or found.x > NEAR_THE_END * inside[-1].x:
        return None
    return found.x, found.throughput.value


def _place_marks(
    axis: str, series: Sequence[Series], subject: Subject, lowest: float, highest: float
) -> tuple[PlaceMark, ...]:
    """The answer, the memory floor and where the data fit; none so far out that it would crowd what was measured."""
    spec = subject.answer.spec if subject.answer is not None else None
    value = getattr(spec, axis) if spec is not None else None
    found = []
    if subject.answer is not None and value is not None:
        size = format_bytes(value) if axis == "memory_bytes" else f"{value:g}"
        found.append(PlaceMark(float(value), f"{answer_word(subject.answer, axis)} {size}", is_answer=True))
    base = series[0].base
    if axis == "memory_bytes" and base is not None and subject.model is not None:
        found += _memory_marks(base, subject)
    return tuple(mark for mark in found if lowest / BEYOND <= mark.x <= highest * BEYOND)


def _memory_marks(base: Configuration, subject: Subject) -> Iterator[PlaceMark]:
    assert subject.model is not None, "only a model knows them"
    measured, facts = subject.model.measured, subject.model.facts
    floor = floor_at(measured, base.vcpus, base.batch_size)
    if floor.out_of_memory_bytes is not None and floor.completed_bytes is not None:
        yield PlaceMark(float(floor.completed_bytes), floor_named(floor.out_of_memory_bytes, floor.completed_bytes))
    own = anonymous_bytes(measured, vcpus_of(base), batch_of(base))
    if facts.natural and facts.data_bytes is not None and own is not None:
        yield PlaceMark(float(own + facts.data_bytes), cache_fit_named(own + facts.data_bytes))


def _stops(axis: str, series: Sequence[Series], lines: Sequence[Line], subject: Subject) -> Iterator[Stop]:
    """What is known at the measured places, and of a single series at some between."""
    names = labels(axis, series, subject.study)
    known = [{point.x: point for stretch in line.stretches for point in stretch} for line in lines]
    places = {place for line in lines for place in line.places}
    if sum(not line.is_light for line in lines) == 1:
        places |= set(sorted(known[0])[::BETWEEN])
    base = next((each.base for each in series if each.base is not None), None)
    for place in sorted(places):
        told = [
            _stop_line(place, name, line, curve, subject) for name, line, curve in zip(names, lines, known, strict=True)
        ]
        if base is not None and any(told):
            head = _place_named(axis, place, base, subject)
            yield Stop(place, "\n".join([head, *(each for each in told if each)]))


def _stop_line(place: float, name: str, line: Line, curve: dict[float, CurvePoint], subject: Subject) -> str:
    rates = [point.throughput for point in line.points if point.x == place]
    point = curve.get(place)
    return stop_line(
        name,
        measured_rate(rates) if rates else None,
        len(rates),
        point.throughput if point is not None else None,
        point is not None and point.extrapolated,
        subject.unit,
    )


def _above(plot: Plot) -> str:
    """The ceilings that lie too high to be drawn."""
    names = [each.name for each in plot.ceilings if each.throughput > plot.y.high]
    return ceilings_above(names) if names else ""


def _keys(axis: str, plot: Plot, series: Sequence[Series], subject: Subject) -> Iterator[Key]:
    """What the picture shows beside measured points."""
    alone = plot.is_alone
    stretches = [stretch for line in plot.lines for stretch in line.stretches]
    if stretches:
        yield legend.model(alone)
    if any(stretch[0].extrapolated for stretch in stretches):
        yield legend.extrapolated(alone)
    if any(line.failures for line in plot.lines):
        yield legend.failed()
    if any(mark.is_answer for mark in plot.marks):
        yield legend.answer(next(mark.word for mark in plot.marks if mark.is_answer))
    if plot.knee is not None and series[0].base is not None:
        place = _place_named(axis, plot.knee[0], series[0].base, subject)
        yield legend.knee(knee_named(subject.objective.target, place))
    for hue, name in sorted({(part.hue, part.name) for pile in plot.piles for part in pile.parts}):
        yield legend.part(hue, name)


def _place_named(axis: str, place: float, base: Configuration, subject: Subject) -> str:
    """A place on the axis in words, between measured ones with as many digits as anyone reads."""
    if axis == "vcpus" and place * 4 % 1:
        place = float(f"{place:.2g}")
    return place_named(axis, moved(base, axis, place), subject.study)


def _x_words(axis: str, highest: float) -> tuple[str, float]:
    """The axis' name, and what it counts in."""
    if axis == "memory_bytes":
        return (_("memory (GiB)"), GIB) if highest >= GIB else (_("memory (MiB)"), MIB)
    return axis_name(axis), 1.0

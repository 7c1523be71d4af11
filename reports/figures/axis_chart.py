"""Throughput against vCPUs, memory or batch size."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sizer.model.memory import anonymous_bytes, floor_at
from sizer.model.model import batch_of, vcpus_of
from sizer.model.observations import measured_rate
from sizer.records.prediction import Configuration
from sizer.records.units import GIB, MIB, RELATIVE, format_bytes
from sizer.words import page as words
from sizer.words.language import _, paragraph, rates_axis

from ..charts.legend import Figure
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
    held,
    is_modelled,
    labels,
    measured_places,
    moved,
    named,
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


def axis_figure(axis: str, series: Sequence[Series], subject: Subject) -> Figure:
    """The picture for one continuous axis of a workload, and what it does not show by itself."""
    plot, shown, caption = axis_plot(axis, series, subject), piled(series, subject), held(axis, series, subject.study)
    above = [ceiling.name for ceiling in plot.ceilings if ceiling.throughput > plot.y.high]
    caption += [words.ceilings_above(above)] if above else []
    if plot.piles and len(series) > 1 and shown is not None:
        name = named(axis, series, subject.study)[list(series).index(shown)]
        caption.append(_("Where the time goes is that of {series}.", series=name))
    drawn_at = {pile.x for pile in plot.piles}
    if shown is not None and 0 < len(drawn_at) < binding.MOST_PILES and set(measured_places(shown, axis)) - drawn_at:
        caption.append(_("Where there is no bar, the runs do not tell what binds."))
    return plot.figure(paragraph(caption))


def axis_plot(axis: str, series: Sequence[Series], subject: Subject) -> Plot:
    """The picture alone."""
    names = named(axis, series, subject.study)
    lines = tuple(
        _line(axis, number, one, name, subject) for number, (one, name) in enumerate(zip(series, names, strict=True))
    )
    places = [place for line in lines for place in line.places]
    x_label, unit = _x_words(axis, max(places))
    logarithmic = is_wide(places)
    piles = _piles(axis, series, subject)
    scale, scale_name = time_scale(max((pile.seconds for pile in piles), default=1.0))
    knee = _knee(lines, subject)
    base = series[0].base
    at_knee = _place_named(axis, knee[0], base, subject) if knee is not None and base is not None else ""
    return Plot(
        title=_("Throughput against {axis}", axis=words.axis_name(axis)),
        x_label=_("{axis}, logarithmic scale", axis=x_label) if logarithmic else x_label,
        y_label=rates_axis(subject.unit),
        unit=unit,
        lines=lines,
        logarithmic=logarithmic,
        marks=_place_marks(axis, base, subject, min(places), max(places)),
        ceilings=ceilings(axis, [run for one in series for run in one.runs], subject),
        knee=knee,
        knee_name=words.knee_named(subject.objective.target, at_knee),
        piles=piles,
        pile_label=words.time_axis(scale_name, subject.unit) if piles else "",
        pile_unit=scale,
        stops=tuple(_stops(axis, series, lines, subject)),
        description=described(series, subject),
    )


def _line(axis: str, number: int, series: Series, name: str, subject: Subject) -> Line:
    return Line(
        points=run_points(series.runs, axis, subject),
        failures=failure_marks(series.runs, axis, subject),
        stretches=_stretches(axis, series, subject),
        is_light=series.is_light,
        name=name,
        series=number,
    )


def _stretches(axis: str, series: Series, subject: Subject) -> tuple[tuple[CurvePoint, ...], ...]:
    places = _reached(axis, series)
    if (
        subject.model is None
        or series.base is None
        or not is_modelled(series, subject)
        or series.is_light
        or not places
    ):
        return ()
    low, high = min(places), max(places) * (BEYOND if axis == "vcpus" else 1.0)
    return segments(subject.model, series.base, axis, grid(low, high, is_wide([low, high]), places))


def _reached(axis: str, series: Series) -> list[float]:
    return [*measured_places(series, axis), *series.reach]


def _piles(axis: str, series: Sequence[Series], subject: Subject) -> tuple[Pile, ...]:
    """Of the series nearest to the answer of those that the model speaks of; they come in that order."""
    first = piled(series, subject)
    if axis != "vcpus" or first is None or first.base is None or subject.unit == RELATIVE:
        return ()
    return binding.piles(axis, _reached(axis, first), first.base, subject)


def piled(series: Sequence[Series], subject: Subject) -> Series | None:
    """The series of which a picture shows where the time goes: one with the answer's accelerator, if any has it."""
    modelled = [one for one in series if is_modelled(one, subject) and not one.is_light]
    gpu = subject.spec.gpu if subject.spec is not None else None
    own = (one for one in modelled if one.base is not None and one.base.gpu == gpu)
    return next(own, modelled[0] if modelled else None)


def time_scale(most: float) -> tuple[float, str]:
    """The unit in which times up to so many seconds are counted."""
    return next(((size, name) for size, name in SCALES if most >= size), SCALES[-1])


def _knee(lines: Sequence[Line], subject: Subject) -> tuple[float, float] | None:
    """Where the model's line first gives what is asked of the highest rate in the measured range.

    Nothing for several series, nothing where that is the first place already, and nothing near the last one: there the
    rate may rise on, and the highest is only the last.
    """
    inside = [point for line in lines for point in line.curve if not point.extrapolated]
    if sum(not line.is_light for line in lines) != 1 or len(inside) < BETWEEN:
        return None
    enough = subject.objective.target * max(point.value.value for point in inside)
    first = next(point for point in inside if point.value.value >= enough)
    if first is inside[0] or first.x > NEAR_THE_END * inside[-1].x:
        return None
    return first.x, first.value.value


def _place_marks(
    axis: str, base: Configuration | None, subject: Subject, lowest: float, highest: float
) -> tuple[PlaceMark, ...]:
    """The answer, the memory floor and where the data fit; none so far out that it would crowd what was measured."""
    value = getattr(subject.spec, axis, None)
    marks: list[PlaceMark] = []
    if subject.answer is not None and value is not None:
        size = format_bytes(value) if axis == "memory_bytes" else f"{value:g}"
        marks.append(PlaceMark(float(value), f"{words.answer_word(subject.answer, axis)} {size}", is_answer=True))
    if axis == "memory_bytes" and base is not None:
        marks += _memory_marks(base, subject)
    return tuple(mark for mark in marks if lowest / BEYOND <= mark.x <= highest * BEYOND)


def _memory_marks(base: Configuration, subject: Subject) -> Iterator[PlaceMark]:
    if subject.model is None:
        return
    measured, facts = subject.model.measured, subject.model.facts
    floor = floor_at(measured, base.vcpus, base.batch_size)
    low, high = floor.too_small, floor.held
    if low is not None and high is not None:
        yield PlaceMark(float(high), words.floor_named(low, high))
    own = anonymous_bytes(measured, vcpus_of(base), batch_of(base))
    if facts.natural and facts.data_bytes is not None and own is not None:
        yield PlaceMark(float(own + facts.data_bytes), words.cache_fit_named(own + facts.data_bytes))


def _stops(axis: str, series: Sequence[Series], lines: Sequence[Line], subject: Subject) -> Iterator[Stop]:
    """What is known at the measured places, and of a single series at some between."""
    names = labels(axis, series, subject.study)
    curves = [{point.x: point for point in line.curve} for line in lines]
    places = {place for line in lines for place in line.places}
    if sum(not line.is_light for line in lines) == 1:
        places |= set(sorted(curves[0])[::BETWEEN])
    base = next((one.base for one in series if one.base is not None), None)
    for place in sorted(places) if base is not None else ():
        texts = [
            _stop_line(place, name, line, curve.get(place), subject)
            for name, line, curve in zip(names, lines, curves, strict=True)
        ]
        if base is not None and any(texts):
            yield Stop(place, "\n".join([_place_named(axis, place, base, subject), *filter(None, texts)]))


def _stop_line(place: float, name: str, line: Line, point: CurvePoint | None, subject: Subject) -> str:
    rates = [point.value for point in line.points if point.x == place]
    return words.stop_line(
        name,
        measured_rate(rates) if rates else None,
        len(rates),
        point.value if point is not None else None,
        point is not None and point.extrapolated,
        subject.unit,
    )


def _place_named(axis: str, place: float, base: Configuration, subject: Subject) -> str:
    """A place on the axis in words, between measured ones with as many digits as anyone reads."""
    if axis == "vcpus" and place * 4 % 1:
        place = float(f"{place:.2g}")
    return words.place_named(axis, moved(base, axis, place), subject.study)


def _x_words(axis: str, highest: float) -> tuple[str, float]:
    """The axis' name, and what it counts in."""
    if axis == "memory_bytes":
        return (_("memory (GiB)"), GIB) if highest >= GIB else (_("memory (MiB)"), MIB)
    return words.axis_name(axis), 1.0

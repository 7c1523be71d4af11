"""Seconds a sample against the batch size, with the line of launch + slope x batch through it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from sizer.records.batch_sizes import BatchAdvice, BatchCurve, BatchPoint
from sizer.records.configuration import Estimate
from sizer.records.units import RELATIVE
from sizer.words.accelerators import batch_point, batch_question, batch_sentences
from sizer.words.language import _, a_sample, clauses, paragraph
from sizer.words.names import batch_named, largest_batch_sentence
from sizer.words.page import axis_name, configuration_line

from ..charts import legend
from ..charts.figure import Figure
from ..charts.plot import FailureMark, Line, PlaceMark, Plot, Point, Stop
from ..charts.scales import is_wide
from ..subject import Subject
from .curves import grid

SCALES = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))


def batch_chart(subject: Subject) -> Figure | None:
    """Of the batch sizes at the answer, with the sentence that says which; None where only one was measured."""
    advice = subject.answer.batch if subject.answer is not None else None
    if advice is None or not advice.curves or subject.unit == RELATIVE:
        return None
    curve = advice.curves[0]
    slowest = max(point.seconds_per_sample for point in curve.points)
    scale, name = next(((size, name) for size, name in SCALES if slowest >= size), SCALES[-1])
    line = Line(
        tuple(_point(point, scale, subject) for point in curve.points),
        tuple(_too_large(curve, advice)),
        ideal=_fitted(curve, scale),
    )
    title, unit = _("Time of a sample against batch size"), a_sample(name, subject.unit)
    plot = Plot(
        label=f"{title}, {unit}",
        x_label=axis_name("batch_size"),
        y_label=unit,
        unit=1.0,
        lines=(line,),
        logarithmic=is_wide([point.batch_size for point in curve.points]),
        marks=tuple(_marked(advice)),
        stops=tuple(Stop(float(point.batch_size), batch_point(point, subject.unit)) for point in curve.points),
        description=clauses(point.title for point in line.points),
    )
    word = _("with an emulated accelerator, 90 % interval") if curve.emulated else _("measured, 90 % interval")
    keys = [legend.series(0, word, alone=True)]
    keys += [legend.ideal(_("a fixed time of a step and one for each of its samples, fitted"))] if line.ideal else []
    keys += [legend.failed()] if line.failures else []
    keys += [legend.answer(mark.word) for mark in plot.marks]
    place = configuration_line(replace(curve.at, batch_size=None), subject.study)
    return Figure(
        title,
        plot.draw(),
        tuple(keys),
        _("At {fixed}.", fixed=place) if place else "",
        batch_question(),
        paragraph(batch_sentences(advice, subject.terms)),
    )


def _point(point: BatchPoint, scale: float, subject: Subject) -> Point:
    rate = point.throughput
    seconds = Estimate(point.seconds_per_sample / scale, 1 / rate.high / scale, 1 / rate.low / scale)
    return Point(float(point.batch_size), seconds, batch_point(point, subject.unit))


def _fitted(curve: BatchCurve, scale: float) -> tuple[tuple[float, float], ...]:
    if curve.launch is None or curve.slope is None:
        return ()
    sizes = [float(point.batch_size) for point in curve.points]
    launch, slope = curve.launch.value / curve.samples_per_batch, curve.slope.value
    places = grid(min(sizes), max(sizes), is_wide(sizes))
    return tuple((place, (slope + launch / place) / scale) for place in places)


def _too_large(curve: BatchCurve, advice: BatchAdvice) -> Iterator[FailureMark]:
    """The smallest batch that ran out of memory, where it lies near those measured."""
    largest = advice.largest
    if largest is not None and largest.too_large is not None and largest.too_large <= 4 * curve.points[-1].batch_size:
        yield FailureMark(float(largest.too_large), _("out of memory"), largest_batch_sentence(largest))


def _marked(advice: BatchAdvice) -> Iterator[PlaceMark]:
    if advice.batch_size is not None:
        yield PlaceMark(float(advice.batch_size), batch_named(advice.batch_size), is_answer=True)

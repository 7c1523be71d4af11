"""Throughput against the number of accelerators, for each kind, beside what perfect scaling would give."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import replace

from sizer.model.model import CPU_LABEL
from sizer.model.runs import as_asked, label_of
from sizer.records.answer import BatchAdvice, BatchCurve, BatchPoint
from sizer.records.prediction import Estimate
from sizer.records.run import Run
from sizer.records.units import RELATIVE
from sizer.words.accelerators import batch_point, batch_question, batch_sentences
from sizer.words.language import _, a_sample, clauses, paragraph, rates_axis, sentence
from sizer.words.names import batch_named, gpu_name, largest_in_words
from sizer.words.page import accelerators_scaled, answer_word, axis_name, configuration_line

from .. import results
from ..charts.legend import Figure
from ..charts.plot import FailureMark, Line, PlaceMark, Plot, Point, Stop
from ..charts.svg import is_wide
from ..subject import Subject
from .axis_chart import time_scale
from .series import grid

MOST_KINDS = 4
"""As many as there are shapes of markers; of more, the fastest."""
CROWDED = 16.0
"""From this ratio of most to fewest on, the axis is logarithmic; up to it perfect scaling is a straight line."""


def accelerator_chart(subject: Subject) -> Figure | None:
    """Of each kind and count the fastest machine that was measured; None where no kind was measured with several."""
    rates = {kind: best for kind, best in _kinds(subject).items() if len(best) > 1}
    if not rates:
        return None
    fastest = sorted(rates, key=lambda kind: -max(rate.value for rate in rates[kind].values()))[:MOST_KINDS]
    counts = sorted({count for kind in fastest for count in rates[kind]})
    lines = tuple(_line(number, kind, rates[kind], subject) for number, kind in enumerate(fastest))
    wide = counts[-1] / counts[0] > CROWDED
    titles = {
        count: [_title(kind, count, rates[kind], subject) for kind in fastest if count in rates[kind]]
        for count in counts
    }
    return Plot(
        title=_("Throughput against accelerators"),
        x_label=_("accelerators, logarithmic scale") if wide else _("accelerators"),
        y_label=rates_axis(subject.unit),
        unit=1.0,
        lines=lines,
        logarithmic=wide,
        marks=tuple(_answer(subject, counts)),
        ideal=_("perfect scaling from the fewest"),
        stops=tuple(Stop(float(count), "\n".join(lines)) for count, lines in titles.items()),
        description=clauses(point.title for line in lines for point in line.points),
    ).figure(_("Of each number the fastest machine that was measured."))


def _kinds(subject: Subject) -> Mapping[str, Mapping[int, Estimate]]:
    """By kind and count the rate of the fastest configuration."""
    groups: dict[str, dict[int, dict[object, list[Run]]]] = defaultdict(lambda: defaultdict(lambda: defaultdict(list)))
    for run in as_asked(subject.runs):
        kind, count = label_of(run), run.configuration.gpu_count
        if results.measured(run) and kind is not None and kind != CPU_LABEL and count:
            feed = run.spec.workload.assumed_input, run.spec.workload.assumed_cache
            groups[kind][count][run.configuration, run.declared.machine, feed].append(run)
    return {
        kind: {
            count: max((results.pooled(runs) for runs in alike.values()), key=lambda rate: rate.value)
            for count, alike in sorted(counts.items())
        }
        for kind, counts in groups.items()
    }


def _line(number: int, kind: str, rates: Mapping[int, Estimate], subject: Subject) -> Line:
    fewest, most = min(rates), max(rates)
    one = rates[fewest].value / fewest
    points = tuple(Point(float(count), rate, _title(kind, count, rates, subject)) for count, rate in rates.items())
    ideal = tuple((place, place * one) for place in grid(fewest, most, logarithmic=False))
    return Line(points, ideal=ideal, name=gpu_name(kind), series=number)


def _title(kind: str, count: int, rates: Mapping[int, Estimate], subject: Subject) -> str:
    fewest = min(rates)
    efficiency = rates[count].value / count / (rates[fewest].value / fewest)
    return accelerators_scaled(kind, count, rates[count], fewest, efficiency, subject.unit)


def _answer(subject: Subject, counts: list[int]) -> Iterator[PlaceMark]:
    answer = subject.answer
    if answer is not None and answer.spec is not None and answer.spec.gpu_count in counts:
        word = answer_word(answer, "gpu_count")
        yield PlaceMark(float(answer.spec.gpu_count), f"{word} {answer.spec.gpu_count}", is_answer=True)


def batch_chart(subject: Subject) -> Figure | None:
    """Of the batch sizes at the answer, with the sentence that says which; None where only one was measured."""
    advice = subject.answer.batch if subject.answer is not None else None
    if advice is None or not advice.curves or subject.unit == RELATIVE:
        return None
    curve = advice.curves[0]
    scale, name = time_scale(max(point.seconds_per_sample for point in curve.points))
    line = Line(
        tuple(_point(point, scale, subject) for point in curve.points),
        tuple(_too_large(curve, advice)),
        ideal=_fitted(curve, scale),
        name=_("with an emulated accelerator, 90 % interval") if curve.emulated else _("measured, 90 % interval"),
    )
    best = advice.batch_size
    place = configuration_line(replace(curve.at, batch_size=None), subject.study)
    return Plot(
        title=_("Time of a sample against batch size"),
        x_label=axis_name("batch_size"),
        y_label=a_sample(name, subject.unit),
        unit=1.0,
        lines=(line,),
        logarithmic=is_wide([point.batch_size for point in curve.points]),
        marks=(PlaceMark(float(best), batch_named(best), is_answer=True),) if best is not None else (),
        ideal=_("a fixed time of a step and one for each of its samples, fitted"),
        stops=tuple(Stop(float(point.batch_size), batch_point(point, subject.unit)) for point in curve.points),
        description=clauses(point.title for point in line.points),
    ).figure(
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
        yield FailureMark(float(largest.too_large), _("out of memory"), sentence(largest_in_words(largest)))

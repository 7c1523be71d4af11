"""Throughput against the number of accelerators, for each kind, beside what perfect scaling would give."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping

from sizer.model.feeds import CPU_LABEL, label_of
from sizer.model.isolation import as_asked
from sizer.records.configuration import Estimate
from sizer.records.run import Run
from sizer.words.language import _, clauses, rates_axis
from sizer.words.names import gpu_name
from sizer.words.page import accelerators_scaled, answer_word

from .. import results
from ..charts import legend
from ..charts.figure import Figure
from ..charts.plot import Line, PlaceMark, Plot, Point, Stop
from ..subject import Subject
from .curves import grid

MOST_KINDS = 4
"""As many as there are shapes of markers; of more, the fastest."""
CROWDED = 16.0
"""From this ratio of most to fewest on, the axis is logarithmic; up to it perfect scaling is a straight line."""


def accelerator_chart(subject: Subject) -> Figure | None:
    """Of each kind and count the fastest machine that was measured; None where no kind was measured with several."""
    found = {kind: best for kind, best in _kinds(subject).items() if len(best) > 1}
    if not found:
        return None
    fastest = sorted(found, key=lambda kind: -max(rate.value for rate in found[kind].values()))[:MOST_KINDS]
    counts = sorted({count for kind in fastest for count in found[kind]})
    lines = tuple(_line(kind, found[kind], subject) for kind in fastest)
    wide = counts[-1] / counts[0] > CROWDED
    title, unit = _("Throughput against accelerators"), rates_axis(subject.unit)
    plot = Plot(
        label=f"{title}, {unit}",
        x_label=_("accelerators, logarithmic scale") if wide else _("accelerators"),
        y_label=unit,
        unit=1.0,
        lines=lines,
        logarithmic=wide,
        marks=tuple(_answer(subject, counts)),
        stops=tuple(_stop(count, fastest, found, subject) for count in counts),
        description=clauses(point.title for line in lines for point in line.points),
    )
    alone = len(fastest) == 1
    keys = [
        legend.series(index, gpu_name(kind), alone, whisker=any(rate.has_interval for rate in found[kind].values()))
        for index, kind in enumerate(fastest)
    ]
    keys.append(legend.ideal(_("perfect scaling from the fewest")))
    keys += [legend.answer(mark.word) for mark in plot.marks]
    return Figure(title, plot.draw(), tuple(keys), _("Of each number the fastest machine that was measured."))


def _kinds(subject: Subject) -> Mapping[str, Mapping[int, Estimate]]:
    """By kind and count the rate of the fastest configuration."""
    groups: dict[str, dict[int, dict[object, list[Run]]]] = defaultdict(lambda: defaultdict(lambda: defaultdict(list)))
    for run in as_asked(subject.runs):
        kind, count = label_of(run), run.configuration.gpu_count
        if results.measured(run) and kind is not None and kind != CPU_LABEL and count:
            feed = run.spec.workload.assumed_input, run.spec.workload.assumed_cache
            groups[kind][count][run.configuration, run.machine, feed].append(run)
    return {
        kind: {
            count: max((results.pooled(runs) for runs in alike.values()), key=lambda rate: rate.value)
            for count, alike in sorted(counts.items())
        }
        for kind, counts in groups.items()
    }


def _line(kind: str, rates: Mapping[int, Estimate], subject: Subject) -> Line:
    fewest, most = min(rates), max(rates)
    each = rates[fewest].value / fewest
    points = tuple(Point(float(count), rate, _told(kind, count, rates, subject)) for count, rate in rates.items())
    return Line(points, (), ideal=tuple((place, place * each) for place in grid(fewest, most, logarithmic=False)))


def _told(kind: str, count: int, rates: Mapping[int, Estimate], subject: Subject) -> str:
    fewest = min(rates)
    efficiency = rates[count].value / count / (rates[fewest].value / fewest)
    return accelerators_scaled(kind, count, rates[count], fewest, efficiency, subject.unit)


def _stop(count: int, kinds: list[str], found: Mapping[str, Mapping[int, Estimate]], subject: Subject) -> Stop:
    return Stop(
        float(count), "\n".join(_told(kind, count, found[kind], subject) for kind in kinds if count in found[kind])
    )


def _answer(subject: Subject, counts: list[int]) -> Iterator[PlaceMark]:
    answer = subject.answer
    if answer is not None and answer.spec is not None and answer.spec.gpu_count in counts:
        word = answer_word(answer, "gpu_count")
        yield PlaceMark(float(answer.spec.gpu_count), f"{word} {answer.spec.gpu_count}", is_answer=True)

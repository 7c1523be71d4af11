"""The charts of one workload with their headings and legends."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from sizer import words
from sizer.words import _

from . import legend, results
from .axis_chart import axis_chart
from .disk_chart import disk_chart
from .figure import Figure
from .machines import machines_figure
from .series import AXES, Series, along, common, labels, varied_axes
from .subject import Subject

MOST_PICTURES = 8
"""Pictures of one axis, those nearest to the answer; a large crossed table would have hundreds, which nobody reads."""
MOST_SERIES = 4
"""Series in one picture, as many as there are marker shapes; more go into further pictures."""


def figures(subject: Subject) -> tuple[tuple[Figure, ...], tuple[Figure, ...], int]:
    """The machines that were compared, and for each axis varied the figure closest to the answer; then further ones,
    and how many are left out."""
    machines = machines_figure(subject)
    first: list[Figure] = [] if machines is None else [machines]
    more: list[Figure] = []
    left_out = 0
    for axis in varied_axes(subject.runs):
        found = along(axis, subject.runs)
        if machines is not None and all(each.base is None for each in found):
            continue  # nothing differs along this axis alone, and the picture of machines has the rates
        series = sorted(found, key=lambda each: -_relevance(axis, each, subject))
        chunks = [series[start : start + MOST_SERIES] for start in range(0, len(series), MOST_SERIES)]
        drawn = [_figure(axis, chunk, subject) for chunk in chunks[:MOST_PICTURES]]
        left_out += len(chunks) - len(drawn)
        first += drawn[:1]
        more += drawn[1:]
    return tuple(first), tuple(more), left_out


def _relevance(axis: str, series: Series, subject: Subject) -> int:
    """On how many other axes a series is where the answer is."""
    spec = subject.answer.spec if subject.answer is not None else None
    if spec is None or series.base is None:
        return 0
    return sum(name != axis and getattr(spec, name) == getattr(series.base, name) for name in AXES)


def _figure(axis: str, series: Sequence[Series], subject: Subject) -> Figure:
    title = _("Throughput against {axis}", axis=words.axis_name(axis))
    fixed = common(axis, series, subject.study)
    failed = any(not results.measured(run) for each in series for run in each.runs)
    if axis == "disk":
        svg, explained = _by_disk(title, series, subject, failed)
    else:
        svg, explained = _by_axis(axis, title, series, subject, failed)
    return Figure(
        title=title,
        svg=svg,
        caption=_("At {fixed}.", fixed=fixed) if fixed else "",
        series=tuple(label or _measured_run(series) for label in labels(axis, series, subject.study)),
        keys=tuple(map(legend.series_key, range(len(series)))),
        explained=explained,
    )


def _measured_run(series: Sequence[Series]) -> str:
    rates = [run.throughput for each in series for run in each.runs if run.throughput is not None]
    return _("measured run, 95 % interval") if any(rate.has_interval for rate in rates) else _("measured run")


def _by_disk(
    title: str, series: Sequence[Series], subject: Subject, failed: bool
) -> tuple[Markup, tuple[legend.Key, ...]]:
    chart = disk_chart(title, series, subject)
    has_model = any(dots.predicted is not None for row in chart.rows for dots in row.series)
    return chart.draw(), legend.explained(has_model, True, False, failed, "")


def _by_axis(
    axis: str, title: str, series: Sequence[Series], subject: Subject, failed: bool
) -> tuple[Markup, tuple[legend.Key, ...]]:
    plot = axis_chart(axis, title, series, subject)
    stretches = [stretch for line in plot.lines for stretch in line.stretches]
    dashed = any(stretch[0].extrapolated for stretch in stretches)
    answer = plot.mark[1] if plot.mark is not None else ""
    return plot.draw(), legend.explained(bool(stretches), False, dashed, failed, answer)

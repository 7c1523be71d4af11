"""The charts of one workload with their headings and legends."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from sizer import words
from sizer.words import _

from . import legend, results
from .axis_chart import axis_chart
from .disk_chart import disk_chart
from .series import AXES, Series, along, common, labels, varied_axes
from .subject import Subject

MOST_SERIES = 4
"""Series in one picture, as many as there are marker shapes; more go into further pictures."""


@dataclass(frozen=True)
class Figure:
    """A picture with its heading, the sentence under it and its legend; `keys` come before the names in `series`."""

    title: str
    svg: Markup
    caption: str
    series: tuple[str, ...]
    keys: tuple[Markup, ...]
    explained: tuple[legend.Key, ...]


def figures(subject: Subject) -> tuple[tuple[Figure, ...], tuple[Figure, ...]]:
    """For each axis that was varied the figure closest to the answer, and those with the other series."""
    first: list[Figure] = []
    more: list[Figure] = []
    for axis in varied_axes(subject.runs):
        series = sorted(along(axis, subject.runs), key=lambda each: -_relevance(axis, each, subject))
        chunks = [series[start : start + MOST_SERIES] for start in range(0, len(series), MOST_SERIES)]
        found = [_figure(axis, chunk, subject) for chunk in chunks]
        first += found[:1]
        more += found[1:]
    return tuple(first), tuple(more)


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
        series=tuple(label or _("measured run, 95 % interval") for label in labels(axis, series, subject.study)),
        keys=tuple(map(legend.series_key, range(len(series)))),
        explained=explained,
    )


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

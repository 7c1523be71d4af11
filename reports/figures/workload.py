"""The charts of one workload with their headings and legends."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

from sizer.model.model import batch_of, memory_of, vcpus_of
from sizer.records.run_kinds import Outcome
from sizer.words.answers import disk_question
from sizer.words.language import _, paragraph
from sizer.words.page import axis_name

from .. import results
from ..charts import legend
from ..charts.legend import Figure
from ..charts.rows import Rows
from ..offers import place_of_answer
from ..subject import Subject
from .axis_chart import axis_chart, piled
from .binding import MOST_PILES, binding_map
from .disk_chart import alike, disk_chart, shows_first_epochs
from .disks import disk_answer
from .machines import machines_figure
from .scaling import accelerator_chart, batch_chart
from .series import AXES, Series, along, at_answer, common, is_modelled, labels, measured_places, varied_axes

MOST_SERIES = 4
"""Series in one picture, as many as there are marker shapes: those nearest to the answer. The table has all rates."""


def figures(subject: Subject) -> tuple[Figure, ...]:
    """The machines that were compared, for each axis varied the figure closest to the answer, and a map of what
    binds."""
    batches, disks = batch_chart(subject), disk_answer(subject)
    only_batches = batches is not None and _differ_in_batches_alone(subject)
    machines = None if only_batches else machines_figure(subject)
    first: list[Figure] = [] if machines is None else [machines]
    for axis in () if only_batches else varied_axes(subject.runs):
        found = along(axis, (*subject.runs, *subject.siblings) if axis == "disk" else subject.runs)
        if not found or (machines is not None and all(each.base is None for each in found)):
            continue  # nothing differs along this axis alone, and the picture of machines has the rates
        series = sorted(found, key=lambda each: -_relevance(axis, each, subject))
        shown = _shown(axis, series, subject)
        if axis == "disk":  # rows have no line that is nearest to the answer, so bars stand in the order of their sizes
            shown = sorted(shown, key=_size)
        drawn = _figure(axis, shown, subject)
        if axis == "disk" and disks:
            drawn = replace(drawn, question=disk_question(), answer=disks)
        first.append(drawn)
    first += [batches] if batches is not None else []
    scaling, plane = accelerator_chart(subject), binding_map(subject)
    first += [scaling] if scaling is not None else []
    first += [plane] if plane is not None else []
    return tuple(first)


def _differ_in_batches_alone(subject: Subject) -> bool:
    """Whether the chart of batch sizes has all that was measured, so that no other picture has more."""
    if varied_axes(subject.runs) != ("batch_size",) or len({run.declared.machine for run in subject.runs}) > 1:
        return False
    found = along("batch_size", subject.runs)
    told = all(results.measured(run) or run.outcome is Outcome.OUT_OF_MEMORY for run in subject.runs)
    return told and len(found) == 1 and found[0].base is not None


def _shown(axis: str, series: Sequence[Series], subject: Subject) -> Sequence[Series]:
    """The series of the picture. It is drawn along the other demands of the answer: where these were varied along this
    axis too little for a series, by the model, with the nearest series as light points beside it."""
    along_answer = _along_answer(axis, series, subject)
    if along_answer is None:
        return series[:MOST_SERIES]
    others = [each for each in series if each.runs != along_answer.runs][: MOST_SERIES - 1]
    return [along_answer, *(replace(each, is_light=True) for each in others if each.base is not None)]


def _along_answer(axis: str, series: Sequence[Series], subject: Subject) -> Series | None:
    """None where the nearest series is at the answer, and where it takes accounting to tell what runs show of it."""
    here, model = place_of_answer(subject), subject.model
    if axis == "disk" or here is None or model is None or model.posterior is None or model.facts.core_seconds is None:
        return None
    own = at_answer(axis, series[0], subject.runs, here)
    if own is None or not is_modelled(own, subject):
        return None
    return replace(own, reach=tuple(measured_places(series[0], axis)))


def _relevance(axis: str, series: Series, subject: Subject) -> int:
    """On how many other axes a series is where the answer is."""
    spec = subject.answer.spec if subject.answer is not None else None
    if spec is None or series.base is None:
        return 0
    return sum(name != axis and getattr(spec, name) == getattr(series.base, name) for name in AXES)


def _size(series: Series) -> tuple[float, ...]:
    base = series.base
    if base is None:
        return (math.inf,)
    return vcpus_of(base), memory_of(base), batch_of(base)


def _figure(axis: str, series: Sequence[Series], subject: Subject) -> Figure:
    title = _("Throughput against {axis}", axis=axis_name(axis))
    fixed = common(axis, series, subject.study)
    alone = sum(not each.is_light for each in series) == 1
    told = labels(axis, series, subject.study)
    named = [label or _measured_run(series) for label in told]
    keys = [
        legend.series(index, name, alone, each.is_light, _has_intervals([each]))
        for index, (each, name) in enumerate(zip(series, named, strict=True))
        if any(results.measured(run) for run in each.runs)
    ]
    said = [_("At {fixed}.", fixed=fixed)] if fixed else []
    if axis == "disk":
        rows = disk_chart(title, series, subject)
        keys += [legend.bar(1, _("first epoch, from the disk"))] if shows_first_epochs(series) else []
        drawn, keys = rows.draw(), [*keys, *_disk_keys(rows, alone)]
        said.append(alike(series, told, subject))
    else:
        chart = axis_chart(axis, title, series, subject)
        drawn, keys = chart.plot.draw(), [*keys, *chart.keys]
        said += [chart.above] if chart.above else []
        shown = piled(series, subject)
        if chart.plot.piles and len(series) > 1 and shown is not None:
            said.append(_("Where the time goes is that of {series}.", series=named[list(series).index(shown)]))
        drawn_at = {pile.x for pile in chart.plot.piles}
        if shown is not None and 0 < len(drawn_at) < MOST_PILES and set(measured_places(shown, axis)) - drawn_at:
            said.append(_("Where there is no bar, the runs do not tell what binds."))
    return Figure(title, drawn, tuple(keys), paragraph(said))


def _disk_keys(rows: Rows, alone: bool) -> Iterator[legend.Key]:
    """What the picture of disks shows beside measured points."""
    bars = [bar for group in rows.groups for row in group.rows for bar in row.bars]
    if any(bar.predicted is not None for bar in bars):
        yield legend.model(alone, upright=True)
    if any(bar.failures for bar in bars):
        yield legend.failed()
    if any(row.ceiling is not None and row.ceiling <= rows.x.high for group in rows.groups for row in group.rows):
        yield legend.ceiling(_("what the disk is enough for"), upright=True)


def _measured_run(series: Sequence[Series]) -> str:
    return _("measured run, 95 % interval") if _has_intervals(series) else _("measured run")


def _has_intervals(series: Sequence[Series]) -> bool:
    measured = [run for each in series for run in each.runs if results.measured(run)]
    return any(run.throughput is not None and run.throughput.has_interval for run in measured)

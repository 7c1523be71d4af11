"""The charts of one workload with their headings and legends."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from sizer.model.model import batch_of, memory_of, vcpus_of
from sizer.records.run_kinds import Outcome

from .. import results
from ..charts.legend import Figure
from ..offers import place_of_answer
from ..subject import Subject
from .axis_chart import axis_figure
from .binding import binding_map
from .disk_chart import disk_figure
from .disks import disk_answer
from .machines import machines_figure
from .scaling import accelerator_chart, batch_chart
from .series import AXES, Series, along, at_answer, is_modelled, measured_places, varied_axes

MOST_SERIES = 4
"""Series in one picture, as many as there are marker shapes: those nearest to the answer. The table has all rates."""


def figures(subject: Subject) -> tuple[Figure, ...]:
    """The machines that were compared, for each axis varied the figure closest to the answer, and a map of what
    binds."""
    batches, disks = batch_chart(subject), disk_answer(subject)
    only_batches = batches is not None and _differ_in_batches_alone(subject)
    machines = None if only_batches else machines_figure(subject)
    first: list[Figure | None] = [machines]
    for axis in () if only_batches else varied_axes(subject.runs):
        candidates = along(axis, (*subject.runs, *subject.siblings) if axis == "disk" else subject.runs)
        if not candidates or (machines is not None and all(one.base is None for one in candidates)):
            continue  # nothing differs along this axis alone, and the picture of machines has the rates
        series = sorted(candidates, key=lambda one: -_relevance(axis, one, subject))
        shown = _shown(axis, series, subject)
        if axis == "disk":  # rows have no line that is nearest to the answer, so bars stand in the order of their sizes
            shown = sorted(shown, key=_size)
        first.append(disk_figure(shown, disks, subject) if axis == "disk" else axis_figure(axis, shown, subject))
    return tuple(filter(None, (*first, batches, accelerator_chart(subject), binding_map(subject))))


def _differ_in_batches_alone(subject: Subject) -> bool:
    """Whether the chart of batch sizes has all that was measured, so that no other picture has more."""
    if varied_axes(subject.runs) != ("batch_size",) or len({run.declared.machine for run in subject.runs}) > 1:
        return False
    candidates = along("batch_size", subject.runs)
    all_measured = all(results.measured(run) or run.outcome is Outcome.OUT_OF_MEMORY for run in subject.runs)
    return all_measured and len(candidates) == 1 and candidates[0].base is not None


def _shown(axis: str, series: Sequence[Series], subject: Subject) -> Sequence[Series]:
    """The series of the picture. It is drawn along the other demands of the answer: where these were varied along this
    axis too little for a series, by the model, with the nearest series as light points beside it."""
    along_answer = _along_answer(axis, series, subject)
    if along_answer is None:
        return series[:MOST_SERIES]
    others = [one for one in series if one.runs != along_answer.runs][: MOST_SERIES - 1]
    return [along_answer, *(replace(other, is_light=True) for other in others if other.base is not None)]


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
    spec = subject.spec
    if spec is None or series.base is None:
        return 0
    return sum(name != axis and getattr(spec, name) == getattr(series.base, name) for name in AXES)


def _size(series: Series) -> tuple[float, ...]:
    base = series.base
    if base is None:
        return (math.inf,)
    return vcpus_of(base), memory_of(base), batch_of(base)

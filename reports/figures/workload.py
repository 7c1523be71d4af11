"""The charts of one workload with their headings and legends, and the table of the machines that were compared."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from sizer.model.model import batch_of, memory_of, vcpus_of
from sizer.records.answer import Alternative
from sizer.records.run_kinds import Outcome
from sizer.words import answers as words
from sizer.words.language import _, rate_in_words, rate_interval, rates_axis, row
from sizer.words.names import price_an_hour
from sizer.words.page import answer_word

from .. import results
from ..charts.legend import Figure, key
from ..charts.rows import Bar, Row, Rows
from ..offers import place_of_answer
from ..subject import Subject
from .axis_chart import axis_figure
from .binding import binding_map
from .disks import disk_answer, disk_figure
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


MOST_MACHINES = 12
"""Machines shown at once: of more, those that no other dominates; the others are folded away."""


def machines_figure(subject: Subject) -> Figure | None:
    """Throughput by machine, those of one kind of accelerator together; None where no machines were compared."""
    shown = _machines_shown(subject)
    if not shown:
        return None
    answer = subject.answer
    assert answer is not None, "only an answer has machines to show"
    kinds = list(dict.fromkeys(words.kind_name(machine.spec, subject.terms) for machine in shown))
    drawn = sorted(shown, key=lambda one: (kinds.index(words.kind_name(one.spec, subject.terms)), _machine_size(one)))
    headed = 1 < len(kinds) < len(drawn)
    chart = Rows(
        label=words.machines_drawn(
            [words.machine_name(machine, subject.terms) for machine in drawn], drawn, subject.unit
        ),
        x_label=rates_axis(subject.unit),
        rows=tuple(_drawn(machine, headed, subject) for machine in drawn),
    )
    left_out = len(answer.alternatives) - len(shown)
    keys = (key("measured bar", _("measured, 90 % interval for a new run"), "series-0 alone"),)
    caption = words.machines_left_out(left_out) if left_out else ""
    return Figure(_("Throughput by machine"), chart.draw(), keys, caption)


def machine_rows(subject: Subject) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Rows of the table, the least cost of the work first: those shown at once, and those folded away."""
    if subject.answer is None:
        return [], []
    shown = _machines_shown(subject)
    rest = [alternative for alternative in subject.answer.alternatives if alternative not in shown]
    return [_machine_row(machine, subject) for machine in shown], [_machine_row(machine, subject) for machine in rest]


def _machines_shown(subject: Subject) -> Sequence[Alternative]:
    """All of a few machines; of many those that none dominates, and the answer."""
    answer = subject.answer
    if answer is None or len(answer.alternatives) <= MOST_MACHINES:
        return answer.alternatives if answer is not None else ()
    shown, chosen = list(answer.front[:MOST_MACHINES]), answer.chosen
    if chosen is not None and chosen not in shown:
        shown[-1] = chosen
    return shown


def _machine_size(machine: Alternative) -> tuple[float, ...]:
    spec = machine.spec
    return spec.gpu_count, spec.vcpus or 0.0, spec.memory_bytes or 0, spec.batch_size or 0, machine.throughput.value


def _drawn(machine: Alternative, headed: bool, subject: Subject) -> Row:
    answer, name, rate = subject.answer, words.machine_name(machine, subject.terms), machine.throughput
    is_answer = answer is not None and machine is answer.chosen
    where = row(part for part in (name, machine.instance_type) if part)
    return Row(
        name=f"{name} – {answer_word(answer, 'machine')}" if answer is not None and is_answer else name,
        bars=(Bar(rate.value, rate_in_words(rate.value, subject.unit), interval=rate),),
        beside=machine.instance_type or "",
        title=_("{machine}: {rate}", machine=where, rate=rate_interval(rate, subject.unit)),
        is_answer=is_answer,
        heading=words.kind_name(machine.spec, subject.terms) if headed else "",
    )


def _machine_row(machine: Alternative, subject: Subject) -> dict[str, Any]:
    assert subject.answer is not None, "a row is of an answer's machine"
    return {
        "name": (words.machine_name(machine, subject.terms), machine.instance_type or ""),
        "throughput": rate_interval(machine.throughput, subject.unit),
        "hour": price_an_hour(machine.usd_per_hour, machine.usd_per_hour_spot, machine.foreign),
        "million": _("[[{usd:usd}]]", usd=machine.usd_per_million_samples),
        "remark": words.alternative_remark(machine, subject.answer),
        "is_answer": machine is subject.answer.chosen,
    }

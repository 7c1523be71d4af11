"""The machines that were compared: a picture of their rates, and the table of rate, price and cost of the work."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sizer.records.answer import Alternative
from sizer.words import answers as words
from sizer.words.language import _, rate_in_words, rate_interval, rates_axis, row
from sizer.words.names import price_an_hour
from sizer.words.page import answer_word

from ..charts.legend import Figure, key
from ..charts.rows import Bar, Row, Rows
from ..subject import Subject

MOST = 12
"""Machines shown at once: of more, those that no other dominates; the others are folded away."""


def machines_figure(subject: Subject) -> Figure | None:
    """Throughput by machine, those of one kind of accelerator together; None where no machines were compared."""
    shown = _shown(subject)
    if not shown:
        return None
    answer = subject.answer
    assert answer is not None, "only an answer has machines to show"
    kinds = list(dict.fromkeys(words.kind_name(machine.spec, subject.terms) for machine in shown))
    drawn = sorted(shown, key=lambda one: (kinds.index(words.kind_name(one.spec, subject.terms)), _size(one)))
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
    shown = _shown(subject)
    rest = [alternative for alternative in subject.answer.alternatives if alternative not in shown]
    return [_row(machine, subject) for machine in shown], [_row(machine, subject) for machine in rest]


def _shown(subject: Subject) -> Sequence[Alternative]:
    """All of a few machines; of many those that none dominates, and the answer."""
    answer = subject.answer
    if answer is None or len(answer.alternatives) <= MOST:
        return answer.alternatives if answer is not None else ()
    shown, chosen = list(answer.front[:MOST]), answer.chosen
    if chosen is not None and chosen not in shown:
        shown[-1] = chosen
    return shown


def _size(machine: Alternative) -> tuple[float, ...]:
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


def _row(machine: Alternative, subject: Subject) -> dict[str, Any]:
    assert subject.answer is not None, "a row is of an answer's machine"
    return {
        "name": (words.machine_name(machine, subject.terms), machine.instance_type or ""),
        "throughput": rate_interval(machine.throughput, subject.unit),
        "hour": price_an_hour(machine.usd_per_hour, machine.usd_per_hour_spot, machine.foreign),
        "million": _("[[{usd:usd}]]", usd=machine.usd_per_million_samples),
        "remark": words.alternative_remark(machine, subject.answer),
        "is_answer": machine is subject.answer.chosen,
    }

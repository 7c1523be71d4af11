"""Throughput by disk tier, each tier with what it declares, what fio measured on it, and what that is enough for."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from sizer import words
from sizer.model import disk_of
from sizer.records import HOST_DISK, DiskRates, Estimate
from sizer.words import _

from . import curves, marks
from .axis_chart import described
from .ceilings import disk_allows, rates_of
from .charts import Bar, Row, RowGroup, Rows
from .series import Series
from .subject import Subject


def disk_chart(title: str, series: Sequence[Series], subject: Subject) -> Rows:
    """The picture for the disk axis of a workload, the slowest tier first."""
    names = {disk_of(run.configuration) for each in series for run in each.runs}
    ordered = sorted(names, key=lambda name: (_read_rate(name, subject), name))
    unit = words.rates_axis(subject.unit)
    rows = tuple(_row(name, series, subject) for name in ordered)
    return Rows(f"{title}, {unit}", unit, (RowGroup("", rows),), described(series, subject))


def _row(name: str, series: Sequence[Series], subject: Subject) -> Row:
    word = _answer_word(name, subject)
    title = words.study_disk(name, subject.study) + (f" – {word}" if word else "")
    allowed = disk_allows(name, [run for each in series for run in each.runs], subject)
    enough = words.disk_ceiling(allowed, subject.unit) if allowed is not None else ""
    return Row(
        name=title,
        bars=tuple(_bar(name, each, subject) for each in series),
        figures=_figures(name, enough, subject),
        is_answer=bool(word),
        ceiling=allowed,
        ceiling_title=_("{disk}: {enough}", disk=title, enough=enough) if enough else "",
    )


def _answer_word(name: str, subject: Subject) -> str:
    answer = subject.answer
    if answer is None or answer.spec is None or answer.spec.disk != name:
        return ""
    return words.answer_word(answer, "disk")


def _bar(name: str, series: Series, subject: Subject) -> Bar:
    runs = [run for run in series.runs if run.configuration.disk == name]
    points = marks.points(runs, "disk", subject)
    mean = sum(point.throughput.value for point in points) / len(points) if points else None
    return Bar(
        throughput=mean,
        rate=words.rate_in_words(mean, subject.unit) if mean is not None else "",
        points=points,
        failures=marks.failures(runs, "disk", subject),
        predicted=_predicted(name, series, subject) if runs else None,
    )


def _predicted(name: str, series: Series, subject: Subject) -> Estimate | None:
    if subject.model is None or series.base is None or not marks.is_modelled(series, subject):
        return None
    point = curves.predicted(subject.model, replace(series.base, disk=name))
    return point.throughput if point is not None else None


def _figures(name: str, enough: str, subject: Subject) -> tuple[str, ...]:
    """What the tier declares, what fio measured on it, and what that is enough for."""
    check, tier = subject.check(name), subject.tier(name)
    declared, found = "", []
    if tier is not None and tier.emulated is not None:
        declared = _("declared {rates}", rates=words.reading_in_words(tier.emulated))
    if check is not None and check.measured != DiskRates():
        found.append(_("fio {rates}", rates=words.reading_in_words(check.measured)))
    found += [enough] if enough else []
    lines = tuple(line for line in (declared, words.clauses(found)) if line)
    return lines or (_("where the data already lay") if name == HOST_DISK else _("not measured"),)


def _read_rate(name: str, subject: Subject) -> float:
    rate = rates_of(name, subject).read_bytes_per_second
    return rate if rate is not None else math.inf

"""Throughput by disk tier, each tier with what it declares or what fio measured on it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from sizer import words
from sizer.model import disk_of
from sizer.records import HOST_DISK, DiskRates, Estimate, format_rate
from sizer.words import _

from . import curves, marks
from .dots import DotChart, Dots, TierRow
from .series import Series
from .subject import Subject


def disk_chart(title: str, series: Sequence[Series], subject: Subject) -> DotChart:
    """The picture for the disk axis of a workload, the slowest tier first."""
    names = {disk_of(run.configuration) for each in series for run in each.runs}
    ordered = sorted(names, key=lambda name: (_read_rate(name, subject), name))
    unit = words.rates_axis(subject.unit)
    return DotChart(f"{title}, {unit}", unit, tuple(_row(name, series, subject) for name in ordered))


def _row(name: str, series: Sequence[Series], subject: Subject) -> TierRow:
    dots = tuple(_dots(name, each, subject) for each in series)
    values = [point.throughput.value for each in dots for point in each.points]
    remark = ""
    if len(series) == 1 and values:
        remark = format_rate(sum(values) / len(values), subject.unit)
    word = _answer_word(name, subject)
    title = words.study_disk(name, subject.study) + (f" – {word}" if word else "")
    return TierRow(title, tier_figures(name, subject), remark, dots, bool(word))


def _answer_word(name: str, subject: Subject) -> str:
    answer = subject.answer
    if answer is None or answer.spec is None or answer.spec.disk != name:
        return ""
    return words.answer_word(answer, "disk")


def _dots(name: str, series: Series, subject: Subject) -> Dots:
    runs = [run for run in series.runs if run.configuration.disk == name]
    return Dots(
        points=marks.points(runs, "disk", subject),
        failures=marks.failures(runs, "disk", subject),
        predicted=_predicted(name, series, subject) if runs else None,
    )


def _predicted(name: str, series: Series, subject: Subject) -> Estimate | None:
    if subject.model is None or series.base is None or not marks.is_modelled(series, subject):
        return None
    point = curves.predicted(subject.model, replace(series.base, disk=name))
    return point.throughput if point is not None else None


def tier_figures(name: str, subject: Subject) -> str:
    """What the tier gives: what it declares, and what fio measured on it."""
    check, tier = subject.check(name), subject.tier(name)
    parts = []
    if tier is not None and tier.emulated is not None:
        parts.append(_("declared {rates}", rates=words.reading_in_words(tier.emulated)))
    if check is not None and check.measured != DiskRates():
        parts.append(_("fio {rates}", rates=words.reading_in_words(check.measured)))
    return words.clauses(parts) or (_("where the data already lay") if name == HOST_DISK else _("not measured"))


def _read_rate(name: str, subject: Subject) -> float:
    check, tier = subject.check(name), subject.tier(name)
    rates = check.rates if check is not None else (tier.emulated if tier is not None else None) or DiskRates()
    return rates.read_bytes_per_second if rates.read_bytes_per_second is not None else math.inf

"""Whether a study's figures can be trusted: intervals, repeats, drift, the host's other load and sizer's own."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sizer import words
from sizer.model import as_asked
from sizer.records import Purpose, Run, Study
from sizer.words import _, _n

from . import results, warned
from .material import Material
from .subject import Subject

SHOWN = 8
"""Measurements of a reference that are shown at once; more are folded away."""


@dataclass(frozen=True)
class Reference:
    """The runs of the configuration that was measured again through the study, in order of time."""

    where: str
    unit: str
    runs: tuple[Run, ...]

    @property
    def rates(self) -> list[float]:
        return [run.throughput.value for run in self.runs if run.throughput is not None]


def contents(material: Material, found: Sequence[Subject]) -> dict[str, Any]:
    """What the whole study can be judged by, its references, and its warnings by kind."""
    runs = [run for subject in found for run in subject.runs]
    return {
        "trust": facts(runs, material.study),
        "references": references(found, material.study),
        "warnings": warned.by_kind(runs),
    }


def facts(runs: Sequence[Run], study: Study) -> list[tuple[str, str, str]]:
    """Label, value and remark of what the whole study can be judged by; what was not accounted is left out.

    Runs of a search for the memory floor were asked for no rate, so they count nowhere.
    """
    measured = [run for run in as_asked(runs) if results.measured(run)]
    found = [
        _warned(measured),
        _precision(measured, study),
        _repeats(measured),
        _others(measured),
        _overhead(measured),
        _order(study),
    ]
    return [fact for fact in found if fact is not None]


def references(subjects: Sequence[Subject], study: Study) -> list[dict[str, Any]]:
    """Each reference with its rates through the study and how far they lie apart."""
    return [_shown(found) for subject in subjects for found in _found(subject, study)]


def _order(study: Study) -> tuple[str, str, str] | None:
    """Nobody knows how those that were imported followed each other."""
    if study.imported:
        return None
    return (
        _("Order of the runs"),
        _("mixed, by seed {seed}", seed=study.measure.seed),
        _("each repeat of everything is shuffled anew, so that a drift of the host does not look like a finding"),
    )


def _warned(runs: Sequence[Run]) -> tuple[str, str, str] | None:
    if not runs:
        return None
    number, whole = sum(bool(run.warnings) for run in runs), len(runs)
    counted = _("{number} of {whole}", number=number, whole=whole) if number else _("none of {whole}", whole=whole)
    return _("Runs with a warning"), counted, _("of those that gave a rate")


def _precision(runs: Sequence[Run], study: Study) -> tuple[str, str, str] | None:
    halves = [each for run in runs if (each := _half_width(run)) is not None]
    if not halves:
        return None
    asked = study.measure.precision
    reached = sum(each <= asked for each in halves)
    middle, widest = (words.small_share(each) for each in (statistics.median(halves), max(halves)))
    remark = _("median; widest ±{widest}", widest=widest)
    if not study.imported:
        remark = _(
            "median; widest ±{widest}; {reached} of {whole} within the ±{asked} asked for",
            widest=widest,
            reached=reached,
            whole=len(halves),
            asked=words.small_share(asked),
        )
    return _("Half-width of the 95 % intervals"), f"±{middle}", remark


def _half_width(run: Run) -> float | None:
    rate = run.throughput
    return rate.relative_half_width if rate is not None and rate.has_interval and rate.value > 0 else None


def _repeats(runs: Sequence[Run]) -> tuple[str, str, str] | None:
    """How far fresh processes at the same place lie apart, which no interval of one run shows."""
    groups: dict[object, list[float]] = {}
    for run in runs:
        if run.throughput is not None:
            groups.setdefault((run.spec.workload, run.configuration, run.machine), []).append(run.throughput.value)
    apart = [_spread(rates) for rates in groups.values() if len(rates) > 1]
    if not apart:
        return None
    middle, most = words.apart(statistics.median(apart)), words.apart(max(apart))
    remark = _n(
        "median of {count} configuration, most {most}: highest against lowest rate",
        "median of {count} configurations, most {most}: highest against lowest rate",
        len(apart),
        most=most,
    )
    return _("Repeats lie apart by"), middle, remark


def _others(runs: Sequence[Run]) -> tuple[str, str, str] | None:
    cores = [run.other_cores for run in runs if run.other_cores is not None]
    if not cores:
        return None
    middle, most = f"{statistics.median(cores):.2f}", f"{max(cores):.2f}"
    return _("Other load on the host"), _("{cores} cores", cores=middle), _("median; most {cores} cores", cores=most)


def _overhead(runs: Sequence[Run]) -> tuple[str, str, str] | None:
    shares = [run.overhead for run in runs if run.overhead is not None]
    if not shares:
        return None
    middle, most = (words.small_share(each) for each in (statistics.median(shares), max(shares)))
    return _("sizer's own use"), middle, _("of the workload's core-seconds, median; most {most}", most=most)


def _found(subject: Subject, study: Study) -> list[Reference]:
    """Configurations with runs beyond their repeats: these were measured again to show the drift of the host."""
    groups: dict[object, list[Run]] = {}
    for run in as_asked(subject.runs):
        if results.measured(run):
            groups.setdefault((run.spec.workload, run.configuration), []).append(run)
    return [
        Reference(
            f"{subject.name}, {words.configuration_line(group[0].configuration, study)}",
            subject.unit,
            tuple(sorted(group, key=lambda run: run.started_at or "")),
        )
        for group in groups.values()
        if len(group) > 1 and any(run.spec.purpose is Purpose.REFERENCE for run in group)
    ]


def _shown(reference: Reference) -> dict[str, Any]:
    middle = statistics.median(reference.rates)
    on_one_day = len({(run.started_at or "")[:10] for run in reference.runs}) == 1
    rows = [_row(run, middle, on_one_day) for run in reference.runs]
    low, high = min(reference.rates), max(reference.rates)
    return {
        "where": reference.where,
        "count": len(rows),
        "range": f"{words.span(low, high)} {words.units_a_second(reference.unit)}",
        "spread": words.small_share(_spread(reference.rates)),
        "rows": rows[:SHOWN],
        "more": rows[SHOWN:],
    }


def _row(run: Run, middle: float, on_one_day: bool) -> dict[str, str]:
    rate = run.throughput
    return {
        "id": run.id,
        "started": _clock(run.started_at or "")[11 if on_one_day else 0 :],
        "rate": words.rate_interval(rate, run.sample_unit) if rate is not None else "",
        "against": _change(rate.value / middle - 1) if rate is not None and middle else "",
    }


def _clock(started_at: str) -> str:
    """'2026-11-21 09:12' of an ISO time."""
    return started_at.replace("T", " ")[:16]


def _change(share: float) -> str:
    text = words.small_share(abs(share))
    return f"{'+' if share >= 0 else '−'}{text}"


def _spread(rates: Sequence[float]) -> float:
    return max(rates) / min(rates) - 1 if min(rates) > 0 else 0.0

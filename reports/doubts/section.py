"""What failed, and what is doubtful: reasons and what to do, warnings, intervals, repeats, other load, drift."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from typing import Any

from sizer.model.isolation import as_asked
from sizer.records.run import Run
from sizer.records.study import Study
from sizer.words.language import _, _n, small_share
from sizer.words.language import apart as apart_text
from sizer.words.warnings import MEASURED_AGAIN, how_to_measure_again

from .. import results
from ..material import Material
from ..subject import Subject
from . import drift, failures, warned


def contents(material: Material, found: Sequence[Subject]) -> dict[str, Any]:
    """Why runs failed, what warnings mean, the figures that a study can be judged by, and whether the host drifted."""
    runs, study = [run for subject in found for run in subject.runs], material.study
    kinds = {warning.kind.group for run in as_asked(runs) for warning in run.warnings}
    drifted = drift.drift(found, study)
    measured_again = bool(kinds & MEASURED_AGAIN) or (drifted is not None and drifted.found)
    return {
        "failures": failures.failures(found, study),
        "memory_floors": [*failures.memory_floors(found), *failures.largest_batches(found)],
        "has_runs": bool(runs),
        "warnings": warned.by_kind(runs),
        "again": how_to_measure_again() if measured_again and not study.imported else "",
        "facts": facts(runs, study),
        "drift": drifted,
    }


def facts(runs: Sequence[Run], study: Study) -> list[tuple[str, str, str]]:
    """Label, value and remark of what the whole study can be judged by; what was not accounted is left out.

    Runs of a search for the memory floor were asked for no rate, so they count nowhere.
    """
    measured = [run for run in as_asked(runs) if results.measured(run)]
    known = [
        _precision(measured, study),
        _repeats(measured),
        _others(measured),
        _overhead(measured),
    ]
    return [fact for fact in known if fact is not None]


def _precision(runs: Sequence[Run], study: Study) -> tuple[str, str, str] | None:
    halves = [each for run in runs if (each := _half_width(run)) is not None]
    if not halves:
        return None
    asked = study.measure.precision
    reached = sum(each <= asked for each in halves)
    middle, widest = (small_share(each) for each in (statistics.median(halves), max(halves)))
    remark = _("median; widest ±{widest}", widest=widest)
    if not study.imported:
        remark = _(
            "median; widest ±{widest}; {reached} of {whole} within the ±{asked} asked for",
            widest=widest,
            reached=reached,
            whole=len(halves),
            asked=small_share(asked),
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
    middle, most = apart_text(statistics.median(apart)), apart_text(max(apart))
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
    middle, most = (small_share(each) for each in (statistics.median(shares), max(shares)))
    return _("sizer's own use"), middle, _("of the workload's core-seconds, median; most {most}", most=most)


def _spread(rates: Sequence[float]) -> float:
    return max(rates) / min(rates) - 1 if min(rates) > 0 else 0.0

"""A study in which every free text is somebody's attempt: what a workload, a disk, a machine, a path or a log may say.

It is the reported study, and all that this one leaves out: a job of one's own, a comparison of machines, a table from
elsewhere. A new section of the page is tested by being on it.
"""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from typing import Any

from sizer.bundled.reports.subject import Material
from sizer.model.fitting import fit
from sizer.records.answer import Alternative
from sizer.records.device import HOST_DISK
from sizer.records.notes import Note, NoteKind
from sizer.records.prediction import Estimate, Spec
from sizer.records.run import Cause, CauseKind, Failure, Run, RunWarning, WarningKind
from sizer.records.run_kinds import Outcome
from sizer.records.units import GIB

HOSTILE = {
    "markup": """"'><script>document.title="owned"</script><img src=x onerror=document.title='owned'>"""
    "{{7*7}}<!--</style>",
    "direction": "\u202eelpmas\u2067abc\u200f\x07\x1b[31m",
    "long": "x" * 3_000,
}
"""What is put behind each text. The second turns round what follows it, where it is let."""

MEANT = {
    *("kind", "framework", "format", "input", "cache", "disk_class", "status", "started_at", "id", "bottleneck"),
    *("measurements_csv", "measurements_json"),
}
"""Texts of a few known words, which decide what is shown, and the raw table, which is saved as it is."""


def hostile(material: Material, text: str) -> Material:
    """The study with `text` behind every free text of it and of what is concluded from it."""
    richer = _richer(material)
    runs: tuple[Run, ...] = with_text(richer.runs, text)
    changed = {
        field.name: with_text(getattr(richer, field.name), text)
        for field in fields(richer)
        if field.name not in ("runs", "model")
    }
    return replace(richer, **changed, runs=runs, model=fit(runs))


def with_text(value: Any, text: str) -> Any:
    """The same value with `text` behind every free text in it, however deep."""
    if isinstance(value, str) and type(value) is str:
        return value if value in (HOST_DISK, "") else value + text
    if isinstance(value, (list, tuple)):
        return type(value)(with_text(item, text) for item in value)
    if isinstance(value, dict):
        return {key: item if key in MEANT else with_text(item, text) for key, item in value.items()}
    if is_dataclass(value) and not isinstance(value, type):
        changed = {
            field.name: with_text(getattr(value, field.name), text)
            for field in fields(value)
            if field.name not in MEANT and field.init
        }
        return replace(value, **changed)
    return value


def _richer(material: Material) -> Material:
    """The study with what else a user's text may stand in."""
    first, second, *rest = material.runs
    disturbed = replace(first, warnings=(RunWarning(WarningKind.OTHER, text="the tier misses: fast"),))
    crashed = replace(
        second,
        outcome=Outcome.CRASHED,
        throughput=None,
        demand=None,
        evidence=None,
        error=Failure(Cause(CauseKind.EXIT_STATUS, {"status": 1}), last_lines="Traceback\nin train.py\nKeyError: data"),
    )
    answer, *answers = material.recommendation.workloads
    compared = tuple(
        Alternative(
            Spec(8.0, 64 * GIB, None, 32, gpu, count),
            Estimate(1000.0 * count, 900.0 * count, 1100.0 * count),
            f"azure {gpu} {count}",
            4.0 * count,
            1.11,
            dominated=gpu == "T4",
        )
        for gpu in ("A100", "T4")
        for count in (1, 8)
    )
    answers = [replace(answer, alternatives=compared), *answers]
    return replace(
        material,
        runs=(disturbed, crashed, *rest),
        recommendation=replace(material.recommendation, workloads=tuple(answers)),
        notes=(*material.notes, Note(NoteKind.NO_MEMORY_AXIS, fix="echo here")),
    )

"""The table of every run, as plain dicts of text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from sizer.records import Outcome, Run, Study

from . import formatting, results, words
from .subject import Subject
from .verdict import described

FIGURE = re.compile(r"\d+(?:\.\d+)?")


def all_runs(subjects: Sequence[Subject], study: Study) -> list[dict[str, Any]]:
    """The runs of each workload, smallest configuration first, with the workload's description as their heading."""
    return [
        {
            "name": subject.name,
            "what": described(subject),
            "runs": [_row(run, subject, study) for run in sorted(subject.runs, key=_order)],
        }
        for subject in subjects
    ]


def warned(runs: Iterable[Run]) -> list[dict[str, str]]:
    """Each kind of warning once, the commonest first: in how many runs, and what they say with the range of figures."""
    kinds: dict[str, list[str]] = {}
    for run in runs:
        for warning in run.warnings:
            kinds.setdefault(FIGURE.sub("#", warning), []).append(warning)
    ordered = sorted(kinds.values(), key=lambda alike: (-len(alike), alike[0]))
    return [_grouped(alike) for alike in ordered]


def _grouped(alike: list[str]) -> dict[str, str]:
    """Warnings that differ in their figures alone: `contended`, `9 runs`, `something else used 0.06–1.2 cores`."""
    kind, _, words_ = _with_ranges(alike).partition(": ")
    return {"kind": kind, "where": f"{len(alike)} run{'s' if len(alike) != 1 else ''}", "what": words_.strip()}


def _with_ranges(alike: list[str]) -> str:
    columns = zip(*(FIGURE.findall(warning) for warning in alike), strict=True)
    ranges = iter([_range(figures) for figures in columns])
    return FIGURE.sub(lambda _: next(ranges), alike[0])


def _range(figures: Iterable[str]) -> str:
    ordered = sorted(set(figures), key=float)
    return ordered[0] if len(ordered) == 1 else f"{ordered[0]}–{ordered[-1]}"


def _row(run: Run, subject: Subject, study: Study) -> dict[str, Any]:
    workload, configuration = run.spec.workload, run.configuration
    return {
        "id": run.id,
        "vcpus": f"{configuration.vcpus:g}",
        "memory": formatting.format_bytes(configuration.memory_bytes),
        "disk": words.disk(configuration.disk, study),
        "batch": str(configuration.batch_size),
        "state": f"{workload.input}, {workload.cache}",
        "repeat": str(run.spec.repeat + 1),
        "outcome": words.OUTCOME[run.outcome],
        "failed": run.outcome is not Outcome.COMPLETED,
        "throughput": _throughput(run),
        "bottleneck": words.bottleneck(run.evidence.bottleneck, subject.device) if run.evidence is not None else "",
        "warnings": "; ".join(run.warnings),
        **_costs(run),
    }


def _order(run: Run) -> tuple[float, int, str, int, int]:
    stand = run.configuration
    return (stand.vcpus, stand.memory_bytes, stand.disk, stand.batch_size, run.spec.repeat)


def _throughput(run: Run) -> str:
    if run.throughput is None or not results.measured(run):
        return ""
    return formatting.rate_interval(run.throughput, run.sample_unit)


def _costs(run: Run) -> dict[str, str]:
    """What a sample cost, and the highest memory; empty where it was not accounted."""
    cores = run.demand.core_seconds if run.demand is not None else None
    read = run.demand.read_bytes if run.demand is not None else None
    return {
        "core_time": formatting.format_number(cores * 1000) if cores is not None else "",
        "read": formatting.volume(read) if read is not None else "",
        "peak": formatting.format_bytes(run.peak_memory_bytes) if run.peak_memory_bytes is not None else "",
    }

"""The table of every run, as plain dicts of text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from sizer.records import Outcome, Run, Study

from . import formatting, results, words
from .subject import Subject
from .verdict import described


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


def warned(runs: Iterable[Run]) -> list[tuple[str, int]]:
    """Each warning once with the number of runs that carry it, the commonest first."""
    counts: dict[str, int] = {}
    for run in runs:
        for warning in run.warnings:
            counts[warning] = counts.get(warning, 0) + 1
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))


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

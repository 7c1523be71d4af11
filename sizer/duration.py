"""How long runs take."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence

from sizer.records import Outcome, Run, RunSpec

START_UP_SECONDS = {
    "image_training": 20.0,
    "image_inference": 10.0,
    "lstm_training": 8.0,
    "imagenet_preprocessing": 4.0,
    "command": 15.0,
    "imported": 0.0,
}
"""Start-up and warm-up on one vCPU: interpreter, framework, graph and first steps (MXNet 1.9.1, 2 vCPU EPYC, 2026).
What was imported is never started."""
EMULATED_START_UP_SECONDS = 4.0
"""An emulated step needs no framework's graph, only its input pipeline."""
AROUND_SECONDS = 1.5
"""Eviction from the page cache before a run, and stopping and removing its limits after it."""


def estimate_seconds(specs: Iterable[RunSpec], runs: Iterable[Run] = ()) -> float:
    """How long these runs take at most, or what finished runs of the same workload and settings took."""
    took: dict[tuple[str, str, float], list[float]] = {}
    for run in runs:
        if run.outcome is Outcome.COMPLETED:
            took.setdefault(_alike(run.spec), []).append(run.wall_seconds)
    return sum(_seconds(spec, took.get(_alike(spec))) for spec in specs)


def start_up_seconds(spec: RunSpec) -> float:
    """Before the steady state begins; a fraction of a vCPU starts slower."""
    no_step = spec.workload.device.kind == "emulated" or spec.workload.input == "replay"
    start_up = EMULATED_START_UP_SECONDS if no_step else START_UP_SECONDS[spec.workload.kind]
    return start_up / min(spec.limits.vcpus or 1.0, 1.0)


def _alike(spec: RunSpec) -> tuple[str, str, float]:
    return spec.workload.name, spec.workload.input, spec.measure.seconds


def _seconds(spec: RunSpec, took: Sequence[float] | None) -> float:
    if took:
        return statistics.median(took) + AROUND_SECONDS
    total = start_up_seconds(spec) + spec.measure.seconds + AROUND_SECONDS
    return total if spec.measure.timeout is None else min(total, spec.measure.timeout + AROUND_SECONDS)

"""How each run went on: throughput, CPU, memory, disk and GPU over its time, small enough for a page of 1,000 runs.

A series is text, two digits of base 36 for each point: shares of the largest value in 1,295 steps. `timelines.js` draws
the series of a run when it is opened.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from sizer.records.run import Run, Sample
from sizer.records.run_kinds import FINDINGS, Purpose
from sizer.records.units import format_bytes
from sizer.words.language import rates_axis

from .. import results
from ..charts.svg import readable
from ..markup import deflated, showable
from ..subject import Material, Subject

POINTS = 48
"""Points of a series at most."""
FEWER_POINTS, MANY_RUNS = 30, 300
"""Points of a page with more runs than that."""
MOST_TIMELINE_BYTES = 200_000
"""Bytes of all timelines of a page before they are deflated to some 110,000; runs that matter more come first, and the
others name the file that has theirs."""
LONGEST_UNIT = 60
DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"
LARGEST = len(DIGITS) ** 2 - 1
MIB, GIB = 2.0**20, 2.0**30

Array = np.ndarray[Any, np.dtype[np.float64]]
Series = tuple[float, str]
"""The largest value, and the points as shares of it; '' where there is nothing but zero."""


def contents(_material: Material, subjects: Sequence[Subject]) -> dict[str, Any] | None:
    """The timelines of as many of the runs that were sampled as there is room for, those that matter most first, and
    which are left out; None where none was. Their words stand in the template; its script fills in the braces."""
    runs = [(run, subject) for subject in subjects for run in subject.runs if len(run.samples) > 1]
    if not runs:
        return None
    points = POINTS if len(runs) <= MANY_RUNS else FEWER_POINTS
    shown, left = dict[str, Any](), MOST_TIMELINE_BYTES
    for run, _subject in sorted(runs, key=_importance):
        line = timeline(run, points)
        left -= len(json.dumps(line, separators=(",", ":"))) + len(run.id)
        if left < 0:
            break
        shown[run.id] = line
    left_out = [run.id for run, _subject in runs if run.id not in shown]
    packed = deflated(json.dumps(showable(shown), separators=(",", ":"), allow_nan=False))
    return {"packed": packed, "left": left_out}


def _importance(of: tuple[Run, Subject]) -> int:
    """Failed runs first, then those at the answer, those that show drift, those with warnings, and the others."""
    run, subject = of
    spec = subject.spec
    had = run.configuration
    at_answer = spec is not None and (spec.vcpus, spec.memory_bytes, spec.disk, spec.batch_size) == (
        had.vcpus, had.memory_bytes, had.disk, had.batch_size
    )  # fmt: skip
    reasons = (run.outcome not in FINDINGS, at_answer, run.spec.purpose is Purpose.REFERENCE, bool(run.warnings))
    return next((rank for rank, holds in enumerate(reasons) if holds), len(reasons))


def timeline(run: Run, points: int) -> dict[str, Any]:
    """Its length in seconds, series by their letter, limits, and the ends of warm-up, measuring and the first epoch."""
    begin = run.samples[0].time
    end = max(run.samples[-1].time, *(step.time for step in run.steps), begin + 1e-3)
    count = min(points, max(len(run.samples) - 1, min(len(run.steps), points), 2))
    edges = np.linspace(begin, end, count + 1)
    unit, size = ("GiB", GIB) if max(sample.memory_bytes for sample in run.samples) >= GIB else ("MiB", MIB)
    series = {
        "x": _throughput(run, edges),
        "c": _rate(run.samples, edges, lambda sample: sample.core_seconds),
        "a": _level(run.samples, edges, lambda sample: sample.anonymous_bytes / size),
        "p": _level(run.samples, edges, lambda sample: sample.page_cache_bytes / size),
        "r": _rate(run.samples, edges, lambda sample: sample.read_bytes / 1e6),
        "w": _rate(run.samples, edges, lambda sample: sample.written_bytes / 1e6),
    }
    busy = [sample for sample in run.samples if sample.accelerator_busy is not None]
    if len(busy) > 1:
        several = max(1, run.spec.gpu_count)
        series["g"] = _rate(busy, edges, lambda sample: 100 / several * (sample.accelerator_busy or 0.0))
    held = [sample for sample in run.samples if any(gpu.memory_bytes is not None for gpu in sample.gpus)]
    if len(held) > 1:
        series["v"] = _level(held, edges, lambda sample: sum(gpu.memory_bytes or 0 for gpu in sample.gpus) / GIB)
    had = run.configuration
    cap = run.spec.limits.memory_bytes
    facts = {
        "t": end - begin,
        "n": count,
        "u": readable(rates_axis(run.sample_unit), LONGEST_UNIT),
        "b": unit,
        "l": had.vcpus,
        "m": cap / size if cap is not None else None,
        "k": format_bytes(cap) if cap is not None else None,
        **_stages(run, begin),
    }
    drawn = {name: list(_packed(values)) for name, values in series.items()}
    return {**{name: _short(value) for name, value in facts.items() if value is not None}, "s": drawn}


def _stages(run: Run, begin: float) -> dict[str, float | None]:
    """Seconds from the start at which measuring began and ended, and at which the first epoch was over."""
    stages: dict[str, float | None] = {}
    if run.steps and run.rate.warm_up_seconds is not None and run.rate.measured_seconds and results.measured(run):
        measured_from = run.steps[0].time - begin + run.rate.warm_up_seconds
        stages = {"f": measured_from, "e": measured_from + run.rate.measured_seconds}
    first = run.steps[0].epoch if run.steps else 0
    pairs = itertools.pairwise(run.steps)
    turn = next((before for before, after in pairs if before.epoch == first != after.epoch), None)
    stages["o"] = turn.time - begin if turn is not None else None
    return stages


def _throughput(run: Run, edges: Array) -> Array:
    """Samples a second in each part of the time; those of a step are spread over the time since the step before."""
    if len(run.steps) < 2:
        return np.zeros(len(edges) - 1)
    times = np.array([step.time for step in run.steps])
    counted = np.cumsum([0, *(step.samples for step in run.steps[1:])])
    grown = np.diff(np.interp(edges, times, counted))
    values: Array = grown / np.diff(edges)
    return values


def _rate(samples: Sequence[Sample], edges: Array, counter: Callable[[Sample], float]) -> Array:
    """By how much a counter grew in each part of the time, a second."""
    values: Array = np.diff(_at(samples, edges, counter)) / np.diff(edges)
    return values


def _level(samples: Sequence[Sample], edges: Array, gauge: Callable[[Sample], float]) -> Array:
    """The highest value of each part of the time."""
    times, values = [sample.time for sample in samples], [gauge(sample) for sample in samples]
    at = _at(samples, edges, gauge)
    highest: Array = np.maximum(at[:-1], at[1:])
    for time, value in zip(times, values, strict=True):
        part = min(int(np.searchsorted(edges, time, "right")) - 1, len(highest) - 1)
        highest[part] = max(highest[part], value)
    return highest


def _at(samples: Sequence[Sample], edges: Array, value: Callable[[Sample], float]) -> Array:
    interpolated: Array = np.interp(edges, [sample.time for sample in samples], [value(sample) for sample in samples])
    return interpolated


def _packed(values: Array) -> Series:
    """Counters that went backwards, as those of a program that started anew, grew by nothing."""
    values = np.maximum(values, 0.0)
    most = float(values.max(initial=0.0))
    if most <= 0:
        return 0, ""
    return _short(most), "".join(_digits(round(LARGEST * value / most)) for value in values)


def _digits(number: int) -> str:
    return DIGITS[number // len(DIGITS)] + DIGITS[number % len(DIGITS)]


def _short(value: Any) -> Any:
    """A number with as many digits as anyone reads."""
    return float(f"{value:.4g}") if isinstance(value, float) else value

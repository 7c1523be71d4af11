"""Curves of the shapes that tables from elsewhere have: points of each are left out and predicted, from rates alone.

The curves are drawn; those that others published are in `accuracy_published`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from accuracy_curves import SHAPES, Curve, drawn
from accuracy_published import PUBLISHED
from accuracy_rivals import rivals
from accuracy_scores import GoalRow, at_most, error, quantile, share

from sizer.model import batch_of, fit, predict, vcpus_of
from sizer.records import GIB
from sizer.records.configuration import Configuration, Estimate
from sizer.records.errors import NoAnswer
from sizer.records.run import Run
from sizer.records.run_kinds import Outcome
from sizer.records.study import Limits, Measure, RunSpec, Workload

STARTED = "2026-11-21T00:00:00+00:00"
MIDDLE_MEMORY = 16 * GIB


@dataclass(frozen=True)
class LeftOutPoint:
    """One point that was left out, between points that were not."""

    curve: Curve
    place: float
    truth: float
    new_run: float
    predicted: float
    low: float
    high: float
    others: dict[str, float]

    @property
    def error(self) -> float:
        return error(self.predicted, self.truth)


def judged(curve: Curve, seed: int) -> tuple[list[LeftOutPoint], int]:
    """Every second inner point is left out, as far as three are left; and how many of them are refused."""
    random = np.random.default_rng([seed, len(curve.places), round(1000 * curve.noise)])
    seen = [rate * math.exp(curve.noise * random.standard_normal()) for rate in curve.truth]
    out = list(range(1, len(curve.places) - 1, 2))
    return told_of(curve, seen, out[: max(0, len(curve.places) - 3)])


def told_of(
    curve: Curve, seen: Sequence[float], out: Sequence[int], with_rivals: bool = True
) -> tuple[list[LeftOutPoint], int]:
    """What the other points of what was seen tell of these; and how many of them are refused."""
    runs = [
        run_at(curve, place, rate)
        for index, (place, rate) in enumerate(zip(curve.places, seen, strict=True))
        if index not in out
    ]
    model, configurations = fit(runs).workloads[0], [configuration_at(curve, curve.places[index]) for index in out]
    asked = rivals(runs) if configurations and with_rivals else {}
    others = {name: answers(configurations) for name, answers in asked.items()}
    found = []
    for order, index in enumerate(out):
        try:
            said = predict(model, configurations[order]).throughput
        except NoAnswer:
            continue
        mine = {name: float(values[order]) for name, values in others.items()}
        found.append(
            LeftOutPoint(
                curve, curve.places[index], curve.truth[index], seen[index], said.value, said.low, said.high, mine
            )
        )
    return found, len(out) - len(found)


def configuration_at(curve: Curve, place: float) -> Configuration:
    vcpus = place if curve.axis == "vcpus" else 8.0
    memory = round(place * GIB) if curve.axis == "memory" else MIDDLE_MEMORY
    batch = round(place) if curve.axis == "batch" else 32
    return Configuration(vcpus, memory, "host", batch, gpu_count=round(place) if curve.axis == "gpus" else 0)


def run_at(curve: Curve, place: float, rate: float) -> Run:
    configuration = configuration_at(curve, place)
    memory = configuration.memory_bytes if curve.axis == "memory" else None
    return Run(
        spec=RunSpec(
            Workload("curve", "command"), batch_of(configuration), Limits(vcpus_of(configuration), memory), Measure(1)
        ),
        outcome=Outcome.COMPLETED,
        configuration=configuration,
        started_at=STARTED,
        wall_seconds=60.0,
        throughput=Estimate(rate, rate, rate),
    )


def scores(each: int, seed: int = 2018) -> tuple[list[GoalRow], list[str]]:
    """The rows of the table over so many curves of each shape and all published ones, and the worst points."""
    table, lines = [], []
    everything: list[LeftOutPoint] = []
    groups = {shape: [drawn(shape, number, seed) for number in range(each)] for shape in SHAPES}
    for shape, curves in groups.items():
        found, refused = _all(curves, seed)
        everything += found
        table.append(at_most(f"shape: {shape}", "median error", [one.error for one in found], 0.5))
        table.append(at_most(f"shape: {shape}", "90th percentile of errors", [one.error for one in found], 0.9))
        lines += _lines(found, refused)
    published, refused = _all(PUBLISHED_CURVES, seed)
    lines += _lines(published, refused, each_curve=True)
    table += _summary("shapes, drawn", everything, (0.03, 0.10), (0.85, 0.95))
    table += _summary("shapes, published", published, None, None)
    return table, lines


PUBLISHED_CURVES = tuple(Curve(one.name, one.axis, one.places, one.rates, 0.0, one.source) for one in PUBLISHED)


def _all(curves: Sequence[Curve], seed: int) -> tuple[list[LeftOutPoint], int]:
    found: list[LeftOutPoint] = []
    refused = 0
    for number, curve in enumerate(curves):
        points, missing = judged(curve, seed + number)
        found, refused = [*found, *points], refused + missing
    return found, refused


def _summary(
    part: str, found: Sequence[LeftOutPoint], goals: tuple[float, float] | None, cover: tuple[float, float] | None
) -> list[GoalRow]:
    errors = [one.error for one in found]
    middle, ninth = goals or (None, None)
    least, most = cover or (None, None)
    table = [
        at_most(part, "median error", errors, 0.5, middle),
        at_most(part, "90th percentile of errors", errors, 0.9, ninth),
        share(
            part, "left-out points in their 90 % intervals", [o.low <= o.new_run <= o.high for o in found], least, most
        ),
    ]
    for name in found[0].others if found else ():
        theirs = [error(one.others[name], one.truth) for one in found]
        table.append(at_most(part, f"rival {name}: median error", theirs, 0.5))
        table.append(at_most(part, f"rival {name}: 90th percentile", theirs, 0.9))
    return table


def _lines(found: Sequence[LeftOutPoint], refused: int, each_curve: bool = False) -> list[str]:
    if not found:
        return [f"nothing predicted, {refused} refused"]
    worst = sorted(found, key=lambda one: -one.error)
    chosen = list({one.curve.shape: one for one in reversed(worst)}.values()) if each_curve else worst[:2]
    head = "published" if each_curve else found[0].curve.shape
    middle = 100 * quantile([one.error for one in found], 0.5)
    lines = [f"{head}: {len(found)} predicted, {refused} refused, median {middle:.1f} %"]
    for one in chosen:
        near = [f"{p:g}: {r:.4g}" for p, r in zip(one.curve.places, one.curve.truth, strict=True)][:14]
        lines.append(
            f"    {one.curve.shape}: at {one.place:g} {one.curve.axis}: {one.predicted:.4g} "
            f"({one.low:.4g} to {one.high:.4g}), true {one.truth:.4g}: {100 * (one.predicted / one.truth - 1):+.1f} %, "
            f"noise {one.curve.noise:g}; {', '.join(near)}"
        )
    return lines

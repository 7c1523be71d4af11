"""Curves of real machines: three or four vCPU values are measured, one between them is predicted, from rates alone.

None of them has taught the model anything: they are a third of the CPU models, and of the tables that were collected
from elsewhere (`benchmarks/curves`).
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

from accuracy_curves import Curve
from accuracy_scores import GoalRow, at_most, share
from accuracy_shapes import LeftOutPoint, told_of

sys.path.append(str(Path(__file__).parents[1] / "curves"))

from curves_data import JPEG, LOADERS, MACHINES, OTHERS, Asked, questions, real_curves

MEDIAN, NINTH = 0.025, 0.10


@dataclass(frozen=True)
class Told:
    """One place that was left out of a real curve, and what was told of it."""

    asked: Asked
    point: LeftOutPoint


def told(asked: Asked) -> Told | None:
    """None where it is refused."""
    real, kept = asked.curve, sorted({*asked.measured, asked.left_out})
    curve = Curve(
        real.name, "vcpus", tuple(real.places[i] for i in kept), tuple(real.rates[i] for i in kept), 0.0, real.kind
    )
    found, _ = told_of(curve, curve.truth, [kept.index(asked.left_out)], with_rivals=False)
    return Told(asked, found[0]) if found else None


def scores(quick: bool, processes: int = os.cpu_count() or 1) -> tuple[list[GoalRow], list[str]]:
    """The rows of the table, and the worst of what was told of each kind."""
    asked = [each for curve in real_curves() if curve.held_out for each in questions(curve)][:: 20 if quick else 1]
    with get_context("fork").Pool(processes) as pool:
        found = [each for each in pool.map(told, asked, chunksize=4) if each is not None]
    table, lines = [], []
    for kind in (MACHINES, JPEG, LOADERS, OTHERS):
        out = [each for each in found if each.asked.curve.kind == kind]
        table += _rows(f"curves, {kind}", out)
        lines += _worst(out)
    out = [each for each in found if each.asked.curve.kind != JPEG]
    table += _rows("curves, published", out, goals=True)
    return table, lines


def _rows(part: str, found: Sequence[Told], goals: bool = False) -> list[GoalRow]:
    errors = [each.point.error for each in found]
    covered = [each.point.low <= each.point.truth <= each.point.high for each in found]
    return [
        at_most(part, "median error", errors, 0.5, MEDIAN if goals else None),
        at_most(part, "90th percentile of errors", errors, 0.9, NINTH if goals else None),
        share(part, "left-out points in their 90 % intervals", covered, *((0.85, 0.95) if goals else (None, None))),
    ]


def _worst(found: Sequence[Told]) -> list[str]:
    lines = []
    for each in sorted(found, key=lambda one: -one.point.error)[:8]:
        point = each.point
        near = ", ".join(f"{p:g}: {r:.4g}" for p, r in zip(point.curve.places, point.curve.truth, strict=True))
        lines.append(
            f"    {point.curve.source}: {point.curve.shape}: at {point.place:g}: {point.predicted:.4g} "
            f"({point.low:.4g} to {point.high:.4g}): {100 * (point.predicted / point.truth - 1):+.1f} %; {near}"
        )
    return lines

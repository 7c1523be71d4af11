"""Curves, drawn and real: points of each are left out and predicted from the others, from rates alone.

Of a real one three or four vCPU values are measured and one between them is predicted; they are a third of the CPU
models, and of the tables that were collected from elsewhere (`benchmarks/curves`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from accuracy_rivals import rivals
from accuracy_scores import GoalRow, LeftOut, error_rows, left_out, rival_rows, worst_lines
from accuracy_shapes import SHAPES, drawn
from curves_data import JPEG, LOADERS, MACHINES, OTHERS, Curve, published_curves, questions, real_curves
from processes import in_processes

from sizer.model.coordinates import batch_of, vcpus_of
from sizer.model.fitting import fit
from sizer.records.configuration import Configuration, Estimate
from sizer.records.run import Run
from sizer.records.run_kinds import Outcome
from sizer.records.study import Limits, Measure, RunSpec, Workload
from sizer.records.units import GIB

STARTED = "2026-11-21T00:00:00+00:00"
MIDDLE_MEMORY = 16 * GIB
SEED = 2018
RUNS = "left-out points"


def judged(curve: Curve, seed: int) -> list[LeftOut]:
    """Every second inner point is left out, as far as three are left."""
    random = np.random.default_rng([seed, len(curve.places), round(1000 * curve.noise)])
    seen = [rate * math.exp(curve.noise * random.standard_normal()) for rate in curve.rates]
    out = list(range(1, len(curve.places) - 1, 2))
    return told_of(curve, seen, out[: max(0, len(curve.places) - 3)])


def told_of(curve: Curve, seen: Sequence[float], out: Sequence[int], with_rivals: bool = True) -> list[LeftOut]:
    """What the other points of what was seen tell of these; without those that are refused."""
    points = list(enumerate(zip(curve.places, seen, strict=True)))
    runs = [run_at(curve, *point) for index, point in points if index not in out]
    truths = {configuration_at(curve, curve.places[index]): (curve.rates[index], (seen[index],)) for index in out}
    others = rivals(runs, list(truths)) if truths and with_rivals else {}
    return left_out(curve.name, fit(runs).workloads[0], truths, others)


def configuration_at(curve: Curve, place: float) -> Configuration:
    vcpus = place if curve.axis == "vcpus" else 8.0
    memory = round(place * GIB) if curve.axis == "memory" else MIDDLE_MEMORY
    batch = round(place) if curve.axis == "batch" else 32
    return Configuration(vcpus, memory, "host", batch, gpu_count=round(place) if curve.axis == "gpus" else 0)


def run_at(curve: Curve, place: float, rate: float) -> Run:
    configuration = configuration_at(curve, place)
    limits = Limits(vcpus_of(configuration), configuration.memory_bytes if curve.axis == "memory" else None)
    return Run(
        spec=RunSpec(Workload("curve", "command"), batch_of(configuration), limits, Measure(1)),
        outcome=Outcome.COMPLETED,
        configuration=configuration,
        started_at=STARTED,
        wall_seconds=60.0,
        throughput=Estimate(rate, rate, rate),
    )


def scores_of_shapes(each: int, processes: int, worst: int = 0) -> tuple[list[GoalRow], list[str]]:
    """The rows of the table over so many curves of each shape and all published ones, and the worst points."""
    table, lines, everything = list[GoalRow](), list[str](), list[LeftOut]()
    for shape in SHAPES:
        found = _all([drawn(shape, number, SEED) for number in range(each)], processes)
        everything += found
        table += error_rows(f"shape: {shape}", found, RUNS)[:2]
        lines += worst_lines(shape, found, min(2, worst))
    published = _all(published_curves(), processes)
    table += error_rows("shapes, drawn", everything, RUNS, goals=(0.03, 0.10))
    table += rival_rows("shapes, drawn", everything)
    table += error_rows("shapes, published", published, RUNS)
    return [*table, *rival_rows("shapes, published", published)], [*lines, *worst_lines("published", published, worst)]


def _all(curves: Sequence[Curve], processes: int) -> list[LeftOut]:
    asked = [(curve, SEED + number) for number, curve in enumerate(curves)]
    return [point for found in in_processes(judged, asked, processes) for point in found]


def told(curve: Curve, out: int) -> tuple[str, list[LeftOut]]:
    """One place of a real curve left out, with its kind."""
    return curve.kind, told_of(curve, curve.rates, [out], with_rivals=False)


def scores_of_real(every: int, processes: int, worst: int = 0) -> tuple[list[GoalRow], list[str]]:
    """The rows of the table, of every so many questions, and the worst of what was told of each kind."""
    asked = [each for curve in real_curves() if curve.held_out for each in questions(curve)][::every]
    answers = in_processes(told, asked, processes)
    table, lines = list[GoalRow](), list[str]()
    for kind in (MACHINES, JPEG, LOADERS, OTHERS):
        found = [point for its, points in answers if its == kind for point in points]
        table += error_rows(f"curves, {kind}", found, RUNS)
        lines += worst_lines(f"curves, {kind}", found, min(8, worst))
    found = [point for kind, points in answers if kind != JPEG for point in points]
    return [*table, *error_rows("curves, published", found, RUNS, goals=(0.025, 0.10))], lines

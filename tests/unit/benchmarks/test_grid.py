"""What the smaller benchmarks judge: grids, intervals, choices, accelerators."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from curves_data import Curve
from grid_data import GRID, cells, load_grid
from held_out_rates import batches_left_out, relative
from intervals import COVERED, FALLS, FALSE_ALARMS, POWER, REQUIRED, STEADY, Case, coverage, falls_found
from judged import whole_grids
from replayed import curve_case
from simulated_runs import SAMPLES, drifting, noisy, stalling

from sizer.catalog.accelerator_rates import shipped_rates
from sizer.catalog.catalog import Catalog
from sizer.exchange.measurements import write_csv
from sizer.exchange.values import marks
from sizer.records.run import Run
from sizer.records.study import Objective
from sizer.records.units import GIB
from sizer.study.parse import read_study
from sizer.study.presets import HostSize

# The measured grid: that the data set is what its description says, and what is computed from it.


MakeRun = Callable[..., Run]


@pytest.fixture(scope="module")
def grid_measured() -> tuple[Run, ...]:
    return load_grid()


def test_the_grid_is_full(grid_measured: tuple[Run, ...]) -> None:
    """Every point of its study was measured at least twice: 60 configurations of four kinds and more."""
    asked_for = read_study(GRID / "study.yaml", None, HostSize(2, 24 * GIB), None)
    grid = {name: set() for name in (plan.workload.name for plan in asked_for.workloads)}  # type: ignore[var-annotated]
    for (name, point), runs in cells(grid_measured).items():
        grid[name].add((point.vcpus, point.memory_bytes, point.disk))
        assert len(runs) >= 2, f"{name} {point} has one run alone"
    assert sum(map(len, grid.values())) >= 60
    assert len({plan.workload.kind for plan in asked_for.workloads}) == 4
    for plan in asked_for.workloads:
        axes = product(plan.vcpus, plan.memory_bytes or [None], plan.disk or ["host"])
        asked = {(v, m, d) for v, m, d in axes}
        seen = {(v, m if plan.memory_bytes else None, d) for v, m, d in grid[plan.workload.name]}
        assert seen == asked


def test_both_files_say_the_same(grid_measured: tuple[Run, ...]) -> None:
    """The table is made of the runs, nothing by hand; a later sizer may write more columns."""
    rows = list(csv.DictReader((GRID / "measurements.csv").open(encoding="utf-8")))
    again = list(csv.DictReader(io.StringIO(write_csv(grid_measured))))
    for run, row, made_again in zip(grid_measured, rows, again, strict=True):
        assert {column: made_again[column] for column in row if column != "warnings"} == _without_warnings(row)
        kinds = [warning.kind for warning in run.warnings]
        assert [mark.kind for mark in (marks(row["warnings"]) if row["warnings"] else ())] == kinds


def test_nothing_of_the_measuring_host_s_folders_is_in_the_files() -> None:
    """The data set is anyone's: names of data, no paths."""
    files = [path for path in GRID.rglob("*") if path.suffix in (".jsonl", ".csv", ".json", ".yaml")]
    assert len(files) == 5
    for path in files:
        assert not [word for word in ("/tmp", "/root", "/home", "/var", "/work") if word in path.read_text()]


def _without_warnings(row: dict[str, str]) -> dict[str, str]:
    return {column: cell for column, cell in row.items() if column != "warnings"}


# The intervals hold the truth of simulated children, and lasting falls are found where there are any.


RUNS, SEED = 400, 1
EVERY = 12
"""One required case of so many; the benchmark has all."""
HALVED = 80
"""Runs whose rate halves: it is found in every one of them."""


@pytest.mark.slow
@pytest.mark.parametrize("case", REQUIRED[::EVERY], ids=lambda case: f"{case.name}, {case.seconds:g} s")
def test_intervals_hold_the_true_rate(case: Case) -> None:
    """92 to 98 % of the runs, ended by the real stopping rule, have the true rate in their 95 % interval."""
    assert COVERED[0] <= coverage(case, RUNS, SEED).share <= COVERED[1]


@pytest.mark.slow
@pytest.mark.parametrize("case", STEADY[1:2], ids=lambda case: case.name)
def test_a_rate_that_does_not_fall_is_not_called_falling(case: Case) -> None:
    """At most 1 % of 400 runs with noise, drift or stalls are said to have two rates."""
    assert falls_found(case, RUNS, SEED) <= FALSE_ALARMS


@pytest.mark.slow
@pytest.mark.parametrize("case", FALLS[:1], ids=lambda case: case.name)
def test_a_spent_burst_is_found(case: Case) -> None:
    """A rate that halves is found in at least 95 % of 80 runs, wherever it happens."""
    assert falls_found(case, HALVED, SEED) >= POWER


def test_a_child_does_what_its_truth_says() -> None:
    """The mean rate of a long child is its true one."""
    random = np.random.default_rng(3)
    for child in (
        noisy(random, 2000, 0.1, correlation=0.8),
        drifting(random, 2000, 0.1, -0.1),
        stalling(random, 2000, 0.1),
    ):
        times = np.cumsum(child.durations)
        assert len(times) * SAMPLES / times[-1] == pytest.approx(child.truth(0.0, times[-1]), rel=0.01)


# Replayed studies: every run is known.


KNEE = Curve("others", "knee", (1.0, 2.0, 4.0, 8.0, 16.0), (100.0, 200.0, 400.0, 400.0, 400.0))


def test_an_answer_is_judged_against_the_whole_grid() -> None:
    """Its own answer is right; half of it is too slow, and twice as much too dear."""
    grid = whole_grids(curve_case(KNEE), Objective(), Catalog.load())["curve"]
    assert grid.answer.spec.vcpus == 4.0
    assert grid.right(grid.answer, 0.95)
    for vcpus in (2.0, 8.0):
        other = replace(grid.answer, spec=replace(grid.answer.spec, vcpus=vcpus))
        assert not grid.right(other, 0.95)


# What is left out of the shipped tables is told as well as the catalogue says, and better than by a plain rival.


def test_left_out_batch_sizes_are_told() -> None:
    """Median 2 %, 90th percentile 8 %; a line between the rates is worse in both."""
    points = batches_left_out(shipped_rates())
    median, high = relative([point.error for point in points])
    assert median <= 0.02
    assert high <= 0.08
    assert len(points) > 200

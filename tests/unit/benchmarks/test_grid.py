"""What the smaller benchmarks judge: grids, intervals, choices, accelerators."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Callable
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from curves_data import Curve
from grid_data import GRID, cells, load_grid, portable, repeat_errors, save_runs
from held_out_rates import batches_left_out, counts_left_out, covered_share, relative
from intervals import COVERED, FALLS, FALSE_ALARMS, POWER, REQUIRED, STEADY, Case, coverage, falls_found
from judged import whole_grids
from replayed import ReplayCase, curve_case
from simulated_runs import SAMPLES, drifting, measured, noisy, observed, stalling

from sizer.catalog.accelerator_rates import shipped_rates
from sizer.catalog.catalog import Catalog
from sizer.exchange.measurements import write_csv
from sizer.exchange.values import marks
from sizer.records.device import DiskRates
from sizer.records.run import DataSet, DiskCheck, Run, Sample, Step
from sizer.records.run_kinds import Purpose
from sizer.records.study import DiskTier, Measure, Objective
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
    found = {name: set() for name in (plan.workload.name for plan in asked_for.workloads)}  # type: ignore[var-annotated]
    for (name, point), runs in cells(grid_measured).items():
        found[name].add((point.vcpus, point.memory_bytes, point.disk))
        assert len(runs) >= 2, f"{name} {point} has one run alone"
    assert sum(map(len, found.values())) >= 60
    assert len({plan.workload.kind for plan in asked_for.workloads}) == 4
    for plan in asked_for.workloads:
        axes = product(plan.vcpus, plan.memory_bytes or [None], plan.disk or ["host"])
        asked = {(v, m, d) for v, m, d in axes}
        seen = {(v, m if plan.memory_bytes else None, d) for v, m, d in found[plan.workload.name]}
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


def test_a_run_is_read_again_as_it_was_written(make_run: MakeRun, tmp_path: Path) -> None:
    """All but its series, the place of its data, and the tenth digit."""
    run = replace(
        make_run(100.0, disk="slow", data=DataSet("/mnt/data.rec", "recordio", 10, 1, False)),
        steps=(Step(1.0, 8, 0.0, 0),),
        samples=(Sample(1.0),),
        disk=DiskCheck(DiskTier("slow", emulated=DiskRates(500, 1e6)), DiskRates(501.5, math.pi)),
    )
    save_runs([run], tmp_path / "runs.jsonl")
    (again,) = load_grid(tmp_path / "runs.jsonl")
    assert again.disk.measured.read_bytes_per_second == pytest.approx(math.pi, rel=1e-8)
    assert again.data_set == DataSet("data.rec", "recordio", 10, 1, False)
    assert replace(again, disk=None) == replace(portable(run), disk=None)
    assert (again.steps, again.samples) == ((), ())


def test_repeats_are_compared_within_a_configuration_and_without_the_reference_s_further_ones(
    make_run: MakeRun,
) -> None:
    """Three repeats are three pairs; a fourth of a study of three is the reference's own."""
    three = [make_run(rate, repeat=repeat) for repeat, rate in enumerate((100.0, 110.0, 100.0))]
    further, other = make_run(500.0, repeat=Measure().repeats), make_run(7.0, vcpus=2.0)
    further = replace(further, spec=replace(further.spec, purpose=Purpose.REFERENCE))
    errors = repeat_errors([*three, further, other])
    assert sorted(errors) == pytest.approx([0.0, math.log(1.1), math.log(1.1)])


def _without_warnings(row: dict[str, str]) -> dict[str, str]:
    return {column: cell for column, cell in row.items() if column != "warnings"}


def _rate(run: Run) -> float:
    return run.throughput.value


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


def test_a_run_is_observed_until_it_would_be_stopped() -> None:
    """Steps arrive in time, and a run that is not precise is measured for the seconds asked for."""
    child = noisy(np.random.default_rng(4), 6.0, 0.1, spread=0.5)
    seen = observed(child, 6.0)
    assert [step.time for step in seen.steps] == pytest.approx(list(np.cumsum(child.durations)[: len(seen.steps)]))
    assert 6.0 <= measured(child, 6.0).measured_seconds <= 8.0


# Replayed studies: every run is known.


KNEE = Curve("others", "knee", (1.0, 2.0, 4.0, 8.0, 16.0), (100.0, 200.0, 400.0, 400.0, 400.0))


@pytest.fixture(scope="module")
def case() -> ReplayCase:
    return curve_case(KNEE)


def test_an_answer_is_judged_against_the_whole_grid(case: ReplayCase) -> None:
    """Its own answer is right; half of it is too slow, and twice as much too dear."""
    grid = whole_grids(case, Objective(), Catalog.load())["curve"]
    assert grid.answer.spec.vcpus == 4.0
    assert grid.right(grid.answer, 0.95)
    for vcpus in (2.0, 8.0):
        other = replace(grid.answer, spec=replace(grid.answer.spec, vcpus=vcpus))
        assert not grid.right(other, 0.95)


# What is left out of the shipped tables is told as well as the catalogue says, and better than by a plain rival.


def test_left_out_batch_sizes_are_told() -> None:
    """Median 2 %, 90th percentile 8 %; a line between the rates is worse in both."""
    found = batches_left_out(shipped_rates())
    median, high = relative([each.error for each in found])
    assert median <= 0.02
    assert high <= 0.08
    assert len(found) > 200


@pytest.mark.long
def test_left_out_counts_are_told() -> None:
    """Median 5 %, and 85 to 95 % of the intervals hold; no constant was fitted to what it is judged by."""
    found = counts_left_out(shipped_rates())
    assert relative([each.error for each in found])[0] <= 0.05
    assert 0.85 <= covered_share(found) <= 0.95

"""The measured grid: that the data set is what its description says, and what is computed from it."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Callable
from dataclasses import replace
from itertools import product
from pathlib import Path
from statistics import median

import pytest
from grid_data import GRID, cells, load_grid, portable, repeat_errors, save_runs

from sizer.exchange.measurements import write_csv
from sizer.exchange.values import marks
from sizer.records.device import DiskRates
from sizer.records.run import DataSet, DiskCheck, Run, Sample, Step
from sizer.records.run_kinds import Purpose
from sizer.records.study import DiskTier, Measure
from sizer.records.units import GIB
from sizer.study.parse import read_study
from sizer.study.presets import HostSize

MakeRun = Callable[..., Run]


@pytest.fixture(scope="module")
def measured() -> tuple[Run, ...]:
    return load_grid()


def test_the_grid_is_full(measured: tuple[Run, ...]) -> None:
    """Every point of its study was measured at least twice: 60 configurations of four kinds and more."""
    asked_for = read_study(GRID / "study.yaml", None, HostSize(2, 24 * GIB), None)
    found = {name: set() for name in (plan.workload.name for plan in asked_for.workloads)}  # type: ignore[var-annotated]
    for (name, point), runs in cells(measured).items():
        found[name].add((point.vcpus, point.memory_bytes, point.disk))
        assert len(runs) >= 2, f"{name} {point} has one run alone"
    assert sum(map(len, found.values())) >= 60
    assert len({plan.workload.kind for plan in asked_for.workloads}) == 4
    for plan in asked_for.workloads:
        axes = product(plan.vcpus, plan.memory_bytes or [None], plan.disk or ["host"])
        asked = {(v, m, d) for v, m, d in axes}
        seen = {(v, m if plan.memory_bytes else None, d) for v, m, d in found[plan.workload.name]}
        assert seen == asked


def test_each_axis_matters_somewhere(measured: tuple[Run, ...]) -> None:
    """A grid in which an axis changes nothing anywhere would judge no model."""
    best = {key: max(_rate(run) for run in runs) for key, runs in cells(measured).items()}

    def most(axis: str) -> float:
        ratios = [
            best[one] / best[other]
            for one, other in product(best, best)
            if one[0] == other[0] and replace(one[1], **{axis: getattr(other[1], axis)}) == other[1]
        ]
        return max(ratios)

    assert min(most("vcpus"), most("memory_bytes"), most("disk")) > 1.5


def test_memory_keeps_a_part_of_the_data_under_one_cap_and_all_under_the_other(measured: tuple[Run, ...]) -> None:
    """Hit rates between 0 and 1 are what a page-cache model is judged by."""
    by_cap: dict[int, list[float]] = {}
    for run in measured:
        if run.spec.workload.kind == "image_training" and run.conditions.hit_rate is not None:
            by_cap.setdefault(run.configuration.memory_bytes, []).append(run.conditions.hit_rate)
    tight, roomy = (by_cap[cap] for cap in sorted(by_cap))
    assert 0.05 < median(tight) < 0.6
    assert median(roomy) > 0.95


def test_both_files_say_the_same(measured: tuple[Run, ...]) -> None:
    """The table is made of the runs, nothing by hand; a later sizer may write more columns."""
    rows = list(csv.DictReader((GRID / "measurements.csv").open(encoding="utf-8")))
    again = list(csv.DictReader(io.StringIO(write_csv(measured))))
    for run, row, made_again in zip(measured, rows, again, strict=True):
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
    assert again.disk is not None
    assert again.disk.measured.read_bytes_per_second == pytest.approx(math.pi, rel=1e-8)
    assert again.data_set == DataSet("data.rec", "recordio", 10, 1, False)
    assert replace(again, disk=None) == replace(portable(run), disk=None)
    assert (again.steps, again.samples) == ((), ())


def test_runs_are_in_the_order_of_measuring(make_run: MakeRun, tmp_path: Path) -> None:
    """Whatever the order that a folder lists them in."""
    late, early = (replace(make_run(1.0), started_at=f"2026-11-21T0{hour}:00:00+00:00") for hour in (2, 1))
    save_runs([late, early], tmp_path / "runs.jsonl")
    assert [run.started_at for run in load_grid(tmp_path / "runs.jsonl")] == [early.started_at, late.started_at]


def test_repeats_are_compared_within_a_configuration_and_without_the_reference_s_further_ones(
    make_run: MakeRun,
) -> None:
    """Three repeats are three pairs; a fourth of a study of three is the reference's own."""
    three = [make_run(rate, repeat=repeat) for repeat, rate in enumerate((100.0, 110.0, 100.0))]
    further, other = make_run(500.0, repeat=Measure().repeats), make_run(7.0, vcpus=2.0)
    further = replace(further, spec=replace(further.spec, purpose=Purpose.REFERENCE))
    errors = repeat_errors([*three, further, other])
    assert sorted(errors) == pytest.approx([0.0, math.log(1.1), math.log(1.1)])


def test_the_reference_s_further_repeats_are_runs_of_their_configuration(make_run: MakeRun) -> None:
    """They are measurements like others; runs that did not complete are none."""
    runs = [make_run(100.0), make_run(101.0, repeat=3), make_run(None)]
    (group,) = cells(runs).values()
    assert [_rate(run) for run in group] == [100.0, 101.0]


def _without_warnings(row: dict[str, str]) -> dict[str, str]:
    return {column: cell for column, cell in row.items() if column != "warnings"}


def _rate(run: Run) -> float:
    assert run.throughput is not None
    return run.throughput.value

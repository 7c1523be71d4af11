"""The measured grid: that the data set is what its description says, and what is computed from it."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Callable
from dataclasses import replace
from itertools import product
from pathlib import Path

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
    assert run.throughput is not None
    return run.throughput.value

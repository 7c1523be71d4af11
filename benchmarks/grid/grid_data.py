"""The measured grid: every run of benchmarks/grid/ as the record that sizer stored, and what its repeats differ by."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import combinations
from pathlib import Path, PurePath
from typing import Any

from sizer.files.codec import to_json
from sizer.records.prediction import Configuration
from sizer.records.run import DataSet, Run
from sizer.records.run_kinds import Purpose
from sizer.store.stored_runs import run_from_json

GRID = Path(__file__).parent
RUNS, SECOND = GRID / "runs.jsonl", GRID / "second" / "runs.jsonl"
"""The grid as it was first measured, and two days later on another host."""

Cell = tuple[str, Configuration]
"""One configuration of one workload."""


def load_grid(path: Path = RUNS) -> tuple[Run, ...]:
    """Every run in the order of measuring, repeats and the reference's further repeats among them.

    Raises FormatError for a line that is no run.
    """
    lines = enumerate(path.read_text().splitlines(), start=1)
    return tuple(run_from_json(json.loads(line), f"{path}: line {number}") for number, line in lines)


def save_runs(runs: Iterable[Run], path: Path = RUNS) -> None:
    """One line a run, in the order of measuring; values that are the record's own defaults are left out."""
    ordered = sorted(runs, key=lambda run: run.started_at or "")
    path.write_text("".join(json.dumps(_short(portable(run)), separators=(",", ":")) + "\n" for run in ordered))


def portable(run: Run) -> Run:
    """The run with the names of its data set and programs in place of where they lay on the measuring host, and without
    what of its series, thousands of numbers each, the rest of the record sums up."""
    workload = run.spec.workload
    command = tuple(PurePath(word).name if word.startswith("/") else word for word in workload.command)
    workload = replace(workload, command=command)
    if workload.data is not None:
        workload = replace(workload, data=PurePath(workload.data).name)
    named = replace(run, spec=replace(run.spec, workload=workload), data_set=_named(run.data_set))
    return replace(named, steps=(), samples=())


def _named(data_set: DataSet | None) -> DataSet | None:
    if data_set is None:
        return None
    return replace(data_set, path="embedded" if data_set.embedded else PurePath(data_set.path).name)


def _short(run: Run) -> dict[str, Any]:
    return {name: _rounded(value) for name, value in to_json(run).items() if _says_something(value)}


def _says_something(value: object) -> bool:
    return value is not None and value != [] and value != ""


def _rounded(value: Any) -> Any:
    """Nine digits are more than any clock or counter here has."""
    if isinstance(value, float) and math.isfinite(value):
        return float(f"{value:.9g}")
    if isinstance(value, dict):
        return {name: _rounded(item) for name, item in value.items() if _says_something(item)}
    return [_rounded(item) for item in value] if isinstance(value, list) else value


def cells(runs: Iterable[Run]) -> Mapping[Cell, tuple[Run, ...]]:
    """The completed runs of each configuration, in the order of measuring."""
    by_cell: dict[Cell, tuple[Run, ...]] = {}
    for run in runs:
        if run.throughput is not None:
            key = run.spec.workload.name, run.configuration
            by_cell[key] = (*by_cell.get(key, ()), run)
    return by_cell


def repeat_errors(runs: Iterable[Run]) -> tuple[float, ...]:
    """|ln| of the ratio of two repeats of one configuration, for every pair of its planned repeats.

    The reference's further repeats stay out: there are many of them, of one configuration.
    """
    planned = [run for run in runs if run.spec.purpose is not Purpose.REFERENCE]
    return tuple(
        abs(math.log(_rate(one) / _rate(other)))
        for group in cells(planned).values()
        for one, other in combinations(group, 2)
    )


def _rate(run: Run) -> float:
    assert run.throughput is not None
    return run.throughput.value

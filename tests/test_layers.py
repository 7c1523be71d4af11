"""The layers are kept: each part imports only what lies below it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

GROUND = {
    *("errors", "domains", "records", "units", "plain_text", "own_folder", "files", "codec"),
    *("bundled", "data_forms", "data_place", "interpreters", "given_files"),
}
"""What knows nobody above it, so that everybody may import it."""

PURE_MEASURING = {
    "events",
    "steady_state",
    "epochs",
    "rate_change",
    "stopping",
    "evidence",
    "accounting",
    "log_rates",
    "commands",
    "observation",
    "memory_growth",
    "run_warnings",
    "burst_credit",
    "ending",
    "joined_steps",
}

MAY_IMPORT: dict[str, set[str]] = {
    "errors": set(),
    "domains": set(),
    "records": {"domains"},
    "units": {"errors"},
    "files": {"errors"},
    "data_place": {"errors"},
    "plain_text": set(),
    "given_files": {"errors"},
    "own_folder": {"errors", "plain_text"},
    "codec": {"errors", "files", "own_folder", "domains"},
    "bundled": set(),
    "data_forms": set(),
    "subprograms": {"errors", "limits"},
    "interpreters": {"errors"},
    "limits": GROUND,
    "nvml": GROUND,
    "sampler": GROUND | {"limits", "nvml"},
    "host": GROUND | {"limits", "nvml", "interpreters"},
    "page_cache": GROUND,
    "folder_removal": set(),
    "held_folders": {"limits", "folder_removal"},
    "disks": GROUND | {"limits", "subprograms", "held_folders"},
    "disk_check": GROUND | {"limits", "disks", "subprograms", "held_folders"},
    "data_cache": GROUND | {"subprograms", "held_folders"},
    "data_sets": GROUND | {"page_cache", "subprograms", "data_cache"},
    "placement": GROUND | {"disks", "page_cache", "data_sets", "subprograms", "held_folders"},
    "leftovers": GROUND | {"limits", "disks", "placement", "data_cache"},
    "study": GROUND | {"log_rates"},
    "catalog": GROUND,
    "model": GROUND,
    "recommend": GROUND | {"model", "catalog"},
    "configurations": GROUND | {"study"},
    "duration": GROUND,
    "isolating_runs": GROUND | {"study", "configurations"},
    "capped_runs": GROUND,
    "two_epochs": GROUND | {"model", "study", "configurations", "isolating_runs", "capped_runs"},
    "reference": GROUND | {"study", "configurations", "duration", "isolating_runs"},
    "drift": GROUND | {"reference"},
    "floor_search": GROUND | {"model", "study", "configurations", "capped_runs"},
    "plan": GROUND | {"model", "study", "stopping", "configurations", "reference", "isolating_runs"},
    "tables": GROUND,
    "table_cells": GROUND | {"tables"},
    "measurements": GROUND | {"tables", "table_cells"},
    "imported_columns": GROUND | {"tables", "table_cells", "measurements"},
    "imported_runs": GROUND | {"study", "measurements", "imported_columns"},
    "imported": GROUND | {"study", "tables", "imported_columns", "imported_runs"},
    "published": GROUND | {"model"},
    "continuing": GROUND,
    "reserve": GROUND,
    "unsaved": GROUND | {"continuing"},
    "stored_runs": GROUND,
    "in_hand": {"store"},
    "store": GROUND | {"study", "continuing", "reserve", "stored_runs"},
    "host_lock": GROUND,
    "host_load": GROUND | PURE_MEASURING | {"limits", "sampler"},
    **{name: GROUND | PURE_MEASURING | {"sampler"} for name in PURE_MEASURING},
    "run_record": GROUND | PURE_MEASURING,
    "run_log": GROUND,
    "time_limit": GROUND,
    "circumstances": GROUND | {"page_cache"},
    "child": GROUND | {"limits", "events", "run_log"},
    "watching": GROUND | PURE_MEASURING | {"sampler", "child", "circumstances", "time_limit"},
    "launcher": GROUND
    | PURE_MEASURING
    | {"limits", "disks", "sampler", "nvml", "child", "page_cache", "run_record", "run_log"}
    | {"circumstances", "watching"},
}
"""Modules of sizer that each module of sizer may import. `cli` knows everything and nobody imports it."""

PRINTING = {"print", "exit", "quit", "input"}


def modules() -> Iterator[tuple[str, Path]]:
    """Name of the part and path of each source file of sizer, without what is bundled by links."""
    for path in sorted((ROOT / "sizer").rglob("*.py")):
        place = path.relative_to(ROOT / "sizer")
        if len(place.parts) > 2 and place.parts[0] == "bundled":
            continue
        yield place.parts[0].removesuffix(".py"), path


def imports(path: Path) -> Iterator[str]:
    """Every module named by an import statement, wherever it stands in the file."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.module is not None or node.level
            if not node.level:
                yield str(node.module)
                yield from (f"{node.module}.{alias.name}" for alias in node.names if node.module == "sizer")


@pytest.mark.parametrize(
    ("part", "path"), [pytest.param(part, path, id=str(path.relative_to(ROOT))) for part, path in modules()]
)
def test_a_part_imports_only_what_lies_below_it(part: str, path: Path) -> None:
    """A new import that points upwards, or a new module without a place, fails here."""
    if part in ("cli", "__main__", "__init__"):
        return
    used = {name.split(".")[1] for name in imports(path) if name.startswith("sizer.")} - {part, "__version__"}
    assert used <= MAY_IMPORT[part], f"{part} must not import {sorted(used - MAY_IMPORT[part])}"
    assert not {name for name in imports(path) if name.split(".")[0] in ("workloads", "reports")}


@pytest.mark.parametrize(
    "path", sorted((ROOT / "workloads").rglob("*.py")), ids=lambda path: str(path.relative_to(ROOT))
)
def test_workloads_know_neither_sizer_nor_reports(path: Path) -> None:
    """A workload may run in another interpreter, with another numpy."""
    assert not {name for name in imports(path) if name.split(".")[0] in ("sizer", "reports", "workloads")}


@pytest.mark.parametrize("path", sorted((ROOT / "reports").rglob("*.py")), ids=lambda path: str(path.relative_to(ROOT)))
def test_reports_read_records_and_conclusions_only(path: Path) -> None:
    """A report can be made on a machine that could never have measured."""
    used = {name.split(".")[1] for name in imports(path) if name.startswith("sizer.")}
    assert used <= {"records", "model", "catalog", "recommend", "errors", "units", "files"}
    assert not {name for name in imports(path) if name.split(".")[0] in ("workloads", "reports")}


@pytest.mark.parametrize(
    "path", [path for part, path in modules() if part not in ("cli", "__main__")], ids=lambda path: path.stem
)
def test_only_the_command_line_prints_or_exits(path: Path) -> None:
    """Everything else returns or raises."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            assert node.func.id not in PRINTING, f"{path}:{node.lineno}"
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            assert (node.value.id, node.attr) not in {("sys", "exit"), ("sys", "stdout"), ("os", "_exit")}


@pytest.mark.parametrize("path", [path for part, path in modules() if part != "limits"], ids=lambda path: path.stem)
def test_only_limits_know_of_cgroups(path: Path) -> None:
    """Nobody else reads a cgroup file or asks which version this host has."""
    strings = [
        node.value
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    ]
    assert not [text for text in strings if "/sys/fs/cgroup" in text or "cgroup.procs" in text]


def test_the_command_line_starts_without_heavy_imports() -> None:
    """`sizer --help` must not wait for numpy: nothing that is imported at once imports it."""
    import subprocess
    import sys

    code = "import sys, sizer.cli; sizer.cli.parser(); print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not {"numpy", "scipy", "jinja2", "yaml", "psutil", "mxnet"} & set(loaded)

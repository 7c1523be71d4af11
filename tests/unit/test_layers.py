"""The layers are kept: `lint-imports` passes on this checkout, and fails where a contract is broken."""

from __future__ import annotations

import ast
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from sizer import api
from tests import ROOT

PRINTING = {"print", "exit", "quit", "input"}


def modules() -> Iterator[tuple[str, Path]]:
    """Name of the package and path of each source file of sizer, without what is bundled by links."""
    for path in sorted((ROOT / "sizer").rglob("*.py")):
        place = path.relative_to(ROOT / "sizer")
        if len(place.parts) > 2 and place.parts[0] == "bundled":
            continue
        yield place.parts[0].removesuffix(".py"), path


def imports(path: Path) -> Iterator[str]:
    """Every module named by an import statement, wherever in the file."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield str(node.module)


def lint_imports(checkout: Path) -> subprocess.CompletedProcess[str]:
    """What import-linter says of the contracts in this checkout's pyproject.toml."""
    code = "from importlinter.cli import lint_imports; raise SystemExit(lint_imports(cache_dir=None))"
    environment = {"PYTHONPATH": str(checkout), "PATH": "/usr/bin:/bin"}
    argv = [sys.executable, "-c", code]
    return subprocess.run(argv, cwd=checkout, env=environment, capture_output=True, text=True, check=False)


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """The three source folders with their links, to be spoiled."""
    for name in ("sizer", "reports", "workloads"):
        ignore = shutil.ignore_patterns("__pycache__", "photographs", "text")
        shutil.copytree(ROOT / name, tmp_path / name, symlinks=True, ignore=ignore)
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    return tmp_path


def test_the_contracts_of_the_layers_are_kept() -> None:
    """Packages in their order and no circle between files."""
    done = lint_imports(ROOT)
    assert done.returncode == 0, done.stdout


def test_broken_contracts_are_found_wherever_they_are_broken(copy: Path) -> None:
    """Also in `reports/` and `workloads/`, which sizer sees through its links."""
    for file, line in (
        ("reports/page.py", "from sizer.cli import main"),
        ("reports/charts/svg.py", "from ..page import render\nfrom sizer.model.fitting import fit"),
        ("sizer/records/units.py", "from sizer.limits.detection import detect"),
        ("workloads/progress.py", "from sizer.records.run import Run"),
        ("sizer/cloud.py", "PROVIDER = 1"),
    ):
        with (copy / file).open("a") as source:
            source.write(f"\n{line}\n")
    done = lint_imports(copy)
    output = " ".join(done.stdout.split())
    assert done.returncode == 1
    for broken in (
        "Each package imports only packages below it BROKEN",
        "No circle between files BROKEN",
        "Workloads know nothing of sizer BROKEN",
        "Charts are drawn from plain data BROKEN",
        "sizer.records.units -> sizer.limits.detection",
        "sizer.cloud",
    ):
        assert broken in output


def test_workloads_know_neither_sizer_nor_reports() -> None:
    """A workload may run in another interpreter, with another numpy."""
    for path in (ROOT / "workloads").rglob("*.py"):
        assert not {name for name in imports(path) if name.split(".")[0] in ("sizer", "reports", "workloads")}, path


def test_only_the_command_line_prints_or_exits() -> None:
    """Everything else returns or raises; the supervisor ends the processes that it has forked."""
    ends = {("sys", "exit"), ("sys", "stdout"), ("os", "_exit")}
    for part, path in modules():
        if part in ("cli", "__main__"):
            continue
        of_others = ends - ({("os", "_exit")} if path.stem == "supervisor" else set())
        for node in ast.walk(ast.parse(path.read_text())):
            place = f"{path}:{getattr(node, 'lineno', 0)}"
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                assert node.func.id not in PRINTING, place
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                assert (node.value.id, node.attr) not in of_others, place


def test_only_limits_know_of_cgroups() -> None:
    """Nobody else reads a cgroup file or asks which version this host has."""
    for part, path in modules():
        strings = [
            node.value
            for node in ast.walk(ast.parse(path.read_text()))
            if isinstance(node, ast.Constant) and isinstance(node.value, str)
        ]
        named = [text for text in strings if "/sys/fs/cgroup" in text or "cgroup.procs" in text]
        assert part == "limits" or not named, path


def test_the_command_line_starts_without_heavy_imports() -> None:
    """`sizer --help` must not wait for numpy: nothing that is imported at once imports it."""
    code = "import sys, sizer.cli; sizer.cli.parser(); print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not {"numpy", "scipy", "jinja2", "yaml", "psutil", "mxnet"} & set(loaded)


def test_a_stored_prediction_loads_nothing_of_runs(tmp_path: Path) -> None:
    """Of what it takes, more than numpy itself, nearly all is to import: records of runs alone are a tenth of it."""
    rows = "".join(f"{vcpus},{10 * vcpus}\n" for vcpus in (1, 2, 3, 4, 6))
    (tmp_path / "rates.csv").write_text(f"vcpus,throughput\n{rows}")
    api.import_table(tmp_path / "rates.csv", tmp_path / "study")
    code = "import sys, sizer.cli; sizer.cli.main(['predict', sys.argv[1], '--vcpus', '5']); print(*sys.modules)"
    words = [sys.executable, "-c", code, str(tmp_path / "study")]
    printed, loaded = subprocess.run(words, capture_output=True, text=True, check=True).stdout.splitlines()
    assert "5 vCPUs" in printed
    unneeded = {"sizer.records.run", "sizer.records.study", "sizer.model.fitting"}
    assert not {"scipy", "jinja2", "yaml", *unneeded} & set(loaded.split())

"""Installed, sizer's `workloads` and `reports` neither hide a user's own nor are hidden by them."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests import ROOT

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """sizer as `pip install .` puts it, without its dependencies, which the tests' own environment has."""
    target, source = tmp_path_factory.mktemp("installed"), tmp_path_factory.mktemp("source")
    for name in ("sizer", "workloads", "reports"):
        shutil.copytree(ROOT / name, source / name, symlinks=True)
    for name in ("setup.py", "pyproject.toml", "README.md"):
        shutil.copy(ROOT / name, source)
    pip = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "--quiet",
        "--no-deps",
        "--no-build-isolation",
        "--target",
        str(target),
        str(source),
    ]
    subprocess.run(pip, check=True, cwd=target)
    return target


@pytest.fixture
def users_project(tmp_path: Path) -> Path:
    """A project with a package `workloads` and a module `reports` of its own."""
    (tmp_path / "workloads").mkdir()
    (tmp_path / "workloads/__init__.py").write_text("OWNER = 'user'\n")
    (tmp_path / "workloads/image_training.py").write_text("raise SystemExit('this is the user\\'s own program')\n")
    (tmp_path / "reports.py").write_text("OWNER = 'user'\n")
    return tmp_path


def python(installed: Path, folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(installed)}
    return subprocess.run([sys.executable, *words], cwd=folder, env=environment, capture_output=True, text=True)


def test_each_finds_its_own(installed: Path, users_project: Path) -> None:
    """No top-level `workloads`, `reports` or `tests` appears among a user's packages: these mean the user's; sizer's
    reports and workloads are inside of it."""
    assert {path.name for path in installed.iterdir() if path.suffix != ".dist-info"} <= {"sizer", "bin"}
    code = (
        "import sizer.cli.commands.recommend, workloads, reports, sizer.bundled.reports as r, sizer.bundled as b\n"
        "assert r.__doc__ and (b.WORKLOADS_PATH / 'workloads/photographs/CREDITS').exists()\n"
        "assert str(b.WORKLOADS_PATH).endswith('sizer/bundled')\n"
        "print(workloads.OWNER, reports.OWNER, r.__file__)"
    )
    done = python(installed, users_project, "-c", code)
    assert done.stdout.split()[:2] == ["user", "user"], done.stderr
    assert str(installed) in done.stdout


def test_a_study_in_a_users_project_runs_sizers_workload(installed: Path, users_project: Path) -> None:
    """The child's folder is a scratch folder and its module path ours, so the user's `workloads` is not what runs."""
    (users_project / "study.yaml").write_text(
        "name: own\nmeasure: {repeats: 1, seconds: 1}\nworkloads:\n"
        "  - {kind: image_training, network: squeezenet, batch_size: 4, input: synthetic,"
        " device: {emulate: {samples_per_second: 200}}, axes: {vcpus: [1]}}\n"
    )
    done = python(installed, users_project, "-m", "sizer", "run", "study.yaml", "--out", "out")
    assert done.returncode == 0, done.stderr
    assert re.search(r"[\d.]+ images/s", done.stderr), done.stderr
    assert (users_project / "out/report.html").exists()

"""Facts about this machine are plain, and each check that fails names its fix."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path

import pytest

from sizer.host import machine as host
from sizer.host.machine import Check, Finding, FindingKind, checks, facts, interpreter
from sizer.limits import Capability, Control, detect
from sizer.records.errors import HostError
from sizer.words import finding_in_words
from tests import ROOT


def test_facts_are_those_of_this_machine_and_fit_json() -> None:
    """host.json holds what the kernel says."""
    found = facts()
    assert found.cpus == len(detect().allowed) <= (os.cpu_count() or 0)
    assert found.kernel == os.uname().release
    assert f"MemTotal: {found.memory_bytes // 1024} kB" in " ".join(Path("/proc/meminfo").read_text().split())
    assert found.packages["psutil"]
    assert json.loads(json.dumps(asdict(found)))["limits"] == detect().name


def test_every_control_and_program_is_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    """The list that `sizer doctor` shows."""
    monkeypatch.setattr(host, "_IMPORT_MXNET", "")
    names = [check.name for check in checks()]
    assert names == [*(control.value for control in Control), *names[4:]]
    assert names[4:] == ["cpus", "swap", "pressure", "fio", "mkfs.ext4", "loop devices", "mxnet"]


def test_a_program_that_is_not_there_is_installed_by_apt(monkeypatch: pytest.MonkeyPatch) -> None:
    """fio is a Debian package; the package of that name on PyPI is something else."""
    monkeypatch.setattr(host, "_first_line", lambda *_: None)
    assert host._program_check("fio", "fio", "--version") == Check(
        "fio", False, Finding(FindingKind.NOT_INSTALLED), "sudo apt-get install fio"
    )


@pytest.mark.parametrize(
    ("code", "found", "fix"),
    [
        ("import nosuchmodule", "No module named 'nosuchmodule'", "pip install 'mxnet==1.9.1'"),
        ("raise OSError('libgomp.so.1: cannot open shared object file')", "libgomp.so.1", "apt-get install libgomp1"),
    ],
)
def test_why_mxnet_does_not_import_decides_the_fix(
    code: str, found: str, fix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A missing package and a missing system library need different commands."""
    monkeypatch.setattr(host, "_IMPORT_MXNET", code)
    check = host._mxnet_check()
    assert not check.ok
    assert found in finding_in_words(check.finding)
    assert fix in (check.fix or "")


def test_versions_are_those_of_the_workloads_interpreter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What sizer's own environment has says nothing about the framework that is measured."""
    other = tmp_path / "python"
    other.write_text(f'#!/bin/sh\nexec "{sys._base_executable}" -I -S "$@"\n')  # type: ignore[attr-defined]
    other.chmod(0o755)
    monkeypatch.setenv("SIZER_MXNET_PYTHON", str(other))
    packages = facts().packages
    assert "numpy" not in packages
    assert packages["psutil"]
    check = host._mxnet_check()
    assert not check.ok
    assert str(other) in finding_in_words(check.finding)
    assert str(check.fix).startswith(f"{other} -m pip install")


def test_an_interpreter_that_is_not_there_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """doctor goes on and says what to type."""
    monkeypatch.setenv("SIZER_MXNET_PYTHON", str(tmp_path / "gone"))
    assert "numpy" not in facts().packages
    check = host._mxnet_check()
    assert (check.ok, check.fix) == (False, "unset SIZER_MXNET_PYTHON")
    assert "is not a program" in finding_in_words(check.finding)


@pytest.mark.parametrize(("capped", "ok"), [(True, True), (False, False)])
def test_swap_matters_where_runs_could_use_it(capped: bool, ok: bool) -> None:
    """A cap on memory keeps a run from swap; without one, swap hides the memory floor."""
    check = host._swap_check(1 << 30, (Capability(Control.MEMORY, capped, ""),))
    assert (check.ok, check.fix) == (ok, None if ok else "sudo swapoff -a")
    assert host._swap_check(0, ()).ok


def test_loop_devices_need_their_control_file(tmp_path: Path) -> None:
    """A kernel module that is not loaded."""
    assert host._loop_check(tmp_path / "loop-control").fix == "sudo modprobe loop"
    (tmp_path / "loop-control").touch()
    assert host._loop_check(tmp_path / "loop-control").ok


def test_facts_import_no_framework() -> None:
    """Versions come from the packages' metadata: importing MXNet takes seconds and memory."""
    code = "import sys; from sizer.host import facts; facts(); sys.exit('mxnet' in sys.modules)"
    shown = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        timeout=60,
    )
    assert shown.returncode == 0


@pytest.fixture(autouse=True)
def nothing_set(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever runs the tests may have set some."""
    for framework in ("MXNET", "OPENCV", "PYTORCH"):
        monkeypatch.delenv(f"SIZER_{framework}_PYTHON", raising=False)


@pytest.fixture
def other(tmp_path: Path) -> Path:
    """Another interpreter: a link is enough, it is another path."""
    path = tmp_path / "python"
    path.symlink_to(sys.executable)
    return path


def test_our_own_interpreter_is_the_default() -> None:
    """Whoever installed everything together sets nothing."""
    assert interpreter("mxnet") == Path(sys.executable)


def test_a_framework_may_have_an_interpreter_of_its_own(monkeypatch: pytest.MonkeyPatch, other: Path) -> None:
    """Preprocessing finds OpenCV where MXNet is, unless it has one of its own, too."""
    monkeypatch.setenv("SIZER_MXNET_PYTHON", str(other))
    assert interpreter("mxnet") == interpreter("opencv") == other
    assert interpreter("pytorch") == Path(sys.executable)
    monkeypatch.setenv("SIZER_OPENCV_PYTHON", sys.executable)
    assert interpreter("opencv") == Path(sys.executable)


def test_an_interpreter_that_is_none_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The variable and what it holds."""
    monkeypatch.setenv("SIZER_MXNET_PYTHON", str(tmp_path))
    with pytest.raises(HostError, match=r"SIZER_MXNET_PYTHON is .*which is not a program"):
        interpreter("mxnet")


def test_a_relative_path_is_meant_from_here(monkeypatch: pytest.MonkeyPatch, other: Path, tmp_path: Path) -> None:
    """Programs are started in other folders, where it would lead elsewhere."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SIZER_MXNET_PYTHON", "./python")
    assert interpreter("mxnet") == other


def test_a_bare_name_is_looked_for_in_the_path_alone(
    monkeypatch: pytest.MonkeyPatch, other: Path, tmp_path: Path
) -> None:
    """A file of that name in a folder of somebody else's is not started."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SIZER_MXNET_PYTHON", "python")
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(HostError, match="which is not a program"):
        interpreter("mxnet")
    (tmp_path / "bin").mkdir()
    other.rename(tmp_path / "bin/python")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    assert interpreter("mxnet") == tmp_path / "bin/python"

"""Facts about this machine are plain, and each check that fails names its fix."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path

import pytest

from sizer.host import machine
from sizer.host import machine as host
from sizer.host.asking import first_line
from sizer.host.findings import Check, Finding, FindingKind
from sizer.host.machine import checks, facts, with_frameworks
from sizer.limits.detection import detect
from sizer.limits.interface import Capability, Control
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
    monkeypatch.setattr(host, "framework_checks", lambda: (Check("mxnet", True, Finding(FindingKind.QUIET)),))
    names = [check.name for check in checks()]
    assert names == [*(control.value for control in Control), *names[4:]]
    assert names[4:] == ["cpus", "swap", "pressure", "fio", "mkfs.ext4", "loop devices", "mxnet", "transformers"]


def test_a_program_that_is_not_there_is_installed_by_apt(monkeypatch: pytest.MonkeyPatch) -> None:
    """fio is a Debian package; the package of that name on PyPI is something else."""
    monkeypatch.setattr(host, "first_line", lambda *_: None)
    assert host._program_check("fio", "fio", "--version") == Check(
        "fio", False, Finding(FindingKind.NOT_INSTALLED), "sudo apt-get install fio"
    )


def test_each_framework_of_a_study_has_its_own_versions(bare: Path) -> None:
    """One is where sizer is, the other in a Python without packages; what both have is said of the first."""
    found = with_frameworks(facts(), {"opencv": Path(sys.executable), "pytorch": bare})
    assert [framework.path for framework in found.frameworks] == [sys.executable, str(bare)]
    assert found.frameworks[0].packages["numpy"] == found.packages["numpy"]
    assert found.frameworks[1].packages == {}
    assert found.frameworks[1].python == found.python == sys.version.split()[0]
    assert with_frameworks(found, {}) == found


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
    code = "import sys; from sizer.host.machine import facts; facts(); sys.exit('mxnet' in sys.modules)"
    shown = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        timeout=300,
    )
    assert shown.returncode == 0


def test_programs_that_are_not_there_say_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """A container without lscpu or an os-release is still described."""
    assert first_line("no-such-program-of-anybody", "--version") is None
    monkeypatch.setattr("sizer.host.machine.shutil.which", lambda _name: None)
    assert machine._lscpu() == {}

    def none() -> None:
        raise FileNotFoundError("os-release")

    monkeypatch.setattr("sizer.host.machine.platform.freedesktop_os_release", none)
    assert machine._distribution() == "Linux"

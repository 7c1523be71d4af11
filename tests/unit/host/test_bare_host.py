"""The facts of a host on which the usual programs are not there or do not answer."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from sizer.host import machine
from sizer.host.machine import FindingKind
from sizer.words import in_words


def test_programs_that_are_not_there_say_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """A container without lscpu or an os-release is still described."""
    assert machine._first_line("no-such-program-of-anybody", "--version") is None
    monkeypatch.setattr("sizer.host.machine.shutil.which", lambda _name: None)
    assert machine._lscpu() == {}

    def none() -> None:
        raise FileNotFoundError("os-release")

    monkeypatch.setattr("sizer.host.machine.platform.freedesktop_os_release", none)
    assert machine._distribution() == "Linux"


def test_an_interpreter_that_does_not_run_has_no_versions(tmp_path: Path) -> None:
    """Missing, failing, or printing something else: its check says so, the versions do not."""
    assert machine._ask(tmp_path / "nowhere", ["numpy"]) == {}
    for script in ("exit 1", "echo nonsense"):
        program = tmp_path / "python"
        program.write_text(f"#!/bin/sh\n{script}\n")
        program.chmod(0o755)
        assert machine._ask(program, ["numpy"]) == {}
    assert machine._ask(Path(sys.executable), ())["python"].startswith(f"{sys.version_info.major}.")


@pytest.mark.parametrize("error", [OSError("Exec format error"), subprocess.TimeoutExpired("python", 60)])
def test_an_interpreter_that_hangs_is_no_mxnet(error: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    """The doctor names the interpreter and how to choose another."""

    def run(*_arguments: object) -> None:
        raise error

    monkeypatch.setattr(machine, "_run", run)
    check = machine._mxnet_check()
    assert (check.ok, check.fix) == (False, "unset SIZER_MXNET_PYTHON")
    assert check.finding.kind is FindingKind.NO_IMPORT
    assert in_words(check.finding.text) == str(error)

"""The facts of a host on which the usual programs are not there or do not answer."""

from __future__ import annotations

import pytest

from sizer.host import machine
from sizer.host.asking import first_line


def test_programs_that_are_not_there_say_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """A container without lscpu or an os-release is still described."""
    assert first_line("no-such-program-of-anybody", "--version") is None
    monkeypatch.setattr("sizer.host.machine.shutil.which", lambda _name: None)
    assert machine._lscpu() == {}

    def none() -> None:
        raise FileNotFoundError("os-release")

    monkeypatch.setattr("sizer.host.machine.platform.freedesktop_os_release", none)
    assert machine._distribution() == "Linux"

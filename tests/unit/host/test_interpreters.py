from __future__ import annotations

import sys
from pathlib import Path

import pytest

from sizer.host.machine import interpreter
from sizer.records.errors import HostError


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

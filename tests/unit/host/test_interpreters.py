"""Where the programs of a framework run, and each reason why an interpreter is not one for them."""

from __future__ import annotations

import os
import re
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from sizer.host.interpreters import Interpreter, examined, interpreter, look_into, what_it_lacks
from sizer.records.frameworks import FRAMEWORKS
from sizer.records.messages import HostError, InputError
from sizer.records.study import FrameworkPython
from tests import ROOT


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


def script(path: Path, *lines: str) -> Path:
    """A program that is no interpreter."""
    path.write_text("\n".join(["#!/bin/sh", *lines, ""]))
    path.chmod(0o755)
    return path


def test_a_framework_may_have_an_interpreter_of_its_own(monkeypatch: pytest.MonkeyPatch, other: Path) -> None:
    """Preprocessing finds OpenCV where MXNet is, unless it has one of its own, too."""
    monkeypatch.setenv("SIZER_MXNET_PYTHON", str(other))
    assert interpreter("mxnet") == interpreter("opencv") == other
    assert interpreter("pytorch") == Path(sys.executable)
    monkeypatch.setenv("SIZER_OPENCV_PYTHON", sys.executable)
    assert interpreter("opencv") == Path(sys.executable)


def test_what_the_study_says_wins(monkeypatch: pytest.MonkeyPatch, other: Path) -> None:
    """Over the variable, even where that one is wrong."""
    monkeypatch.setenv("SIZER_PYTORCH_PYTHON", "/nowhere/python")
    assert interpreter("pytorch", FrameworkPython("pytorch", str(other))) == other
    monkeypatch.setenv("PATH", str(other.parent))
    assert interpreter("pytorch", FrameworkPython("pytorch", "python")) == other


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


@pytest.mark.parametrize(
    ("python", "said"),
    [
        ("{folder}/gone", "{folder}/gone is not there; give the path of a Python interpreter"),
        ("{folder}", "{folder} is a folder; give the program in it, such as {folder}/bin/python"),
        ("{folder}/plain", "{folder}/plain is not a program that can be started; give the path"),
        ("no-such-python", "no-such-python is not in PATH; give the path of a Python interpreter"),
    ],
)
def test_what_a_study_says_wrongly_has_its_line(tmp_path: Path, python: str, said: str) -> None:
    """File, line, field, and what to write."""
    (tmp_path / "plain").touch()
    chosen = FrameworkPython("pytorch", python.format(folder=tmp_path), "their.yaml", 7)
    where = "their.yaml line 7: `python` of `pytorch` in `frameworks`: "
    with pytest.raises(InputError, match=re.escape(where + said.format(folder=tmp_path))):
        interpreter("pytorch", chosen)


def test_what_is_no_python_says_so(tmp_path: Path) -> None:
    """Missing, failing, or printing something else."""
    programs = [
        tmp_path / "nowhere",
        script(tmp_path / "fails", "echo no such luck >&2", "exit 1"),
        script(tmp_path / "talks", "echo nonsense"),
        script(tmp_path / "counts", "echo 7"),
    ]
    for program, reason in zip(
        programs, ["No such file", "no such luck", "something else", "something else"], strict=True
    ):
        lack = what_it_lacks("pytorch", examined("pytorch", program))
        assert lack is not None
        assert str(lack.message).startswith(f"{program} does not answer as a Python interpreter does (")
        assert reason in str(lack.message)
        assert str(lack.message).endswith("; name another interpreter in `frameworks` of the study file")


def found(version: str = "3.11.7", torch: str = "2.13.0+cpu", *, without: str = "") -> Interpreter:
    """An interpreter as it answers."""
    modules = frozenset(FRAMEWORKS["pytorch"].modules) - {without}
    return Interpreter(Path("/t/python"), version, {"torch": torch} if torch else {}, modules)


def test_what_is_too_old_or_missing_says_what_to_type() -> None:
    """One sentence each; a framework without a version, as one built from its source, is taken as it is."""
    install = "type: /t/python -m pip install torch==2.13.0 numpy opencv-python-headless simplejpeg lmdb"
    cases = [
        (
            found("3.9.18"),
            "has Python 3.9.18, and sizer's programs need 3.10 or newer; name another interpreter",
        ),
        (found(without="torch"), f"has no torch; {install}"),
        (found(without="cv2"), f"has no opencv-python-headless; {install}"),
        (found(torch="1.13.1"), f"has torch 1.13.1, and sizer's programs need 2.0 or newer; {install}"),
    ]
    for answer, said in cases:
        lack = what_it_lacks("pytorch", answer)
        assert str(lack and lack.message).startswith(f"/t/python {said}")
    for answer in (found(), found("3.10.0"), found(torch=""), found(torch="2.0.0rc1")):
        assert what_it_lacks("pytorch", answer) is None


def test_networks_of_transformers_need_it() -> None:
    """No others do; and only what is missing is installed, for another version of the framework may be meant."""
    assert what_it_lacks("pytorch", found(), ["resnet50"]) is None
    lack = what_it_lacks("pytorch", found(), ["resnet50", "vit_b16", "bert_base"])
    assert str(lack and lack.message) == (
        "/t/python has no transformers, which makes bert_base and vit_b16; type: /t/python -m pip install "
        "'transformers>=5,<6'"
    )
    has = replace(found(), modules=found().modules | {"transformers"})
    assert what_it_lacks("pytorch", has, ["vit_b16"]) is None
    assert '"transformers>=5,<6"' in (ROOT / "setup.py").read_text()


def test_what_is_installed_is_what_sizer_itself_is_installed_with() -> None:
    """A version that is pinned in two places is the same in both."""
    pinned = {package for each in FRAMEWORKS.values() for package in each.install if "==" in package}
    assert pinned == {"mxnet==1.9.1", "torch==2.13.0"}
    assert all(package in (ROOT / "setup.py").read_text() for package in pinned)


def test_an_interpreter_is_asked_as_a_run_is_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A module that only PYTHONPATH brings is none that a run has, and nothing is imported."""
    (tmp_path / "torch.py").write_text("raise SystemExit(9)")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    assert "json" in look_into(Path(sys.executable), (), ["json"]).modules
    bare = script(tmp_path / "bare", f'exec "{sys._base_executable}" -S "$@"')  # type: ignore[attr-defined]
    assert look_into(bare, ["torch"], ["torch"]).modules == frozenset()
    assert os.environ["PYTHONPATH"] == str(tmp_path)

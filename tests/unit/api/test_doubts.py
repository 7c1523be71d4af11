"""What is known before runs are made to let them fail."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from sizer.api import preconditions
from sizer.api.preconditions import check_interpreters, doubts
from sizer.host.interpreters import Interpreter
from sizer.records.frameworks import FRAMEWORKS
from sizer.records.messages import InputError
from sizer.records.study import FrameworkPython, RunSpec, Study, Workload
from sizer.words.terminal import doubt_in_words

MakeSpec = Callable[..., RunSpec]


def said(spec: RunSpec, beside: Path | None = None, **changes: object) -> list[str]:
    """Each doubt, as it is said."""
    changed = replace(spec, workload=replace(spec.workload, **changes))  # type: ignore[arg-type]
    return [doubt_in_words(doubt) for doubt in doubts([changed], beside)]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """One with a program, which nobody is in."""
    (tmp_path / "there" / "train.py").parent.mkdir()
    (tmp_path / "there" / "train.py").write_text("")
    monkeypatch.chdir(tmp_path)
    return tmp_path / "there"


def test_a_file_beside_the_study_file_needs_a_folder(make_spec: MakeSpec, folder: Path) -> None:
    """The command starts in an empty one, unless it is told otherwise."""
    spec = make_spec("sh", "train.py")
    assert said(spec, folder) == [
        "workload `job`: its command starts in an empty temporary folder, where train.py is not; give `cwd: .`"
    ]
    assert said(spec, folder, cwd=str(folder)) == []
    assert said(spec, folder.parent) == []
    assert said(make_spec("sh", str(folder / "train.py")), folder) == []
    assert said(make_spec("sh", "-c", "x" * 300), folder) == []
    assert said(make_spec("sh", "-c", "x\n" * 100_000), folder) == []


def test_a_file_in_the_present_folder_needs_it_by_its_path(
    make_spec: MakeSpec, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From where the study file lies, another folder has another name."""
    monkeypatch.chdir(folder)
    assert said(make_spec("sh", "train.py"), folder.parent)[0].endswith(f"give `cwd: {folder}`")
    assert said(make_spec("sh", "train.py"))[0].endswith(f"give `cwd: {folder}`")


def test_a_user_that_runs_cannot_be_made_as_is_said_before(make_spec: MakeSpec) -> None:
    """As the runs would say, which are refused for it."""
    (doubt,) = doubts([make_spec("true")], run_as="no-such-user")
    assert doubt_in_words(doubt) == (
        "workload `job`: will not run: This host has no user no-such-user; write another one as `run_as`."
    )


def test_programs_that_are_not_there_are_named(make_spec: MakeSpec) -> None:
    """Those of `setup` and `before`, too; one that a run fills in is not known yet."""
    spec = make_spec("no-such-one")
    assert said(spec, setup=("no-such-two", "-x"), before=("no-such-three",)) == [
        "workload `job`: no-such-two, the program of its `setup`, was not found; give its path",
        "workload `job`: no-such-three, the program of its `before`, was not found; give its path",
        "workload `job`: the program no-such-one was not found; give its path",
    ]
    assert said(make_spec("sh"), before=("{scratch}/prog",), setup=("sh", "-c", "true")) == []


def test_a_variable_to_pass_on_that_is_not_set_is_named(make_spec: MakeSpec, monkeypatch: pytest.MonkeyPatch) -> None:
    """A name with a star may stand for none."""
    monkeypatch.setenv("SET_HERE", "1")
    assert said(make_spec("sh"), pass_env=("SET_HERE", "NOT_SET_HERE", "NOT_SET_*")) == [
        "workload `job`: NOT_SET_HERE of its `pass_env` is not set here; set it, or leave it out"
    ]


def trained(spec: RunSpec, name: str, framework: str) -> RunSpec:
    """The spec of one of sizer's own workloads."""
    return replace(spec, workload=Workload(name, "image_training", framework, "resnet50"))


def test_workloads_of_a_framework_that_is_not_installed_are_named_together(
    make_spec: MakeSpec, bare: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the command that installs it; the others are none of it."""
    monkeypatch.setenv("SIZER_PYTORCH_PYTHON", str(bare))
    monkeypatch.delenv("SIZER_MXNET_PYTHON", raising=False)
    specs = [trained(make_spec(), name, framework) for name, framework in (("a", "pytorch"), ("b", "pytorch"))]
    assert [doubt_in_words(doubt) for doubt in doubts([*specs, trained(make_spec(), "c", "tensorflow")])] == [
        "workload `c`: will not run: sizer has no program on tensorflow; measure your own with `kind: command`, "
        "which reads its log",
        f"workloads `a` and `b`: will not run: {bare} has no torch, numpy or opencv-python-headless; type: {bare} "
        "-m pip install torch==2.13.0 numpy opencv-python-headless simplejpeg lmdb",
    ]
    assert doubts(specs, named=[FrameworkPython("pytorch", str(bare))]) == []


def test_an_interpreter_of_the_study_is_started_to_see_whether_it_can(
    make_spec: MakeSpec, bare: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And only one that a run uses."""
    monkeypatch.delenv("SIZER_MXNET_PYTHON", raising=False)
    study = Study("s", (), frameworks=(FrameworkPython("pytorch", str(bare), "s.yaml", 3),))
    own, torch = trained(make_spec(), "a", "mxnet"), trained(make_spec(), "b", "pytorch")
    assert check_interpreters([own, make_spec("sh")], study) == {"mxnet": Path(sys.executable)}
    with pytest.raises(InputError, match=r"s.yaml line 3: `python` of `pytorch` in `frameworks`: .*/bare has no torch"):
        check_interpreters([own, torch], study)
    making = replace(study, frameworks=(FrameworkPython("opencv", str(bare), "s.yaml", 4),))
    with pytest.raises(InputError, match=r"s.yaml line 4: `python` of `opencv` in `frameworks`: .*/bare has no opencv"):
        check_interpreters([own], making)
    assert check_interpreters([make_spec("sh")], making) == {}


def test_a_network_whose_package_is_not_there_is_doubted(
    make_spec: MakeSpec, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Its workload alone; where the study names the interpreter, it is an error with the line."""
    python = tmp_path / "python"
    python.symlink_to(sys.executable)
    monkeypatch.setenv("SIZER_PYTORCH_PYTHON", str(python))
    has = Interpreter(python, "3.11.7", {"torch": "2.13.0"}, frozenset(FRAMEWORKS["pytorch"].modules))
    monkeypatch.setattr(preconditions, "examined", lambda *_: has)
    ours = replace(make_spec("sh").workload, kind="image_training", framework="pytorch", command=())
    specs = [
        replace(make_spec("sh"), workload=replace(ours, name=network, network=network))
        for network in ("resnet50", "vit_b16")
    ]
    problem = f"{python} has no transformers, which makes vit_b16; type: {python} -m pip install 'transformers>=5,<6'"
    assert [doubt_in_words(doubt) for doubt in doubts(specs)] == [f"workload `vit_b16`: will not run: {problem}"]
    assert doubts(specs[:1]) == []
    study = Study("s", (), frameworks=(FrameworkPython("pytorch", str(python), "s.yaml", 3),))
    with pytest.raises(InputError) as error:
        check_interpreters(specs, study)
    assert str(error.value) == f"s.yaml line 3: `python` of `pytorch` in `frameworks`: {problem}."
    assert check_interpreters(specs[:1], study) == {"pytorch": python}

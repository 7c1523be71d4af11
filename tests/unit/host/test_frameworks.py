"""What `sizer doctor` says of the frameworks that programs run on."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from sizer.host.findings import Check, FindingKind
from sizer.host.frameworks import framework_checks, transformers_check
from sizer.records.frameworks import FRAMEWORKS
from sizer.words.terminal import check_lines, finding_in_words


@pytest.fixture(autouse=True)
def nothing_set(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever runs the tests may have set some; and here opencv stands for a framework that is quickly imported."""
    for framework in ("MXNET", "OPENCV", "PYTORCH"):
        monkeypatch.delenv(f"SIZER_{framework}_PYTHON", raising=False)


def checked(monkeypatch: pytest.MonkeyPatch, program: str) -> Check:
    """The check of a framework that this program would import."""
    monkeypatch.setitem(FRAMEWORKS, "opencv", replace(FRAMEWORKS["opencv"], gpus_seen=program))
    (check,) = framework_checks(["opencv"])
    return check


@pytest.mark.parametrize(
    ("gpus", "said"),
    [
        ("[]", "4.11 in {python}; sees no GPU"),
        ("['NVIDIA L4']", "4.11 in {python}; sees NVIDIA L4"),
        ("['A', 'B', 'C']", "4.11 in {python}; sees A, B and C"),
    ],
)
def test_version_place_and_gpus_are_told(monkeypatch: pytest.MonkeyPatch, gpus: str, said: str) -> None:
    """Whatever the framework prints before is passed over."""
    check = checked(monkeypatch, f"import json; print('hello'); print(json.dumps(['4.11', {gpus}]))")
    assert (check.ok, check.fix) == (True, None)
    assert finding_in_words(check.finding) == said.format(python=sys.executable)


@pytest.mark.parametrize(
    ("program", "found", "fix"),
    [
        ("raise ImportError('numpy is too new')", "numpy is too new", "-m pip install opencv-python-headless"),
        ("raise OSError('libgomp.so.1: cannot open shared object file')", "libgomp.so.1", "apt-get install libgomp1"),
        ("print('nothing')", "", "-m pip install"),
    ],
)
def test_why_it_does_not_import_decides_the_fix(
    monkeypatch: pytest.MonkeyPatch, program: str, found: str, fix: str
) -> None:
    """A package and a system library need different commands."""
    check = checked(monkeypatch, program)
    assert (check.ok, check.finding.kind) == (False, FindingKind.NO_IMPORT)
    assert finding_in_words(check.finding).startswith(f"cannot be imported in {sys.executable}: ")
    assert found in finding_in_words(check.finding)
    assert fix in (check.fix or "")


def test_where_it_is_missing_pytorch_is_installed_with_it(bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One command for an interpreter that has neither; and what a variable says that is no program is told."""
    monkeypatch.setenv("SIZER_PYTORCH_PYTHON", str(bare))
    assert check_lines(transformers_check()) == [
        f"NO  transformers: not installed in {bare}",
        f"      to fix it, type: {bare} -m pip install torch==2.13.0 numpy opencv-python-headless simplejpeg lmdb "
        "'transformers>=5,<6'",
    ]
    monkeypatch.setenv("SIZER_PYTORCH_PYTHON", str(bare.parent / "gone"))
    assert transformers_check().fix == "unset SIZER_PYTORCH_PYTHON"


def test_one_that_is_not_installed_is_not_imported(bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its line says where it was looked for, and the next what installs it there."""
    monkeypatch.setenv("SIZER_OPENCV_PYTHON", str(bare))
    assert check_lines(checked(monkeypatch, "raise SystemExit(7)")) == [
        f"NO  opencv: not installed in {bare}",
        f"      to fix it, type: {bare} -m pip install opencv-python-headless simplejpeg numpy lmdb",
    ]


@pytest.mark.parametrize("line", ["exit 1", "echo nonsense"])
def test_a_variable_that_names_no_python_is_to_be_unset(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str
) -> None:
    """Or one that is not there."""
    program = tmp_path / "python"
    monkeypatch.setenv("SIZER_OPENCV_PYTHON", str(program))
    check = checked(monkeypatch, "")
    assert (check.ok, check.fix) == (False, "unset SIZER_OPENCV_PYTHON")
    assert "is not a program" in finding_in_words(check.finding)
    program.write_text(f"#!/bin/sh\n{line}\n")
    program.chmod(0o755)
    check = checked(monkeypatch, "")
    assert (check.ok, check.fix) == (False, "unset SIZER_OPENCV_PYTHON")
    assert "does not answer as a Python interpreter does" in finding_in_words(check.finding)

"""How sizer ends where something outside of it went wrong: an exit code and one sentence, never a traceback."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from sizer.cli import main
from sizer.records.errors import HostError, InputError, NoAnswer
from tests import ROOT


@pytest.fixture
def init_raising(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[[BaseException], int]:
    """`sizer init`, in which this is raised."""

    def run(error: BaseException) -> int:
        def template() -> str:
            raise error

        monkeypatch.setattr("sizer.cli.commands.init.template", template)
        return main(["init", str(tmp_path / "a.yaml")])

    return run


@pytest.mark.parametrize(
    ("error", "code", "sentence"),
    [
        (KeyboardInterrupt(), 130, "sizer: interrupted\n"),
        (InputError("no such study"), 2, "sizer: no such study\n"),
        (HostError("no cgroups"), 3, "sizer: no cgroups\n"),
        (NoAnswer("too few runs"), 5, "sizer: too few runs\n"),
        (
            PermissionError(errno.EACCES, "Permission denied", "/etc/a.yaml"),
            2,
            "sizer: [Errno 13] Permission denied: '/etc/a.yaml'; check the file or folder named there, then type the "
            "command again.\n",
        ),
        (
            OSError(errno.ENOSPC, "No space left on device"),
            2,
            "sizer: The system refused (No space left on device); check where the output goes, then type the command "
            "again.\n",
        ),
        (
            OSError("closed"),
            2,
            "sizer: The system refused (closed); check where the output goes, then type the command again.\n",
        ),
    ],
)
def test_an_error_is_one_sentence_and_its_exit_code(
    error: BaseException,
    code: int,
    sentence: str,
    init_raising: Callable[[BaseException], int],
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A script tells the kinds of failure apart by the code, a person by the sentence on stderr."""
    assert init_raising(error) == code
    said = capsys.readouterr()
    assert said.err == sentence
    assert said.out == ""


def test_a_reader_that_is_gone_ends_it_quietly(
    init_raising: Callable[[BaseException], int], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """As under `head`: the code of SIGPIPE, and what is still to be flushed goes nowhere."""
    with (tmp_path / "out").open("w") as out:
        monkeypatch.setattr(sys, "stdout", out)
        assert init_raising(BrokenPipeError(errno.EPIPE, "Broken pipe")) == 141
        out.write("lost")
        out.flush()
        assert os.fstat(out.fileno()).st_rdev == os.stat(os.devnull).st_rdev
    assert (tmp_path / "out").read_text() == ""


def test_a_real_closed_pipe_leaves_no_traceback() -> None:
    """`sizer catalog list | head -1` ends with nothing on stderr."""
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "w") as pipe:
        done = subprocess.run(
            [sys.executable, "-m", "sizer", "catalog", "list"],
            stdout=pipe,
            stderr=subprocess.PIPE,
            text=True,
            cwd=ROOT,
            timeout=300,
            check=False,
        )
    assert (done.returncode, done.stderr) == (141, "")

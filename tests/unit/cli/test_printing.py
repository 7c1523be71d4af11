"""What reaches the terminal."""

from __future__ import annotations

import errno
import io
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from sizer.analysis.monitor import Live
from sizer.api.events import RunFinished
from sizer.cli import main
from sizer.cli.printing import escaped
from sizer.cli.progress import EventPrinter
from sizer.records.messages import HostError, InputError, NoAnswer
from sizer.records.run import Cause, CauseKind, Failure, Run
from sizer.records.run_kinds import Outcome
from sizer.records.study import RunSpec
from tests import ROOT

ESCAPE = "\x1b[2J\x9b31m\u202e"


class Terminal(io.StringIO):
    """A stream that says it is one."""

    def isatty(self) -> bool:
        return True


def test_all_that_is_printed_is_escaped(capsys: pytest.CaptureFixture[str]) -> None:
    """Whoever prints it, and as long as it lasts; lines and tabs stay."""
    with escaped():
        print(f"a\tb{ESCAPE}")
        print(f"c{ESCAPE}", file=sys.stderr)
        sys.stdout.writelines(["d\r", "e\n"])
    print("\x1b")
    shown = capsys.readouterr()
    assert shown.out == "a\tb\\x1b[2J\\u009b31m\\u202e\nd\\re\n\x1b\n"
    assert shown.err == "c\\x1b[2J\\u009b31m\\u202e\n"


def test_a_terminal_of_another_encoding_shows_an_escape(monkeypatch: pytest.MonkeyPatch) -> None:
    """Instead of ending us in the middle of a line."""
    shown = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(shown, encoding="ascii"))
    with escaped():
        print("±2 %")
        sys.stdout.flush()
    assert shown.getvalue() == b"\\xb12 %\n"


def test_progress_moves_the_cursor_and_nobody_else_does(
    monkeypatch: pytest.MonkeyPatch, make_run: Callable[..., Run], make_spec: Callable[..., RunSpec]
) -> None:
    """A workload's unit and last words can hold anything."""
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    run = replace(
        make_run(None),
        outcome=Outcome.CRASHED,
        error=Failure(Cause(CauseKind.REFUSED, text=f"failed{ESCAPE}"), last_lines=ESCAPE),
    )
    with escaped():
        progress = EventPrinter()
        progress(Live(make_spec("true", vcpus=1.0), 1.0, 100.0, 1.0, 0.0, 0.0, f"image{ESCAPE}"))
        progress(RunFinished(run, None))
    shown = terminal.getvalue().replace("\r\x1b[K", "")
    assert not any(char in shown for char in ESCAPE if not char.isprintable())
    assert "failed\\x1b[2J" in shown


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


@pytest.fixture
def init_raising(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[[BaseException], int]:
    """`sizer init`, in which this is raised."""

    def run(error: BaseException) -> int:
        def template() -> str:
            raise error

        monkeypatch.setattr("sizer.cli.commands.init.template", template)
        return main(["init", str(tmp_path / "a.yaml")])

    return run


def test_an_unforeseen_fault_is_one_sentence_and_a_file(
    temporary: Path, init_raising: Callable[[BaseException], int], capsys: pytest.CaptureFixture[str]
) -> None:
    """The terminal shows no traceback; the file that is named holds it, and the exit code is 1."""
    assert init_raising(KeyError("what\x1b[31m\nnobody")) == 1
    err = capsys.readouterr().err
    (kept,) = temporary.glob("sizer-fault-*.txt")
    assert err.startswith("sizer: internal error in sizer (KeyError: ")
    assert f"everything measured is kept. Please report it with the traceback in {kept}" in err
    assert err.count("\n") == 1
    assert "\x1b" not in err
    assert "Traceback (most recent call last)" in kept.read_text()
    assert "init.py" in kept.read_text()


def test_a_fault_is_told_where_no_file_can_be_written(
    init_raising: Callable[[BaseException], int],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    """A full or missing temporary folder does not turn the sentence into a traceback."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "nowhere"))
    assert init_raising(RuntimeError("x")) == 1
    assert (
        "(RuntimeError: x); everything measured is kept. The traceback could not be written" in capsys.readouterr().err
    )


def test_a_sentence_that_quotes_a_whole_file_is_cut(
    init_raising: Callable[[BaseException], int], capsys: pytest.CaptureFixture[str]
) -> None:
    """A value of a megabyte does not fill the terminal."""
    assert init_raising(InputError("x" * 10**6)) == 2
    err = capsys.readouterr().err
    assert len(err) < 1_100
    assert err.endswith(" ...\n")


def test_a_word_of_a_megabyte_does_not_fill_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    """argparse quotes what it does not understand; the exit code stays 2."""
    with pytest.raises(SystemExit) as ended:
        main(["predict", ".", "--vcpus", "x" * 10**6])
    assert ended.value.code == 2
    assert len(capsys.readouterr().err) < 2_500


def test_a_name_of_two_lines_makes_one_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    """Nobody can make up a second line of an error by the name of a file or folder."""
    assert main(["status", "a\nsizer: all is well"]) == 2
    assert capsys.readouterr().err.startswith("sizer: a\\nsizer: all is well: there is no such folder")


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
    output = capsys.readouterr()
    assert output.err == sentence
    assert output.out == ""


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

"""What reaches the terminal."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from dataclasses import replace

import pytest

from sizer.analysis.monitor import Live
from sizer.cli.printing import escaped
from sizer.cli.progress import RunProgress
from sizer.records.run import Cause, CauseKind, Failure, Run
from sizer.records.run_kinds import Outcome
from sizer.records.study import RunSpec

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
        progress = RunProgress(1, 0, 60.0)
        progress.watch(Live(make_spec("true", vcpus=1.0), 1.0, 100.0, 1.0, 0.0, 0.0, f"image{ESCAPE}"))
        progress.end(run)
    shown = terminal.getvalue().replace("\r\x1b[K", "")
    assert not any(char in shown for char in ESCAPE if not char.isprintable())
    assert "failed\\x1b[2J" in shown

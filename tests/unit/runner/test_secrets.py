"""What a program prints and what is said of its run, without the values that nobody is shown."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from sizer.records import Cause, CauseKind, Failure, Outcome, Run, RunWarning, WarningKind
from sizer.runner.outlets import HELD_BACK, LONGEST_LINE, Lines
from sizer.runner.secrets import Secrets


def test_each_value_is_replaced_by_its_name() -> None:
    """The longest first, so that no half of one is left; what is short is part of ordinary words."""
    secrets = Secrets({"A": "abcdef", "B": "abcdefgh", "C": "no", "D": ""})
    assert secrets.hidden(b"no abcdefgh, abcdef and abcde") == b"no [B], [A] and abcde"


def test_each_line_of_a_value_is_replaced() -> None:
    """A private key is read a line at a time."""
    secrets = Secrets({"KEY": "-----BEGIN\nMIIEpAIBAAKC\n  end-of-it\n"})
    assert secrets.hidden(b"MIIEpAIBAAKC\r\nend-of-it\n") == b"[KEY]\r\n[KEY]\n"


def test_bytes_that_are_no_text_are_found_too() -> None:
    """A variable may hold any bytes."""
    secrets = Secrets({"RAW": os.fsdecode(b"\xff\xfe\xfd\xfc\xfb\xfa")})
    assert secrets.hidden(b"<\xff\xfe\xfd\xfc\xfb\xfa>") == b"<[RAW]>"


def test_nothing_stored_of_a_run_holds_one(make_run: Callable[..., Run]) -> None:
    """Causes, what explains them, last words and warnings."""
    secret = "hush-hush"
    failure = Failure(
        Cause(CauseKind.BROKEN_EVENTS, text=secret), (Cause(CauseKind.NO_RATE, text=f"rate {secret}"),), f"so {secret}"
    )
    warning = RunWarning(WarningKind.FILES_CHANGED, {"files": 1.0}, f"{secret}.txt")
    run = replace(make_run(1.0, 100.0), outcome=Outcome.CRASHED, error=failure, warnings=(warning,))
    hidden: Any = Secrets({"MINE": secret}).out_of(run)
    assert secret not in repr(hidden)
    assert hidden.error.last_lines == "so [MINE]"
    assert hidden.warnings[0].text == "[MINE].txt"
    assert Secrets({}).out_of(run) is run


def test_no_value_is_seen_in_two_halves() -> None:
    """A line waits for its end; of one that is too long, more than the length of a value waits."""
    reading, writing = os.pipe2(os.O_NONBLOCK)
    lines = Lines(reading)
    try:
        os.write(writing, b"token hush")
        assert lines.read() == b""
        os.write(writing, b"-hush\nnext")
        assert lines.read() == b"token hush-hush\n"
        os.write(writing, b"x" * (LONGEST_LINE - 4))
        assert lines.read() == b""
        assert lines.unfinished.startswith(b"next")
        os.write(writing, b"y")
        assert len(lines.read()) == LONGEST_LINE + 1 - HELD_BACK
        assert lines.rest() == b"x" * (HELD_BACK - 1) + b"y"
        os.close(writing)
        assert lines.read() == b""
        assert lines.closed
    finally:
        os.close(reading)

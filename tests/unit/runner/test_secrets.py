"""What a program prints and what is said of its run, without the values that nobody is shown."""

from __future__ import annotations

import html
import json
import os
import shlex
from base64 import b64encode
from collections.abc import Callable
from dataclasses import replace
from typing import Any
from urllib.parse import quote, quote_plus

import pytest

from sizer.analysis.events import EventError, Start, parse_event
from sizer.records.run import Cause, CauseKind, Failure, Meter, MeterKind, Run, RunWarning, WarningKind
from sizer.records.run_kinds import Outcome
from sizer.runner.outlets import HELD_BACK, LONGEST_LINE, Lines
from sizer.runner.secrets import Secrets


def test_each_value_is_replaced_by_its_name() -> None:
    """The longest first, so that no half of one is left; what is short is part of ordinary words."""
    secrets = Secrets({"A": "abcdef", "B": "abcdefgh", "C": "no", "D": ""})
    assert secrets.hidden(b"no abcdefgh, abcdef and abcde") == b"no [B], [A] and abcde"


def test_bytes_that_are_no_text_are_found_too() -> None:
    """A variable may hold any bytes."""
    secrets = Secrets({"RAW": os.fsdecode(b"\xff\xfe\xfd\xfc\xfb\xfa")})
    assert secrets.hidden(b"<\xff\xfe\xfd\xfc\xfb\xfa>") == b"<[RAW]>"


AWKWARD = "pä\"ss/w'o rd\\x&é😀"
RAW = AWKWARD.encode()


@pytest.mark.parametrize(
    ("printed", "left"),
    [
        (AWKWARD, "[KEY]"),
        (json.dumps(AWKWARD), '"[KEY]"'),
        (json.dumps(AWKWARD, ensure_ascii=False), '"[KEY]"'),
        (json.dumps(AWKWARD).replace("/", "\\/").replace("00e4", "00E4"), '"[KEY]"'),
        (json.dumps({"inner": json.dumps(AWKWARD)}), r'{"inner": "\"[KEY]\""}'),
        (repr(AWKWARD), "'[KEY]'"),
        (ascii(AWKWARD), "'[KEY]'"),
        (repr(RAW), "b'[KEY]'"),
        ("".join(f"\\{byte:03o}" if byte > 0x7F else chr(byte) for byte in RAW), "[KEY]"),
        (shlex.quote(AWKWARD), "'[KEY]'"),
        (html.escape(AWKWARD), "[KEY]"),
        (AWKWARD.encode("ascii", "xmlcharrefreplace").decode(), "[KEY]"),
        (quote(AWKWARD), "[KEY]"),
        (quote(AWKWARD, safe="").lower(), "[KEY]"),
        (quote_plus(AWKWARD), "[KEY]"),
        (b64encode(b"user:" + RAW).decode(), "dXNlcjp[KEY]"),
        (b64encode(b"me:" + RAW + b"@").decode(), "bWU6[KEY]EA="),
        ("p\\u00e4ss/word, passwords and pass/w", "p\\u00e4ss/word, passwords and pass/w"),
    ],
)
def test_a_value_is_known_as_programs_write_it(printed: str, left: str) -> None:
    """Escaped for JSON, Python, C, a shell, HTML and URLs, and inside of what is encoded in base64."""
    assert Secrets({"KEY": AWKWARD}).hidden(f"<{printed}>\n".encode()).decode() == f"<{left}>\n"


def test_what_a_program_tells_of_itself_holds_none(make_run: Callable[..., Run]) -> None:
    """Its unit, its options and the name of its framework, as they are told and as they are stored."""
    secrets, secret, stated = Secrets({"MINE": "hush-hush"}), "hush-hush", {"hush-hush": 1, "by": "a hush-hush", "n": 2}
    hidden = {"[MINE]": 1, "by": "a [MINE]", "n": 2}
    start = secrets.out_of_start(Start(secret, 1, 2, 3, stated))
    assert start == Start("[MINE]", 1, 2, 3, hidden)
    measured = replace(
        make_run(1.0, 100.0),
        sample_unit=secret,
        declared=replace(make_run(1.0, 100.0).declared, stated=stated),
        meter=Meter(MeterKind.HOOK, secret),
    )
    run = secrets.out_of(measured)
    assert secret not in repr(run)
    assert (run.sample_unit, run.declared.stated, run.meter) == ("[MINE]", hidden, Meter(MeterKind.HOOK, "[MINE]"))


def test_a_broken_event_is_told_without_one() -> None:
    """Also where only the beginning of its line is told, which would end inside of the value."""
    token = "eyJ" + "x" * 300
    with pytest.raises(EventError) as refused:
        parse_event(json.dumps({"event": "start", "sample_unit": token}).encode())
    sentence = refused.value.sentence(Secrets({"TOKEN": token}).hidden)
    assert sentence == """`sample_unit` is not a short text: '{"event": "start", "sample_unit": "[TOKEN]"}'"""


def test_what_sizer_itself_says_of_a_run_stays(make_run: Callable[..., Run]) -> None:
    """By the study's words it is known again, and by its own names what they mean, whatever a variable holds."""
    run = replace(
        make_run(1.0, 100.0),
        rate=replace(make_run(1.0, 100.0).rate, stopped="deadline"),
        meter=Meter(MeterKind.LOG, "pattern"),
    )
    values = (run.spec.workload.name, "deadline", "pattern", str(run.started_at))
    assert Secrets({f"N{number}": value for number, value in enumerate(values)}).out_of(run) == run


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

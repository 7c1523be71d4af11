"""The values of variables that nobody is shown, taken out of what a program prints and tells, and of its run."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Iterator, Mapping
from dataclasses import replace
from html import escape
from typing import TypeVar

from sizer.analysis.events import Start
from sizer.records.run import Cause, Meter, MeterKind, Run, RunWarning

About = TypeVar("About", Cause, RunWarning)

SHORTEST_SECRET = 6
"""Bytes of a value that is looked for: a shorter one is part of ordinary words and numbers."""

PLAIN = re.compile(rb"[A-Za-z0-9_.~-]+")
"""What every form writes as it is."""

SPECIAL: dict[str, tuple[bytes, ...]] = {
    "'": (rb"'\\''", b"'\"'\"'"),
    " ": (rb"\+",),
    "\t": (rb"\\+t",),
    "\b": (rb"\\+b",),
    "\f": (rb"\\+f",),
}
"""How a shell writes a quote inside of quotes, a URL a space, and JSON what has a letter of its own."""


class Secrets:
    """Puts `[NAME]` in the place of each value, by the name of its variable.

    A value is known as it is, as programs escape it for JSON, Python, C, a shell, HTML or a URL, and in base64, also
    inside of something longer. What encrypts or compresses it is not seen through.
    """

    def __init__(self, values: Mapping[str, str]) -> None:
        # Of a value with several lines, such as a private key, each is looked for: lines are read one at a time.
        lines = {line.strip(): name for name, value in values.items() for line in value.splitlines()}
        longest_first = sorted(lines, key=len, reverse=True)
        looked_for = [line for line in longest_first if len(_bytes(line)) >= SHORTEST_SECRET]
        escaped = [(line, _bytes(line), _escaped(line)) for line in looked_for]
        encoded = [(line, form, _of_base64(form)) for line in looked_for for form in _in_base64(_bytes(line))]
        self._forms = [
            (PLAIN.findall(written), form, f"[{lines[line]}]".encode()) for line, written, form in (*escaped, *encoded)
        ]

    def hidden(self, data: bytes) -> bytes:
        """The bytes without any of the values."""
        for plain, form, name in self._forms:
            # A plain search is many times as fast as the expression, and finds nothing in most of what is printed.
            if all(part in data for part in plain):
                data = form.sub(name.replace(b"\\", rb"\\"), data)
        return data

    def out_of_start(self, start: Start) -> Start:
        """What a program says of itself without them."""
        if not self._forms:
            return start
        return replace(start, sample_unit=self._text(start.sample_unit), stated=self._options(start.stated))

    def out_of_meter(self, meter: Meter) -> Meter:
        """What its steps were counted by: a hook's framework is told by the program, a format of logs is not."""
        if meter.kind is not MeterKind.HOOK or meter.source is None:
            return meter
        return replace(meter, source=self._text(meter.source))

    def out_of(self, run: Run) -> Run:
        """The run without them in whatever its program told, and in what is said of its failure and its warnings."""
        if not self._forms:
            return run
        error = run.error and replace(
            run.error,
            cause=self._told(run.error.cause),
            reasons=tuple(map(self._told, run.error.reasons)),
            last_lines=self._text(run.error.last_lines),
        )
        return replace(
            run,
            error=error,
            sample_unit=self._text(run.sample_unit),
            meter=run.meter and self.out_of_meter(run.meter),
            declared=replace(run.declared, stated=self._options(run.declared.stated)),
            warnings=tuple(map(self._told, run.warnings)),
        )

    def _told(self, about: About) -> About:
        return about if about.text is None else replace(about, text=self._text(about.text))

    def _options(self, options: Mapping[str, bool | int | float | str]) -> dict[str, bool | int | float | str]:
        return {
            self._text(name): self._text(value) if isinstance(value, str) else value for name, value in options.items()
        }

    def _text(self, text: str) -> str:
        return self.hidden(_bytes(text)).decode("utf-8", "surrogateescape")


NO_SECRETS = Secrets({})


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def _escaped(value: str) -> re.Pattern[bytes]:
    """Each character of the value in any of its forms: programs escape some and leave others as they are."""
    return re.compile(b"".join(map(_written, value)))


def _written(char: str) -> bytes:
    """An expression of the ways in which a character is written; what is escaped twice has more backslashes."""
    raw = _bytes(char)
    if PLAIN.fullmatch(raw):
        return re.escape(raw)
    units = char.encode("utf-16-be", "surrogatepass")
    forms = [
        rb"\\*" + re.escape(raw) if char != "\\" else rb"\\+",
        rb"".join(rb"\\+u%02x%02x" % pair for pair in zip(units[::2], units[1::2], strict=True)),
        rb"".join(rb"\\+x%02x" % byte for byte in raw),
        rb"".join(rb"\\+%03o" % byte for byte in raw),
        rb"".join(rb"%%%02x" % byte for byte in raw),
        rb"\\+U%08x" % ord(char),
        rb"&\#(?:%d|x%x);" % (ord(char), ord(char)),
        re.escape(escape(char).encode("utf-8", "surrogateescape")),
    ]
    if ord(char) < 0x100:
        forms.append(rb"\\+x%02x" % ord(char))
    forms += SPECIAL.get(char, ())
    return b"(?i:" + b"|".join(dict.fromkeys(forms)) + b")"


def _in_base64(raw: bytes) -> Iterator[bytes]:
    """The characters that the bytes alone decide, wherever among others they begin: of three bytes four are made."""
    for before, skipped in enumerate((0, 2, 3)):
        encoded = b64encode(bytes(before) + raw)
        yield encoded[skipped : 8 * (before + len(raw)) // 6]


def _of_base64(encoded: bytes) -> re.Pattern[bytes]:
    """Both alphabets (RFC 4648), with JSON's escape of the slash."""
    either = {b"+": rb"[+-]", b"/": rb"(?:\\*/|_)"}
    return re.compile(b"".join(either.get(char, char) for char in (encoded[i : i + 1] for i in range(len(encoded)))))

"""The values of variables that nobody is shown: in what a program prints, and in what is stored of its run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from sizer.records import Cause, Run, RunWarning

SHORTEST = 6
"""Bytes of a value that is looked for: a shorter one is part of ordinary words and numbers."""


class Secrets:
    """Puts `[NAME]` in the place of each value, by the name of its variable."""

    def __init__(self, values: Mapping[str, str]) -> None:
        # Of a value with several lines, such as a private key, each is looked for: lines are read one at a time.
        lines = {line.strip(): name for name, value in values.items() for line in value.splitlines()}
        longest_first = sorted(lines, key=len, reverse=True)
        self._known = [
            (line.encode("utf-8", "surrogateescape"), f"[{lines[line]}]".encode())
            for line in longest_first
            if len(line.encode("utf-8", "surrogateescape")) >= SHORTEST
        ]

    def hidden(self, data: bytes) -> bytes:
        """The bytes without any of the values."""
        for value, name in self._known:
            data = data.replace(value, name)
        return data

    def out_of(self, run: Run) -> Run:
        """The run without them in what it says of its failure and in its warnings."""
        if not self._known:
            return run
        error = run.error and replace(
            run.error,
            cause=self._cause(run.error.cause),
            reasons=tuple(map(self._cause, run.error.reasons)),
            last_lines=self._text(run.error.last_lines),
        )
        return replace(run, error=error, warnings=tuple(map(self._warning, run.warnings)))

    def _cause(self, cause: Cause) -> Cause:
        return cause if cause.text is None else replace(cause, text=self._text(cause.text))

    def _warning(self, warning: RunWarning) -> RunWarning:
        return warning if warning.text is None else replace(warning, text=self._text(warning.text))

    def _text(self, text: str) -> str:
        return self.hidden(text.encode("utf-8", "surrogateescape")).decode("utf-8", "surrogateescape")


NO_SECRETS = Secrets({})

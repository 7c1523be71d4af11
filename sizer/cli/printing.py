"""What is printed: a terminal gets no control sequence that sizer did not mean itself.

Names, logs, errors and paths come from study files, workloads and folders of anybody. So all that goes to stdout and
stderr passes here, whoever prints it; only what is written by `controls` is taken as it is.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, TextIO, cast

from sizer.plain_text import printable

LINES = "\n\t"


class _Escaping:
    """A stream that shows what cannot be seen as escapes; lines and tabs stay."""

    def __init__(self, stream: TextIO | None) -> None:
        # What the shell has closed (`2>&-`) leaves its number to the next file that is opened, which must not be a run.
        self.stream = stream or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115

    def write(self, text: str) -> int:
        self.put(printable(text, keep=LINES))
        return len(text)

    def writelines(self, texts: Iterator[str]) -> None:
        for text in texts:
            self.write(text)

    def put(self, text: str) -> None:
        """Write as it is."""
        self.stream.write(text)

    def flush(self) -> None:
        self.stream.flush()

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


class _Telling(_Escaping):
    """A stream of progress that nobody needs to hear: a closed terminal, or a pipe without a reader, ends no study.
    What is said from then on goes nowhere."""

    def put(self, text: str) -> None:
        with self._unheard():
            super().put(text)

    def flush(self) -> None:
        with self._unheard():
            super().flush()

    @contextmanager
    def _unheard(self) -> Iterator[None]:
        try:
            yield
        except OSError:
            with suppress(OSError), open(os.devnull, "wb") as nowhere:
                os.dup2(nowhere.fileno(), self.stream.fileno())


@contextmanager
def escaped() -> Iterator[None]:
    """Until the end, everything that is printed is escaped."""
    before = sys.stdout, sys.stderr
    for stream in before:
        # A terminal of another encoding than ours shows an escape, too, instead of ending us.
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    sys.stdout, sys.stderr = cast(TextIO, _Escaping(before[0])), cast(TextIO, _Telling(before[1]))
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before


def controls(stream: TextIO, text: str) -> None:
    """Write control sequences of our own, which the terminal is to obey."""
    if isinstance(stream, _Escaping):
        stream.put(text)
    else:
        stream.write(text)

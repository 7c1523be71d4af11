"""What is printed: a terminal gets no control sequence that sizer did not mean itself.

Names, logs, errors and paths come from study files, workloads and folders of anybody. So all that goes to stdout and
stderr passes here, whoever prints it; only what is written by `controls` is taken as it is.
"""

from __future__ import annotations

import os
import select
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, TextIO, cast

from sizer import __version__
from sizer.records.messages import HostError, Message, NoAnswer, SizerError, printable

LINES = "\n\t"

PIECE = 1000
"""Characters written at once: 4,000 bytes at most, which a pipe that can be written takes whole (pipe(7), PIPE_BUF)."""

READER_SECONDS = 1
"""For a reader to take what was printed, before it is left out of what follows until it reads again."""

LEFT_OUT = "\n[some output was dropped here]\n"


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
    """A stream of progress that nobody needs to hear.

    A closed terminal, or a pipe without a reader, ends no study: what is said from then on goes nowhere. A terminal
    that was halted (Ctrl-S), or a reader that does not read, holds none up: what it does not take is left out.
    """

    def __init__(self, stream: TextIO | None) -> None:
        super().__init__(stream)
        self._left_out = False

    def put(self, text: str) -> None:
        with self._unheard():
            for start in range(0, len(text), PIECE):
                if not self._takes_more():
                    self._left_out = True
                    return
                if self._left_out:
                    self._left_out = False
                    super().put(LEFT_OUT)
                super().put(text[start : start + PIECE])
                super().flush()

    def flush(self) -> None:
        """Each piece was flushed as it was written."""

    def _takes_more(self) -> bool:
        """Whether a piece can be written at once; a reader that has just fallen behind gets some time."""
        try:
            descriptor = self.stream.fileno()
        except (OSError, ValueError):
            return True  # A stream in memory.
        ready = select.poll()
        ready.register(descriptor, select.POLLOUT)
        return bool(ready.poll(0 if self._left_out else 1000 * READER_SECONDS))

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


LONGEST_LINE = 1_000
"""Characters of one line of an error: it may quote a value that fills the file it is in."""


def sentence(message: Exception | str) -> str:
    """What an error says, each line no longer than a person reads.

    What a host lacks, and workloads without an answer, are a line each. Of an input there is one sentence, whatever
    line ends are in a name that it quotes.
    """
    text = in_words(message) if isinstance(message, SizerError) else str(message)
    lines = text.split("\n") if isinstance(message, (HostError, NoAnswer)) else [printable(text)]
    return "\n".join(line if len(line) <= LONGEST_LINE else f"{line[: LONGEST_LINE - 4]} ..." for line in lines)


def in_words(message: SizerError | Message) -> str:
    """A message in the reader's language.

    Only `sizer.words` can have set another one than English: without it there is none, and `sizer --help` need not wait
    for all that `words` imports.
    """
    words = sys.modules.get("sizer.words.language")
    return str(message) if words is None else str(words.in_words(message))


def unforeseen(error: Exception) -> str:
    """The sentence about an exception that nobody foresaw; its traceback is written into the temporary folder."""
    name = type(error).__name__
    what = printable(f"{name}: {error}" if str(error) else name)[:200]
    kept = _kept(error)
    if kept is None:
        return in_words(
            Message(
                "internal error in sizer ({what}); everything measured is kept. The traceback could not be written "
                "to a file.",
                what=what,
            )
        )
    return in_words(
        Message(
            "internal error in sizer ({what}); everything measured is kept. Please report it with the traceback in "
            "{path}.",
            what=what,
            path=kept,
        )
    )


def _kept(error: Exception) -> str | None:
    """The path of a new file with the traceback, None where none can be written."""
    import tempfile
    import traceback

    trace = "".join(traceback.format_exception(error))
    content = f"sizer {__version__}, Python {sys.version}\n{sys.argv}\n\n{trace}"
    try:
        descriptor, path = tempfile.mkstemp(prefix="sizer-fault-", suffix=".txt")
        with os.fdopen(descriptor, "w", encoding="utf-8", errors="backslashreplace") as file:
            file.write(printable(content, keep=LINES))
    except OSError:
        return None
    return path

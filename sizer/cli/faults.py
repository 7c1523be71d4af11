"""A fault of sizer itself: one sentence for whoever typed, and the traceback in a file for whoever mends it."""

from __future__ import annotations

import os
import sys

from sizer import __version__
from sizer.cli.printing import LINES
from sizer.records.errors import HostError, NoAnswer, SizerError
from sizer.records.messages import Message
from sizer.records.plain_text import printable

LONGEST_LINE = 1_000
"""Characters of one line of an error: it may quote a value that fills the file it is in."""


def sentence(said: Exception | str) -> str:
    """What an error says, each line no longer than a person reads.

    What a host lacks, and workloads without an answer, are a line each. Of an input there is one sentence, whatever
    line ends are in a name that it quotes.
    """
    text = in_words(said) if isinstance(said, SizerError) else str(said)
    lines = text.split("\n") if isinstance(said, (HostError, NoAnswer)) else [printable(text)]
    return "\n".join(line if len(line) <= LONGEST_LINE else f"{line[: LONGEST_LINE - 4]} ..." for line in lines)


def in_words(said: SizerError | Message) -> str:
    """A message in the reader's language.

    Only `sizer.words` can have set another one than English: without it there is none, and `sizer --help` need not wait
    for all that `words` imports.
    """
    words = sys.modules.get("sizer.words.language")
    return str(said) if words is None else str(words.in_words(said))


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

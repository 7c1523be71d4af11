"""Text that a stranger may have written, as a terminal and a shell may have it.

A name, a log or a path can hold a terminal's control sequences, a newline that begins a line of somebody else's, or the
characters of a shell.
"""

from __future__ import annotations

import shlex
import unicodedata
from collections.abc import Iterable

LONGEST_QUOTED = 40
"""Characters of a value that a sentence quotes."""

UNSEEN = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
"""Unicode's control characters, formats (some turn the order of a line round), lone surrogates and line ends."""


def printable(text: str, keep: str = "") -> str:
    """The text with what cannot be seen as escapes, such as `\\x1b` and `\\n`; the characters in `keep` stay."""
    if text.isprintable():
        return text
    return "".join(char if char in keep or not _unseen(char) else _escape(char) for char in text)


def quoted(text: str) -> str:
    """A value as a sentence quotes it, no longer than a person reads."""
    text = printable(text)
    return f"`{text if len(text) <= LONGEST_QUOTED else f'{text[: LONGEST_QUOTED - 3]}...'}`"


def typed(word: str) -> str:
    """The word as bash takes it for just this word."""
    if not any(_unseen(char) for char in word):
        return shlex.quote(word)
    special = {"\\": "\\\\", "'": "\\'"}
    return "$'" + "".join(special.get(char) or (_escape(char) if _unseen(char) else char) for char in word) + "'"


def typed_line(words: Iterable[str]) -> str:
    """A command on one line, from which a shell makes just these words."""
    return " ".join(typed(word) for word in words)


def typed_path(path: object) -> str:
    """A path to be typed behind a command, which must not take it for an option."""
    text = str(path)
    return typed(f"./{text}" if text.startswith("-") else text)


def _unseen(char: str) -> bool:
    return unicodedata.category(char) in UNSEEN


def _escape(char: str) -> str:
    """As Python writes it, which bash reads between `$'` and `'`; a byte of a path that is no UTF-8 as that byte."""
    if "\udc80" <= char <= "\udcff":
        return f"\\x{ord(char) - 0xDC00:02x}"
    if char in "\n\r\t":
        return {"\n": "\\n", "\r": "\\r", "\t": "\\t"}[char]
    code = ord(char)
    return f"\\x{code:02x}" if code < 0x80 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"

"""Text in the columns of a terminal, where a letter of Chinese takes two."""

from __future__ import annotations

import re
import textwrap
import unicodedata

_OPENING, _CLOSING, _WIDE = "\uff08\u300a", "\u3001\u3002\uff01-\uff07\uff09-\uff0f\uff1a-\uff20\u300b", "\u2e80-\uffff"
_ANY_WIDE = re.compile(f"[{_WIDE}]")
_PIECE = re.compile(
    rf"[{_OPENING}]*(?:(?![{_OPENING}])[{_WIDE}]|[^\s{_WIDE}]+)[{_CLOSING}]*|\s+|[{_OPENING}]+",
)
"""What a line is not broken in: a wide letter or a word of others, with the marks that belong to it."""


def width(text: str) -> int:
    """How many columns a text takes."""
    return sum(1 + (unicodedata.east_asian_width(letter) in "WF") for letter in text)


def within(text: str, columns: int) -> str:
    """As much of the beginning of a text as so many columns hold."""
    end, room = 0, columns
    for letter in text:
        room -= width(letter)
        if room < 0:
            break
        end += 1
    return text[:end]


def lines_within(text: str, columns: int) -> list[str]:
    """The text in lines of so many columns, broken between words, and between any two letters of Chinese."""
    if not _ANY_WIDE.search(text):
        return textwrap.wrap(" ".join(text.split()), columns)
    lines = [""]
    for piece in _PIECE.findall(" ".join(text.split())):
        if lines[-1] and width(lines[-1] + piece) > columns:
            lines.append("")
        lines[-1] += piece if lines[-1] else piece.lstrip()
    return [line.rstrip() for line in lines if line.strip()]

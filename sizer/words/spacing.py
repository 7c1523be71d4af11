"""How a value stands in a Chinese sentence: apart from it by a space if it is in Latin letters or digits, else not.

A translator cannot know what a placeholder is filled with: `{resource}` is `CPU` in one sentence and a Chinese word in
the next. Only the border between the sentence and a value is looked at, so names and commands stay as they are.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from string import Formatter

IDEOGRAPHS = "\u3400-\u4dbf\u4e00-\u9fff"
FULL_WIDTH = "\u3000-\u303f\uff00-\uffef"
"""Marks that bring their own room, such as the full stop and the comma of Chinese."""

_CHINESE_LAST = re.compile(f"[{IDEOGRAPHS}{FULL_WIDTH}] *$")
_CHINESE_FIRST = re.compile(f"^ *[{IDEOGRAPHS}{FULL_WIDTH}]")
_MARK_FIRST = re.compile(f"^[{FULL_WIDTH}]")
_IDEOGRAPH_LAST = re.compile(f"[{IDEOGRAPHS}]$")
_IDEOGRAPH_FIRST = re.compile(f"^[{IDEOGRAPHS}]")
_LATIN_FIRST = re.compile(r"^[A-Za-z0-9`$<+\-−±./~]")
_LATIN_LAST = re.compile(r"[A-Za-z0-9`%/+]$")
_ENGLISH_STOP = re.compile(r"[.!?]$")
"""How a sentence ends that is not translated yet: what comes behind it stands apart."""


def filled_in_chinese(message: str, values: Mapping[str, object]) -> str:
    """The message with its values, and one space between Chinese and Latin where the two meet at a value."""
    text, value = "", ""
    for literal, name, form, _conversion in Formatter().parse(message):
        text += _after(value, literal)
        value = "" if name is None else format(values[name], form or "")
        joined = _ENGLISH_STOP.search(text) and not literal and value
        text = f"{text} {value}" if joined else _before(value, text, literal) + value
    return text


def _after(value: str, literal: str) -> str:
    """What the translator wrote behind a value."""
    if _CHINESE_LAST.search(value) and _CHINESE_FIRST.search(literal):
        return literal.lstrip(" ")
    return f" {literal}" if _LATIN_LAST.search(value) and _IDEOGRAPH_FIRST.search(literal) else literal


def _before(value: str, text: str, literal: str) -> str:
    """The text before a value, which ends with the literal that the translator wrote there."""
    if _CHINESE_FIRST.search(value) and (_CHINESE_LAST.search(literal) or _MARK_FIRST.search(value)):
        return text.rstrip(" ")
    return f"{text} " if _IDEOGRAPH_LAST.search(literal) and _LATIN_FIRST.search(value) else text

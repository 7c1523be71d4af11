"""The language that the environment asks for, as programs with gettext understand it."""

from __future__ import annotations

import gettext
import re
import textwrap
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path

import sizer
from sizer.records.messages import width

CATALOGUES = Path(sizer.__file__).parent / "words" / "locale"
"""Where `sizer.words` has its languages; looked at from here, since `sizer --help` must not wait for that package."""

ARGPARSE = "messages"
"""The domain of Python's own argparse, which looks its words up in it; Python itself brings no catalogue of them."""

ENGLISH = "en"
UNTRANSLATED = ("C", "POSIX")


def asked_language(environment: Mapping[str, str]) -> str | None:
    """The first language asked for that there is a catalogue of, such as `de` for `de_DE.UTF-8`; None for English.

    LC_ALL, LC_MESSAGES and LANG name a locale, the first that is set. LANGUAGE is a list that comes before it, except
    in the locale C (GNU gettext, The LANGUAGE variable).
    """
    locale = next((value for name in ("LC_ALL", "LC_MESSAGES", "LANG") if (value := environment.get(name))), "C")
    if _base(locale) in UNTRANSLATED:
        return None
    for wanted in (*environment.get("LANGUAGE", "").split(":"), locale):
        for language in dict.fromkeys((_base(wanted), _base(wanted).partition("_")[0])):
            if language in (ENGLISH, *UNTRANSLATED):
                return None
            if language and (CATALOGUES / language / "LC_MESSAGES" / "sizer.mo").is_file():
                return language
    return None


def _base(locale: str) -> str:
    """`de_DE` of `de_DE.UTF-8@euro`; nothing of what is no name of a locale."""
    match = re.fullmatch(r"(\w+)(?:[.@].*)?", locale)
    return match[1] if match else ""


@contextmanager
def readers_language(environment: Mapping[str, str]) -> Iterator[None]:
    """Until the end, sentences are of the language that the environment asks for."""
    language = asked_language(environment)
    if language is None:
        yield
        return
    gettext.bindtextdomain(ARGPARSE, CATALOGUES)
    with import_module("sizer.words.language").in_language(language):
        yield


_OPENING, _CLOSING, _WIDE = "\uff08\u300a", "\u3001\u3002\uff01-\uff07\uff09-\uff0f\uff1a-\uff20\u300b", "\u2e80-\uffff"
_PIECE = rf"[{_OPENING}]*(?:(?![{_OPENING}])[{_WIDE}]|[^\s{_WIDE}]+)[{_CLOSING}]*|\s+|[{_OPENING}]+"
"""What a line is not broken in: a wide letter or a word of others, with the marks that belong to it."""


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
    if text.isascii() or not re.search(f"[{_WIDE}]", text):
        return textwrap.wrap(" ".join(text.split()), columns)
    lines = [""]
    for piece in re.findall(_PIECE, " ".join(text.split())):
        if lines[-1] and width(lines[-1] + piece) > columns:
            lines.append("")
        lines[-1] += piece if lines[-1] else piece.lstrip()
    return [line.rstrip() for line in lines if line.strip()]

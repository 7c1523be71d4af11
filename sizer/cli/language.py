"""The language that the environment asks for, as programs with gettext understand it."""

from __future__ import annotations

import gettext
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path

import sizer

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
    locale = next((found for name in ("LC_ALL", "LC_MESSAGES", "LANG") if (found := environment.get(name))), "C")
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
    found = re.fullmatch(r"(\w+)(?:[.@].*)?", locale)
    return found[1] if found else ""


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

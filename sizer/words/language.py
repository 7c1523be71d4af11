"""The language of a sentence: gettext catalogues, one file a language; the messages themselves are English.

A message is a whole sentence with named placeholders, so that a translator may change its order. `_` and `_n` mark it
for `script/words`, which collects all messages into the catalogues; what one has no translation of is English.
"""

from __future__ import annotations

import gettext
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from pathlib import Path

from sizer.records.units import NOT_FINITE

DOMAIN = "sizer"
ENGLISH, CHINESE = "en", "zh"
_language: ContextVar[str] = ContextVar("language", default=ENGLISH)
_marks: ContextVar[bool] = ContextVar("marks", default=True)


@contextmanager
def in_language(language: str) -> Iterator[None]:
    """Until the end, sentences are of this language; where it has no translation, English."""
    token = _language.set(language)
    try:
        yield
    finally:
        _language.reset(token)


@contextmanager
def without_marks() -> Iterator[None]:
    """Until the end, sentences set no names apart by `...`; a name that has such a mark of its own keeps it."""
    token = _marks.set(False)
    try:
        yield
    finally:
        _marks.reset(token)


def reader_language() -> str:
    """The language that sentences are of at this moment."""
    return _language.get()


def language_tag() -> str:
    """The same as a page names it (BCP 47), by which a browser chooses the forms of Chinese letters."""
    return "zh-CN" if _language.get() == CHINESE else _language.get()


def _(message: str, /, **values: object) -> str:
    """The message in the language of the reader, with its placeholders filled in."""
    found = _marked(_translated(_language.get(), message))
    return _filled(found, values) if values else found


def _n(singular: str, plural: str, count: int, /, **values: object) -> str:
    """The message in the plural form that this count has in the reader's language; `{count}` is the count itself."""
    found = _marked(_catalogue(_language.get()).ngettext(singular, plural, count))
    return _filled(found, {"count": f"{count:,}", **values})


def _filled(message: str, values: Mapping[str, object]) -> str:
    """The message with its values, set apart from the words around them as its language does."""
    if _language.get() != CHINESE:
        return message.format(**values)
    from sizer.words.spacing import filled_in_chinese

    unknown = _catalogue(CHINESE).gettext(NOT_FINITE)
    return filled_in_chinese(message, {k: unknown if value == NOT_FINITE else value for k, value in values.items()})


def _marked(message: str) -> str:
    return message if _marks.get() else message.replace("`", "")


@cache
def _translated(language: str, message: str) -> str:
    return _catalogue(language).gettext(message)


@cache
def _catalogue(language: str) -> gettext.NullTranslations:
    return gettext.translation(DOMAIN, _folder(), [language], fallback=True)


def _folder() -> Path:
    return Path(__file__).parent / "locale"

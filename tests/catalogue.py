"""The messages that `script/words` collects, and catalogues of languages that are made of them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import pytest
from babel.messages.catalog import Catalog
from babel.messages.extract import extract_from_dir
from babel.messages.frontend import parse_keywords, parse_mapping_cfg
from babel.messages.mofile import write_mo

from sizer.words import language
from tests import ROOT

PSEUDO = "de"
"""A language whose plural forms are as in English."""

Message = str | tuple[str, ...]
"""A sentence, or its forms for one and for several."""


def keywords() -> tuple[str, ...]:
    """The names that mark a sentence, as `script/words` gives them to Babel: `_`, `input_error:2`."""
    return tuple(re.findall(r"--keyword (\S+?)[\"\s]", (ROOT / "script/words").read_text()))


@cache
def collected() -> tuple[Message, ...]:
    """Every message, each once; one that is said with a count and without has its forms."""
    with (ROOT / "babel.cfg").open() as mapping:
        methods, options = parse_mapping_cfg(mapping)
    marked = extract_from_dir(ROOT, methods, options, keywords=parse_keywords(keywords()))
    template = Catalog()
    for _file, _line, message, _comments, _context in marked:
        template.add(message)
    return tuple(message.id for message in template if message.id)


def languages() -> tuple[str, ...]:
    """The languages that there is a catalogue of, English first."""
    names = [path.parent.parent.name for path in language._folder().glob(f"*/LC_MESSAGES/{language.DOMAIN}.mo")]
    return (language.ENGLISH, *sorted(set(names) - {language.ENGLISH}))


@contextmanager
def spoken(folder: Path) -> Iterator[None]:
    """sizer speaks PSEUDO, from the catalogue in a folder of languages, and knows no other one but English."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(language, "_folder", lambda: folder)
        _forget()
        with language.in_language(PSEUDO):
            yield
    _forget()


def _forget() -> None:
    """What was looked up in the catalogues that were there before."""
    language._catalogue.cache_clear()
    language._translated.cache_clear()


def write_catalogue(folder: Path, translated: Callable[[str], str]) -> None:
    """Write the compiled catalogue of PSEUDO into a folder of languages."""
    catalogue = Catalog(PSEUDO)
    for message in collected():
        catalogue.add(message, tuple(map(translated, message)) if isinstance(message, tuple) else translated(message))
    target = folder / PSEUDO / "LC_MESSAGES" / f"{language.DOMAIN}.mo"
    target.parent.mkdir(parents=True)
    with target.open("wb") as file:
        write_mo(file, catalogue)

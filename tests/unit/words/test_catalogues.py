"""The catalogues hold the sentences of now: `script/words` makes them again."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po

from sizer.words import in_language
from sizer.words.language import _n
from tests import ROOT
from tests.catalogue import collected, languages

LOCALE = ROOT / "sizer" / "words" / "locale"
STALE = "run script/words and commit what it changes"


def ids(path: Path) -> set[object]:
    """The messages of a file of them."""
    with path.open("rb") as file:
        return {message.id for message in read_po(file) if message.id}


def test_every_sentence_of_now_is_collected() -> None:
    """And none that nobody says any more."""
    found = set(collected())
    assert found == ids(LOCALE / "sizer.pot"), STALE
    assert len(found) > 500


@pytest.mark.parametrize("catalogue", sorted(LOCALE.glob("*/LC_MESSAGES/sizer.po")), ids=lambda path: path.parts[-3])
def test_each_language_is_complete_and_compiled(catalogue: Path) -> None:
    """Its messages are those of now, and what is read at run time is made of them."""
    assert ids(catalogue) == ids(LOCALE / "sizer.pot"), STALE
    made = io.BytesIO()
    with catalogue.open("rb") as source:
        write_mo(made, read_po(source), use_fuzzy=True)
    assert catalogue.with_suffix(".mo").read_bytes() == made.getvalue(), STALE


def test_english_is_what_a_language_without_a_catalogue_gets() -> None:
    """With the plural forms of English."""
    assert languages()[0] == "en"
    with in_language("tlh"):
        assert _n("{count} run", "{count} runs", 1) == "1 run"
        assert _n("{count} run", "{count} runs", 2000) == "2,000 runs"

"""A catalogue gives its translations, and English where it has none: no new sentence waits for a language."""

from __future__ import annotations

import io
import subprocess
from collections.abc import Iterator
from pathlib import Path

import compiled
import pytest
from babel.messages.mofile import read_mo

from sizer.words.language import CHINESE, _, _n, in_language, paragraph
from tests import ROOT
from tests.catalogue import collected, languages, spoken

LOCALE = ROOT / "sizer" / "words" / "locale"


def messages(content: bytes) -> list[tuple[object, object]]:
    """What a `.mo` holds, without its head, which names the version of Babel that made it."""
    return [(message.id, message.string) for message in read_mo(io.BytesIO(content)) if message.id]


@pytest.mark.parametrize("catalogue", sorted(LOCALE.glob("*/LC_MESSAGES/*.po")), ids=lambda path: path.parts[-3])
def test_each_language_is_compiled(catalogue: Path) -> None:
    """What is read at run time is made of what translators write."""
    stored, made = catalogue.with_suffix(".mo").read_bytes(), compiled.compiled(catalogue)
    assert messages(stored) == messages(made), "type: script/words"


def test_sentences_are_collected() -> None:
    """So that `script/words` finds what a language may have, each once."""
    assert len(collected()) == len(set(collected())) > 500


def test_english_is_what_a_language_without_a_catalogue_gets() -> None:
    """With the plural forms of English."""
    assert languages() == ("en", CHINESE)
    with in_language("tlh"):
        assert _n("{count} run", "{count} runs", 1) == "1 run"
        assert _n("{count} run", "{count} runs", 2000) == "2,000 runs"


BEGUN = r"""
msgid ""
msgstr ""
"Language: zh\n"
"Plural-Forms: nplurals=1; plural=0;\n"
"Content-Type: text/plain; charset=utf-8\n"

msgid "done"
msgstr "完成"

msgid "{text} {more}"
msgstr "{text}{more}"

msgid "bound by {resource}"
msgstr ""

msgid "{count} run"
msgid_plural "{count} runs"
msgstr[0] ""
"""


@pytest.fixture
def _begun(tmp_path: Path) -> Iterator[None]:
    """A catalogue of Chinese with one sentence, two that stand empty, and no others."""
    catalogue = tmp_path / CHINESE / "LC_MESSAGES" / "sizer.po"
    catalogue.parent.mkdir(parents=True)
    catalogue.write_text(BEGUN, encoding="utf-8")
    catalogue.with_suffix(".mo").write_bytes(compiled.compiled(catalogue))
    with spoken(tmp_path), in_language(CHINESE):
        yield


@pytest.mark.usefixtures("_begun")
def test_a_sentence_that_is_not_translated_is_english() -> None:
    """Also one with a number, and one behind another: nothing is empty, singular for plural, or run together."""
    assert _("done") == "完成"
    assert _("bound by {resource}", resource="CPU") == "bound by CPU"
    assert _n("{count} run", "{count} runs", 1) == "1 run"
    assert _n("{count} run", "{count} runs", 5) == "5 runs"
    assert _n("{count} day", "{count} days", 5) == "5 days"
    assert paragraph(["It is new.", "完成。", "Is it?", "It is."]) == "It is new. 完成。Is it? It is."


def test_what_is_missing_is_listed(tmp_path: Path) -> None:
    """By `script/words --missing`, which fails where a release would say something in English."""
    template, catalogue = tmp_path / "template", tmp_path / "sizer.po"
    template.write_text(BEGUN.replace("nplurals=1; plural=0", "nplurals=2; plural=(n != 1)"), encoding="utf-8")
    catalogue.write_text(BEGUN, encoding="utf-8")
    words = [".venv/bin/python", "script/missing.py", template, catalogue]
    listed = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (listed.returncode, listed.stderr) == (1, "")
    assert listed.stdout.splitlines() == ["bound by {resource}", "{count} run | {count} runs"]
    template.write_text(BEGUN[: BEGUN.index('msgid "bound')], encoding="utf-8")
    listed = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (listed.returncode, listed.stdout) == (0, "")

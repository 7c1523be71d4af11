"""Quantities fill templates, catalogues translate them, and badges say what they mean."""

from __future__ import annotations

import io
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import compiled
import pytest
from babel.messages.mofile import read_mo

from sizer.bundled.reports.page import templates
from sizer.records.prediction import Estimate
from sizer.words import language
from sizer.words.language import CHINESE, QUANTITIES, Counted, Sentence, _, _n, in_language, paragraph
from sizer.words.verdict import Badge
from tests import ROOT
from tests.catalogue import collected, languages, spoken

# A catalogue gives its translations, and English where it has none: no new sentence waits for a language.


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


# Quantities as people read them, and templates that are filled with them.


BY_FORM = [
    # Data is shown in powers of ten, as disks are sold.
    ("volume", (45_200_000, "45.2 MB"), (110_000, "110 kB"), (6, "6 B"), (1.5e9, "1.5 GB"), (0, "0 B")),
    # Whole percent; what is small but not nothing does not read as nothing.
    ("share", (0.973, "97 %"), (0.001, "< 1 %"), (0, "0 %"), (1.004, "100 %")),
    ("small", (0.0034, "0.3 %"), (0.12, "12 %"), (0.0002, "< 0.1 %"), (0.0, "0.0 %"), (0.0999, "10 %")),
    ("vcpus", (0.5, "0.5 vCPU"), (1.0, "1 vCPU"), (4.0, "4 vCPUs")),
    # Finite measurements never give 1 or 0.
    ("chance", (1.0, "above 0.99"), (0.0, "below 0.01"), (0.934, "0.93")),
    # What a sample waits may be nanoseconds.
    ("brief", (2.5, "2.5 s"), (0.0012, "1.2 ms"), (23.6e-9, "23.6 ns"), (0.0, "0 ms"), (4.4e-4, "440 µs")),
    # No percentage above 300, nothing negative that is more.
    ("times", (0.13, "13 %"), (1.4, "140 %"), (6.9, "6.9 times"), (27.38, "27.4 times")),
    ("gain", (0.12, "12 %"), (3.0, "300 %"), (6.9, "a factor of 7.9")),
    ("change", (0.12, "+12 %"), (-0.03, "-3 %"), (6.9, "a factor of 7.9")),
    ("more", (-0.05, "5 % less"), (0.12, "12 % more"), (26.38, "27.4 times as much"), (0.0, "0 % more")),
    ("runs", (1, "1 run"), (2000, "2,000 runs")),
    ("some", ("abc", "`a`, `b` and `c`"), ("abcdefghi", "`a`, `b`, `c`, `d`, `e`, `f`, `g` and 2 more")),
]


@pytest.mark.parametrize(("form", "value", "text"), [(form, *case) for form, *cases in BY_FORM for case in cases])
def test_a_quantity_is_written_by_its_form(form: str, value: Any, text: str) -> None:
    assert QUANTITIES[form](value) == text == _(f"{{x:{form}}}", x=value)


RATE, ONE_RUN = Estimate(183.2, 177.9, 188.4), Estimate(480.0, 480.0, 480.0)


@pytest.mark.parametrize(
    ("write", "values", "text"),
    [
        (language.rate_interval, (RATE, "image"), "183 images/s (178–188)"),
        (language.half_width, (ONE_RUN,), "1 run"),
        (language.half_width, (Estimate(480.0, 470.0, 490.0),), "±2.1 %"),
        (language.of_its_rate, (0.98,), "98 % of its rate"),
        (language.of_its_rate, (6.9,), "6.9 times its rate"),
        (language.signed_bytes, (1229,), "+1.2 KiB"),
        (language.signed_bytes, (-300,), "−300 B"),
        # Rounded like any other, unless that would make it look like what was asked for.
        (language.rate_beside, (170.966, 110.0, "image"), "171 images/s"),
        (language.rate_beside, (105.863, 106.0, "image"), "105.863 images/s"),
        (language.sentence, ("the CPU binds",), "The CPU binds."),
        (language.sentence, ("Already one.",), "Already one."),
    ],
)
def test_a_figure_says_what_is_known_of_it(write: Callable[..., str], values: tuple[object, ...], text: str) -> None:
    assert write(*values) == text


def test_a_part_of_a_template_is_said_where_it_has_its_values() -> None:
    """Or on a condition; 0 and an empty list are nothing."""
    template = Sentence("{runs:runs}[[, {failed} failed]][[again?, again]][[!again?, once]][[ of {names:and}]]")
    assert template(3) == "3 runs, once"
    assert template(1, 2, ("a", "b"), again=True) == "1 run, 2 failed, again of a and b"
    assert template(runs=1, failed=0, names=()) == "1 run, once"
    with pytest.raises(TypeError, match="takes 3 values, not 4"):
        template(1, 2, 3, 4)


def test_a_template_may_name_fields_and_count() -> None:
    """Of an object, of a sequence; braces in a value mean nothing."""
    assert Sentence("{each.value:number} of {names[1]}")(RATE, ("a", "{b}")) == "183 of {b}"
    counted = Counted("{count} run is in {place}", "{count} runs are in {place}")
    assert (counted(1, "a"), counted(place="b", count=2000)) == ("1 run is in a", "2,000 runs are in b")


# Badges: a word with what it means, that a pointer, a key and a finger can ask for.


SHOWN = "{{ badge(value) }}"


@pytest.mark.parametrize("kind", Badge)
def test_each_badge_says_what_it_means(kind: Badge) -> None:
    """In a sentence or two, and on the page as text that needs no script."""
    assert kind.word == kind.word.lower()
    assert kind.explanation.endswith(".")
    assert len(kind.explanation) < 200
    shown = templates().from_string(SHOWN).render(value=kind)
    assert shown.startswith('<button type="button" class="badge ')
    assert 'aria-description="' in shown
    assert 'class="badge-says"' in shown

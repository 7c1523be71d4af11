"""In another language every sentence of ours is another one, on the page and in the terminal; data stays English."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from html.parser import HTMLParser
from pathlib import Path

import pytest

from sizer.bundled.reports import Material, render
from sizer.bundled.reports.page import TEMPLATES
from sizer.cli import main
from sizer.words import in_language
from tests.catalogue import PSEUDO, languages, spoken, write_catalogue

FIGURES = r"""
    [KMGT]iB|[kMGT]?B(/s)?|IOPS|images?(/s)?|samples?(/s)?|words?(/s)?|vCPUs?|core-ms|d|h|min|s|ms|µs|ns|x|UTC
"""
"""Units, which are part of a figure."""


@pytest.fixture(scope="module")
def catalogue(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a language in which each message that `script/words` collects stands in brackets."""
    folder = tmp_path_factory.mktemp("locale")
    write_catalogue(folder, _in_brackets)
    return folder


def _in_brackets(message: str) -> str:
    return f"⟦{message}⟧"


@pytest.fixture
def _pseudo(catalogue: Path) -> Iterator[None]:
    with spoken(catalogue):
        yield


class Texts(HTMLParser):
    """What a reader sees or hears of a page, each text with its element; not what is code or a log's last words."""

    SILENT = frozenset({"style", "code", "pre"})

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.found: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in ("meta", "br"):
            self.open.append(tag)
        self.found += [value or "" for name, value in attrs if name in ("aria-label", "data-label", "title")]

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if not self.SILENT & set(self.open):
            self.found.append(data)


def unbracketed(text: str) -> list[str]:
    """The words outside brackets, without figures and their units."""
    previous = None
    while previous != text:
        previous, text = text, re.sub(r"⟦[^⟦⟧]*⟧", " ", text)
    assert "⟦" not in text, text
    assert "⟧" not in text, text
    found = re.findall(r"[^\W\d_][\w./:-]*", text)
    return [word for word in found if not re.fullmatch(FIGURES, word, re.VERBOSE)]


OURS_AND_FIGURES = {"sizer", "MXNet", "OpenCV", "logs", "log", "CPUs", "bytes", "image", "word", "core-seconds", "IOs"}
"""Beside names of the study: this program's, frameworks', of the folder of logs, of keys in host.json, and units."""


@pytest.mark.usefixtures("_pseudo")
def test_every_sentence_on_the_page_is_of_that_language(material: Material) -> None:
    """What is in no brackets is data: names, paths, addresses, facts about the host, notes handed in."""
    page = render(material)
    quoted = re.findall(r"'([^']*)'|\"([^\"]*)\"", str(material))
    data = {word for pair in quoted for word in unbracketed(" ".join(pair))} | OURS_AND_FIGURES
    ids = re.compile("|".join(run.id for run in material.runs))
    left = {word for text in Texts(page).found for word in unbracketed(ids.sub("", text))}
    unknown = {word for word in left - data if not set(filter(None, re.split("[./:]", word))) <= data}
    assert not unknown, sorted(unknown)
    assert f'<html lang="{PSEUDO}">' in page
    assert page.count("⟦") > 500


def test_the_templates_hold_no_text_of_their_own() -> None:
    """Each text with a letter is made by an expression, so that a language can have it."""
    for template in TEMPLATES.glob("*.html"):
        source = re.sub(r"\{\{.*?\}\}|\{%.*?%\}", "", template.read_text(encoding="utf-8"), flags=re.DOTALL)
        texts = [text.replace("sizer", "") for text in Texts(source.replace("<!doctype html>", "")).found]
        assert not [text for text in texts if re.search(r"[^\W\d_]", text)], template.name


@pytest.fixture
def folder(tmp_path: Path, store_knee: Callable[[Path], Path]) -> Path:
    return store_knee(tmp_path / "s")


def test_recommend_speaks_it_and_what_programs_read_does_not(
    folder: Path, request: pytest.FixtureRequest, capsys: pytest.CaptureFixture[str]
) -> None:
    """recommendation.json and the table of measurements are the same in every language."""
    english, read_by_programs = _recommended(folder, capsys)
    request.getfixturevalue("_pseudo")
    assert languages() == ("en", PSEUDO)
    with in_language(PSEUDO):
        shown, again = _recommended(folder, capsys)
    assert re.sub("[⟦⟧]", "", shown).split() == english.split()
    assert again == read_by_programs
    for line in shown.splitlines():
        assert not set(unbracketed(line)) - {"train"}, line


def _recommended(folder: Path, capsys: pytest.CaptureFixture[str]) -> tuple[str, tuple[str, str]]:
    """What `recommend` prints; recommendation.json, and the table of measurements."""
    assert main(["recommend", str(folder)]) == 0
    shown = capsys.readouterr().out
    assert main(["export", str(folder)]) == 0
    return shown, ((folder / "recommendation.json").read_text(), capsys.readouterr().out)

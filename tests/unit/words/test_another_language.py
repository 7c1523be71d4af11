"""In another language every sentence of ours is another one, on the page and in the terminal; data stays English."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from html.parser import HTMLParser
from pathlib import Path

import pytest

from sizer import api
from sizer.bundled.reports.page import render
from sizer.bundled.reports.policy import TEMPLATES
from sizer.bundled.reports.subject import Material
from sizer.cli import language as cli_language
from sizer.cli import main
from sizer.cli.commands import doctor
from sizer.host.findings import BusyBy, Check, Finding, FindingKind
from sizer.host.machine import facts
from sizer.host.speed import probe
from sizer.records.answer import Alternative
from sizer.records.messages import Message, NoAnswer
from sizer.records.prediction import Estimate, Refused, Spec
from sizer.words.language import ENGLISH, _folder, in_language, without_optional
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
    """All that is said, so that a sentence of which no part is said stays empty."""
    if without_optional(message).strip():
        return f"⟦{message}⟧"
    return re.sub(r"\[\[(!?[\w.]+\?)?(.*?)\]\]", r"[[\1⟦\2⟧]]", message)


@pytest.fixture
def _pseudo(catalogue: Path) -> Iterator[None]:
    with spoken(catalogue):
        yield


class Texts(HTMLParser):
    """What a reader sees or hears of a page, each text with its element; not what is code or a log's last words."""

    SILENT = frozenset({"style", "script", "code", "pre"})

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.texts: list[str] = [""]
        self._goes_on = False
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._goes_on = tag == "code"  # What is set apart as code stands inside a sentence.
        if tag not in ("meta", "br", "input"):
            self.open.append(tag)
        self.texts += [value or "" for name, value in attrs if name in ("aria-label", "data-label", "title")]

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag
        self._goes_on = tag == "code" and self._goes_on

    def handle_data(self, data: str) -> None:
        if self.SILENT & set(self.open):
            return
        if self._goes_on:
            self.texts[-1] += f" {data}"
        else:
            self.texts.append(data)
        self._goes_on = False


def unbracketed(text: str) -> list[str]:
    """The words outside brackets, without figures and their units."""
    previous = None
    while previous != text:
        previous, text = text, re.sub(r"⟦[^⟦⟧]*⟧", " ", text)
    assert "⟦" not in text, text
    assert "⟧" not in text, text
    words = re.findall(r"[^\W\d_][\w./:-]*", text)
    return [word for word in words if not re.fullmatch(FIGURES, word, re.VERBOSE)]


OURS_AND_FIGURES = {"sizer", "MXNet", "OpenCV", "logs", "log", "CPUs", "csv", "json", "AWS", "Alibaba", "Cloud"}
"""Names beside the study's: of this program, frameworks, providers, the folder of logs, keys of host.json, units."""


@pytest.mark.usefixtures("_pseudo")
@pytest.mark.parametrize("compared", [False, True], ids=["sizes", "machines"])
def test_every_sentence_on_the_page_is_of_that_language(material: Material, compared: bool) -> None:
    """What is in no brackets is data: names, paths, addresses, facts about the host, notes handed in."""
    if compared:
        material = _with_machines(material)
    page = render(material)
    quoted = re.findall(r"'([^']*)'|\"([^\"]*)\"", str(material))
    data = {word for pair in quoted for word in unbracketed(" ".join(pair))} | OURS_AND_FIGURES
    ids = re.compile("|".join(run.id for run in material.runs))
    left = {word for text in Texts(page).texts for word in unbracketed(ids.sub("", text))}
    unknown = {word for word in left - data if not set(filter(None, re.split("[./:]", word))) <= data}
    assert not unknown, sorted(unknown)
    assert f'<html lang="{PSEUDO}">' in page
    assert page.count("⟦") > 500


def _with_machines(material: Material) -> Material:
    """The same page with an answer that was chosen among many machines."""
    first, *others = material.recommendation.workloads
    machines = tuple(
        Alternative(
            Spec(None, gpu=gpu, gpu_count=count), Estimate(rate, 0.9 * rate, 1.1 * rate), "aws p2", 1.0, 2.0, slow
        )
        for gpu, slow in (("K80", True), ("P100", False))
        for count in range(1, 9)
        for rate in (100.0 * count,)
    )
    unpriced = Alternative(Spec(8.0), Estimate(9.0, 8.0, 10.0))
    answer = replace(
        first, spec=machines[8].spec, throughput=machines[8].throughput, alternatives=(*machines, unpriced)
    )
    return replace(material, recommendation=replace(material.recommendation, workloads=(answer, *others)))


def test_the_templates_hold_no_text_of_their_own() -> None:
    """Each text with a letter is made by an expression, so that a language can have it."""
    for template in TEMPLATES.glob("*.html"):
        source = re.sub(r"\{\{.*?\}\}|\{%.*?%\}", "", template.read_text(encoding="utf-8"), flags=re.DOTALL)
        texts = [text.replace("sizer", "") for text in Texts(source.replace("<!doctype html>", "")).texts]
        assert not [text for text in texts if re.search(r"[^\W\d_]", text)], template.name


@pytest.fixture
def folder(tmp_path: Path, store_knee: Callable[[Path], Path]) -> Path:
    return store_knee(tmp_path / "s")


@pytest.fixture
def _busy_host(monkeypatch: pytest.MonkeyPatch) -> None:
    """A host of which each kind of finding is found, and which another program uses."""
    message = Message("the {controller} controller is not mounted", controller="cpu")
    checks = tuple(Check(kind.value, False, Finding(kind, message, "/x", 1, 2, 3)) for kind in FindingKind)
    host = facts()
    monkeypatch.setattr(doctor, "checks", lambda _: checks)
    monkeypatch.setattr(doctor, "facts", lambda _: host)
    monkeypatch.setattr(doctor, "probe", cache(lambda cpus, _: probe(cpus, 0.0)))  # two would differ a little
    monkeypatch.setattr(doctor, "host_load", lambda _: BusyBy(0.8, 0.2, (("firefox", 0.6),)))


READ_BY_PROGRAMS = (
    ("predict", "s", "--vcpus", "3", "--json"),
    ("predict", "s", "--batch-size", "64", "--json"),
    ("status", "s", "--json"),
    ("fit", "s", "--json"),
    ("recommend", "s", "--json"),
    ("export", "s"),
    ("doctor", "--json"),
)


@pytest.fixture
def _asked_for(catalogue: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A catalogue for a user whose environment asks for its language."""
    monkeypatch.setattr(cli_language, "CATALOGUES", catalogue)
    for name in ("LC_ALL", "LC_MESSAGES", "LANGUAGE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("LANG", f"{PSEUDO}_DE.UTF-8")
    with spoken(catalogue), in_language(ENGLISH):
        yield


@pytest.mark.usefixtures("_busy_host")
@pytest.mark.parametrize("words", READ_BY_PROGRAMS, ids=" ".join)
def test_what_programs_read_is_the_same_in_every_language(
    words: tuple[str, ...],
    folder: Path,
    request: pytest.FixtureRequest,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Also what could not be read or predicted, and what a host cannot limit or is busy with."""
    monkeypatch.chdir(folder.parent)
    (folder / "runs" / "cut.json").write_text("{")
    english = main(words), capsys.readouterr().out
    request.getfixturevalue("_asked_for")
    assert (main(words), capsys.readouterr().out) == english
    assert english[1].strip()


def test_what_is_stored_is_the_same_in_every_language(
    folder: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A study file, an imported study, and what is concluded of it; the page alone is of that language."""
    monkeypatch.chdir(folder.parent)
    table = folder.parent / "table.csv"
    main(["export", "s"])
    table.write_text(capsys.readouterr().out)
    english = _stored(folder.parent, "english")
    request.getfixturevalue("_asked_for")
    assert _stored(folder.parent, "other") == english
    assert main(["predict", "s", "--batch-size", "64"]) == 5
    assert "⟦" in capsys.readouterr().err
    assert "⟦" in (folder.parent / "other" / "report.html").read_text()


def _stored(parent: Path, name: str) -> dict[str, str]:
    """What `init` and `import` write into files, but for the page."""
    assert main(["init", f"{name}.yaml"]) == 0
    assert main(["import", "table.csv", "--out", name]) == 0
    files = (path for path in sorted((parent / name).rglob("*")) if path.is_file() and path.suffix != ".html")
    texts = {str(path.relative_to(parent / name)): path.read_text() for path in files}
    return {**texts, "study file": (parent / f"{name}.yaml").read_text()}


@pytest.mark.parametrize(
    ("environment", "language"),
    [
        ({}, None),
        ({"LANG": "C.UTF-8", "LANGUAGE": "de"}, None),
        ({"LANG": "en_US.UTF-8"}, None),
        ({"LANG": "de_DE.UTF-8"}, PSEUDO),
        ({"LANG": "en_US.UTF-8", "LC_MESSAGES": "de_AT@euro"}, PSEUDO),
        ({"LANG": "de_DE.UTF-8", "LC_ALL": "fr_FR.UTF-8"}, None),
        ({"LANG": "fr_FR.UTF-8", "LANGUAGE": "it:de:en"}, PSEUDO),
        ({"LANG": "de_DE.UTF-8", "LANGUAGE": "en:de"}, None),
        ({"LANG": "../de"}, None),
    ],
)
def test_the_environment_chooses_the_language(
    environment: dict[str, str], language: str | None, catalogue: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As with any program that uses gettext, and only one that there is a catalogue of."""
    assert _folder() == cli_language.CATALOGUES
    monkeypatch.setattr(cli_language, "CATALOGUES", catalogue)
    assert cli_language.asked_language(environment) == language


@pytest.mark.usefixtures("_busy_host", "_pseudo")
def test_doctor_speaks_it(capsys: pytest.CaptureFixture[str]) -> None:
    """The reasons why a limit cannot be set, too."""
    assert main(["doctor"]) == 0
    shown = capsys.readouterr().out.splitlines()[1:]
    assert len(shown) >= len(FindingKind)
    for line in shown:
        assert not set(unbracketed(line)) - {kind.value for kind in FindingKind} - {"cpu", "/x"}, line


def test_a_refusal_has_its_code_beside_the_sentence(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """On the command line and for whoever imports sizer, where it is a NoAnswer."""
    monkeypatch.chdir(folder.parent)
    assert main(["predict", "s", "--batch-size", "64", "--json"]) == 5
    (form,) = json.loads(capsys.readouterr().out)["predictions"]
    with pytest.raises(Refused) as refused:
        api.predict(api.fit(api.open_study(folder)), batch_size=64)
    assert form["error_code"] == refused.value.refusal.reason.code.value
    assert form["error"] == str(refused.value)
    assert isinstance(refused.value, NoAnswer)


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

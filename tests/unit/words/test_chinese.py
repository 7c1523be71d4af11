"""Simplified Chinese: what is translated is right, and is what the page, the terminal and errors say."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable
from pathlib import Path

import compiled
import pytest
from babel.messages.extract import extract_from_file

from sizer.bundled.reports.page import render
from sizer.bundled.reports.subject import Material
from sizer.cli import main
from sizer.cli.language import lines_within, width, within
from sizer.words.language import CHINESE, _, in_language, paragraph, percent, rate_in_words, sentence
from tests import ROOT
from tests.catalogue import Message, collected
from tests.unit.words.test_another_language import Texts

LOCALE = ROOT / "sizer" / "words" / "locale" / CHINESE / "LC_MESSAGES"
IDEOGRAPHS = "\u3400-\u4dbf\u4e00-\u9fff"
PLACEHOLDER = r"\{[\w.\[\]]+(?::[\w.,/]+)?\}"
OPTIONAL = r"\[\[(?:!?[\w.]+\?)?|\]\]"
KEPT = re.compile(rf"{PLACEHOLDER}|\[\[!?[\w.]+\?|%\(\w+\)\w|`[^`]*`|(?<![\w-])--[a-z][a-z-]*")
"""What every language has alike: placeholders, names set apart, options."""
NEVER_SAID = {
    ".__call__() not defined",
    "conflicting subparser: %s",
    "conflicting subparser alias: %s",
    'argument "-" with mode %r',
    "cannot merge actions - two groups are named %r",
    "'required' is an invalid argument for positionals",
    "invalid option string %(option)r: must start with a character %(prefix_chars)r",
    "dest= is required for options like %r",
    "invalid conflict_resolution value: %r",
    "conflicting option string: %s",
    "mutually exclusive arguments must be optional",
    "cannot have multiple subparser arguments",
    "%r is not callable",
}
"""What argparse says to who writes a parser, and not to who types a command."""


def translations(name: str) -> dict[Message, str]:
    """Each English sentence that a catalogue has in Chinese, which is one form, since Chinese has no plural."""
    catalogue = compiled.read_translations(LOCALE / name)
    return {message.id: forms(message.string)[0] for message in catalogue if message.id}


def forms(string: str | list[str] | tuple[str, ...]) -> tuple[str, ...]:
    return (string,) if isinstance(string, str) else tuple(string)


def test_no_translation_is_a_guess_or_left_over() -> None:
    """`script/words` drops what is gone from sizer, and guesses nothing."""
    assert len(translations("sizer.po")) > 500
    text = (LOCALE / "sizer.po").read_text(encoding="utf-8")
    assert "\n#~" not in text
    assert "\n#, fuzzy" not in text


def test_what_is_kept_in_every_language_is_kept() -> None:
    """Placeholders, options, and names that are set apart; the form for one may leave the number out."""
    for message, chinese in translations("sizer.po").items():
        assert set(KEPT.findall(" ".join(forms(message)))) == set(KEPT.findall(chinese)), chinese


def test_marks_are_those_of_chinese() -> None:
    """A sentence ends as one does there, and no comma, colon or bracket of English stands beside Chinese letters."""
    for message, chinese in translations("sizer.po").items():
        english = forms(message)[0]
        assert english.endswith(".") - english.endswith("...") == chinese.endswith("\u3002"), chinese
        plain = re.sub(OPTIONAL, "", re.sub(rf"`[^`]*`|{PLACEHOLDER}|!=", "x", chinese))
        assert not re.search(rf"[{IDEOGRAPHS}] ?[,;:!?()]|[,;:!?()][{IDEOGRAPHS}]|[{IDEOGRAPHS}]\.", plain), chinese
        assert not re.search(rf"[{IDEOGRAPHS}] [{IDEOGRAPHS}]|\d %", plain), chinese


def test_argparse_speaks_it_too() -> None:
    """Whatever of argparse a person who types a command can come to read."""
    marked = extract_from_file("python", argparse.__file__, keywords={"_": None, "ngettext": (1, 2)})
    marked_texts = {forms(message)[0] for _line, message, _comments, _context in marked} - NEVER_SAID
    by_english = {forms(message)[0]: chinese for message, chinese in translations("messages.po").items()}
    assert marked_texts <= set(by_english)
    for english, chinese in by_english.items():
        assert set(re.findall(r"%(?:\(\w+\))?\w", english)) == set(re.findall(r"%(?:\(\w+\))?\w", chinese)), english


@pytest.mark.parametrize(
    ("message", "value", "filled"),
    [
        ("受限于{x}", "CPU", "受限于 CPU"),
        ("受限于{x}", "串行部分", "受限于串行部分"),
        ("受限于 {x}", "串行部分", "受限于串行部分"),
        ("{x}忙碌", "98%", "98% 忙碌"),
        ("{x}。", "98%", "98%。"),
        ("a {x}", "（约）", "a（约）"),
        ("sizer run {x} --out o", "研究", "sizer run 研究 --out o"),
        ("`{x}` 没有", "train", "`train` 没有"),
        ("{x}", " ", " "),
    ],
)
def test_a_value_stands_apart_if_it_is_latin(message: str, value: str, filled: str) -> None:
    """One space between Chinese and Latin, none between Chinese and Chinese, and commands stay as they are."""
    with in_language(CHINESE):
        assert _(message, x=value) == filled


def test_figures_follow_its_rules() -> None:
    """No space before %, sentences without one between them, units that have a name in Chinese."""
    with in_language(CHINESE):
        assert percent(0.973) == "97%"
        assert rate_in_words(183.2, "image") == "183 图像/s"
        assert rate_in_words(183.2, "row") == "183 rows/s"
        assert paragraph(["一。", "", "二。"]) == "一。二。"
        assert sentence("完成") == "完成。"
        assert sentence("完成。") == "完成。"


def test_a_terminal_is_not_overrun() -> None:
    """A letter of Chinese takes two columns; no line begins with a closing mark."""
    assert within("ab中文", 5) == "ab中"
    lines = lines_within("退出码：0 完成；1 sizer 内部错误（见日志）。", 10)
    assert max(map(width, lines)) <= 12
    assert not [line for line in lines if line[0] in "：；）。"]
    assert "".join(lines).replace(" ", "") == "退出码：0完成；1sizer内部错误（见日志）。"


@pytest.fixture
def _asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("LC_ALL", "LC_MESSAGES", "LANGUAGE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("LANG", "zh_CN.UTF-8")


def english_in(text: str) -> list[str]:
    """The parts of English sentences, of three words or more, that a text holds though they are translated."""
    spoken = " ".join(text.split())
    translated = translations("sizer.po")
    parts = (
        part.strip()
        for message in translated
        for form in forms(message)
        for part in re.split(rf"{PLACEHOLDER}|{OPTIONAL}", form)
    )
    own = {*translated.values(), *(form for message in set(collected()) - set(translated) for form in forms(message))}
    long = {part for part in parts if re.search(r"[a-z]+ [a-z]+ [a-z]+", part)}
    return [part for part in long if part in spoken and not any(part in text for text in own)]


def test_the_page_holds_no_english_sentence(material: Material) -> None:
    """It says of itself that it is Chinese, so a browser draws the letters in their Chinese form."""
    with in_language(CHINESE):
        page = render(material)
    assert '<html lang="zh-CN">' in page
    assert english_in(" ".join(Texts(page).texts)) == []
    assert len(english_in(" ".join(Texts(render(material)).texts))) > 30


@pytest.mark.usefixtures("_asked_for")
@pytest.mark.parametrize(
    "words",
    [
        ("recommend", "s"),
        ("fit", "s"),
        ("status", "s"),
        ("predict", "s", "--vcpus", "3"),
        ("predict", "s", "--batch-size", "64"),
        ("recommend", "s", "--fail-if", "throughput"),
        ("status", "nothing"),
        ("run", "study.yaml"),
    ],
    ids=" ".join,
)
def test_the_terminal_and_its_errors_hold_none(
    words: tuple[str, ...],
    store_knee: Callable[[Path], Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Where LANG asks for Chinese."""
    monkeypatch.chdir(tmp_path)
    store_knee(tmp_path / "s")
    (tmp_path / "study.yaml").write_text("workloads:\n  - kind: image_training\naxes: {memroy: [1GiB]}\n")
    main(words)
    shown = "".join(capsys.readouterr())
    assert re.search(f"[{IDEOGRAPHS}]", shown)
    assert english_in(shown) == []


@pytest.fixture
def _no_browser(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.delenv("BROWSER", raising=False)
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    monkeypatch.setattr("webbrowser._tryorder", None)
    monkeypatch.setattr("webbrowser._browsers", {})


@pytest.mark.usefixtures("_asked_for", "_no_browser")
def test_a_report_is_in_the_language_that_is_asked_for(
    store_knee: Callable[[Path], Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """By LANG, or by --lang; and without a browser it says where the page is."""
    folder = store_knee(tmp_path / "s")
    page = folder / "report.html"
    assert main(["report", str(folder)]) == 0
    assert 'lang="zh-CN"' in page.read_text(encoding="utf-8")
    assert main(["report", str(folder), "--lang", "en"]) == 0
    assert 'lang="en"' in page.read_text(encoding="utf-8")
    capsys.readouterr()
    assert main(["report", str(folder), "--open"]) == 3
    shown, err = capsys.readouterr()
    assert shown.strip() == str(page)
    assert str(page) in err


ENGLISH_FIGURES = {"format_rate", "format_share", "plural", "rate_unit", "share_and_unit"}
"""Of `sizer.records`: they have English words, or marks as English sets them."""
MAY = {"units.py", "warnings.py", "model.py"}
"""Who makes the words of a language from them, or compares them with what is stored."""


def test_figures_with_words_are_taken_from_sizer_words() -> None:
    """Not `format_rate` but `rate_in_words`, not `format_share` but `percent`, not `plural` but `several_of`."""
    places = (ROOT / "reports", ROOT / "sizer" / "words", ROOT / "sizer" / "cli")
    for path in (file for place in places for file in place.rglob("*.py") if file.name not in MAY):
        imported = re.findall(r"^from sizer\.records import (\([^)]*\)|.*)$", path.read_text(encoding="utf-8"), re.M)
        assert not ENGLISH_FIGURES & set(re.findall(r"\w+", " ".join(imported))), path.name

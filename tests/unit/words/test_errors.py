"""An error is a record until it is shown: its sentence is a literal with named placeholders, in any language."""

from __future__ import annotations

import argparse
import ast
import re
from collections.abc import Iterator
from pathlib import Path
from string import Formatter

import pytest

from sizer.cli import main
from sizer.cli.arguments import _Command, parser
from sizer.records.messages import AllOf, AnyOf, HostError, InputError, Lines, Message
from sizer.storage.announcements import Announcement, AnnouncementKind
from sizer.words.language import in_words, without_marks
from sizer.words.terminal import announcement_in_words
from tests import ROOT
from tests.catalogue import collected, keywords, spoken, write_catalogue

OF_WORDS = {"_", "_n", "N_", "Sentence", "Counted"}
MARKS = {
    name: int(place or 1) - 1
    for name, _, place in (keyword.partition(":") for keyword in keywords())
    if name not in OF_WORDS
}
"""Where each call that is no function of `words` has its sentence."""

MADE_ELSEWHERE = {
    "sizer/cli/commands/predict.py": "the reason of each refusal, which `words` has put into words",
    "sizer/cli/elsewhere.py": "the same",
    "sizer/api/preconditions.py": "a message for each thing that a host lacks",
    "sizer/storage/disks.py": "an error for each volume that cannot be removed",
    "sizer/api/conclusions.py": "why no workload has a file",
    "sizer/exchange/formats.py": "why no workload has a machine, which `words` has put into words",
    "sizer/study/json_schema.py": "descriptions of the schema, which are collected from there",
}
"""Files in which something else than a literal is given, and what."""


def calls() -> Iterator[tuple[str, ast.Call, ast.expr]]:
    """Place of each call that takes a sentence, the call, and the sentence."""
    for path in sorted((*ROOT.glob("sizer/**/*.py"), *ROOT.glob("reports/**/*.py"))):
        where = str(path.relative_to(ROOT))
        if where.startswith("sizer/bundled/") or where == "sizer/records/messages.py":
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call):
                name = getattr(node.func, "id", None) or getattr(node.func, "attr", "")
                if name in MARKS and len(node.args) > MARKS[name]:
                    yield where, node, node.args[MARKS[name]]


def is_method(call: ast.Call) -> bool:
    """Whether this is `input_error` of a row or of a study file, which take an error that was raised below, too."""
    return isinstance(call.func, ast.Attribute)


def test_every_error_is_a_literal_whose_placeholders_are_its_values() -> None:
    """So that it can be collected, and translated; a wrong name would show only when the error is raised."""
    count = 0
    for where, call, sentence in calls():
        place = f"{where}:{call.lineno}"
        if not isinstance(sentence, ast.Constant):
            assert not isinstance(sentence, (ast.JoinedStr, ast.BinOp)), place
            passed_on = isinstance(sentence, ast.Name) and (is_method(call) or None in {k.arg for k in call.keywords})
            assert where in MADE_ELSEWHERE or passed_on, place
            continue
        count += 1
        values = {keyword.arg for keyword in call.keywords}
        parts = list(Formatter().parse(str(sentence.value))) if values else []
        assert {name for _, name, _, _ in parts if name is not None} == values, place
        assert not any(form or conversion for _, _, form, conversion in parts), place
        assert values or not set("{}") & set(str(sentence.value)), place
        assert sentence.value in collected(), place
    assert count > 250


def test_an_error_is_english_where_it_is_taken_as_text() -> None:
    """For logs and JSON; its parts can be had, too."""
    error = InputError("{path} is not {what}.", path=Path("a"), what=Message("a table"))
    assert str(error) == in_words(error) == "a is not a table."
    assert (error.message, error.values["path"]) == ("{path} is not {what}.", Path("a"))


@pytest.mark.parametrize("count", [0, 1, 2, 3])
def test_lists_are_joined_alike_in_english(count: int) -> None:
    """The record's own text and the words of it are the same."""
    names = ("a", "b", "c")[:count]
    assert str(AnyOf(*names)) == in_words(AnyOf(*names)) == {0: "", 1: "a", 2: "a or b", 3: "a, b or c"}[count]
    assert str(AllOf(*names)) == in_words(AllOf(*names)) == {0: "", 1: "a", 2: "a and b", 3: "a, b and c"}[count]
    assert str(HostError(Lines(*names))) == in_words(HostError(Lines(*names))) == "\n".join(names)


@pytest.fixture
def _pseudo(tmp_path: Path) -> Iterator[None]:
    """A language in which each letter of ours is a capital one: what is small is itself."""
    write_catalogue(tmp_path / "locale", _shouted)
    with spoken(tmp_path / "locale"):
        yield


def _shouted(message: str) -> str:
    kept = re.compile(r"(\{[^{}]*\}|\[\[!?[\w.]+\?|%\(\w+\)\w)")
    return "".join(part if kept.fullmatch(part) else part.upper() for part in kept.split(message))


STUDY = "workloads:\n  - kind: image_training\n"


@pytest.mark.usefixtures("_pseudo")
@pytest.mark.parametrize(
    ("content", "argv", "data"),
    [
        (None, ["run", "study.yaml", "--out", "o"], {"study", "yaml"}),
        (STUDY + "axes: {memroy: [1GiB]}\n", ["run", "study.yaml"], {"study", "yaml", "memroy", "axes", "memory"}),
        (STUDY + "measure: {seed: -1}\n", ["run", "study.yaml"], {"study", "yaml", "seed", "measure"}),
        (STUDY + "name: 'b c'\n", ["run", "study.yaml"], {"study", "yaml", "name", "b", "c"}),
        (
            "workload,vcpus\na,1\n",
            ["import", "study.yaml", "--out", "o"],
            {"study", "yaml", "throughput", "workload", "vcpus"},
        ),
        (
            "workload,vcpus,throughput\na,one,1\n",
            ["import", "study.yaml", "--out", "o"],
            {"study", "yaml", "vcpus", "one"},
        ),
        ("{", ["catalog", "list", "study.yaml"], None),
        ("", ["recommend", "nothing"], {"nothing"}),
    ],
)
def test_an_error_is_said_in_the_readers_language(
    content: str | None,
    argv: list[str],
    data: set[str] | None,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """With its parts: the kind of file, the value that is wanted, "or". Only what was named stays as it is."""
    monkeypatch.chdir(tmp_path)
    if content is not None:
        (tmp_path / "study.yaml").write_text(content)
    assert main(argv) == 2
    shown = capsys.readouterr().err.removeprefix("sizer: ")
    assert re.search("[A-Z]{3}", shown), shown
    if data is not None:
        assert set(re.findall("[a-z]+", shown)) <= data, shown


@pytest.mark.usefixtures("_pseudo")
def test_help_is_in_the_readers_language() -> None:
    """Every line of it but argparse's own, which follow Python's catalogues; what a run fills in keeps its name."""
    texts = [text for command in parsers(parser()) for text in helps(command)]
    assert len(texts) > 60
    for text in texts:
        assert not re.search("[a-z]", re.sub(r"%\(\w+\)\w|\{\w+\}|500GiB|\w+(?:, \w+){20,}", "", text)), text


def parsers(top: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    """This parser and those of its commands."""
    if isinstance(top, _Command):
        top.load()
    yield top
    for action in top._actions:
        if isinstance(action, argparse._SubParsersAction):
            for inner in action.choices.values():
                yield from parsers(inner)


def helps(command: argparse.ArgumentParser) -> Iterator[str]:
    """What a parser says of itself and of its arguments."""
    yield from filter(None, (command.description, command.epilog))
    for action in command._actions:
        if isinstance(action, argparse._SubParsersAction):
            yield from (choice.help or "" for choice in action._choices_actions)
        elif action.help and not isinstance(action, (argparse._HelpAction, argparse._VersionAction)):
            yield action.help


def test_the_page_leaves_out_marks_of_sentences_and_not_of_names() -> None:
    """A name may have a mark of its own."""
    lacking = Announcement(AnnouncementKind.DATA_LACKING, name="a`b", why=Message("no room"))
    sentence = announcement_in_words(lacking)
    assert sentence == "  workload `a`b`: its data cannot be prepared: no room"
    with without_marks():
        assert announcement_in_words(lacking) == "  workload a`b: its data cannot be prepared: no room"

"""What README.md and docs say can be typed, read and followed."""

from __future__ import annotations

import re
import shlex
from functools import cache
from pathlib import Path
from pkgutil import resolve_name

import pytest

from sizer.catalog.catalog import Catalog
from sizer.cli.arguments import parser
from sizer.study.parse import parse_study
from sizer.study.presets import HostSize
from tests import ROOT

README = (ROOT / "README.md").read_text("utf-8")
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
FOR_DEVELOPERS = [ROOT / "CONTRIBUTING.md", *sorted((ROOT / "benchmarks").rglob("README.md"))]
OURS = ("sizer", "reports", "workloads", "tests", "benchmarks", "script")
"""Folders whose files the pages name."""


def blocks(language: str) -> list[str]:
    """The fenced blocks of README in one language."""
    return re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)


COMMANDS = [line for block in blocks("sh") for line in block.splitlines() if line.startswith("sizer ")]


def test_readme_shows_commands() -> None:
    """The list below is not empty by accident."""
    assert len(COMMANDS) > 10


@pytest.mark.parametrize("line", COMMANDS)
def test_every_command_line_can_be_typed(line: str) -> None:
    """A command or an option that does not exist would end the parser."""
    assert callable(parser().parse_args(shlex.split(line, comments=True)[1:]).command)


def test_the_study_is_one_and_the_commands_name_its_workloads() -> None:
    """`predict` is shown with a workload that the shown study has."""
    (text,) = blocks("yaml")
    study = parse_study(text, "README.md", None, HostSize(16, 2**36), Catalog.load())
    named = [name for line in COMMANDS for name in re.findall(r"--workload (\S+)", line)]
    assert named
    assert set(named) <= {planned.workload.name for planned in study.workloads}


def test_the_exit_codes_are_those_of_the_help() -> None:
    """Every number, in both places."""
    paragraph = re.search(r"^Exit codes:.*?\n\n", README, re.DOTALL | re.MULTILINE)
    assert re.findall(r"\b(\d+) [a-z]", paragraph[0]) == re.findall(r"\b(\d+) [a-z]", parser().epilog or "")


def name(page: Path) -> str:
    """The path of a page in the checkout."""
    return page.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("page", [*PAGES, *FOR_DEVELOPERS, ROOT / "CHANGELOG.md"], ids=name)
def test_every_relative_link_leads_somewhere(page: Path) -> None:
    """Files, and pictures, beside the page, and the headings of pages."""
    links = re.findall(r"\]\(([^)\s]+)\)", page.read_text("utf-8"))
    here = [link.partition("#") for link in links if not re.match(r"[a-z]+:", link)]
    assert [path for path, _, _ in here if not (page.parent / path).exists()] == []
    assert [
        f"{path}#{heading}"
        for path, _, heading in here
        if heading and heading not in headings(page.parent / path if path else page)
    ] == []


@cache
def headings(page: Path) -> frozenset[str]:
    """The anchors that GitHub gives the headings of a page: words in small letters, joined by strokes."""
    lines = re.findall(r"^#+ (.+)$", re.sub(r"```.*?```", "", page.read_text("utf-8"), flags=re.DOTALL), re.MULTILINE)
    return frozenset(re.sub(r"[^\w\- ]", "", line.lower()).replace(" ", "-") for line in lines)


@pytest.mark.parametrize("folder", sorted({path.parent for path in (ROOT / "benchmarks").glob("*/*.py")}), ids=name)
def test_every_folder_of_benchmarks_has_a_page_that_the_table_links(folder: Path) -> None:
    """But for what they share."""
    linked = (ROOT / "benchmarks" / "README.md").read_text("utf-8").count(f"]({folder.name}/README.md)")
    assert folder.name == "shared" or ((folder / "README.md").exists() and linked)


@cache
def files() -> tuple[str, ...]:
    """The path of every file of the checkout in its own folders, with a stroke before it."""
    return tuple(f"/{path.relative_to(ROOT).as_posix()}" for name in OURS for path in (ROOT / name).rglob("*.*"))


@pytest.mark.parametrize("page", [*PAGES, *FOR_DEVELOPERS], ids=name)
def test_every_file_and_module_that_is_named_exists(page: Path) -> None:
    """Files of Python by path or name, folders of sizer, and modules with what they hold; NAME.py is to be made."""
    named = re.findall(r"`([^`\n]+)`", page.read_text("utf-8"))
    programs = [word for code in named for word in code.split() if word.endswith(".py") and "NAME" not in word]
    assert [word for word in programs if not any(path.endswith(f"/{word}") for path in files())] == []
    assert [code for code in named if re.fullmatch(r"sizer/[\w./]+", code) and not (ROOT / code).exists()] == []
    for code in named:
        if re.fullmatch(r"(sizer|workloads)\.[\w.]+", code):
            resolve_name(code)

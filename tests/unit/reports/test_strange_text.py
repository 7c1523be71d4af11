"""Whatever a study, a workload or a run file calls itself, the page has the elements that it would have anyway."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import fields, is_dataclass, replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from sizer.bundled.reports import Material, render
from sizer.model import fit
from sizer.records.run import Outcome, Run
from sizer.records.study import HOST_DISK

EVIL = """"'><script>document.title="owned"</script><img src=x onerror=document.title='owned'>{{7*7}}<!--</style>"""
PLAIN = "x" * len(EVIL)
MEANT = {"kind", "framework", "format", "input", "cache", "disk_class", "status", "started_at", "id", "bottleneck"}
"""Texts of a few known words, which decide what is shown."""


class Skeleton(HTMLParser):
    """Elements with the names of their attributes, and where links lead."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, tuple[str, ...]]] = []
        self.links: list[str] = []
        self.styles: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, tuple(name for name, _ in attrs)))
        self.links += [value or "" for name, value in attrs if name in ("href", "src", "action", "xlink:href")]
        self.styles += [value or "" for name, value in attrs if name == "style"]


def with_text(value: Any, text: str) -> Any:
    """The same value with `text` behind every free text in it, however deep."""
    if isinstance(value, str) and not isinstance(value, Outcome) and type(value) is str:
        return value if value in (HOST_DISK, "") else value + text
    if isinstance(value, (list, tuple)):
        return type(value)(with_text(each, text) for each in value)
    if isinstance(value, dict):
        return {key: each if key in MEANT else with_text(each, text) for key, each in value.items()}
    if is_dataclass(value) and not isinstance(value, type):
        changed = {
            field.name: with_text(getattr(value, field.name), text)
            for field in fields(value)
            if field.name not in MEANT and field.init
        }
        return replace(value, **changed)
    return value


@pytest.fixture(autouse=True)
def _short_curves(monkeypatch: pytest.MonkeyPatch) -> None:
    """A curve of few points has the same elements, and each model here is another one."""
    monkeypatch.setattr("sizer.bundled.reports.curves.POINTS", 6)


def page(material: Material, text: str) -> str:
    runs: tuple[Run, ...] = with_text(material.runs, text)
    changed = {
        field.name: with_text(getattr(material, field.name), text)
        for field in fields(material)
        if field.name not in ("runs", "model")
    }
    return render(replace(material, **changed, runs=runs, model=fit(runs)))


@pytest.mark.slow
def test_no_text_becomes_an_element_or_an_attribute(material: Material) -> None:
    """Of names, units, errors, last words, warnings, paths and reasons; a link is inside the page or a source's."""
    evil, plain = page(material, EVIL), page(material, PLAIN)
    assert plain.count(PLAIN) > 100
    assert EVIL not in evil
    assert Skeleton(evil).elements == Skeleton(plain).elements
    assert all(link.startswith(("#", "https://", "http://")) for link in Skeleton(evil).links)
    assert "owned" not in "".join(Skeleton(evil).styles)


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("chromium") is None, reason="needs chromium")
def test_a_browser_runs_nothing_of_it(material: Material, tmp_path: Path) -> None:
    """What a real parser makes of the page, after it has loaded."""
    (tmp_path / "evil.html").write_text(page(material, EVIL))
    options = ["--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path / 'profile'}", "--dump-dom"]
    argv = ["chromium", *options, f"file://{tmp_path / 'evil.html'}"]
    shown = subprocess.run(argv, capture_output=True, text=True, timeout=120, check=True).stdout
    assert "owned" in shown
    assert "<title>owned" not in shown
    assert shown.count("<script") == 2, "the page's own, and the data of its model"
    assert "<img" not in shown

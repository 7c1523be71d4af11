"""The page: each section turns records into plain values, its template shows them, and the file is written whole or not
at all."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from jinja2 import Environment, FileSystemLoader, StrictUndefined, select_autoescape
from markupsafe import Markup, escape

from sizer.files.writing import write_text
from sizer.words.language import _ as __text
from sizer.words.language import _n, language_tag, paragraph, sentence
from sizer.words.page import runs_counted

from . import cross_table, instances, instead, which_gpu
from .answers import verdict, workloads
from .charts.hatching import hatchings
from .charts.svg import harmless
from .doubts import section as doubts
from .embedded import deflated
from .material import Material
from .measurement import section as measurement
from .policy import TEMPLATES, page_policy, script, style
from .runs import all_runs, timelines
from .runs.columns import with_content
from .subject import Subject, subjects
from .what_if import section as what_if

Shown = TypeVar("Shown")
Contents = Callable[[Material, Sequence[Any]], Mapping[str, Any] | None]


@dataclass(frozen=True)
class Section:
    """A part of the page: `templates/NAME.html` shows what `contents` makes of the records, plain values and finished
    SVG; None where there is nothing to show. Its style and script, where it has any, are NAME.css and NAME.js, which
    `policy.py` joins.

    What takes long is made of each workload by itself: `contents` gets what `of_each` made of them in their place.
    """

    name: str
    contents: Contents
    of_each: Callable[[Subject], Any] | None = None


SECTIONS = (
    Section("verdict", verdict.contents),
    Section("cross_table", cross_table.contents),
    Section("answers", verdict.answers),
    Section("workloads", workloads.contents, workloads.workload),
    Section("instead", instead.contents),
    Section("what_if", what_if.contents),
    Section("instances", instances.contents),
    Section("which_gpu", which_gpu.contents),
    Section("doubts", doubts.contents),
    Section("measurement", measurement.contents),
    Section("runs", all_runs.contents),
    Section("timelines", timelines.contents),
)
"""In the order of the page."""
HEADING = re.compile(r'<h2 id="([\w-]+-title)">(.*?)</h2>')
"""Of a section; those of workloads have other anchors, which the first screen leads to."""
IN_MARKS = re.compile(r"`([^`]+)`")


def write_report(path: Path, material: Material, write: Callable[[Path, str], None] = write_text) -> None:
    """Write the page to `path`, whole or not at all; HostError when the file system refuses."""
    write(path, render(material))


def render(material: Material) -> str:
    """The whole page as one HTML text that loads nothing."""
    page = _templates().get_template("page.html")
    shown = list(_shown(material, _html).values())
    return page.render(
        style=Markup(style()),
        script=Markup(script()),
        policy=Markup(page_policy()),
        hatchings=hatchings(),
        language=language_tag(),
        title=material.study.name,
        created_at=material.created_at,
        version=material.version,
        sections=shown,
        headings=[(anchor, Markup(heading)) for section in shown for anchor, heading in HEADING.findall(section)],
    )


def contents(material: Material) -> dict[str, Mapping[str, Any]]:
    """What each section shows, by its name; those that have nothing to show are left out."""
    return _shown(material, lambda _, found: found)


def _html(name: str, found: Mapping[str, Any]) -> Markup:
    return Markup(_templates().get_template(f"{name}.html").render(found))


def _shown(material: Material, form: Callable[[str, Mapping[str, Any]], Shown]) -> dict[str, Shown]:
    """What each section shows in this form, by its name; those that have nothing to show are left out."""
    found = subjects(material)
    shown = {}
    for section in SECTIONS:
        of_each = section.of_each
        values = section.contents(material, found if of_each is None else [of_each(subject) for subject in found])
        if values is not None:
            shown[section.name] = form(section.name, values)
    return shown


@cache
def _templates() -> Environment:
    """Compiled once a process, as it takes longer than to fill them."""
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=select_autoescape(default=True),
        undefined=StrictUndefined,
        finalize=_harmless,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(coded=coded, deflated=deflated, with_content=with_content)
    environment.globals.update(
        _=__text,
        _n=_n,
        paragraph=paragraph,
        runs_counted=runs_counted,
        sentence=sentence,
    )
    return environment


def coded(text: str) -> Markup:
    """A sentence in which what is to be typed, `sizer resume DIR`, looks like it; nothing else in it becomes markup."""
    return Markup(IN_MARKS.sub(r"<code>\1</code>", str(escape(harmless(text)))))


def _harmless(value: object) -> object:
    """Every text that a template shows, as a page may have it; markup has been through this or through `svg`."""
    return harmless(value) if type(value) is str else value

"""The page: each section turns records into plain values, its template shows them, and the file is written whole or not
at all."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined, select_autoescape
from jinja2.ext import Extension
from markupsafe import Markup

from sizer.files.writing import write_text
from sizer.words.language import _, _n, language_tag, paragraph, sentence
from sizer.words.page import runs_counted

from . import cross_table, doubts, family, markup, measurement, offers, verdict, what_if, workloads
from .charts.svg import harmless, hatchings
from .policy import TEMPLATES, page_policy, script, style
from .runs import all_runs, timelines
from .subject import Material, Subject, subjects

SECTIONS: Mapping[str, Callable[[Material, Sequence[Subject]], Mapping[str, Any] | None]] = {
    "verdict": verdict.contents,
    "cross_table": cross_table.contents,
    "answers": verdict.answers,
    "workloads": workloads.contents,
    "instead": offers.instead,
    "what_if": what_if.contents,
    "costs": offers.costs,
    "instances": offers.instances,
    "which_gpu": offers.which_gpu,
    "family": family.contents,
    "doubts": doubts.contents,
    "measurement": measurement.contents,
    "runs": all_runs.contents,
    "timelines": timelines.contents,
}
"""The parts of the page in their order: `templates/NAME.html` shows what is made here of the records, plain values and
finished SVG; None where there is nothing to show. Its style and script, where it has any, are NAME.css and NAME.js,
which `policy.py` joins."""
HEADING = re.compile(r'<h2 id="([\w-]+-title)">(.*?)</h2>')
"""Of a section; those of workloads have other anchors, which the first screen leads to."""


def write_report(path: Path, material: Material, write: Callable[[Path, str], None] = write_text) -> None:
    """Write the page to `path`, whole or not at all; HostError when the file system refuses."""
    write(path, render(material))


def render(material: Material) -> str:
    """The whole page as one HTML text that loads nothing."""
    shown = [
        Markup(templates().get_template(f"{name}.html").render(values)) for name, values in contents(material).items()
    ]
    headings = [(anchor, Markup(heading)) for section in shown for anchor, heading in HEADING.findall(section)]
    return framed(material.study.name, shown, material.created_at, material.version, headings)


def framed(
    title: str, sections: Sequence[Markup], created_at: str, version: str, headings: Sequence[tuple[str, Markup]] = ()
) -> str:
    """A page of these sections with sizer's style, script and policy; `headings` are what its contents lead to."""
    about = {"title": title, "created_at": created_at, "version": version, "language": language_tag()}
    parts = {"style": Markup(style()), "script": Markup(script()), "policy": Markup(page_policy())}
    drawn = {"hatchings": hatchings(), "sections": sections, "headings": headings}
    return templates().get_template("page.html").render(about | parts | drawn)


def contents(material: Material) -> dict[str, Mapping[str, Any]]:
    """What each section shows, by its name; those that have nothing to show are left out."""
    of_study = subjects(material)
    made = {name: section(material, of_study) for name, section in SECTIONS.items()}
    return {name: values for name, values in made.items() if values is not None}


class _WithoutIndents(Extension):
    """Templates without the spaces that begin their lines, which would be a tenth of the page."""

    def preprocess(self, source: str, name: str | None, filename: str | None = None) -> str:  # noqa: ARG002
        return re.sub(r"\n\s+", "\n", source)


@cache
def templates() -> Environment:
    """Those of sections and of the page, compiled once a process, as it takes longer than to fill them."""
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        extensions=[_WithoutIndents],
        autoescape=select_autoescape(default=True),
        undefined=StrictUndefined,
        # Every text that a template shows, as a page may have it; markup has been through this or through `svg`.
        finalize=lambda value: harmless(value) if type(value) is str else value,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(coded=markup.coded, deflated=markup.deflated)
    functions = (markup.badge, markup.embedded, markup.filled_columns, markup.linked, sentence, paragraph, _, _n)
    environment.globals.update({function.__name__: function for function in functions}, runs_counted=runs_counted)
    macros = environment.get_template("macros.html").module
    environment.globals.update({name: getattr(macros, name) for name in ("table", "scrolled", "facts")})
    return environment

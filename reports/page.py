"""The page: records become plain dicts, the dicts go into one template, and the file is written whole or not at all."""

from __future__ import annotations

import base64
import hashlib
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined, select_autoescape
from markupsafe import Markup

from sizer import words
from sizer.files import write_text
from sizer.model import as_asked

from . import all_runs, failures, measurement, trust, verdict, warned
from .charts import hatchings
from .material import Material
from .section import section
from .subject import subjects

TEMPLATES = Path(__file__).parent / "templates"


def write_report(path: Path, material: Material) -> None:
    """Write the page to `path`, whole or not at all; HostError when the file system refuses."""
    write_text(path, render(material))


def render(material: Material) -> str:
    """The whole page as one HTML text that loads nothing."""
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=select_autoescape(default=True),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals.update(_=words._, _n=words._n, runs_counted=words.runs_counted)
    style, script = ((TEMPLATES / name).read_text(encoding="utf-8") for name in ("report.css", "charts.js"))
    return environment.get_template("report.html").render(
        style=Markup(style),
        script=Markup(script),
        policy=Markup(f"default-src 'none'; style-src {_digest(style)}; script-src {_digest(script)}"),
        hatchings=hatchings(),
        language=words.reader_language(),
        **contents(material),
    )


def _digest(text: str) -> str:
    """By which the page's policy knows its own style and script, and no others."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _notes(material: Material) -> list[str]:
    """What must be known of the whole study."""
    drift = [words.drift_in_words(material.drift)] if material.drift is not None else []
    return [*map(words.note_in_words, material.notes), *drift]


def _objective(material: Material) -> str:
    """What was asked for."""
    recommendation = material.recommendation
    if recommendation is None:
        return words.objective_in_words(material.study.objective)
    compared = [bool(answer.alternatives) for answer in recommendation.workloads]
    return words.objective_in_words(recommendation.objective, bool(compared) and all(compared))


def contents(material: Material) -> dict[str, Any]:
    """Everything that the template shows, as plain values; only charts are markup, made and escaped by `svg`."""
    study, recommendation = material.study, material.recommendation
    found = subjects(material)
    runs = [run for subject in found for run in subject.runs]  # workloads in the study's order, wherever they are named
    return {
        "title": study.name,
        "created_at": material.created_at,
        "version": material.version,
        "objective": _objective(material),
        "tally": failures.tally(runs),
        "notes": _notes(material),
        "has_recommendation": recommendation is not None,
        "cards": [verdict.card(subject) for subject in found],
        "family": verdict.family(recommendation, study) if recommendation else [],
        "sections": [section(subject) for subject in found],
        "failures": failures.failures(found, study),
        "memory_floors": failures.memory_floors(found),
        "host": measurement.host_facts(material.host),
        "methods": measurement.methods(runs),
        "disks": measurement.disks(study, material.disk_checks, runs),
        "states": measurement.states(runs),
        "data_sets": measurement.data_sets(runs),
        "emulated_devices": measurement.emulated_devices(found),
        "imported": study.imported,
        "steady_state": measurement.steady_state(as_asked(runs), study),
        "trust": trust.facts(runs, study),
        "references": trust.references(found, study),
        "warnings": warned.by_kind(runs),
        "warned_count": sum(bool(run.warnings) for run in as_asked(runs)),
        "meaning": all_runs.meaning(),
        "runs": all_runs.all_runs(found, study),
    }

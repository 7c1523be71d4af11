"""Model and recommendation of a study folder: the model is read where it still holds, all else is concluded again.

Both files are only what the runs say. A model that was edited, cut short or written by another sizer is made again.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from sizer import __version__
from sizer.catalog import Catalog
from sizer.exchange import recommendation_form
from sizer.files import FormatError, from_json, load_json, to_json, write_json
from sizer.model import Model
from sizer.model import fit as fit_model
from sizer.recommend import recommend
from sizer.records import SCHEMA_VERSION, InputError, NoAnswer, Recommendation, Run, typed_path
from sizer.store import StudyFolder

LEFT_OUT = "left out"
"""What a file among the runs is that cannot be read as one."""


def opened(path: str | Path) -> StudyFolder:
    """The study folder at `path`; what cannot be read among its runs is said on stderr and left out."""
    folder = StudyFolder.open(Path(path))
    for problem in folder.problems():
        print(f"{LEFT_OUT}: {problem}", file=sys.stderr)
    return folder


def measured_runs(folder: StudyFolder) -> tuple[Run, ...]:
    """The runs of a folder; raises NoAnswer where it has none to conclude from."""
    runs = folder.runs()
    if not runs:
        study, path = typed_path(folder.study_path), typed_path(folder.path)
        lacking = "no run can be read" if folder.problems() else "no run is stored"
        raise NoAnswer(f"{folder.path}: {lacking}; type: sizer run {study} --out {path}")
    return runs


def fitted(folder: StudyFolder) -> Model:
    """The study's model, fitted first if it is missing, older than the runs, edited, or of another sizer."""
    path = folder.model_path
    refuse_folder(path)
    if not folder.is_stale(path):
        with suppress(FormatError):
            return _read_model(path)
    model = fit_model(_in_the_studys_order(folder))
    form = to_json(model)
    write_json(path, {**form, "checksum": _checksum(form)})
    return model


def _in_the_studys_order(folder: StudyFolder) -> list[Run]:
    """The runs by their workload as the study names them, whichever was measured first; then those it does not name."""
    rank = {plan.workload.name: number for number, plan in enumerate(folder.study.workloads)}
    return sorted(folder.runs(), key=lambda run: rank.get(run.spec.workload.name, len(rank)))


def recommended(folder: StudyFolder) -> Recommendation:
    """The study's own recommendation, concluded from its runs."""
    return conclude(folder, folder.runs(), fitted(folder))


def conclude(folder: StudyFolder, runs: tuple[Run, ...], model: Model) -> Recommendation:
    """The recommendation by the study's own objective and the catalogue of sizer, written into the folder."""
    refuse_folder(folder.recommendation_path)
    recommendation = recommend(model, runs, folder.study.objective, Catalog.load(), host_vcpus=cpus_of(folder))
    write_json(folder.recommendation_path, recommendation_form(recommendation, model))
    return recommendation


def cpus_of(folder: StudyFolder) -> float | None:
    """How many the measuring host has; None where that is not known, as of measurements made elsewhere."""
    cpus = folder.host.get("cpus")
    return float(cpus) if isinstance(cpus, (int, float)) and cpus > 0 else None


def refuse_folder(path: Path) -> None:
    """Raise InputError where a folder stands in the place of a file that is to be read or written."""
    if path.is_dir():
        raise InputError(f"{path}: is a folder where a file belongs; move it away and type the command again")


def _read_model(path: Path) -> Model:
    """Raises FormatError unless the file is word for word what this sizer wrote: the numbers in it fit each other."""
    form = load_json(path)
    if not isinstance(form, dict) or form.pop("checksum", None) != _checksum(form):
        raise FormatError(f"{path}: is not what this sizer wrote")
    if form.get("schema_version") != SCHEMA_VERSION:
        raise FormatError(f"{path}: was written before schema {SCHEMA_VERSION}")
    return from_json(Model, form, str(path))


def _checksum(form: Mapping[str, Any]) -> str:
    text = json.dumps([__version__, form], sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()

"""Model and recommendation of a study folder: the model is read where it still holds, all else is concluded again.

Both files are only what the runs say. A model that was edited, cut short or written by another sizer is made again.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from sizer import __version__
from sizer.api.measuring_host import recorded_size
from sizer.api.status import asked_specs, chosen_next
from sizer.api.steps import OnStep, Stage, StepBegun, no_step
from sizer.bundled.reports import Material, Progress
from sizer.bundled.reports import write_report as write_page
from sizer.catalog import Catalog, InstanceType
from sizer.exchange import recommendation_form, write_csv, write_rows
from sizer.files import FormatError, from_json, load_json, to_json, write_json, write_text
from sizer.model import Model, WorkloadModel, completed, corrected, drift_of, without_host_noise
from sizer.model import fit as fit_model
from sizer.plan import DRIFT_SHARE, Spread, of_older_form, reference, remaining, spread
from sizer.recommend import recommend as best_spec
from sizer.records import (
    SCHEMA_VERSION,
    Correction,
    DiskCheck,
    InputError,
    Lines,
    Message,
    NoAnswer,
    Objective,
    Recommendation,
    Run,
    typed_path,
)
from sizer.store import StudyFolder
from sizer.words import in_language, reader_language


@dataclass(frozen=True)
class Conclusion:
    """What the runs of a study say: how far the host drifted, None where it did not, `problems` about files among its
    runs that cannot be read, and what was taken off rates for the noise of the host."""

    model: Model
    recommendation: Recommendation
    drift: Spread | None
    problems: tuple[Message | Lines, ...]
    corrections: tuple[Correction, ...] = ()


def open_study(path: str | Path) -> StudyFolder:
    """The study folder at `path`, to be read; raises InputError where there is none."""
    return StudyFolder.open(Path(path))


def measured_runs(folder: StudyFolder) -> tuple[Run, ...]:
    """The runs of a folder; raises NoAnswer where it has none to conclude from."""
    runs = folder.runs()
    if not runs:
        study, path = typed_path(folder.study_path), typed_path(folder.path)
        if folder.problems():
            raise NoAnswer(
                "{folder} has no run that can be read; type: sizer run {study} --out {path}",
                folder=folder.path,
                study=study,
                path=path,
            )
        raise NoAnswer(
            "{folder} has no runs yet; type: sizer run {study} --out {path}",
            folder=folder.path,
            study=study,
            path=path,
        )
    return runs


def fitted(folder: StudyFolder, on_step: OnStep = no_step) -> Model:
    """The study's model, fitted first if it is missing, older than the runs, edited, or of another sizer."""
    path = folder.model_path
    refuse_folder(path)
    if not folder.is_stale(path):
        with suppress(FormatError):
            return _read_model(path)
    model = _fitted_one_by_one(_in_the_studys_order(folder), on_step)
    form = to_json(model)
    write_json(path, {**form, "checksum": _checksum(form)})
    return model


def _fitted_one_by_one(runs: Iterable[Run], on_step: OnStep) -> Model:
    """The model of each workload; of the others its runs tell how slow the host was meanwhile, and nothing else."""
    runs = list(runs)
    workloads: dict[str, list[Run]] = defaultdict(list)
    for run in runs:
        workloads[run.spec.workload.name].append(run)
    drift = drift_of(completed(runs))
    models: list[WorkloadModel] = []
    for number, (name, own) in enumerate(workloads.items(), start=1):
        on_step(StepBegun(Stage.FITTING, name, number, len(workloads)))
        models += fit_model(own, drift).workloads
    return Model(tuple(models))


def _in_the_studys_order(folder: StudyFolder) -> list[Run]:
    """The runs by their workload as the study names them, whichever was measured first; then those it does not name."""
    rank = {plan.workload.name: number for number, plan in enumerate(folder.study.workloads)}
    return sorted(_on_usual_host(folder), key=lambda run: rank.get(run.spec.workload.name, len(rank)))


def _on_usual_host(folder: StudyFolder) -> tuple[Run, ...]:
    """The runs of a folder with the rates that its conclusions are drawn from: without the noise of the host as far as
    probes beside them tell it, unless the study says `probe: false`."""
    return tuple(without_host_noise(folder.runs())) if folder.study.probe else folder.runs()


def with_corrections(folder: StudyFolder) -> tuple[Run, ...]:
    """The same runs as they were measured, with what is taken off each."""
    return tuple(corrected(folder.runs())) if folder.study.probe else folder.runs()


def fit(folder: StudyFolder) -> Model:
    """The study's model; raises NoAnswer for a folder without runs."""
    measured_runs(folder)
    return fitted(folder)


def recommend(
    folder: StudyFolder,
    objective: Objective | None = None,
    catalog: Catalog | None = None,
    baseline: InstanceType | None = None,
    model: Model | None = None,
) -> Recommendation:
    """The recommendation by the study's own objective and the catalogue of sizer, written into the folder.

    A question other than the study's own leaves the folder as it is: another objective, the offers of another
    catalogue, an instance type to compare with. `model` is the study's own where it is there already. Raises NoAnswer
    for a folder without runs.
    """
    measured_runs(folder)
    runs, model = _on_usual_host(folder), fitted(folder) if model is None else model
    asked = folder.study.objective if objective is None else objective
    if asked == folder.study.objective and catalog is None and baseline is None:
        return _write_recommendation(folder, runs, model)
    offers = Catalog.load() if catalog is None else catalog
    return _best_spec(folder, model, runs, asked, offers, baseline)


def conclude(folder: StudyFolder, on_step: OnStep = no_step) -> Conclusion:
    """Write model, recommendation, table of measurements and report into the folder. Raises HostError."""
    runs, model = _on_usual_host(folder), fitted(folder, on_step)
    on_step(StepBegun(Stage.RECOMMENDING))
    recommendation = _write_recommendation(folder, runs, model)
    on_step(StepBegun(Stage.REPORTING))
    material = _material(folder, with_corrections(folder), model, recommendation)
    write_text(folder.measurements_path, material.measurements_csv)
    write_page(folder.report_path, material)
    corrections = tuple(run.correction for run in material.runs if run.correction is not None)
    return Conclusion(model, recommendation, material.drift, folder.problems(), corrections)


def write_report(folder: StudyFolder, path: str | Path | None = None, language: str | None = None) -> Path:
    """Write the report of a study to `path`, by default into its folder, in English (`en`) or Chinese (`zh`).

    By default it is in the language that `sizer.words` speaks. Raises InputError, HostError.
    """
    target = folder.report_path if path is None else Path(path)
    refuse_folder(target)
    model = fitted(folder)
    recommendation = _write_recommendation(folder, _on_usual_host(folder), model)
    material = _material(folder, with_corrections(folder), model, recommendation)
    with in_language(reader_language() if language is None else language):
        write_page(target, material)
    return target


def _write_recommendation(folder: StudyFolder, runs: tuple[Run, ...], model: Model) -> Recommendation:
    refuse_folder(folder.recommendation_path)
    found = _best_spec(folder, model, runs, folder.study.objective, Catalog.load())
    write_json(folder.recommendation_path, recommendation_form(found, model))
    return found


def _best_spec(
    folder: StudyFolder,
    model: Model,
    runs: Sequence[Run],
    objective: Objective,
    catalog: Catalog,
    baseline: InstanceType | None = None,
) -> Recommendation:
    """With what only the folder knows: the host that measured, and how far searches were to go."""
    most = {each.workload.name: each.most_batch for each in folder.study.workloads}
    return best_spec(model, runs, objective, catalog, machine=baseline, host_vcpus=cpus_of(folder), most_batches=most)


def _material(folder: StudyFolder, runs: tuple[Run, ...], model: Model, recommendation: Recommendation) -> Material:
    return Material(
        study=folder.study,
        host=folder.host,
        runs=runs,
        model=model,
        recommendation=recommendation,
        disk_checks=_disk_checks(runs),
        notes=folder.notes,
        drift=_drift(folder, runs),
        created_at=datetime.now(timezone.utc).isoformat(timespec="seconds"),
        version=__version__,
        measurements_csv=write_csv(runs),
        measurements_json=write_rows(runs),
        folder=typed_path(folder.path),
        progress=_progress(folder, runs),
    )


def _progress(folder: StudyFolder, runs: tuple[Run, ...]) -> Progress | None:
    """How many of the planned runs are there, and how many others; None for measurements made elsewhere, which nobody
    planned."""
    if folder.study.imported:
        return None
    specs = asked_specs(folder, {run.id for run in runs})
    planned = Counter(spec.workload.name for spec in specs)
    older = Counter(run.spec.workload.name for run in of_older_form(specs, runs))
    finished = planned - Counter(spec.workload.name for spec in remaining(specs, runs))
    return Progress(planned, finished, older, chosen_next(folder, runs))


def _drift(folder: StudyFolder, runs: tuple[Run, ...]) -> Spread | None:
    """How far the host drifted, as the reference configuration shows; None where it did not."""
    found = spread(runs, reference(folder.study, recorded_size(folder.host)))
    return None if found is None or found.share <= DRIFT_SHARE else found


def _disk_checks(runs: tuple[Run, ...]) -> tuple[DiskCheck, ...]:
    """The last check of each tier."""
    return tuple({run.disk.tier.name: run.disk for run in runs if run.disk is not None}.values())


def cpus_of(folder: StudyFolder) -> float | None:
    """How many the measuring host has; None where that is not known, as of measurements made elsewhere."""
    cpus = folder.host.get("cpus")
    return float(cpus) if isinstance(cpus, (int, float)) and cpus > 0 else None


def refuse_folder(path: Path) -> None:
    """Raise InputError where a folder is in the place of a file to be read or written."""
    if path.is_dir():
        raise InputError(
            "{path} is a folder where a file should be; move it away and type the command again.", path=path
        )


def _read_model(path: Path) -> Model:
    """Raises FormatError unless the file is word for word what this sizer wrote: the numbers in it fit each other."""
    form = load_json(path)
    if not isinstance(form, dict) or form.pop("checksum", None) != _checksum(form):
        raise FormatError("{path} was not written by this sizer.", path=path)
    if form.get("schema_version") != SCHEMA_VERSION:
        raise FormatError("{path} was written before schema {version}.", path=path, version=SCHEMA_VERSION)
    return from_json(Model, form, str(path))


def _checksum(form: Mapping[str, Any]) -> str:
    text = json.dumps([__version__, form], sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()

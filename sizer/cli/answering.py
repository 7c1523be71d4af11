"""fit, recommend, report and export: what a study's runs say, without running anything."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime, timezone
from pathlib import Path

from sizer import __version__
from sizer.bundled.reports import Material, write_report
from sizer.catalog import Catalog
from sizer.cli.wording import spec_in_words
from sizer.codec import FormatError, read_json, to_json, write_json
from sizer.errors import NoAnswer
from sizer.files import write_text
from sizer.measurements import write_csv
from sizer.model import Model
from sizer.model import fit as fit_model
from sizer.recommend import recommend as recommend_spec
from sizer.records import Answer, DiskCheck, Objective, Recommendation, Run
from sizer.store import StudyFolder
from sizer.units import format_rate


def answer(folder: StudyFolder, say: Callable[[str], None]) -> None:
    """Write model, recommendation, csv and report into the study folder, and say the verdict."""
    runs = folder.runs()
    recommendation = _recommendation(folder, runs, fitted(folder), folder.study.objective, Catalog.load())
    write_text(folder.measurements_path, write_csv(runs))
    write_report(folder.report_path, _material(folder, runs, recommendation))
    for problem in folder.problems():
        say(f"left out: {problem}")
    for each in recommendation.workloads:
        say(_verdict(each))


def fitted(folder: StudyFolder) -> Model:
    """The study's model, fitted first if it is missing, older than the runs, or of an older sizer."""
    if not folder.is_stale(folder.model_path):
        with suppress(FormatError):
            return read_json(Model, folder.model_path)
    model = fit_model(folder.runs())
    write_json(folder.model_path, model)
    return model


def fit(arguments: argparse.Namespace) -> int:
    model = fitted(StudyFolder.open(Path(arguments.folder)))
    if arguments.json:
        print(json.dumps(to_json(model), indent=1))
    for workload in () if arguments.json else model.workloads:
        print(f"{workload.name}: {workload.refused or workload.summary}")
        for parameter in workload.parameters:
            interval = f"({parameter.low:.4g} to {parameter.high:.4g})"
            print(f"  {parameter.name}: {parameter.value:.4g} {parameter.unit} {interval}, {parameter.source}")
    return 0 if any(workload.refused is None for workload in model.workloads) else NoAnswer.exit_code


def recommend(arguments: argparse.Namespace) -> int:
    folder = StudyFolder.open(Path(arguments.folder))
    catalog = Catalog.load(Path(arguments.catalog) if arguments.catalog else None)
    asked = folder.study.objective
    objective = Objective(arguments.objective or asked.prefer, arguments.target or asked.target)
    recommendation = _recommendation(folder, folder.runs(), fitted(folder), objective, catalog)
    if arguments.json:
        print(json.dumps(to_json(recommendation), indent=1))
    for each in () if arguments.json else recommendation.workloads:
        print(_verdict(each))
        for reason in each.reasons:
            print(f"  {reason}")
        for rejection in each.rejected:
            print(f"  not {spec_in_words(rejection.spec)}: {rejection.why}")
        if each.next_run:
            print(f"  next: {each.next_run}")
        for offer in each.instances:
            price = f"${offer.usd_per_hour:g} an hour" if offer.usd_per_hour is not None else "price unknown"
            print(f"  {offer.provider} {offer.instance_type}: {price} ({offer.as_of}, {offer.source})")
    return 0 if any(each.status != "refused" for each in recommendation.workloads) else NoAnswer.exit_code


def report(arguments: argparse.Namespace) -> int:
    folder = StudyFolder.open(Path(arguments.folder))
    path = Path(arguments.out) if arguments.out else folder.report_path
    runs = folder.runs()
    if folder.is_stale(folder.recommendation_path):
        recommendation = _recommendation(folder, runs, fitted(folder), folder.study.objective, Catalog.load())
    else:
        recommendation = read_json(Recommendation, folder.recommendation_path)
    write_report(path, _material(folder, runs, recommendation))
    print(path)
    return 0


def export(arguments: argparse.Namespace) -> int:
    runs = StudyFolder.open(Path(arguments.folder)).runs()
    if arguments.format == "csv":
        print(write_csv(runs), end="")
    else:
        print(json.dumps([to_json(run) for run in runs], indent=1))
    return 0


def _recommendation(
    folder: StudyFolder, runs: tuple[Run, ...], model: Model, objective: Objective, catalog: Catalog
) -> Recommendation:
    recommendation = recommend_spec(model, runs, objective, catalog)
    write_json(folder.recommendation_path, recommendation)
    return recommendation


def _material(folder: StudyFolder, runs: tuple[Run, ...], recommendation: Recommendation) -> Material:
    return Material(
        study=folder.study,
        host=folder.host,
        runs=runs,
        model=fitted(folder),
        recommendation=recommendation,
        disk_checks=_disk_checks(runs),
        notes=folder.notes,
        created_at=datetime.now(timezone.utc).isoformat(timespec="seconds"),
        version=__version__,
    )


def _disk_checks(runs: tuple[Run, ...]) -> tuple[DiskCheck, ...]:
    """The last check of each tier."""
    return tuple({run.disk.tier.name: run.disk for run in runs if run.disk is not None}.values())


def _verdict(answer: Answer) -> str:
    """One line: `training: recommended 1 vCPU, disk standard, 217 images/s (210-221), bound by accelerator`."""
    if answer.spec is None or answer.throughput is None:
        return f"{answer.workload}: no recommendation; {' '.join(answer.reasons)}"
    unit = answer.sample_unit
    interval = f"{format_rate(answer.throughput.low, unit)} to {format_rate(answer.throughput.high, unit)}"
    bound = f", bound by {answer.bottleneck.value.replace('_', ' ')}" if answer.bottleneck else ""
    words = answer.status.replace("_", " ")
    rate = format_rate(answer.throughput.value, unit)
    return f"{answer.workload}: {words} {spec_in_words(answer.spec)}, {rate} ({interval}){bound}"

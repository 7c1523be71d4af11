"""fit, recommend, report and export: what a study's runs say, without running anything."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from datetime import datetime, timezone
from pathlib import Path

from sizer import __version__
from sizer.bundled.reports import Material, write_report
from sizer.catalog import Catalog
from sizer.cli.concluding import LEFT_OUT, conclude, cpus_of, fitted, measured_runs, opened, recommended, refuse_folder
from sizer.cli.wording import spec_in_words, verdict_in_words
from sizer.exchange import disk_is_emulated, recommendation_form, write_csv
from sizer.files import to_json, write_text
from sizer.model import Model
from sizer.plan import DRIFT_SHARE, reference, spread
from sizer.recommend import Finding, look_at, read_gate
from sizer.recommend import recommend as recommend_spec
from sizer.records import (
    Answer,
    Deadline,
    DiskCheck,
    InputError,
    NoAnswer,
    Objective,
    Recommendation,
    Run,
    Spec,
    format_number,
    format_rate,
)
from sizer.store import StudyFolder
from sizer.study import Facts
from sizer.words import bound_in_words, spread_in_words

GATE_EXIT_CODE = 6


def answer(folder: StudyFolder, say: Callable[[str], None]) -> None:
    """Write model, recommendation, csv and report into the study folder, and say the verdict."""
    runs, model = folder.runs(), fitted(folder)
    recommendation = conclude(folder, runs, model)
    write_text(folder.measurements_path, write_csv(runs))
    write_report(folder.report_path, _material(folder, runs, recommendation))
    for problem in folder.problems():
        say(f"{LEFT_OUT}: {problem}")
    for note in _drift(folder, runs):
        say(note)
    for each in recommendation.workloads:
        say(_verdict(each, model))


def fit(arguments: argparse.Namespace) -> int:
    folder = opened(arguments.folder)
    measured_runs(folder)
    model = fitted(folder)
    if arguments.json:
        print(json.dumps(to_json(model), indent=1))
    for workload in () if arguments.json else model.workloads:
        print(f"{workload.name}: {workload.refused or workload.summary}")
        for parameter in workload.parameters:
            low, value, high = map(format_number, (parameter.low, parameter.value, parameter.high))
            interval = "" if low == value == high else f" ({low} to {high})"
            print(f"  {parameter.name}: {value} {parameter.unit}{interval}, {parameter.source}")
    return 0 if any(workload.refused is None for workload in model.workloads) else NoAnswer.exit_code


def recommend(arguments: argparse.Namespace) -> int:
    folder = opened(arguments.folder)
    asked = _objective(arguments, folder.study.objective)
    catalog = Catalog.load(arguments.catalog)
    machine = None if arguments.baseline is None else catalog.instance(arguments.baseline)
    measured_runs(folder)
    model = fitted(folder)
    names = [each.name for each in model.workloads]
    gates = [read_gate(text, names, asked.deadline is not None) for text in arguments.fail_if or ()]
    own = asked == folder.study.objective and arguments.catalog is machine is None
    recommendation = conclude(folder, folder.runs(), model) if own else None
    if recommendation is None:
        # A question other than the study's own leaves the study folder as it is.
        host_vcpus = cpus_of(folder)
        recommendation = recommend_spec(model, folder.runs(), asked, catalog, machine=machine, host_vcpus=host_vcpus)
    if arguments.json:
        print(json.dumps(recommendation_form(recommendation, model), indent=1))
    for each in () if arguments.json else recommendation.workloads:
        _tell(each, model)
    return _exit_code(recommendation, [look_at(gate, recommendation.workloads) for gate in gates])


def _exit_code(recommendation: Recommendation, findings: Sequence[Finding]) -> int:
    """A gate comes first: whoever gave one asked for its verdict."""
    for finding in findings:
        print(f"sizer: {finding.sentence}", file=sys.stderr)
    if not all(finding.met for finding in findings):
        return GATE_EXIT_CODE
    return 0 if any(each.status != "refused" for each in recommendation.workloads) else NoAnswer.exit_code


def _objective(arguments: argparse.Namespace, own: Objective) -> Objective:
    """The study's own with what was asked for on the command line. Raises InputError for half of a deadline."""
    if (arguments.samples is None) != (arguments.within is None):
        given, lacking = ("--samples", "--within 6h") if arguments.within is None else ("--within", "--samples 1.2M")
        raise InputError(f"{given} says half of a deadline; add the other half, such as {lacking}")
    prefer = own.prefer if arguments.objective is None else arguments.objective
    target = own.target if arguments.target is None else arguments.target
    if arguments.samples is None:
        asked = arguments.objective is not None or arguments.target is not None
        return Objective(prefer, target, None if asked else own.deadline)
    if arguments.objective is not None or arguments.target is not None:
        raise InputError(
            "--samples and --within ask for the spec on which the job costs least of those that finish it in time; "
            "leave --objective and --target out"
        )
    return Objective(prefer, target, Deadline(arguments.samples, arguments.within))


def _tell(answer: Answer, model: Model) -> None:
    print(_headline(answer, model))
    for reason in answer.reasons:
        print(f"  {reason}")
    for rejection in answer.rejected:
        print(f"  not {_spec(rejection.spec, answer, model)}: {rejection.why}")
    if answer.next_run and not any(answer.next_run in reason for reason in answer.reasons):
        print(f"  next: {answer.next_run}")
    for offer in answer.instances:
        price = f"${offer.usd_per_hour:g} an hour" if offer.usd_per_hour is not None else "price unknown"
        print(f"  {offer.provider} {offer.instance_type}: {price} ({offer.as_of}, {offer.source})")


def report(arguments: argparse.Namespace) -> int:
    folder = opened(arguments.folder)
    path = folder.report_path if arguments.out is None else Path(arguments.out)
    refuse_folder(path)
    write_report(path, _material(folder, folder.runs(), recommended(folder)))
    print(json.dumps({"report": str(path)}) if arguments.json else path)
    return 0


def export(arguments: argparse.Namespace) -> int:
    runs = opened(arguments.folder).runs()
    if arguments.format == "csv":
        print(write_csv(runs), end="")
    else:
        print(json.dumps([to_json(run) for run in runs], indent=1))
    return 0


def _material(folder: StudyFolder, runs: tuple[Run, ...], recommendation: Recommendation) -> Material:
    return Material(
        study=folder.study,
        host=folder.host,
        runs=runs,
        model=fitted(folder),
        recommendation=recommendation,
        disk_checks=_disk_checks(runs),
        notes=(*folder.notes, *_drift(folder, runs)),
        created_at=datetime.now(timezone.utc).isoformat(timespec="seconds"),
        version=__version__,
    )


def _drift(folder: StudyFolder, runs: tuple[Run, ...]) -> tuple[str, ...]:
    """A sentence if the host drifted, as far as the reference configuration tells."""
    here = Facts(int(folder.host.get("cpus", 1)), int(folder.host.get("memory_bytes", 1)))
    found = spread(runs, reference(folder.study, here))
    return () if found is None or found.share <= DRIFT_SHARE else (f"The host drifted: {spread_in_words(found)}.",)


def _disk_checks(runs: tuple[Run, ...]) -> tuple[DiskCheck, ...]:
    """The last check of each tier."""
    return tuple({run.disk.tier.name: run.disk for run in runs if run.disk is not None}.values())


def _verdict(answer: Answer, model: Model) -> str:
    """One line: `training: recommended 1 vCPU, 217 images/s (210 to 221), bound by the emulated accelerator (P100)`."""
    if answer.spec is None or answer.throughput is None:
        return "; ".join((_headline(answer, model), ". ".join(reason.rstrip(".") for reason in answer.reasons)))
    return _headline(answer, model)


def _headline(answer: Answer, model: Model) -> str:
    """The verdict without its reasons."""
    if answer.spec is None or answer.throughput is None:
        return f"{answer.workload}: {'nothing measured is in time' if answer.job else 'no recommendation'}"
    unit = answer.sample_unit
    interval = f"{format_rate(answer.throughput.low, unit)} to {format_rate(answer.throughput.high, unit)}"
    device = model.workload(answer.workload).facts.device
    bound = f", {bound_in_words(answer.bottleneck, device)}" if answer.bottleneck else ""
    spec = verdict_in_words(answer, _spec(answer.spec, answer, model))
    rate = format_rate(answer.throughput.value, unit)
    return f"{answer.workload}: {spec}, {rate} ({interval}){bound}"


def _spec(spec: Spec, answer: Answer, model: Model) -> str:
    workload = model.workload(answer.workload)
    return spec_in_words(spec, disk_is_emulated(workload, spec.disk), workload.facts.device)

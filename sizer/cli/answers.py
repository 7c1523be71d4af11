"""fit, recommend, report and export: what a study's runs say, without running anything."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence

from sizer import api
from sizer.catalog import Catalog
from sizer.cli.folders import opened
from sizer.cli.wording import spec_in_words, verdict_in_words
from sizer.exchange import disk_is_emulated, recommendation_form, write_csv
from sizer.files import to_json
from sizer.model import Model
from sizer.recommend import Finding, look_at, read_gate
from sizer.records import (
    Answer,
    Deadline,
    InputError,
    NoAnswer,
    Objective,
    Recommendation,
    Spec,
    format_number,
    format_rate,
)
from sizer.words import bound_in_words

GATE_EXIT_CODE = 6


def fit(arguments: argparse.Namespace) -> int:
    model = api.fit(opened(arguments.folder))
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
    baseline = None if arguments.baseline is None else catalog.instance(arguments.baseline)
    model = api.fit(folder)
    names = [each.name for each in model.workloads]
    gates = [read_gate(text, names, asked.deadline is not None) for text in arguments.fail_if or ()]
    offers = None if arguments.catalog is None and baseline is None else catalog
    recommendation = api.recommend(folder, asked, offers, baseline, model)
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
    path = api.write_report(opened(arguments.folder), arguments.out)
    print(json.dumps({"report": str(path)}) if arguments.json else path)
    return 0


def export(arguments: argparse.Namespace) -> int:
    runs = opened(arguments.folder).runs()
    if arguments.format == "csv":
        print(write_csv(runs), end="")
    else:
        print(json.dumps([to_json(run) for run in runs], indent=1))
    return 0


def verdict(answer: Answer, model: Model) -> str:
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

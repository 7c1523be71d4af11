"""predict: what the model expects of configurations, measured or not."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sizer.cli.concluding import fitted, measured_runs, opened
from sizer.cli.tables import read_places
from sizer.cli.wording import bound_in_words, disk_in_words
from sizer.errors import InputError, NoAnswer
from sizer.model import Model, WhatIf, WorkloadModel
from sizer.published import disk_is_emulated, no_prediction_form, prediction_form
from sizer.records import HOST_DISK, Configuration, Prediction
from sizer.units import format_bytes, format_rate, format_vcpus


@dataclass(frozen=True)
class Outcome:
    """One configuration that was asked about: its prediction, or why there is none."""

    workload: WorkloadModel
    configuration: Configuration
    prediction: Prediction | None = None
    why: str = ""


def predict(arguments: argparse.Namespace) -> int:
    """A configuration without an answer keeps its place; only where none has one is it an error."""
    folder = opened(arguments.folder)
    measured_runs(folder)
    model = fitted(folder)
    disks = [tier.name for tier in folder.study.disks]
    what_if = WhatIf(gpu_speedup=arguments.gpu_speedup)
    outcomes = [_outcome(*place, what_if) for place in _asked(arguments, model, disks)]
    answered = any(outcome.prediction for outcome in outcomes)
    if arguments.json:
        print(json.dumps({"predictions": [_form(each) for each in outcomes]}, indent=1))
    elif not answered:
        raise NoAnswer("\n".join(dict.fromkeys(outcome.why for outcome in outcomes)))
    for each in () if arguments.json else outcomes:
        print(_in_words(each))
    return 0 if answered else NoAnswer.exit_code


def _asked(
    arguments: argparse.Namespace, model: Model, disks: Sequence[str]
) -> list[tuple[WorkloadModel, Configuration]]:
    """Each configuration asked for. What is left out stands at its largest measured value."""
    typed = {
        "workload": arguments.workload,
        "vcpus": arguments.vcpus,
        "memory_bytes": arguments.memory,
        "disk": arguments.disk,
        "batch_size": arguments.batch_size,
    }
    given = {name: value for name, value in typed.items() if value is not None}
    if arguments.at is None:
        return [_place(given, model, disks, "")]
    return [_place({**row, **given}, model, disks, f"{where}: ") for where, row in read_places(Path(arguments.at))]


def _place(
    asked: Mapping[str, Any], model: Model, disks: Sequence[str], where: str
) -> tuple[WorkloadModel, Configuration]:
    """Raises InputError, which begins with `where`, for a workload or a disk that the study does not have."""
    workload = _workload(asked.get("workload"), model, where)
    measured = workload.measured
    known = list(dict.fromkeys([*disks, *(disk.name for disk in measured.disks)]))
    disk = asked.get("disk", measured.disks[0].name if measured.disks else HOST_DISK)
    if "disk" in asked and disk not in known:
        raise InputError(f"{where}disk `{disk}` is not one of this study; its disks are {', '.join(known)}")
    return workload, Configuration(
        vcpus=_or_largest(asked.get("vcpus"), measured.vcpus),
        memory_bytes=_or_largest(asked.get("memory_bytes"), measured.memory_bytes),
        disk=disk,
        batch_size=_or_largest(asked.get("batch_size"), measured.batch_size),
    )


def _workload(name: str | None, model: Model, where: str) -> WorkloadModel:
    names = [workload.name for workload in model.workloads]
    if name is None and len(names) == 1:
        name = names[0]
    if name is None:
        raise InputError(f"{where}no workload is named; add --workload with one of {', '.join(names)}")
    if name not in names:
        raise InputError(f"{where}workload `{name}` has no runs in this study; give one of {', '.join(names)}")
    return model.workload(name)


def _or_largest(asked: Any, measured: Sequence[Any]) -> Any:
    """A workload of which nothing completed has no largest; its refusal is told instead of this place."""
    return asked if asked is not None else max(measured, default=1)


def _outcome(workload: WorkloadModel, configuration: Configuration, what_if: WhatIf) -> Outcome:
    if workload.refused and not workload.measured.rates:
        return Outcome(workload, configuration, why=f"workload `{workload.name}` has no model: {workload.refused}")
    try:
        return Outcome(workload, configuration, workload.predict(configuration, what_if))
    except NoAnswer as error:
        return Outcome(workload, configuration, why=str(error))


def _form(outcome: Outcome) -> dict[str, Any]:
    if outcome.prediction is None:
        return no_prediction_form(outcome.configuration, outcome.workload, outcome.why)
    return prediction_form(outcome.prediction, outcome.workload)


def _in_words(outcome: Outcome) -> str:
    where, workload, prediction = outcome.configuration, outcome.workload, outcome.prediction
    disk = disk_in_words(where.disk, disk_is_emulated(workload, where.disk))
    place = f"{format_vcpus(where.vcpus)}, {format_bytes(where.memory_bytes)}, {disk}, batch {where.batch_size}"
    if prediction is None:
        return f"{workload.name} at {place}: no answer: {outcome.why}"
    if prediction.out_of_memory:
        return f"{workload.name} at {place}: out of memory"
    rate, unit = prediction.throughput, workload.sample_unit
    interval = f"{format_rate(rate.low, unit)} to {format_rate(rate.high, unit)}"
    bound = bound_in_words(prediction.bottleneck, workload.facts.device)
    extrapolated = ", extrapolated" if prediction.extrapolated else ""
    return f"{workload.name} at {place}: {format_rate(rate.value, unit)} ({interval}), {bound}{extrapolated}"

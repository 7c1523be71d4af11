"""predict: what the model expects of configurations, measured or not."""

from __future__ import annotations

import argparse
import csv
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sizer.cli.answering import fitted
from sizer.errors import InputError, NoAnswer
from sizer.model import Model, WhatIf, WorkloadModel
from sizer.records import Configuration, Prediction
from sizer.store import StudyFolder
from sizer.units import format_bytes, format_rate, format_vcpus, parse_bytes

GIB = 2**30

COLUMNS = ("workload", "vcpus", "memory_gib", "disk", "batch_size")
"""Columns of an --at file that say where to predict; every other is left alone, so measurements.csv itself will do."""


def predict(arguments: argparse.Namespace) -> int:
    model = fitted(StudyFolder.open(Path(arguments.folder)))
    what_if = WhatIf(gpu_speedup=arguments.gpu_speedup)
    predictions = []
    for workload, configuration in _asked(arguments, model):
        predictions.append(workload.predict(configuration, what_if))
    if arguments.json:
        print(json.dumps({"predictions": [_as_json(each) for each in predictions]}, indent=1))
    for each in () if arguments.json else predictions:
        print(_in_words(each, model.workload(each.workload)))
    return 0


def _asked(arguments: argparse.Namespace, model: Model) -> list[tuple[WorkloadModel, Configuration]]:
    """Each configuration asked for. What is left out stands at its largest measured value."""
    given = {
        "workload": arguments.workload,
        "vcpus": arguments.vcpus,
        "memory_bytes": parse_bytes(arguments.memory) if arguments.memory else None,
        "disk": arguments.disk,
        "batch_size": arguments.batch_size,
    }
    if not arguments.at:
        return [_place(given, model, "--workload")]
    return [_place({**row, **_set(given)}, model, where) for where, row in _rows(Path(arguments.at))]


def _set(given: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in given.items() if value is not None}


def _place(asked: Mapping[str, Any], model: Model, where: str) -> tuple[WorkloadModel, Configuration]:
    names = [workload.name for workload in model.workloads]
    name = asked.get("workload") or (names[0] if len(names) == 1 else None)
    if name not in names:
        raise InputError(f"{where}: {name or 'no'} workload is not one of this study; give one of {', '.join(names)}")
    workload = model.workload(name)
    if workload.refused:
        raise NoAnswer(f"{name}: {workload.refused}")
    measured = workload.measured
    disk = asked.get("disk") or measured.disks[0].name
    return workload, Configuration(
        vcpus=float(asked.get("vcpus") or measured.vcpus[-1]),
        memory_bytes=int(asked.get("memory_bytes") or measured.memory_bytes[-1]),
        disk=disk,
        batch_size=int(asked.get("batch_size") or measured.batch_size[-1]),
    )


def _rows(path: Path) -> list[tuple[str, dict[str, Any]]]:
    """The rows of a table with the place of each, `FILE line N`. Raises InputError."""
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            reader = csv.DictReader(file)
            if "workload" not in (reader.fieldnames or ()):
                raise InputError(f"{path} line 1: no column `workload`; the columns are those of measurements.csv")
            return [(f"{path} line {reader.line_num}", _row(row, f"{path} line {reader.line_num}")) for row in reader]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"{path}: cannot be read as a table ({error}); give a CSV file in UTF-8") from error


def _row(row: Mapping[str, str | None], where: str) -> dict[str, Any]:
    text = {name: (row.get(name) or "").strip() for name in COLUMNS}
    return {
        "workload": text["workload"],
        "vcpus": _number(text["vcpus"], "vcpus", where),
        "memory_bytes": _memory(text["memory_gib"], where),
        "disk": text["disk"] or None,
        "batch_size": _number(text["batch_size"], "batch_size", where),
    }


def _memory(text: str, where: str) -> int | None:
    gibibytes = _number(text, "memory_gib", where)
    return None if gibibytes is None else round(gibibytes * GIB)


def _number(text: str, column: str, where: str) -> float | None:
    if not text:
        return None
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 < value < float("inf"):
        raise InputError(f"{where}: {column} is `{text}`, which is not a number above 0")
    return value


def _as_json(prediction: Prediction) -> dict[str, Any]:
    where, rate = prediction.configuration, prediction.throughput
    return {
        "workload": prediction.workload,
        "vcpus": where.vcpus,
        "memory_gib": where.memory_bytes / GIB,
        "disk": where.disk,
        "batch_size": where.batch_size,
        "throughput": rate.value,
        "low": rate.low,
        "high": rate.high,
        "bottleneck": prediction.bottleneck.value,
        "shares": prediction.shares,
        "extrapolated": prediction.extrapolated,
        "out_of_memory": prediction.out_of_memory,
    }


def _in_words(prediction: Prediction, workload: WorkloadModel) -> str:
    where = prediction.configuration
    place = (
        f"{format_vcpus(where.vcpus)}, {format_bytes(where.memory_bytes)}, disk {where.disk}, batch {where.batch_size}"
    )
    if prediction.out_of_memory:
        return f"{prediction.workload} at {place}: out of memory"
    rate, unit = prediction.throughput, workload.sample_unit
    interval = f"{format_rate(rate.low, unit)} to {format_rate(rate.high, unit)}"
    bound = f"bound by {prediction.bottleneck.value.replace('_', ' ')}"
    extrapolated = ", extrapolated" if prediction.extrapolated else ""
    return f"{prediction.workload} at {place}: {format_rate(rate.value, unit)} ({interval}), {bound}{extrapolated}"

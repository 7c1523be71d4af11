"""The form in which conclusions leave sizer: recommendation.json and the JSON of predict, for other programs to read.

The form is fixed: sizes are GiB, the objective is a word with its target beside it. Records may change behind it.
"""

from __future__ import annotations

import math
from typing import Any

from sizer.files import from_json, to_json
from sizer.model import Model, WorkloadModel
from sizer.records import HOST_DISK, SCHEMA_VERSION, Configuration, Objective, Prediction, Recommendation

GIB = 2**30
DEADLINE = "deadline"
"""The `objective` where a job is to be finished in time; what job, and when, stands under `deadline`."""


def recommendation_form(recommendation: Recommendation, model: Model) -> dict[str, Any]:
    """What recommendation.json holds. `emulated` says whether the answer rests on an emulated disk or accelerator."""
    plain = to_json(recommendation)
    answers = []
    for answer, form in zip(recommendation.workloads, plain["workloads"], strict=True):
        disk = answer.spec.disk if answer.spec else None
        workload = model.workload(answer.workload)
        beyond = _without_untold(prediction_form(answer.beyond, workload), workload) if answer.beyond else None
        answers.append({**_in_gibibytes(form), "beyond": beyond, "emulated": is_emulated(workload, disk)})
    objective = recommendation.objective
    return {
        "schema_version": SCHEMA_VERSION,
        "objective": DEADLINE if objective.deadline is not None else objective.prefer,
        "target": objective.target,
        "deadline": plain["objective"]["deadline"],
        "workloads": answers,
        "family": plain["family"],
    }


HELD = {"vcpus": 1.0, "memory_gib": 1.0, "disk": HOST_DISK, "batch_size": 1, "gpu_count": 0}
"""What a record holds, and means nothing by, where an imported table did not tell a figure, which is null here."""


def _without_untold(form: dict[str, Any], workload: WorkloadModel) -> dict[str, Any]:
    return form | {column: None for column in workload.measured.untold if column in form}


def read_recommendation(form: object, where: str) -> Recommendation:
    """The record that `recommendation_form` was made of; FormatError, which names `where`, for anything else."""
    if not isinstance(form, dict):
        return from_json(Recommendation, form, where)
    prefer = form.get("objective")
    objective = {
        "prefer": Objective().prefer if prefer == DEADLINE else prefer,
        "target": form.get("target"),
        "deadline": form.get("deadline"),
    }
    answers = form.get("workloads")
    if isinstance(answers, list):
        answers = [_answer(answer) for answer in answers]
    return from_json(Recommendation, {**form, "objective": objective, "workloads": answers}, where)


def prediction_form(prediction: Prediction, workload: WorkloadModel) -> dict[str, Any]:
    """One entry of `predict --json`."""
    rate = prediction.throughput
    return {
        "workload": prediction.workload,
        **configuration_form(prediction.configuration),
        "throughput": rate.value,
        "low": rate.low,
        "high": rate.high,
        "bottleneck": prediction.bottleneck.value,
        "shares": prediction.shares,
        "extrapolated": prediction.extrapolated,
        "out_of_memory": prediction.out_of_memory,
        "headroom": prediction.headroom,
        "sample_unit": workload.sample_unit,
        "emulated": is_emulated(workload, prediction.configuration.disk),
    }


def no_prediction_form(configuration: Configuration, workload: WorkloadModel, error: str) -> dict[str, Any]:
    """The entry of `predict --json` for a configuration without an answer: the same keys, and why."""
    return {
        "workload": workload.name,
        **configuration_form(configuration),
        **dict.fromkeys(("throughput", "low", "high", "bottleneck")),
        "shares": {},
        **dict.fromkeys(("extrapolated", "out_of_memory", "headroom")),
        "sample_unit": workload.sample_unit,
        "emulated": is_emulated(workload, configuration.disk),
        "error": error,
    }


def configuration_form(configuration: Configuration) -> dict[str, Any]:
    """Where a run stands, with the columns of measurements.csv as keys."""
    return {
        "vcpus": configuration.vcpus,
        "memory_gib": configuration.memory_bytes / GIB,
        "disk": configuration.disk,
        "batch_size": configuration.batch_size,
        "gpu": configuration.gpu,
        "gpu_count": configuration.gpu_count,
    }


def is_emulated(workload: WorkloadModel, disk: str | None) -> bool:
    """Whether the accelerator is emulated, or this disk: without a name, any that the workload was measured on."""
    disks = workload.measured.disks
    any_disk = any(each.emulated for each in disks) if disk is None else disk_is_emulated(workload, disk)
    return workload.facts.device.kind == "emulated" or any_disk


def disk_is_emulated(workload: WorkloadModel, disk: str | None) -> bool:
    """Whether the runs on a disk of that name were on an emulated tier."""
    measured = workload.measured.disk(disk) if disk is not None else None
    return measured is not None and measured.emulated


def _answer(form: object) -> object:
    if not isinstance(form, dict):
        return form
    beyond = form.get("beyond")
    if isinstance(beyond, dict):
        keys = ("vcpus", "memory_gib", "disk", "batch_size", "gpu", "gpu_count")
        estimate = {"value": beyond.get("throughput"), "low": beyond.get("low"), "high": beyond.get("high")}
        place = {key: HELD.get(key) if beyond[key] is None else beyond[key] for key in keys if key in beyond}
        form = {**form, "beyond": {**beyond, "configuration": place, "throughput": estimate}}
    return _in_bytes(form)


def _in_gibibytes(value: Any) -> Any:
    """Every `memory_bytes` as `memory_gib`: exact, since dividing by a power of two loses no digit."""
    if isinstance(value, list):
        return [_in_gibibytes(item) for item in value]
    if not isinstance(value, dict):
        return value
    return dict(_item_in_gibibytes(key, item) for key, item in value.items())


def _item_in_gibibytes(key: str, item: Any) -> tuple[str, Any]:
    if key != "memory_bytes":
        return key, _in_gibibytes(item)
    return "memory_gib", item / GIB if item is not None else None


def _in_bytes(value: Any) -> Any:
    """The way back; what is no size stays as it is, for the reader to refuse."""
    if isinstance(value, list):
        return [_in_bytes(item) for item in value]
    if not isinstance(value, dict):
        return value
    return dict(_item_in_bytes(key, item) for key, item in value.items())


def _item_in_bytes(key: str, item: Any) -> tuple[str, Any]:
    if key != "memory_gib":
        return key, _in_bytes(item)
    is_size = isinstance(item, (int, float)) and not isinstance(item, bool) and math.isfinite(item)
    return "memory_bytes", round(item * GIB) if is_size else item

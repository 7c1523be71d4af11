"""The model of each workload: in words, with its fitted numbers, and how well it predicts what was left out."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median
from typing import Any

from sizer.model.model import Parameter, WorkloadModel
from sizer.model.prediction import LeftOut, left_out
from sizer.words.language import span
from sizer.words.model import (
    equation_sentence,
    left_out_sentence,
    model_summary,
    parameter_name,
    parameter_value,
    source_of,
)
from sizer.words.page import configuration_line

from ..subject import Subject


def models(found: Sequence[Subject]) -> list[dict[str, Any]]:
    """The models in the order of the workloads; one that cannot predict says why."""
    return [{"name": subject.name, **_model(subject)} for subject in found]


def _model(subject: Subject) -> dict[str, Any]:
    model = subject.model
    if model is None:
        return {"refusal": subject.model_refusal or "", "summary": "", "equation": "", "quality": "", "parameters": []}
    return {
        "refusal": "",
        "summary": model_summary(model),
        "equation": equation_sentence(),
        "quality": _quality(left_out(model), subject),
        "parameters": [_parameter(each, model) for each in model.parameters],
    }


def _quality(told: Sequence[LeftOut], subject: Subject) -> str:
    """How far predictions are off configurations that the fit did not know; empty where none was left out."""
    if not told:
        return ""
    errors = {each: abs(each.predicted / each.measured - 1) for each in told}
    worst = max(errors, key=lambda each: errors[each])
    where = configuration_line(worst.configuration, subject.study)
    return left_out_sentence(len(errors), median(errors.values()), errors[worst], where)


def _parameter(value: Parameter, model: WorkloadModel) -> dict[str, str]:
    return {
        "name": parameter_name(value, model),
        "value": parameter_value(value, model),
        "interval": span(value.low, value.high) if value.low < value.high else "–",
        "source": source_of(value),
    }

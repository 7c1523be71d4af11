"""The model of each workload: in words, with its fitted numbers, and how well it predicts what was left out."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median
from typing import Any

from sizer import words
from sizer.model import LeftOut, Parameter, WorkloadModel, left_out

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
        "summary": words.model_summary(model),
        "equation": words.equation_sentence(),
        "quality": _quality(left_out(model), subject),
        "parameters": [_parameter(each, model) for each in model.parameters],
    }


def _quality(told: Sequence[LeftOut], subject: Subject) -> str:
    """How far predictions are off configurations that the fit did not know; empty where none was left out."""
    if not told:
        return ""
    errors = {each: abs(each.predicted / each.measured - 1) for each in told}
    worst = max(errors, key=lambda each: errors[each])
    where = words.configuration_line(worst.configuration, subject.study)
    return words.left_out_sentence(len(errors), median(errors.values()), errors[worst], where)


def _parameter(value: Parameter, model: WorkloadModel) -> dict[str, str]:
    return {
        "name": words.parameter_name(value, model),
        "value": words.parameter_value(value, model),
        "interval": words.span(value.low, value.high) if value.low < value.high else "–",
        "source": words.source_of(value),
    }

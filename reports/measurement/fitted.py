"""The model of each workload: in words, with its fitted numbers, and how well it predicts what was left out."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median
from typing import Any

from sizer import words
from sizer.model import LeftOut, Parameter, WorkloadModel

from ..subject import Subject

LEAST_WEIGHT = 0.01
"""Of all: a form with less is not worth naming."""


def models(found: Sequence[Subject]) -> list[dict[str, Any]]:
    """The models in the order of the workloads; one that cannot predict says why."""
    return [{"name": subject.name, **_model(subject)} for subject in found]


def _model(subject: Subject) -> dict[str, Any]:
    model = subject.model
    if model is None:
        return {"refusal": subject.model_refusal or "", "summary": "", "forms": "", "quality": "", "parameters": []}
    return {
        "refusal": "",
        "summary": words.model_summary(model),
        "forms": words.forms_sentence(_weights(model)),
        "quality": _quality(model.left_out, subject),
        "parameters": [_parameter(each, model) for each in model.parameters],
    }


def _weights(model: WorkloadModel) -> dict[str, float]:
    """By form of the CPU's scaling the weight of the members that have it."""
    weights: dict[str, float] = {}
    for member in model.members:
        weights[member.structure.scaling] = weights.get(member.structure.scaling, 0.0) + member.weight
    return {form: weight for form, weight in weights.items() if weight >= LEAST_WEIGHT}


def _quality(left_out: Sequence[LeftOut], subject: Subject) -> str:
    """How far predictions are off configurations that the fit did not know; empty where none was left out."""
    if not left_out:
        return ""
    errors = {each: abs(each.predicted / each.measured - 1) for each in left_out}
    worst = max(errors, key=lambda each: errors[each])
    where = words.configuration_line(worst.configuration, subject.study)
    return words.left_out_sentence(len(errors), median(errors.values()), errors[worst], where)


def _parameter(value: Parameter, model: WorkloadModel) -> dict[str, str]:
    return {
        "name": words.parameter_name(value, model),
        "value": words.parameter_value(value, model),
        "interval": words.span(value.low, value.high) if value.low < value.high else "–",
        "source": words.source_name(value.source),
    }

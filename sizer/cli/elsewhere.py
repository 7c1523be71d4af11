"""predict --on: a table of what a workload does, and costs, on instance types."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from sizer import api
from sizer.api.elsewhere import There, calibration_runs, machines_of, model_elsewhere, there
from sizer.catalog.catalog import Catalog
from sizer.cli.arguments import opened, print_json
from sizer.model.model import WhatIf, WorkloadModel
from sizer.recommend.prices import usd_per_million
from sizer.records.messages import InputError, Lines, NoAnswer
from sizer.records.prediction import Prediction
from sizer.words import model as words
from sizer.words.language import ENGLISH, in_language
from sizer.words.names import terms_of
from sizer.words.reasons.phrasing import reason_sentence, reason_sentences, refusal_sentences


def run(arguments: argparse.Namespace) -> int:
    """A type without an answer keeps its place; only where none has one is it an error."""
    model, answers = _answers(arguments)
    forms, why = [_form(one, model) for one in answers], [_why(one, model) for one in answers]
    any_rate = any(isinstance(one.answer, Prediction) for one in answers)
    if arguments.json:
        print_json({"predictions": forms})
    elif any_rate:
        remarks = [[of, *_notes(one, model)] for one, of in zip(answers, why, strict=True)]
        print("\n".join(words.elsewhere_table(forms, remarks, terms_of(model))))
    else:
        raise NoAnswer(Lines(*dict.fromkeys(why)))
    return 0 if any_rate else NoAnswer.exit_code


def _answers(arguments: argparse.Namespace) -> tuple[WorkloadModel, list[There]]:
    if arguments.on is None:
        raise InputError("--calibrate needs --on with the instance types to be told of.")
    other_disk = arguments.disk_iops is not None or arguments.disk_mbps is not None
    if arguments.at is not None or other_disk or arguments.data_size is not None or arguments.data_factor != 1:
        raise InputError("--on takes neither --at, nor another disk or size of the data; leave one of them out.")
    catalog = Catalog.load(keep=True)
    instances = [catalog.instance(name.strip()) for name in arguments.on.split(",") if name.strip()]
    if not instances:
        raise InputError("--on names no instance type; write for example --on aws/c7i.2xlarge.")
    folder = opened(arguments.folder)
    own = api.predicting.workload_of(api.fitted_study(folder).model, arguments.workload)
    runs = [run for run in folder.runs() if run.spec.workload.name == own.name]
    table = () if arguments.calibrate is None else calibration_runs(Path(arguments.calibrate), own.name, catalog)
    model = model_elsewhere(own, runs, machines_of(folder), table, catalog)
    names = ("vcpus", "memory_bytes", "disk", "batch_size", "gpu", "gpu_count")
    supposed = WhatIf(gpu_speedup=arguments.gpu_speedup, decode_factor=arguments.decode_factor)
    return model, there(model, instances, {name: getattr(arguments, name) for name in names}, supposed)


def _why(one: There, model: WorkloadModel) -> str:
    if isinstance(one.answer, Prediction):
        return "" if one.answer.transferred is None else reason_sentence(one.answer.transferred, terms_of(model))
    return refusal_sentences(one.answer, terms_of(model))


def _notes(one: There, model: WorkloadModel) -> list[str]:
    return reason_sentences(one.notes, terms_of(model))


def _form(one: There, model: WorkloadModel) -> dict[str, Any]:
    from sizer.exchange.formats import no_prediction_form, prediction_form

    instance, answer = one.instance, one.answer
    with in_language(ENGLISH):
        why, notes = _why(one, model), _notes(one, model)
    if isinstance(answer, Prediction):
        form, rate, moved = prediction_form(answer, model), answer.throughput.value, answer.transferred
    else:
        form, rate, moved = no_prediction_form(one.configuration, model, why, answer.reason.code), 0.0, None
    return {
        **form,
        "on": instance.name,
        "transferred": moved is not None,
        "transferred_because": why if moved is not None else None,
        "notes": notes,
        "speed_ratio": moved.number("faster") if moved is not None else None,
        "price_per_hour": instance.price_per_hour,
        "currency": instance.currency,
        "usd_per_hour": instance.usd_per_hour,
        "as_of": instance.as_of,
        "usd_per_million_samples": usd_per_million(instance.usd_per_hour, rate, model.sample_unit),
    }

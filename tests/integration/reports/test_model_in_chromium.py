"""model.js in a real browser against the Python model, with the same draws."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Callable
from dataclasses import asdict, astuple, replace
from functools import cache
from typing import Any

import numpy as np
import pytest

from sizer.bundled.reports.plain_data import CONSTANTS, as_data, few_draws
from sizer.model.beliefs import BELIEFS, SWITCHES
from sizer.model.fitting import fit
from sizer.model.model import MemoryTrial, WhatIf, WorkloadModel
from sizer.model.prediction import predict
from sizer.records.device import DiskRates
from sizer.records.prediction import Bottleneck, Configuration, Prediction, Refused
from sizer.records.run import Demand, Run
from sizer.records.units import GIB
from tests import ROOT
from tests.modelled import questions

pytestmark = pytest.mark.slow

CLOSE = 1e-6
"""Of ln of a rate and its interval, and of a share: how far the page may be off."""
EACH = 30
"""Questions about each model; some are alike."""
OF_THE_PAGE = ("not_fitted", "no_gpu_to_speed_up", "too_few_values")
"""Refusals that what the page's controls set can have; too few values, of memory alone."""
Fitted = dict[str, WorkloadModel]
Question = tuple[str, Configuration, WhatIf]
Asked = Callable[[str], dict[Question, Prediction | str]]

CAPS = (
    MemoryTrial(1, 32, GIB, False),
    MemoryTrial(4, 32, 3 * GIB, False),
    MemoryTrial(1, 32, 2 * GIB, True, 3 * GIB // 2),
    MemoryTrial(2, 32, 6 * GIB, True, 5 * GIB // 2),
    MemoryTrial(4, 32, 3 * GIB, True, GIB, searched=True),
    MemoryTrial(4, 32, 8 * GIB, True, 4 * GIB),
)
"""Of which some contradict others."""


def accounted(model: WorkloadModel) -> WorkloadModel:
    """The same where accounting named this or that, whatever bound."""
    named = zip(model.measured.rates, itertools.cycle([*Bottleneck]), strict=False)
    rates = tuple(replace(rate, evidence=evidence) for rate, evidence in named)
    return replace(model, measured=replace(model.measured, rates=rates))


@pytest.fixture(scope="module")
def whole(models: Fitted, make_run: Callable[..., Run]) -> Fitted:
    """The models that have a posterior."""
    written = Demand(core_seconds=0.01, written_bytes=1e5, write_ios=1.0)
    slow = DiskRates(1000, 1e9, 1000, 2e7)
    read = Demand(core_seconds=0.01, read_bytes=1e5, read_ios=1.0)
    runs = {
        "writes": [
            make_run(min(95 * c, 180), c, demand=written, rates=slow, disk="slow") for c in (1.0, 2.0, 4.0, 8.0)
        ],
        "one disk": [make_run(95 * c, c, demand=read, rates=DiskRates(1e4, 1e8), disk="d") for c in (1.0, 2.0, 4.0)],
        "too few": [make_run(100.0, 1.0), make_run(190.0, 2.0)],
    }
    workload_models = {**models, **{name: fit(some).workloads[0] for name, some in runs.items()}}
    for name in ("power", "capped", "accelerator and disks"):
        workload_models[f"{name}, accounted"] = accounted(models[name])
    cached, floor = models["page cache"], models["memory floor"]
    workload_models["in order"] = replace(cached, facts=replace(cached.facts, sequential=True))
    sizes = tuple(size * GIB for size in (1, 2, 3, 4, 6, 8))
    workload_models["caps"] = replace(
        floor, measured=replace(floor.measured, memory_bytes=sizes, trials=CAPS, did_not_fit=(), overfilled=())
    )
    return {name: model for name, model in workload_models.items() if model.posterior is not None}


@pytest.fixture(scope="module")
def few(whole: Fitted) -> Fitted:
    """The same with the draws that the page has."""
    return {
        name: replace(model, posterior=few_draws(model.posterior))
        for name, model in whole.items()
        if model.posterior is not None
    }


@pytest.fixture(scope="module")
def bench(browser: Any, whole: Fitted, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A page with the equation and the data of all models."""
    data = {name: as_data(model) for name, model in whole.items()}
    path = tmp_path_factory.mktemp("bench") / "bench.html"
    script = (ROOT / "reports" / "templates" / "model.js").read_text()
    path.write_text(
        f"""<!doctype html><meta charset="utf-8"><script>{script}
        const data = {json.dumps(data)}, known = {{}}, model = Model({json.dumps(CONSTANTS)});
        for (const name in data) known[name] = model.workload(data[name]);
        const ask = ([name, at, whatIf]) => known[name].predict(at, whatIf);
        </script>"""
    )
    browser.open(path.as_uri(), 800, "light")
    return browser


@pytest.fixture(scope="module")
def asked(few: Fitted) -> Asked:
    """Questions that the page's controls may ask of a model, with what Python says: a prediction, or the code of a
    refusal.

    What was measured or did not fit is among them.
    """

    @cache
    def ask(name: str) -> dict[Question, Prediction | str]:
        answers: dict[Question, Prediction | str] = {}
        measured, random = few[name].measured, np.random.default_rng([*name.encode()])
        places = [*(rate.configuration for rate in measured.rates), *measured.did_not_fit]
        for place, what_if in [*((place, WhatIf()) for place in places), *questions(few[name], random, EACH)]:
            try:
                answers[name, place, what_if] = predict(few[name], place, what_if)
            except Refused as error:
                why = error.refusal.reason
                refused = few[name].refused
                code = "not_fitted" if refused is not None and why == refused.reason else why.code.value
                if code in OF_THE_PAGE and (code != "too_few_values" or why.text("axis") == "memory_gib"):
                    answers[name, place, what_if] = code
        return answers

    return ask


def answers_of(bench: Any, predictions: dict[Question, Prediction | str]) -> list[dict[str, Any]]:
    """What the page says to these predictions."""
    forms = [
        (name, asdict(place), {**vars(what_if), "disk_rates": what_if.disk_rates and astuple(what_if.disk_rates)})
        for name, place, what_if in predictions
    ]
    answers: list[dict[str, Any]] = bench.evaluate(f"{json.dumps(forms)}.map(ask)")
    return answers


def differences(page: dict[str, Any], python: Prediction | str) -> list[str]:
    """In what the page's answer is another than Python's."""
    if isinstance(python, str) or "refused" in page:
        return [] if page == {"refused": python} else [f"{page} is not {python}"]
    rate, differing = python.throughput, []
    if (page["bottleneck"], page["extrapolated"], page["out_of_memory"]) != (
        python.bottleneck.value,
        python.extrapolated,
        python.out_of_memory,
    ):
        differing.append(f"{page} is not {python}")
    names = {*page["shares"], *python.shares}
    if any(abs(page["shares"].get(name, 0.0) - python.shares.get(name, 0.0)) > CLOSE for name in names):
        differing.append(f"shares {page['shares']} are not {python.shares}")
    ends = () if python.out_of_memory else ("value", "low", "high")
    if any(abs(math.log(page["throughput"][end] / getattr(rate, end))) > CLOSE for end in ends):
        differing.append(f"{page['throughput']} is not {rate}")
    return differing


def test_the_page_says_what_python_says(bench: Any, asked: Asked, whole: Fitted) -> None:
    """Rates, their intervals, shares, what binds, what is extrapolated and what runs out of memory, of every model."""
    wrong = [
        (question, differing)
        for name in whole
        for (question, python), page in zip(asked(name).items(), answers_of(bench, asked(name)), strict=True)
        if (differing := differences(page, python))
    ]
    assert wrong == []


def test_the_questions_ask_for_everything(asked: Asked, whole: Fitted) -> None:
    """Each what-if, places within and beyond what was measured, and places without an answer."""
    answers = {question: answer for name in whole for question, answer in asked(name).items()}
    answered = {question: prediction for question, prediction in answers.items() if isinstance(prediction, Prediction)}
    for name in ("gpu_speedup", "disk_rates", "data_bytes_factor", "decode_factor"):
        assert sum(getattr(what_if, name) != getattr(WhatIf(), name) for _, _, what_if in answered) >= 10
    assert sum(what_if == WhatIf() for _, _, what_if in answered) > 0.3 * len(answers)
    assert 0.1 < sum(prediction.extrapolated for prediction in answered.values()) / len(answers) < 0.9
    assert sum(prediction.out_of_memory for prediction in answered.values()) >= 5
    assert len({prediction.bottleneck for prediction in answered.values()}) == len(Bottleneck)
    assert {refused for refused in answers.values() if isinstance(refused, str)} == set(OF_THE_PAGE)


def test_each_quantity_is_compared(few: Fitted) -> None:
    """And each switch where it is on and where it is off; of each draw the page has a few digits."""
    models = [model.posterior for model in few.values()]
    quantities = {name.partition(":")[0] for model in models if model is not None for name in model.names}
    assert quantities - {"on"} == {line.partition(",")[0] for line in BELIEFS}
    states = {
        (name.removeprefix("on:"), value > 0)
        for model in models
        if model is not None
        for vector in model.vectors
        for name, value in zip(model.names, vector, strict=True)
        if name.startswith("on:")
    }
    assert states == {(name.partition(",")[0], is_on) for name in SWITCHES for is_on in (True, False)}

"""The form of recommendation.json and of predict's JSON is a contract with other programs."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace

import pytest

from sizer.exchange.published import no_prediction_form, prediction_form, recommendation_form
from sizer.files.codec import from_json, to_json
from sizer.model.fitting import fit
from sizer.model.model import Model, WhatIf
from sizer.model.prediction import predict
from sizer.recommend.recommendation import recommend
from sizer.records.answer import Recommendation
from sizer.records.configuration import Configuration
from sizer.records.device import Device, DiskRates
from sizer.records.domains import SCHEMA_VERSION
from sizer.records.run import Run
from sizer.records.study import Objective
from tests.tables import stored_catalog

CONTRACT = {
    *("workload", "status", "spec", "throughput", "probability", "bottleneck", "next_bottleneck", "reasons"),
    *("rejected", "runner_up", "instances"),
}
SPEC = {"vcpus", "memory_gib", "disk", "batch_size", "gpu", "gpu_count"}
REJECTION = {"spec", "why", "codes", "throughput", "share", "usd_saved_per_hour", "saving"}
OPTION = {
    *("preferences", "spec", "throughput", "probability", "bottleneck"),
    *("instance_type", "usd_per_hour", "usd_per_million_samples"),
}
PREDICTION = {
    *("workload", "vcpus", "memory_gib", "disk", "batch_size", "throughput", "low", "high", "bottleneck", "shares"),
    *("gpu", "gpu_count", "extrapolated"),
}


@pytest.fixture
def concluded(make_run: Callable[..., Run]) -> tuple[Model, Recommendation]:
    """What is concluded from a job on an emulated disk, and from one on an emulated accelerator."""
    rates = DiskRates(read_iops=5000.0, read_bytes_per_second=1e9)
    rising = [
        make_run(100.0 * vcpus, vcpus, disk="nvme", rates=rates, memory=memory, capped=True, repeat=repeat)
        for vcpus in (1.0, 2.0, 4.0)
        for memory in (3 * 2**29, 2**33)
        for repeat in (0, 1)
    ]
    device = Device("emulated", 0, "P100", 219.0)
    level = [make_run(rate, vcpus, name="gpu", device=device) for vcpus, rate in ((1.0, 150.0), (2.0, 217), (4.0, 219))]
    runs = [*rising, *level]
    model = fit(runs)
    return model, recommend(model, runs, Objective("cheapest", 0.9), stored_catalog())


def test_a_recommendation_has_exactly_the_keys_of_the_contract(concluded: tuple[Model, Recommendation]) -> None:
    """Objective and target beside each other, sizes in GiB, and what else is known added."""
    model, recommendation = concluded
    form = json.loads(json.dumps(recommendation_form(recommendation, model)))
    asked = {"objective", "target", "at_least", "deadline", "latency_p99", "spot"}
    asked |= {"baseline", "samples", "interruptions"}
    assert set(form) == asked | {"schema_version", "workloads", "family", "cross_table"}
    assert (form["schema_version"], form["objective"], form["target"]) == (SCHEMA_VERSION, "cheapest", 0.9)
    for answer in form["workloads"]:
        assert set(answer) >= CONTRACT | {"sample_unit", "next_run", "beyond", "emulated"}
        assert set(answer) >= {"provisional", "edge", "baseline", "job"}
        assert set(answer["spec"]) == SPEC
        assert set(answer["throughput"]) == {"value", "low", "high"}
        assert answer["rejected"]
        for each in answer["rejected"]:
            assert set(each) == REJECTION
            assert set(each["spec"]) == SPEC
        assert {name for each in answer["options"] for name in each["preferences"]} == {
            "cheapest",
            "balanced",
            "fastest",
        }
        assert all(set(each["spec"]) == SPEC and set(each) == OPTION for each in answer["options"])
        assert answer["runner_up"] is None or set(answer["runner_up"]) == SPEC
        offer = answer["instances"][0]
        assert {"provider", "instance_type", "usd_per_hour", "usd_per_million_samples", "as_of"} <= set(offer)
    assert "memory_bytes" not in json.dumps(form)
    first, second = form["workloads"]
    assert first["spec"]["memory_gib"] in (1.5, 8.0)
    assert second["spec"]["memory_gib"] is None
    assert first["emulated"] is second["emulated"] is True


def test_reasons_are_english_with_codes_beside_them(concluded: tuple[Model, Recommendation]) -> None:
    """Whatever the language of the reader, and as many codes as sentences."""
    model, recommendation = concluded
    for answer, record in zip(
        recommendation_form(recommendation, model)["workloads"], recommendation.workloads, strict=True
    ):
        assert answer["reason_codes"] == [reason.code.value for reason in record.reasons]
        assert len(answer["reasons"]) == len(answer["reason_codes"])
        assert all(reason.endswith(".") for reason in answer["reasons"])
        assert (answer["next_run"] is None) == (answer["next_run_suggestion"] is None)


def test_the_records_come_back(concluded: tuple[Model, Recommendation]) -> None:
    """Reasons, suggestions and figures are read as they were written, beyond what was measured, too."""
    model, recommendation = concluded
    beyond = predict(model.workload("gpu"), Configuration(8.0, 2**33, "host", 32), WhatIf())
    answers = (replace(recommendation.workloads[0], beyond=beyond), recommendation.workloads[1])
    both = replace(recommendation, workloads=answers)
    assert set(recommendation_form(both, model)["workloads"][0]["beyond"]) >= PREDICTION
    assert from_json(Recommendation, json.loads(json.dumps(to_json(both))), "file") == both
    assert from_json(Model, json.loads(json.dumps(to_json(model))), "file") == model


def test_a_prediction_has_exactly_the_keys_of_the_contract(concluded: tuple[Model, Recommendation]) -> None:
    """With and without an answer the same keys, and the reason where there is none."""
    workload = concluded[0].workload("gpu")
    place = Configuration(2.0, 2**33, "host", 32)
    form = prediction_form(predict(workload, place), workload)
    assert set(form) == PREDICTION | {"out_of_memory", "headroom", "sample_unit", "emulated"}
    assert (form["memory_gib"], form["emulated"]) == (8.0, True)
    assert set(no_prediction_form(place, workload, "no such batch", None)) == {*form, "error", "error_code"}


def test_what_a_table_does_not_say_is_null_beyond_it_too(make_run: Callable[..., Run]) -> None:
    """No memory, disk or batch size is made up for a size that was not measured."""
    unknown = {"memory_bytes": None, "batch_size": None, "disk": None, "gpu_count": None}
    runs = [
        replace(made, configuration=replace(made.configuration, **unknown))
        for made in (make_run(100.0 * c, c) for c in (1.0, 2.0, 4.0))
    ]
    model = fit(runs)
    form = recommendation_form(recommend(model, runs, Objective(), stored_catalog()), model)
    (answer,) = json.loads(json.dumps(form))["workloads"]
    assert answer["status"] == "at_least"
    beyond = answer["beyond"]
    assert (beyond["vcpus"], beyond["memory_gib"], beyond["disk"], beyond["batch_size"]) == (8, None, None, None)
    assert beyond["gpu_count"] is None
    assert set(beyond) >= PREDICTION

"""The form of recommendation.json and of predict's JSON is a contract with other programs."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace

import pytest

from sizer.catalog import Catalog
from sizer.exchange.published import no_prediction_form, prediction_form, read_recommendation, recommendation_form
from sizer.files.codec import FormatError, to_json
from sizer.model import Model, WhatIf, fit, predict
from sizer.recommend import recommend
from sizer.records.answer import Recommendation
from sizer.records.run import Configuration, Run
from sizer.records.study import Device, DiskRates, Objective

CONTRACT = {
    *("workload", "status", "spec", "throughput", "probability", "bottleneck", "next_bottleneck", "reasons"),
    *("rejected", "runner_up", "instances"),
}
SPEC = {"vcpus", "memory_gib", "disk", "batch_size", "gpu", "gpu_count"}
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
    return model, recommend(model, runs, Objective("cheapest", 0.9), Catalog.load())


def test_a_recommendation_has_exactly_the_keys_of_the_contract(concluded: tuple[Model, Recommendation]) -> None:
    """Objective and target beside each other, sizes in GiB, and what else is known added."""
    model, recommendation = concluded
    form = json.loads(json.dumps(recommendation_form(recommendation, model)))
    assert set(form) == {"schema_version", "objective", "target", "deadline", "workloads", "family"}
    assert (form["schema_version"], form["objective"], form["target"]) == (1, "cheapest", 0.9)
    for answer in form["workloads"]:
        assert set(answer) >= CONTRACT | {"sample_unit", "next_run", "beyond", "emulated"}
        assert set(answer) >= {"provisional", "edge", "baseline", "job"}
        assert set(answer["spec"]) == SPEC
        assert set(answer["throughput"]) == {"value", "low", "high"}
        assert answer["rejected"]
        assert all(set(each) == {"spec", "why"} and set(each["spec"]) == SPEC for each in answer["rejected"])
        assert answer["runner_up"] is None or set(answer["runner_up"]) == SPEC
        offer = answer["instances"][0]
        assert {"provider", "instance_type", "usd_per_hour", "usd_per_million_samples", "as_of"} <= set(offer)
    assert "memory_bytes" not in json.dumps(form)
    first, second = form["workloads"]
    assert first["spec"]["memory_gib"] in (1.5, 8.0)
    assert second["spec"]["memory_gib"] is None
    assert first["emulated"] is second["emulated"] is True


def test_a_recommendation_comes_back(concluded: tuple[Model, Recommendation]) -> None:
    """The reader is the writer's inverse, with and without an estimate beyond what was measured."""
    model, recommendation = concluded
    beyond = predict(model.workload("gpu"), Configuration(8.0, 2**33, "host", 32), WhatIf())
    answers = (replace(recommendation.workloads[0], beyond=beyond), replace(recommendation.workloads[1], beyond=None))
    both = replace(recommendation, workloads=answers)
    form = json.loads(json.dumps(recommendation_form(both, model)))
    assert set(form["workloads"][0]["beyond"]) >= PREDICTION
    assert read_recommendation(form, "recommendation.json") == both


@pytest.mark.parametrize("broken", [None, 3, {}, {"workloads": 3}, {"objective": "cheapest", "target": 0.9}])
def test_anything_else_is_no_recommendation(broken: object) -> None:
    """So that it is concluded again."""
    with pytest.raises(FormatError):
        read_recommendation(broken, "recommendation.json")


def test_the_record_itself_is_not_the_form(concluded: tuple[Model, Recommendation]) -> None:
    """What an older sizer wrote is not taken for the contract."""
    with pytest.raises(FormatError):
        read_recommendation(to_json(concluded[1]), "recommendation.json")


@pytest.mark.parametrize("size", [1e999, "8", True])
def test_a_size_that_is_none_is_refused(concluded: tuple[Model, Recommendation], size: object) -> None:
    """Not an overflow."""
    form = recommendation_form(concluded[1], concluded[0])
    form["workloads"][0]["spec"]["memory_gib"] = size
    with pytest.raises(FormatError, match="memory_bytes"):
        read_recommendation(form, "recommendation.json")


def test_a_prediction_has_exactly_the_keys_of_the_contract(concluded: tuple[Model, Recommendation]) -> None:
    """With and without an answer the same keys, and the reason where there is none."""
    workload = concluded[0].workload("gpu")
    place = Configuration(2.0, 2**33, "host", 32)
    form = prediction_form(predict(workload, place), workload)
    assert set(form) == PREDICTION | {"out_of_memory", "headroom", "sample_unit", "emulated"}
    assert (form["memory_gib"], form["emulated"]) == (8.0, True)
    assert set(no_prediction_form(place, workload, "no such batch")) == {*form, "error"}


def test_what_a_table_did_not_tell_is_null_beyond_it_too(make_run: Callable[..., Run]) -> None:
    """No memory, disk or batch size is made up for a size that was not measured, and the file can be read again."""
    untold = ("memory_gib", "batch_size", "disk")
    runs = [
        replace(made, untold=untold, configuration=replace(made.configuration, memory_bytes=2**30, batch_size=1))
        for made in (make_run(100.0 * c, c) for c in (1.0, 2.0, 4.0))
    ]
    model = fit(runs)
    recommendation = recommend(model, runs, Objective(), Catalog.load())
    form = recommendation_form(recommendation, model)
    (answer,) = form["workloads"]
    assert answer["status"] == "at_least"
    assert (answer["beyond"]["vcpus"], *(answer["beyond"][column] for column in untold)) == (8, None, None, None)
    assert read_recommendation(json.loads(json.dumps(form)), "file") == recommendation

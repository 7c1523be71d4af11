"""Which batch size is recommended: nearly the best rate, in memory that is known to hold it."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from sizer.exchange.published import recommendation_form
from sizer.model.fitting import fit
from sizer.recommend.job_changes import ChangeKind, changes
from sizer.recommend.recommendation import recommend
from sizer.records.answer import Answer
from sizer.records.configuration import Configuration
from sizer.records.prediction import ReasonCode
from sizer.records.run import Cause, CauseKind, Failure, Run
from sizer.records.run_kinds import MemoryPlace, Outcome, Purpose
from sizer.records.study import Objective
from sizer.records.units import GIB
from sizer.words.accelerators import batch_sentences
from sizer.words.names import terms_of
from tests.tables import runs_of, stored_catalog

CPU = """workload,device,vcpus,memory_gib,batch_size,throughput,sample_unit,peak_anonymous_gib,outcome
job,cpu,2,4,8,80,image,1.0,
job,cpu,2,4,8,81,image,1.0,
job,cpu,2,4,32,99,image,1.6,
job,cpu,2,4,32,100,image,1.6,
job,cpu,2,4,128,101,image,3.0,
job,cpu,2,4,128,100,image,3.0,
job,cpu,2,2,8,80,image,1.0,
job,cpu,2,2,32,99,image,1.6,
job,cpu,2,2,128,,image,,out_of_memory
"""


def answer_of(runs: tuple[Run, ...]) -> Answer:
    model = fit(runs)
    (found,) = recommend(model, runs, Objective(), stored_catalog()).workloads
    return found


def said(runs: tuple[Run, ...]) -> list[str]:
    model = fit(runs)
    answer = answer_of(runs)
    assert answer.batch is not None
    return batch_sentences(answer.batch, terms_of(model.workload("job")))


def test_a_step_that_takes_more_than_in_proportion_is_named(tmp_path: Path) -> None:
    """As where a GPU's memory leaves convolutions no room for their faster algorithms."""
    table = "workload,gpu,batch_size,throughput,sample_unit\njob,GTX 1080,32,90,image\njob,GTX 1080,64,92,image\n"
    slower = (
        "A step of 128 takes 2.36 times as long as one of 64, more than twice, so each of its samples takes longer."
    )
    assert slower in said(runs_of(tmp_path, table + "job,GTX 1080,128,78,image\n"))
    assert not any("more than" in each for each in said(runs_of(tmp_path, table + "job,GTX 1080,128,92,image\n")))


def test_the_smallest_batch_that_is_enough_is_recommended(tmp_path: Path) -> None:
    """With the line of its step, what is known to fit, and the curve at the answer first."""
    runs = runs_of(tmp_path, CPU)
    batch = answer_of(runs).batch
    assert batch.batch_size == 32
    assert len(batch.curves) == 2
    assert batch.curves[0].best == 128
    assert (batch.largest.batch_size, batch.largest.too_large, batch.largest.memory_bytes) == (32, 128, 2 * GIB)
    first, *_ = said(runs)
    assert first == "A batch of 32 is the smallest measured within 5 % of the best rate (100 images/s at 128)."


def test_a_batch_that_does_not_fit_is_not_recommended(tmp_path: Path) -> None:
    """It completed once, and ran out of memory another time with as much: the next smaller one is."""
    runs = runs_of(tmp_path, CPU)
    four = [run for run in runs if run.configuration.memory_bytes == 4 * GIB]
    flaky = next(run for run in four if run.configuration.batch_size == 32)
    error = Failure(Cause(CauseKind.MEMORY_CAP), where=MemoryPlace.HOST)
    killed = replace(flaky, outcome=Outcome.OUT_OF_MEMORY, throughput=None, error=error)
    batch = answer_of((*four, killed)).batch
    assert batch.batch_size == 8
    assert "A batch of 8 is the largest measured that is known to fit." in said((*four, killed))


def test_what_ran_out_of_memory_is_never_the_specs_batch(tmp_path: Path) -> None:
    """With the most memory that was measured, a batch that was killed and gave no rate is no candidate."""
    kept = [line for line in CPU.splitlines() if not line.startswith("job,cpu,2,4,128")]
    runs = runs_of(tmp_path, "\n".join([*kept, "job,cpu,2,4,128,,image,,out_of_memory"]))
    spec = answer_of(runs).spec
    assert spec is None or spec.batch_size in (None, 8, 32)


def test_runs_of_a_search_change_no_answer(tmp_path: Path) -> None:
    """They say which batch fits, and count for no rate and no size of memory."""
    runs = tuple(run for run in runs_of(tmp_path, CPU) if run.configuration.memory_bytes == 4 * GIB)
    own = answer_of(runs)
    last = runs[-1]
    spec = replace(last.spec, batch_size=256, purpose=Purpose.BATCH_SEARCH)
    place = replace(last.configuration, batch_size=256)
    error = Failure(Cause(CauseKind.MEMORY_CAP), where=MemoryPlace.HOST)
    started = "2026-11-21T10:00:00+00:00"
    searched = replace(
        last, spec=spec, configuration=place, outcome=Outcome.OUT_OF_MEMORY, throughput=None, error=error,
        started_at=started,
    )  # fmt: skip
    held = replace(last, spec=replace(spec, batch_size=192), configuration=replace(place, batch_size=192))
    found = answer_of((*runs, replace(held, started_at=started), searched))
    assert replace(found, batch=None, rejected=()) == replace(own, batch=None, rejected=())
    assert (found.batch.largest.batch_size, found.batch.largest.too_large) == (192, 256)
    assert found.batch.curves == (own.batch.curves if own.batch is not None else None)


@pytest.mark.parametrize(("killed", "rises", "twice"), [(None, True, True), (40, True, False), (36, False, False)])
def test_no_larger_batch_is_advised_than_fits(
    make_run: Callable[..., Run], killed: int | None, rises: bool, twice: bool
) -> None:
    """Where the rate still rises with the batch: nothing is said of one that is known to run out of memory."""
    sizes = (1.0, 2.0, 4.0, 8.0)
    rates = ((8, 40.0), (16, 70.0), (32, 110.0))
    runs = [make_run(rate * min(vcpus, 4), vcpus, batch=size) for size, rate in rates for vcpus in sizes]
    if killed is not None:
        runs += [make_run(None, vcpus, batch=killed, outcome=Outcome.OUT_OF_MEMORY) for vcpus in sizes]
    said = [
        reason
        for reason in answer_of(tuple(runs)).reasons
        if reason.code is ReasonCode.RISES and reason.has("batch_size")
    ]
    assert bool(said) is rises
    here = Configuration(8.0, 8 * GIB, "host", 32)
    advised = {change.kind for change in changes(fit(runs).workload("train"), runs, here)}
    assert (ChangeKind.BATCH in advised) is twice


def test_one_batch_size_says_nothing(tmp_path: Path) -> None:
    assert answer_of(runs_of(tmp_path, "workload,vcpus,throughput\njob,1,10\njob,2,19\njob,4,30\n")).batch is None


def test_the_json_has_it_beside_the_contracts_keys(tmp_path: Path) -> None:
    """Memory in GiB as everywhere there."""
    runs = runs_of(tmp_path, CPU)
    model = fit(runs)
    form = recommendation_form(recommend(model, runs, Objective(), stored_catalog()), model)
    (workload,) = json.loads(json.dumps(form))["workloads"]
    batch = workload["batch"]
    assert (batch["batch_size"], batch["largest"]["memory_gib"]) == (32, 2)
    assert batch["curves"][0]["fit"] in ("affine", "not_affine")
    assert {"status", "spec", "throughput", "probability", "bottleneck", "reasons", "rejected"} <= workload.keys()


@pytest.mark.parametrize("unit", ["image", "relative"])
def test_relative_rates_have_no_time(tmp_path: Path, unit: str) -> None:
    runs = tuple(replace(run, sample_unit=unit) for run in runs_of(tmp_path, CPU))
    assert any("a step takes" in sentence.lower() for sentence in said(runs)) is (unit == "image")


@pytest.mark.parametrize(
    ("most", "said"),
    [
        ({"job": 256}, "that was the largest to be tried"),
        ({"job": 512}, "the search is not finished"),
        (None, "the search is not finished"),
    ],
)
def test_a_search_that_went_as_far_as_it_was_to_is_finished(
    tmp_path: Path, most: dict[str, int] | None, said: str
) -> None:
    """The largest that was to be tried held: that is no search broken off."""
    runs = tuple(run for run in runs_of(tmp_path, CPU) if run.configuration.memory_bytes == 4 * GIB)
    spec = replace(runs[-1].spec, batch_size=256, purpose=Purpose.BATCH_SEARCH)
    held = replace(
        runs[-1], spec=spec, configuration=replace(runs[-1].configuration, batch_size=256), started_at="2026-11-21"
    )
    model = fit((*runs, held))
    (answer,) = recommend(model, (*runs, held), Objective(), stored_catalog(), most_batches=most).workloads
    assert answer.batch is not None
    assert batch_sentences(answer.batch, terms_of(model.workload("job")))[-1].endswith(f"{said}.")

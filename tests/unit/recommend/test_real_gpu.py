"""Answers of the runs that were made on a real GPU, an NVIDIA H200: what is offered, and what holds it back."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from sizer.catalog.catalog import Catalog
from sizer.catalog.gpus import same_gpu
from sizer.model.fitting import fit
from sizer.recommend.recommendation import recommend
from sizer.records.answer import Answer
from sizer.records.run import Run
from sizer.records.study import Objective
from sizer.store.stored_runs import run_from_json
from sizer.words.names import terms_of_answer
from sizer.words.reasons.phrasing import reason_sentences

RUNS = Path(__file__).parents[3] / "benchmarks/gpu"


def runs_of(file: str, name: str) -> list[Run]:
    """The runs of one workload."""
    runs = [run_from_json(json.loads(line), file) for line in (RUNS / file).read_text().splitlines()]
    return [run for run in runs if run.spec.workload.name == name]


@pytest.fixture(scope="module")
def real() -> list[Run]:
    """Training on images with 1 to 16 vCPUs, each repeated."""
    return runs_of("beside_emulated.jsonl", "real")


def answer_of(runs: list[Run]) -> tuple[Answer, str]:
    """The answer, and its reasons in words."""
    model = fit(runs)
    answer = recommend(model, runs, Objective(), Catalog.load()).workloads[0]
    return answer, " ".join(reason_sentences(answer.reasons, terms_of_answer(answer, model.workloads[0])))


def test_only_machines_with_the_gpu_that_was_measured_are_offered(real: list[Run]) -> None:
    """A rate of an H200 is none of a T4; where the driver did not tell what it is, nothing is offered."""
    answer, _ = answer_of(real)
    assert answer.spec is not None
    assert answer.spec.gpu == "NVIDIA H200"
    catalog = Catalog.load()
    offered = [instance for offer in answer.instances for instance in catalog.called(offer.instance_type)]
    assert offered
    assert all(instance.gpu is not None and same_gpu(instance.gpu, "H200") for instance in offered)
    unnamed = [replace(run, configuration=replace(run.configuration, gpu=None)) for run in real]
    answer, sentences = answer_of(unnamed)
    assert answer.instances == ()
    assert "Which accelerator this is was not told, so no machine with it is offered." in sentences


def test_a_thread_that_holds_the_gpu_back_is_named(real: list[Run]) -> None:
    """A faster GPU would be money for nothing: kernels run for half of the time."""
    _, sentences = answer_of(real)
    assert "There it is bound by its serial part" in sentences
    assert "The GPU computes for 48 % of the time and waits for the thread that starts its work" in sentences


def test_what_the_gpu_could_do_is_not_what_it_does() -> None:
    """BERT gave 121,000 to 138,000 words/s in runs of 4 s that tell little; its kernels alone would give 220,000."""
    answer, _ = answer_of(runs_of("runs.jsonl", "transformer"))
    assert answer.throughput is not None
    assert answer.throughput.value < 150_000

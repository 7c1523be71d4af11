"""When the two-epoch pass is made, and under which memory cap."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from sizer.plan.following import TwoEpochs, following_runs
from sizer.records.run import DataSet, Run
from sizer.records.run_kinds import Outcome, Purpose
from sizer.records.study import Limits, Measure, Study, Workload, WorkloadPlan
from sizer.records.units import GIB, MIB
from sizer.study.presets import HostSize
from sizer.words.runs import following_in_words

HOST = HostSize(4, 16 * GIB)
DATA = DataSet("/data/train.rec", "recordio", 1000 * MIB, 10_000, embedded=False)


def only(**own: Any) -> tuple[TwoEpochs, ...]:
    """The passes of a study of one workload."""
    workload = Workload("train", own.pop("kind", "image_training"), format=own.pop("format", "recordio"), **own)
    plan = WorkloadPlan(workload, (32,), vcpus=(1.0, 2.0), disk=("fast", "slow"), isolate=True)
    found = following_runs(Study("s", (plan,), measure=Measure(seconds=30)), HOST)
    return tuple(each for each in found if isinstance(each, TwoEpochs))


@pytest.fixture
def measured(make_run: Callable[..., Run]) -> Run:
    """A run as asked for where the pass is made: 300 images/s, and 200 MiB that cannot be dropped."""
    run = make_run(300.0, 2.0, disk="fast", data=DATA, anonymous=190 * MIB)
    spec = replace(run.spec, workload=only()[0].base.workload)
    own = replace(spec, workload=replace(spec.workload, cache="cold"))
    return replace(run, spec=own, memory=replace(run.memory, peak_kernel_bytes=10 * MIB))


def test_the_cap_holds_what_the_program_needs_and_half_of_the_data(measured: Run) -> None:
    """The pass reads from disk, naturally cached, at the most vCPUs."""
    spec = only()[0].next_run([measured])
    assert spec is not None
    assert spec.limits == Limits(2.0, 700 * MIB, "fast")
    assert (spec.workload.input, spec.workload.cache, spec.stage) == ("disk", "natural", "cache")


def test_there_is_no_pass_before_a_run_shows_what_is_needed(measured: Run) -> None:
    """Neither a failed run nor one that isolates a stage does."""
    failed = replace(measured, outcome=Outcome.CRASHED)
    stage = replace(measured, spec=replace(measured.spec, purpose=Purpose.ISOLATES_DISK))
    assert only()[0].next_run([failed, stage]) is None
    assert "no run shows how much memory" in following_in_words(only()[0], [failed, stage])


@pytest.mark.parametrize("own", [{"format": "lmdb"}, {"kind": "image_inference"}, {"kind": "imagenet_preprocessing"}])
def test_what_is_read_in_one_order_needs_no_pass(own: dict[str, str]) -> None:
    """Its hits are all or none."""
    assert only(**own) == ()


def test_a_pass_is_made_once_however_it_ended(measured: Run) -> None:
    """Killed for memory it has shown something, too; interrupted it has not."""
    each = only()[0]
    spec = each.next_run([measured])
    assert spec is not None
    made = replace(measured, spec=spec, outcome=Outcome.OUT_OF_MEMORY)
    assert each.includes(spec)
    assert each.next_run([measured, made]) is None
    assert each.next_run([measured, replace(made, outcome=Outcome.INTERRUPTED)]) == spec


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"data_set": replace(DATA, bytes=10 * MIB)}, "too small"),
        ({"data_set": replace(DATA, bytes=100 * GIB)}, "too little memory"),
        ({"data_set": replace(DATA, samples=1_000_000)}, "they would take 1 h 51 min"),
    ],
)
def test_a_pass_that_cannot_be_made_says_why(measured: Run, change: dict[str, DataSet], why: str) -> None:
    """A data set of which half is nothing, or which no run of minutes reads twice."""
    run = replace(measured, **change)  # type: ignore[arg-type]
    assert only()[0].next_run([run]) is None
    assert why in following_in_words(only()[0], [run])


def test_a_workload_without_isolation_has_no_pass() -> None:
    """Nobody asked for it."""
    plan = WorkloadPlan(Workload("train", "image_training"), (32,))
    assert following_runs(Study("s", (plan,)), HOST) == ()

"""What came of a pass of two epochs, from the runs that are there."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from sizer.plan.following import PassResult, TwoEpochs, following_runs
from sizer.records.run import DataSet, Run
from sizer.records.run_kinds import Outcome
from sizer.records.study import Study, Workload, WorkloadPlan
from sizer.study.presets import HostSize
from sizer.words.runs import following_in_words

MIB, GIB = 2**20, 2**30
DATA = DataSet("/data/train.rec", "recordio", 1000 * MIB, 10_000, embedded=False)


@pytest.fixture
def the_pass() -> TwoEpochs:
    plan = WorkloadPlan(Workload("train", "image_training", format="recordio"), (32,), vcpus=(1.0, 2.0), isolate=True)
    (only,) = following_runs(Study("s", (plan,)), HostSize(4, 16 * GIB))
    assert isinstance(only, TwoEpochs)
    return only


@pytest.fixture
def whole(make_run: Callable[..., Run], the_pass: TwoEpochs) -> Run:
    """The workload as asked for, with memory for all of its data."""
    run = make_run(300.0, 2.0, data=DATA, anonymous=190 * MIB)
    spec = replace(run.spec, workload=replace(the_pass.base.workload, cache="cold"))
    return replace(run, spec=spec, memory=replace(run.memory, peak_kernel_bytes=10 * MIB))


@pytest.mark.parametrize(
    ("outcome", "hit_rate", "ending"),
    [
        (Outcome.COMPLETED, 0.47, ": completed, 47 % of its reads were served from memory"),
        (Outcome.OUT_OF_MEMORY, None, ": out of memory"),
    ],
)
def test_the_pass_itself_is_the_result_however_it_ended(
    outcome: Outcome, hit_rate: float | None, ending: str, the_pass: TwoEpochs, whole: Run
) -> None:
    """With its hit rate, where it has one."""
    spec = the_pass.next_run([whole])
    assert spec is not None
    made = replace(whole, spec=spec, outcome=outcome, conditions=replace(whole.conditions, hit_rate=hit_rate))
    assert the_pass.result([whole, made]) == PassResult(outcome, hit_rate)
    assert following_in_words(the_pass, [whole, made]).endswith(f"with half of its data in memory{ending}")


def test_a_run_under_such_a_cap_makes_it_needless(the_pass: TwoEpochs, whole: Run) -> None:
    """A memory axis may have shown the same."""
    spec = replace(
        whole.spec,
        workload=replace(whole.spec.workload, cache="natural"),
        limits=replace(whole.spec.limits, memory_bytes=600 * MIB),
    )
    assert the_pass.result([replace(whole, spec=spec)]) == PassResult()

"""Runs that isolate a stage, and the pass of two epochs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from sizer.plan.configurations import isolating_runs
from sizer.plan.following import PassResult, TwoEpochs, following_runs
from sizer.plan.run_order import plan, reference
from sizer.records.device import Device
from sizer.records.frameworks import Variable
from sizer.records.run import DataSet, Run
from sizer.records.run_kinds import Outcome, Purpose
from sizer.records.study import Limits, Measure, RunSpec, Study, Workload, WorkloadPlan
from sizer.records.units import GIB, MIB
from sizer.study.presets import HostSize
from sizer.words.runs import following_in_words

# Which runs isolate a stage of a workload, and that a study without them is what it was.


HOST = HostSize(8, 16 * GIB)


def planned(kind: str = "image_training", isolate: bool = True, **asked: Any) -> WorkloadPlan:
    """A workload on 1 to 8 vCPUs; what the workload itself holds is told apart from its axes."""
    own = {name: asked.pop(name) for name in ("input", "cache", "device", "format") if name in asked}
    axes = {"batch_size": (32,), "vcpus": (1.0, 2.0, 4.0, 8.0), **asked}
    return WorkloadPlan(Workload("train", kind, **own), **axes, isolate=isolate)


def study(*plans: WorkloadPlan, around: Limits | None = None) -> Study:
    return Study("s", plans, around=around, measure=Measure(repeats=2))


def stages(
    planned_workload: WorkloadPlan, host: HostSize = HOST, around: Limits | None = None
) -> dict[str, list[RunSpec]]:
    """The runs of each stage."""
    by_stage: dict[str, list[RunSpec]] = {}
    for spec in isolating_runs(planned_workload, study(planned_workload, around=around), host):
        by_stage.setdefault(spec.stage or "", []).append(spec)
    return by_stage


def test_each_stage_has_runs_of_its_own() -> None:
    """The step at two batch sizes, the pipeline at three vCPU limits, and each disk once, under the workload's name."""
    by_stage = stages(planned(disk=("fast", "slow"), memory_bytes=(GIB, 2 * GIB)))
    assert [(spec.workload.input, spec.batch_size, spec.limits) for spec in by_stage["step"]] == [
        ("synthetic", 8, Limits(8.0)),
        ("synthetic", 32, Limits(8.0)),
    ]
    assert [(spec.workload.input, spec.limits) for spec in by_stage["pipeline"]] == [
        ("cached", Limits(vcpus)) for vcpus in (1.0, 4.0, 8.0)
    ]
    assert [(spec.workload.input, spec.limits) for spec in by_stage["disk"]] == [
        ("replay", Limits(8.0, disk="fast")),
        ("replay", Limits(8.0, disk="slow")),
    ]
    assert {spec.workload.name for specs in by_stage.values() for spec in specs} == {"train"}


@pytest.mark.parametrize(
    ("planned_workload", "expected"),
    [
        (planned(isolate=False), {}),
        (planned("lstm_training"), {"step": 2}),
        (planned("imagenet_preprocessing"), {"pipeline": 3, "disk": 1}),
        (
            planned("image_inference", device=Device("emulated", samples_per_second=100.0)),
            {"step": 1, "pipeline": 3, "disk": 1},
        ),
        (planned(input="cached", cache="warm"), {"step": 2}),
        (planned(cache="warm"), {"step": 2}),
        (planned(input="synthetic"), {}),
        (planned("command"), {}),
    ],
)
def test_a_stage_that_a_workload_does_not_have_is_not_isolated(
    planned_workload: WorkloadPlan, expected: dict[str, int]
) -> None:
    """Preprocessing has no step, text is not read as it goes on, and what is not read from disk has no disk."""
    assert {stage: len(specs) for stage, specs in stages(planned_workload).items()} == expected


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ((2.0,), [1.0, 2.0]),
        ((1.0,), [1.0]),
        ((3.0, 6.0), [1.0, 3.0, 6.0]),
        ((0.5, 1.0), [0.25, 0.5, 1.0]),
        ((), [2.0, 4.0, 8.0]),
    ],
)
def test_few_vcpu_values_get_halves_below_them(asked: tuple[float, ...], expected: list[float]) -> None:
    """Whole ones where the study asks for whole ones, for a host may not be able to limit to a fraction."""
    assert [spec.limits.vcpus for spec in stages(planned(vcpus=asked))["pipeline"]] == expected


def test_several_batch_sizes_give_the_least_and_the_most() -> None:
    """They were asked for, so they fit."""
    assert [spec.batch_size for spec in stages(planned(batch_size=(16, 64, 128)))["step"]] == [16, 128]
    assert [spec.batch_size for spec in stages(planned(batch_size=(1,)))["step"]] == [1, 4]


def test_isolating_runs_are_planned_once_each_among_the_first_repeat() -> None:
    """All other runs, their ids and the reference are those of the same study without."""
    without, with_them = (study(planned(isolate=isolate, disk=("fast", "slow"))) for isolate in (False, True))
    asked, more = plan(without, HOST), plan(with_them, HOST)
    isolating = [spec for spec in more if spec.stage is not None]
    assert len(isolating) == len({spec.id for spec in isolating}) == 7
    assert {spec.repeat for spec in isolating} == {0}
    assert {spec.id for spec in more if spec.stage is None and spec.purpose is not Purpose.REFERENCE} == {
        spec.id for spec in asked if spec.purpose is not Purpose.REFERENCE
    }
    assert reference(with_them, HOST) == reference(without, HOST)
    second = next(index for index, spec in enumerate(more) if spec.repeat == 1)
    assert all(more.index(spec) < second for spec in isolating)


@pytest.mark.parametrize(
    ("purpose", "expected"),
    [
        (Purpose.ASKED, "240e8a61a5ce"),
        (Purpose.REPEAT, "240e8a61a5ce"),
        (Purpose.REFERENCE, "240e8a61a5ce"),
        (Purpose.FLOOR_SEARCH, "240e8a61a5ce"),
        (Purpose.ISOLATES_STEP, "143abb1db43a"),
        (Purpose.ISOLATES_PIPELINE, "60517addc180"),
        (Purpose.ISOLATES_DISK, "3cc02f9410c6"),
        (Purpose.TWO_EPOCHS, "7b2315da8c98"),
    ],
)
def test_a_run_keeps_the_id_that_schema_1_gave_it(purpose: Purpose, expected: str) -> None:
    """Of its purpose only the stage counts, so that folders of before can be gone on with."""
    device = Device("emulated", 0, "P100", 219.0, "a benchmark")
    workload = Workload("train", "image_training", network="resnet50", format="recordio", device=device)
    spec = RunSpec(workload, 32, Limits(2.0, 2**31, "slow"), Measure(), repeat=1, purpose=purpose)
    assert spec.id == expected


def test_how_a_command_is_started_is_part_of_what_a_run_is_known_by() -> None:
    """But no value that is not stored: the run is the same when the study goes on with another token."""
    command = Workload("job", "command", command=("python", "job.py"))

    def run_id(**how: Any) -> str:
        return RunSpec(replace(command, **how), 1, Limits(), Measure(1, 5.0, 0.1)).id

    different = [
        run_id(),
        run_id(env=(Variable("HERE", "1"),)),
        run_id(env=(Variable("HERE", "2"),)),
        run_id(env=(Variable("API_KEY"),)),
        run_id(pass_env=("HF_HOME",)),
        run_id(cwd="/work"),
        run_id(setup=("make",)),
        run_id(before=("make",)),
    ]
    assert len(set(different)) == len(different)
    assert run_id(env=(Variable("API_KEY", kept="abc"),)) == run_id(env=(Variable("API_KEY"),))


# When the two-epoch pass is made, and under which memory cap.


EPOCHS_HOST = HostSize(4, 16 * GIB)
DATA = DataSet("/data/train.rec", "recordio", 1000 * MIB, 10_000, embedded=False)


def only(**own: Any) -> tuple[TwoEpochs, ...]:
    """The passes of a study of one workload."""
    workload = Workload("train", own.pop("kind", "image_training"), format=own.pop("format", "recordio"), **own)
    plan = WorkloadPlan(workload, (32,), vcpus=(1.0, 2.0), disk=("fast", "slow"), isolate=True)
    following = following_runs(Study("s", (plan,), measure=Measure(seconds=30)), EPOCHS_HOST)
    return tuple(one for one in following if isinstance(one, TwoEpochs))


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
    assert spec.limits == Limits(2.0, 700 * MIB, "fast")
    assert (spec.workload.input, spec.workload.cache, spec.stage) == ("disk", "natural", "cache")


def test_there_is_no_pass_before_a_run_shows_what_is_needed(measured: Run) -> None:
    """Neither a failed run nor one that isolates a stage does."""
    failed = replace(measured, outcome=Outcome.CRASHED)
    stage = replace(measured, spec=replace(measured.spec, purpose=Purpose.ISOLATES_DISK))
    assert only()[0].next_run([failed, stage]) is None
    assert "no run shows how much memory" in following_in_words(only()[0], [failed, stage])


def test_a_pass_is_made_once_however_it_ended(measured: Run) -> None:
    """Killed for memory it has shown something, too; interrupted it has not."""
    epochs = only()[0]
    spec = epochs.next_run([measured])
    assert spec is not None
    made = replace(measured, spec=spec, outcome=Outcome.OUT_OF_MEMORY)
    assert epochs.includes(spec)
    assert epochs.next_run([measured, made]) is None
    assert epochs.next_run([measured, replace(made, outcome=Outcome.INTERRUPTED)]) == spec


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


# What came of a pass of two epochs, from the runs that are there.


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

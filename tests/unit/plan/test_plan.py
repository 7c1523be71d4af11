"""Which runs a study asks for, in which order, and how long they take."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from sizer.plan.run_order import AROUND_SECONDS, FAILED, UNFINISHED, estimate_seconds, plan, remaining
from sizer.records.configuration import Configuration
from sizer.records.device import Device
from sizer.records.messages import InputError
from sizer.records.run import Run
from sizer.records.run_kinds import Outcome, Purpose
from sizer.records.study import Limits, Measure, RunSpec, Study, Workload, WorkloadPlan
from sizer.records.units import GIB
from sizer.study.presets import HostSize

HOST = HostSize(4, 16 * 2**30)


def study(*plans: WorkloadPlan, around: Limits | None = None, measure: Measure | None = None) -> Study:
    """A study of these workloads."""
    return Study("s", plans, around=around, measure=measure or Measure(repeats=2))


def planned(name: str = "train", kind: str = "image_training", **axes: Any) -> WorkloadPlan:
    """A workload with these axes."""
    return WorkloadPlan(Workload(name, kind), **{"batch_size": (32,), **axes})


def finished(spec: RunSpec, outcome: Outcome = Outcome.COMPLETED, wall_seconds: float = 40.0) -> Run:
    """A run of that spec."""
    return Run(spec, outcome, Configuration(1.0, GIB, "host", 32), "2026-11-21T10:00:00+00:00", wall_seconds)


def ordinary(specs: Sequence[RunSpec]) -> list[RunSpec]:
    """The repeats of every configuration, without what the reference is measured beyond them."""
    return [spec for spec in specs if spec.purpose is not Purpose.REFERENCE]


def test_axes_are_crossed() -> None:
    """Without a point every combination is measured as often as asked for."""
    specs = plan(study(planned(vcpus=(1.0, 2.0), memory_bytes=(GIB, 2 * GIB), batch_size=(16, 32))), HOST)
    assert Counter((spec.limits, spec.batch_size) for spec in ordinary(specs)) == {
        (Limits(vcpus, memory), batch_size): 2
        for vcpus in (1.0, 2.0)
        for memory in (GIB, 2 * GIB)
        for batch_size in (16, 32)
    }


def test_an_axis_left_out_is_not_limited() -> None:
    """No axes: one configuration without limits."""
    assert {spec.limits for spec in plan(study(planned()), HOST)} == {Limits()}


def test_one_axis_at_a_time_around_a_point() -> None:
    """The point, then each axis by itself; an axis of the point that is not varied is held there."""
    point = Limits(2.0, 2 * GIB, "ssd")
    specs = plan(study(planned(vcpus=(1.0, 2.0), disk=("ssd", "hdd"), batch_size=(16, 32)), around=point), HOST)
    assert Counter((spec.limits, spec.batch_size) for spec in ordinary(specs)) == {
        (point, 16): 2,
        (point, 32): 2,
        (replace(point, vcpus=1.0), 16): 2,
        (replace(point, disk="hdd"), 16): 2,
    }


def test_the_order_mixes_configurations_and_follows_the_seed() -> None:
    """Repeats come one after another, each in an order of its own that the seed alone decides."""
    asked = study(planned(vcpus=tuple(float(n) for n in range(1, 11))), planned("b", vcpus=(1.0, 2.0, 3.0)))
    assert plan(asked, HOST) == plan(asked, HOST)
    specs = ordinary(plan(asked, HOST))
    assert [spec.repeat for spec in specs] == sorted(spec.repeat for spec in specs)
    first, second = (
        [(spec.workload.name, spec.limits) for spec in specs if spec.repeat == repeat] for repeat in (0, 1)
    )
    assert first != second
    assert sorted(map(str, first)) == sorted(map(str, second))
    other = ordinary(plan(replace(asked, measure=replace(asked.measure, seed=2)), HOST))
    assert [spec.limits for spec in other] != [spec.limits for spec in specs]


def test_a_study_that_nobody_waits_for_is_refused() -> None:
    """Crossing long axes explodes; the sentence says what to do, and does so at once."""
    many = tuple(range(1, 2001))
    with pytest.raises(InputError, match="around"):
        plan(study(planned(vcpus=tuple(map(float, many)), memory_bytes=many, batch_size=many)), HOST)


@pytest.mark.parametrize("outcome", list(Outcome))
def test_finished_runs_are_kept(outcome: Outcome) -> None:
    """A run is run again where nothing was measured: stopped, or the host lacked what it needs."""
    specs = plan(study(planned(vcpus=(1.0, 2.0))), HOST)
    left = remaining(specs, [finished(specs[0], outcome)])
    again = outcome in (Outcome.INTERRUPTED, Outcome.UNSUPPORTED, Outcome.REFUSED)
    assert left == (specs if again else specs[1:])


@pytest.mark.parametrize("outcome", list(Outcome))
def test_failed_runs_are_measured_again_on_demand(outcome: Outcome) -> None:
    """What crashed or timed out does so again until its cause is mended, which only a person knows."""
    specs = plan(study(planned(vcpus=(1.0, 2.0))), HOST)
    left = remaining(specs, [finished(specs[0], outcome)], UNFINISHED | FAILED)
    kept = outcome in (Outcome.COMPLETED, Outcome.OUT_OF_MEMORY)
    assert left == (specs[1:] if kept else specs)


def test_more_repeats_keep_what_is_finished() -> None:
    """Asking for one repeat more adds runs and repeats none: the reference measured again serves as its own repeat."""
    asked = study(planned(vcpus=(1.0, 2.0)), measure=Measure(repeats=2))
    runs = [finished(spec) for spec in plan(asked, HOST)]
    left = remaining(plan(replace(asked, measure=Measure(repeats=3)), HOST), runs)
    assert [(spec.limits.vcpus, spec.repeat) for spec in left] == [(1.0, 2), (2.0, 3)]


def test_the_estimate_learns_from_finished_runs() -> None:
    """What runs of the same workload really took says more than an allowance; one that crashed will again."""
    specs = plan(study(planned(vcpus=(1.0, 2.0)), planned("b")), HOST)
    trains = [spec for spec in ordinary(specs) if spec.workload.name == "train"]
    runs = [finished(trains[0], wall_seconds=100.0), finished(trains[1], Outcome.CRASHED, 1.0)]
    assert estimate_seconds(trains[2:], runs) == pytest.approx(100 + 1 + 2 * AROUND_SECONDS)


def test_numbers_of_accelerators_are_crossed_with_the_limits() -> None:
    """And varied by themselves around a point, which has the first of them."""
    crossed = plan(study(planned(vcpus=(1.0, 2.0), gpu_count=(1, 2, 4))), HOST)
    assert Counter((spec.limits.vcpus, spec.gpu_count) for spec in ordinary(crossed)) == {
        (vcpus, count): 2 for vcpus in (1.0, 2.0) for count in (1, 2, 4)
    }
    around = plan(study(planned(vcpus=(1.0, 2.0), gpu_count=(1, 2)), around=Limits(vcpus=4.0)), HOST)
    found = {(spec.limits.vcpus, spec.gpu_count) for spec in around}
    assert found == {(4.0, 1), (4.0, 2), (1.0, 1), (2.0, 1)}


def test_who_names_a_mode_gets_enough_steps() -> None:
    """Ten on a CPU, a hundred on an accelerator, as many as the study says where it says it; and a train that is
    named is the same run as one that is not."""
    emulated = Device("emulated", gpu="V100", samples_per_second=400.0)
    named = [
        WorkloadPlan(Workload("a", "image_training", mode="forward_backward"), (8,)),
        WorkloadPlan(Workload("b", "image_inference", mode="forward", device=emulated), (8,)),
        WorkloadPlan(Workload("c", "image_training"), (8,)),
    ]
    assert {spec.workload.name: spec.measure.steps for spec in plan(study(*named), HOST)} == {"a": 10, "b": 100, "c": 0}
    asked = plan(study(*named, measure=Measure(steps=7)), HOST)
    assert {spec.measure.steps for spec in asked} == {7}
    plain = RunSpec(Workload("c", "image_training"), 8, Limits(), Measure())
    assert replace(plain, workload=replace(plain.workload, mode="train")).id == plain.id
    assert replace(plain, workload=replace(plain.workload, mode="forward_backward")).id != plain.id

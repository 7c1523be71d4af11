"""Which runs a study has, what a first run says of its axes, and how long they take."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sizer.plan.axes_of_first_run import FAR_ABOVE, Needs, chosen_axes, needs_of
from sizer.plan.run_order import (
    AROUND_SECONDS,
    FAILED,
    UNFINISHED,
    estimate_seconds,
    guessed_workloads,
    plan,
    remaining,
)
from sizer.plan.seen_times import SeenTimes
from sizer.records.device import Device
from sizer.records.messages import InputError
from sizer.records.prediction import Configuration, Estimate
from sizer.records.run import (
    Cause,
    CauseKind,
    DataSet,
    Demand,
    Failure,
    MemoryUse,
    Meter,
    MeterKind,
    RateDetails,
    Run,
    RunWarning,
    Sample,
    Step,
    WarningKind,
)
from sizer.records.run_kinds import Outcome, Purpose
from sizer.records.study import Limits, Measure, RunSpec, Study, Workload, WorkloadPlan
from sizer.records.units import GIB, MIB
from sizer.study.presets import HostSize

# Which runs a study asks for, in which order, and how long they take.


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
    asked = planned(vcpus=(1.0, 2.0), memory_bytes=(GIB, 2 * GIB), batch_size=(16, 32), gpu_count=(1, 2, 4))
    assert Counter((spec.limits, spec.batch_size, spec.gpu_count) for spec in ordinary(plan(study(asked), HOST))) == {
        (Limits(vcpus, memory), batch_size, count): 2
        for vcpus in (1.0, 2.0)
        for memory in (GIB, 2 * GIB)
        for batch_size in (16, 32)
        for count in (1, 2, 4)
    }


def test_devices_are_crossed_and_the_cpu_has_no_count() -> None:
    """With every other axis; around a point they are tried at the point."""
    device = Device("emulated", gpu="T4", samples_per_second=9.0)
    asked = planned(vcpus=(1.0, 2.0), gpu_count=(1, 2), devices=(Device(), device))

    def made(point: Limits | None) -> Counter[tuple[float | None, str, int]]:
        specs = ordinary(plan(study(asked, around=point), HOST))
        return Counter((spec.limits.vcpus, spec.device.label, spec.gpu_count) for spec in specs)

    on_t4 = {(vcpus, "emulated:T4", count): 2 for vcpus in (1.0, 2.0) for count in (1, 2)}
    assert made(None) == {(1.0, "cpu", 0): 2, (2.0, "cpu", 0): 2, **on_t4}
    assert made(Limits(2.0)) == {(2.0, "cpu", 0): 2, (1.0, "cpu", 0): 2, (2.0, "emulated:T4", 1): 2}


def test_one_axis_at_a_time_around_a_point() -> None:
    """The point, then each axis by itself; an axis of the point that is not varied is held there."""
    point = Limits(2.0, 2 * GIB, "ssd")
    asked = planned(vcpus=(1.0, 2.0), disk=("ssd", "hdd"), batch_size=(16, 32), gpu_count=(1, 2))
    specs = plan(study(asked, around=point), HOST)
    assert Counter((spec.limits, spec.batch_size, spec.gpu_count) for spec in ordinary(specs)) == {
        (point, 16, 1): 2,
        (point, 32, 1): 2,
        (point, 16, 2): 2,
        (replace(point, vcpus=1.0), 16, 1): 2,
        (replace(point, disk="hdd"), 16, 1): 2,
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
    # What crashed or timed out does so again until its cause is mended, which only a person knows.
    on_demand = remaining(specs, [finished(specs[0], outcome)], UNFINISHED | FAILED)
    assert on_demand == (specs[1:] if outcome in (Outcome.COMPLETED, Outcome.OUT_OF_MEMORY) else specs)


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


# The axes that are worth measuring follow from what a program used without limits.


NEEDS = Needs(
    vcpus=2.0,
    busy_vcpus=1.9,
    own_memory_bytes=500 * MIB,
    page_cache_bytes=300 * MIB,
    read_bytes=1e5,
    written_bytes=0.0,
    first_step_seconds=3.0,
    rate=Estimate(100.0, 99.0, 101.0),
    unit="image",
    batch_samples=32,
    meter=Meter(MeterKind.HOOK, "torch"),
)


def host(vcpus: int, memory: int = 64 * GIB) -> HostSize:
    return HostSize(vcpus, memory)


@pytest.mark.parametrize(
    ("vcpus", "busy", "chosen"),
    [
        (2, 1.9, (0.5, 1, 2)),
        (3, 2.9, (0.5, 1, 2, 3)),
        (8, 7.5, (0.5, 1, 2, 4, 8)),
        (64, 3.2, (0.5, 1, 2, 4, 64)),
        (64, 0.3, (0.5, 1, 64)),
        (64, 60.0, (4, 8, 16, 32, 64)),
        (96, 90.0, (8, 16, 32, 64, 96)),
        (8, None, (0.5, 1, 2, 4, 8)),
    ],
)
def test_vcpus_double_up_to_the_hosts(vcpus: int, busy: float | None, chosen: tuple[float, ...]) -> None:
    """Without those far above what was busy, or so few that the program would only wait for them."""
    assert chosen_axes(replace(NEEDS, vcpus=float(vcpus), busy_vcpus=busy), host(vcpus)).vcpus == chosen


def test_what_others_took_it_might_have_used() -> None:
    """A first run beside other load is no reason to leave values out."""
    beside = replace(NEEDS, vcpus=16.0, busy_vcpus=3.0, taken_cores=10.0)
    assert chosen_axes(beside, host(16)).vcpus == (1, 2, 4, 8, 16)
    contended = run(
        throughput=Estimate(100.0, 99.0, 101.0), warnings=(RunWarning(WarningKind.CONTENDED, {"cores": 1.5}),)
    )
    needs = needs_of(contended, host(2))
    assert needs.taken_cores == 1.5


@given(st.integers(1, 512), st.floats(0.01, 512.0))
def test_there_are_three_values_and_the_hosts_own_is_the_last(vcpus: int, busy: float) -> None:
    vcpu_values = chosen_axes(replace(NEEDS, vcpus=float(vcpus), busy_vcpus=min(busy, vcpus)), host(vcpus)).vcpus
    assert len(vcpu_values) >= 3
    assert vcpu_values[-1] == vcpus
    assert list(vcpu_values) == sorted(set(vcpu_values))
    assert all(value * 4 % 1 == 0 for value in vcpu_values)
    assert len([value for value in vcpu_values[:-1] if value >= FAR_ABOVE * max(busy, 1.0)]) <= 1


def test_memory_is_capped_where_the_page_cache_holds_data_that_is_read_again() -> None:
    """Above what the program needs itself, up to where its data fits; no cap as large as the host."""
    reads = replace(NEEDS, data_bytes=300 * MIB)
    assert chosen_axes(reads, host(2)).memory_bytes == (625 * MIB, 700 * MIB, 850 * MIB)
    assert chosen_axes(reads, host(2, 800 * MIB)).memory_bytes == (625 * MIB, 700 * MIB)
    assert chosen_axes(NEEDS, host(2)).memory_bytes == ()
    assert chosen_axes(replace(reads, page_cache_bytes=100 * MIB), host(2)).memory_bytes == (), "not read to its end"
    assert chosen_axes(replace(reads, own_memory_bytes=None), host(2)).memory_bytes == ()
    assert chosen_axes(replace(NEEDS, data_bytes=MIB), host(2)).memory_bytes == (), "too small to matter"


def run(**changes: object) -> Run:
    spec = RunSpec(Workload("mine", "command", "other"), 1, Limits(), Measure())
    made = Run(spec, Outcome.COMPLETED, Configuration(2.0, GIB, "host", 1), None, 9.0, sample_unit="image")
    return replace(made, **changes)  # type: ignore[arg-type]


def test_what_a_run_shows() -> None:
    """vCPUs from its demand, memory that cannot be dropped with the kernel's own for it, and most steps' batch."""
    shown = run(
        throughput=Estimate(100.0, 99.0, 101.0),
        demand=Demand(core_seconds=0.015, read_bytes=2e4, written_bytes=0.0),
        memory=MemoryUse(peak_anonymous_bytes=100 * MIB, peak_kernel_bytes=2 * MIB, peak_page_cache_bytes=7 * MIB),
        data_set=DataSet("/data", "folder", 5 * MIB, 10, False),
        steps=(Step(14.0, 32, 0.0, 0), Step(15.0, 32, 0.0, 0), Step(16.0, 7, 0.0, 0)),
        samples=(Sample(10.5),),
        meter=Meter(MeterKind.HOOK, "torch"),
    )
    needs = needs_of(shown, host(2))
    assert (needs.vcpus, needs.busy_vcpus, needs.own_memory_bytes) == (2.0, 1.5, 102 * MIB)
    assert (needs.page_cache_bytes, needs.read_bytes, needs.data_bytes) == (7 * MIB, 2e4, 5 * MIB)
    assert (needs.first_step_seconds, needs.batch_samples, needs.unit) == (3.5, 32, "image")


def test_a_batch_is_not_seen_in_lines_of_a_log_or_joined_steps() -> None:
    """Each of these stands for several."""
    measured = run(
        throughput=Estimate(100.0, 99.0, 101.0), steps=(Step(14.0, 32, 0.0, 0),), meter=Meter(MeterKind.HOOK, "torch")
    )
    for other in (
        replace(measured, meter=Meter(MeterKind.LOG, "tqdm")),
        replace(measured, warnings=(RunWarning(WarningKind.STEPS_JOINED, {"steps": 2}),)),
    ):
        needs = needs_of(other, host(2))
        assert needs.batch_samples is None


def test_a_run_without_a_rate_shows_nothing() -> None:
    assert needs_of(run(outcome=Outcome.CRASHED), host(2)) is None
    assert needs_of(run(throughput=Estimate(0.0, 0.0, 0.0)), host(2)) is None


COMMAND = Workload("own", "command", command=("train",))
TICK = 0.5


def spec(vcpus: float | None, seconds: float = 10.0, repeat: int = 0, memory: int | None = None) -> RunSpec:
    return RunSpec(COMMAND, 8, Limits(vcpus, memory), Measure(1, seconds, 0.02), repeat=repeat)


def program(
    vcpus: float, phases: Sequence[tuple[float, float]], step: float, stopped: str = "time", seconds: float = 10.0
) -> Run:
    """A run of a program of one thread: phases of CPU work and of sleep before its first step, then steps of CPU work.

    All of it goes as a quota lets it; two seconds pass outside of the child.
    """
    speed, now, used = min(1.0, vcpus), 0.0, 0.0
    course = [(0.0, 0.0)]
    for work, sleep in phases:
        course += [(now + work / speed, used + work), (now + work / speed + sleep, used + work)]
        now, used = course[-1]
    share = 0.5 if stopped == "precision" else 1.0
    count = max(4, round(share * seconds * speed / step))
    times = [now + number * step / speed for number in range(count + 1)]
    course.append((times[-1], used + count * step))
    marks = [0.0, now, times[-1]]
    samples = tuple(
        Sample(at, core_seconds=_at(course, at))
        for at in sorted({*marks, *(TICK * n for n in range(int(times[-1] / TICK)))})
    )
    steps = tuple(Step(at, 8, 0.0, 0) for at in times)
    return Run(
        spec(vcpus, seconds),
        Outcome.COMPLETED,
        Configuration(vcpus, None, "host", 8),
        None,
        times[-1] + 2.0,
        rate=RateDetails(warm_up_seconds=0.0, measured_seconds=times[-1] - now, stopped=stopped),
        steps=steps,
        samples=samples,
    )


def _at(course: Sequence[tuple[float, float]], at: float) -> float:
    for (begun, low), (over, high) in pairwise(course):
        if begun <= at <= over and over > begun:
            return low + (high - low) * (at - begun) / (over - begun)
    return course[-1][1]


BURNS = [(15.0, 0.0)]
WAITS = [(0.0, 15.0)]
BOTH = [(9.0, 6.0)]


@pytest.mark.parametrize("phases", [BURNS, WAITS, BOTH])
@pytest.mark.parametrize("had", [0.25, 0.5, 1.0, 2.0])
@pytest.mark.parametrize("has", [0.25, 0.5, 1.0, 2.0])
@pytest.mark.parametrize("stopped", ["time", "precision"])
def test_one_run_says_how_long_others_take(
    phases: Sequence[tuple[float, float]], had: float, has: float, stopped: str
) -> None:
    """CPU work scales with the vCPUs that there are, sleep does not: within a tenth, whatever was seen first."""
    seen, asked = SeenTimes([program(had, phases, 0.02, stopped)]), program(has, phases, 0.02, stopped)
    expected = asked.first_step_seconds
    assert expected is not None
    assert seen.start_up_seconds(asked.spec) == pytest.approx(expected, rel=0.1)
    if stopped == "time":
        assert seen.seconds(asked.spec) == pytest.approx(asked.wall_seconds, rel=0.1)
    else:
        assert 0.9 * asked.wall_seconds <= (seen.seconds(asked.spec) or 0) <= asked.wall_seconds + 5.5


@pytest.mark.parametrize("outcome", [Outcome.OUT_OF_MEMORY, Outcome.TIMEOUT, Outcome.CRASHED])
def test_what_failed_most_likely_fails_again(outcome: Outcome) -> None:
    """With the same limits, after as long; of others it says nothing."""
    small, error = spec(1.0, memory=2**28), Failure(Cause(CauseKind.MEMORY_CAP))
    failed = replace(program(1.0, BURNS, 0.02), spec=small, outcome=outcome, error=error, wall_seconds=3.0)
    seen = SeenTimes([failed, program(1.0, BURNS, 0.02)])
    assert seen.seconds(replace(small, repeat=1)) == 3.0
    assert seen.seconds(spec(1.0, memory=2**30)) == pytest.approx(27, rel=0.05)
    assert SeenTimes([failed]).seconds(spec(1.0)) is None


def test_the_estimate_of_a_study_is_a_guess_until_a_run_was_seen() -> None:
    """Then it is corrected; another workload is still guessed."""
    specs = [spec(0.25), spec(0.5), spec(1.0), spec(2.0)]
    other = replace(specs[0], workload=replace(COMMAND, name="other"))
    first = program(1.0, BURNS, 0.02)
    assert guessed_workloads([*specs, other]) == ("own", "other")
    assert guessed_workloads([*specs, other], [first]) == ("other",)
    truth = sum(program(spec.limits.vcpus or 1.0, BURNS, 0.02).wall_seconds + AROUND_SECONDS for spec in specs)
    assert estimate_seconds(specs, [first]) == pytest.approx(truth, rel=0.1)

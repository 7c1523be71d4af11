from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import pytest

from sizer.plan.run_order import AROUND_SECONDS, estimate_seconds, guessed_workloads
from sizer.plan.seen_times import SeenTimes
from sizer.records.configuration import Configuration
from sizer.records.run import Cause, CauseKind, Failure, RateDetails, Run, Sample, Step
from sizer.records.run_kinds import Outcome
from sizer.records.study import Limits, Measure, RunSpec, Workload

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


def test_slow_steps_take_longer_than_the_seconds() -> None:
    """A step of 5 s of CPU time takes 20 s at a quarter of a vCPU, and a rate needs four of them."""
    seen, asked = SeenTimes([program(1.0, [(4.0, 0.0)], 5.0)]), program(0.25, [(4.0, 0.0)], 5.0)
    assert asked.wall_seconds == pytest.approx(16 + 80 + 2)
    assert seen.seconds(asked.spec) == pytest.approx(asked.wall_seconds, rel=0.15)


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

from __future__ import annotations

from collections.abc import Callable

import pytest

from sizer.records import Measure, Outcome, Step, Workload
from sizer.stopping import Ending, Stop, deadline_seconds, enough, measured_from_epoch, outcome

Steps = Callable[..., list[Step]]
MEASURE = Measure(repeats=1, seconds=10.0, precision=0.02)


def test_a_precise_run_ends_early_but_not_at_once(make_steps: Steps) -> None:
    """Constant steps are precise from the start; still half of the time is measured."""
    assert enough(make_steps([0.1] * 30), MEASURE, 0) is None
    assert enough(make_steps([0.1] * 55), MEASURE, 0) is Stop.PRECISION


def test_an_imprecise_run_ends_with_its_time(make_steps: Steps) -> None:
    """Steps that vary by half their length never reach 2 %, so the time decides."""
    assert enough(make_steps([0.05, 0.15, 0.1] * 30), MEASURE, 0) is None
    assert enough(make_steps([0.05, 0.15, 0.1, 0.6] * 30), MEASURE, 0) is Stop.TIME


def test_seconds_count_from_the_end_of_warm_up(make_steps: Steps) -> None:
    """A minute of warm-up is not measured time."""
    slow_start = [20.0, 20.0, 20.0]
    assert enough(make_steps(slow_start + [0.1] * 20), MEASURE, 0) is None


@pytest.mark.parametrize(
    ("ending", "expected"),
    [
        (Ending(Stop.PRECISION, None, 0, True), Outcome.COMPLETED),
        (Ending(Stop.ENDED, 0, 0, True), Outcome.COMPLETED),
        (Ending(Stop.DEADLINE, None, 0, True), Outcome.COMPLETED),
        (Ending(Stop.ENDED, 0, 0, False), Outcome.CRASHED),
        (Ending(Stop.ENDED, 1, 0, True), Outcome.CRASHED),
        (Ending(Stop.ENDED, -11, 0, False), Outcome.CRASHED),
        (Ending(Stop.ENDED, -9, 1, True), Outcome.OUT_OF_MEMORY),
        (Ending(Stop.TIME, None, 1, True), Outcome.OUT_OF_MEMORY),
        (Ending(Stop.DEADLINE, None, 0, False, "5 s"), Outcome.TIMEOUT),
        (Ending(Stop.BROKEN_EVENTS, None, 0, True, "'hello'"), Outcome.CRASHED),
        (Ending(Stop.INTERRUPTED, None, 0, True), Outcome.INTERRUPTED),
        (Ending(Stop.ENDED, 69, 0, False), Outcome.UNSUPPORTED),
        (Ending(Stop.ENDED, 125, 0, False), Outcome.REFUSED),
        (Ending(Stop.ENDED, 127, 0, False), Outcome.CRASHED),
    ],
)
def test_each_ending_has_one_outcome(ending: Ending, expected: Outcome) -> None:
    """A child that lost a process to the OOM killer is out of memory, even if it lives on and its rate looks fine."""
    how, reason = outcome(ending)
    assert how is expected
    assert (reason is None) == (how is Outcome.COMPLETED)


def test_natural_cache_is_measured_from_the_second_epoch() -> None:
    """The first epoch fills the page cache."""
    assert measured_from_epoch(Workload("w", "image_training", cache="natural")) == 1
    assert measured_from_epoch(Workload("w", "image_training", cache="cold")) == 0
    assert measured_from_epoch(Workload("w", "image_training", cache="natural", input="synthetic")) == 0


def test_the_deadline_is_the_users_or_follows_from_the_seconds() -> None:
    """A run of 30 s has four times that and two minutes of start-up; at a quarter of a vCPU four times as long."""
    assert deadline_seconds(Measure(seconds=30.0)) == 240
    assert deadline_seconds(Measure(seconds=30.0, timeout=7.0), vcpus=0.25) == 7
    assert deadline_seconds(Measure(seconds=30.0), vcpus=4) == 240
    assert deadline_seconds(Measure(seconds=30.0), vcpus=0.25) == 960

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from sizer.analysis.ending import Ending, outcome
from sizer.analysis.epochs import Epochs, Shown, measured_from_epoch
from sizer.analysis.events import Reading
from sizer.analysis.steady_state import SteadyState, steady_state
from sizer.analysis.stopping import Stop, enough
from sizer.records.run import Cause, CauseKind, Estimate, Outcome, Run, Step
from sizer.records.study import Measure, Workload
from sizer.words.failures import failure_in_words

Steps = Callable[..., list[Step]]
MEASURE = Measure(repeats=1, seconds=10.0, precision=0.02)


def stop(steps: list[Step]) -> Stop | None:
    return enough(Shown(steady_state(steps), Epochs.ANY), MEASURE, steps[-1].time)


def test_a_precise_run_ends_early_but_not_at_once(make_steps: Steps) -> None:
    """Constant steps are precise from the start; still half of the time is measured."""
    assert stop(make_steps([0.1] * 30)) is None
    assert stop(make_steps([0.1] * 55)) is Stop.PRECISION


@pytest.mark.parametrize(
    ("measured", "half_width", "expected"),
    [(6, 0.015, None), (6, 0.009, Stop.PRECISION), (8, 0.015, Stop.PRECISION), (8, 0.021, None)],
)
def test_an_early_end_asks_for_more(measured: float, half_width: float, expected: Stop | None) -> None:
    """At half of its seconds a run must be twice as precise as asked for, from three quarters on as precise."""
    steady = SteadyState(Estimate(80.0, 80 * (1 - half_width), 80 * (1 + half_width)), 0.0, 0.0, measured, 50)
    assert enough(Shown(steady, Epochs.ANY), MEASURE, measured) is expected


def test_an_imprecise_run_ends_with_its_time(make_steps: Steps) -> None:
    """Steps that vary by half their length never reach 2 %, so the time decides."""
    random = np.random.default_rng(1)
    durations = list(0.1 * np.exp(random.normal(0, 0.5, 200)))
    assert stop(make_steps(durations[:80])) is None
    assert stop(make_steps(durations)) is Stop.TIME


def test_seconds_count_from_the_end_of_warm_up(make_steps: Steps) -> None:
    """A minute of warm-up is not measured time."""
    slow_start = [20.0, 20.0, 20.0]
    assert stop(make_steps(slow_start + [0.1] * 20)) is None


@pytest.mark.parametrize("epochs", [Epochs.PART, Epochs.FIRST])
def test_a_run_that_is_not_what_was_asked_for_goes_on(epochs: Epochs) -> None:
    """However precise and however long it is."""
    steady = SteadyState(Estimate(80.0, 80.0, 80.0), 0.0, 0.0, 60.0, 500)
    assert enough(Shown(steady, epochs), MEASURE, 60.0) is None


def test_whole_epochs_are_enough_when_the_time_is_up() -> None:
    """Four seconds of whole epochs within ten since the first ended."""
    steady = SteadyState(Estimate(80.0, 70.0, 90.0), 0.0, 100.0, 104.0, 50)
    assert enough(Shown(steady, Epochs.WHOLE), MEASURE, 109.0) is None
    assert enough(Shown(steady, Epochs.WHOLE), MEASURE, 110.0) is Stop.TIME


@pytest.mark.parametrize(
    ("ending", "expected"),
    [
        (Ending(Stop.PRECISION, None, 0, True), Outcome.COMPLETED),
        (Ending(Stop.ENDED, 0, 0, True), Outcome.COMPLETED),
        (Ending(Stop.DEADLINE, None, 0, True), Outcome.COMPLETED),
        (Ending(Stop.ENDED, 0, 0, False), Outcome.CRASHED),
        (Ending(Stop.ENDED, 0, 0, False, kept_out=True), Outcome.CRASHED),
        (Ending(Stop.ENDED, 1, 0, True), Outcome.CRASHED),
        (Ending(Stop.ENDED, -11, 0, False), Outcome.CRASHED),
        (Ending(Stop.ENDED, -9, 1, True), Outcome.OUT_OF_MEMORY),
        (Ending(Stop.TIME, None, 1, True), Outcome.OUT_OF_MEMORY),
        (Ending(Stop.DEADLINE, None, 0, False, seconds=5.0), Outcome.TIMEOUT),
        (Ending(Stop.BROKEN_EVENTS, None, 0, True, "'hello'"), Outcome.CRASHED),
        (Ending(Stop.INTERRUPTED, None, 0, True), Outcome.INTERRUPTED),
        (Ending(Stop.ENDED, 69, 0, False), Outcome.UNSUPPORTED),
        (Ending(Stop.ENDED, 125, 0, False, joined=False), Outcome.REFUSED),
        (Ending(Stop.ENDED, 125, 0, False), Outcome.CRASHED),
        (
            Ending(Stop.DEADLINE, None, 0, True, seconds=5.0, steps=9, silent_seconds=4.0, longest_step=0.3),
            Outcome.TIMEOUT,
        ),
        (
            Ending(Stop.DEADLINE, None, 0, True, seconds=5.0, steps=9, silent_seconds=4.0, longest_step=0.5),
            Outcome.COMPLETED,
        ),
        (
            Ending(Stop.DEADLINE, None, 0, True, seconds=5.0, steps=9, silent_seconds=1.5, longest_step=0.1),
            Outcome.COMPLETED,
        ),
        (Ending(Stop.SLOW_PATTERN, None, 0, True), Outcome.CRASHED),
        (Ending(Stop.CONTAINER, None, 0, True, "docker"), Outcome.REFUSED),
        (Ending(Stop.ABSENT, None, 0, True), Outcome.REFUSED),
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


def _wrong(kind: CauseKind, told: float, seen: float) -> Cause:
    return Cause(kind, {"told": told, "seen": seen})


@pytest.mark.parametrize(
    ("ending", "words"),
    [
        (Ending(Stop.DEADLINE, None, 0, False, seconds=5.0, started=False), "it wrote no event"),
        (Ending(Stop.DEADLINE, None, 0, False, seconds=5.0, started=False, pattern=True), "no line of its log matched"),
        (Ending(Stop.DEADLINE, None, 0, False, seconds=5.0, started=False, silent=True), "it printed nothing and"),
        (Ending(Stop.DEADLINE, None, 0, False, seconds=5.0, started=False, no_rate="NaN/s"), "is no rate: NaN/s"),
        (
            Ending(
                Stop.DEADLINE, None, 0, False, seconds=5.0, started=False, reading=Reading(288_300_000, 404_000_000)
            ),
            "it was still reading its data into memory, 275 MiB of 385 MiB",
        ),
        (
            Ending(Stop.DEADLINE, None, 0, False, seconds=5.0, started=False, own=True),
            "it had not begun its first step",
        ),
        (Ending(Stop.CONTAINER, None, 0, True, "podman"), "it runs in a container (podman)"),
        (Ending(Stop.ABSENT, None, 0, True), "its steps are made outside of the limits of the run"),
        (Ending(Stop.DEADLINE, None, 0, False, seconds=5.0, silent_seconds=5.0), "its start and no step"),
        (
            Ending(Stop.DEADLINE, None, 0, False, seconds=5.0, seen=(Cause(CauseKind.PIPE_CLOSED),)),
            "closed its event pipe",
        ),
        (
            Ending(Stop.DEADLINE, None, 0, False, seconds=640.0, busy=True),
            "before the deadline of 640 s; it wrote its start and no step; it was still busy: if it only needs longer, "
            "give a longer `timeout`",
        ),
        (
            Ending(Stop.DEADLINE, None, 0, False, seconds=640.0, steps=2, silent_seconds=90.0, busy=True),
            "2 steps, the last one 90.0 s before its end; it was still busy",
        ),
        (
            Ending(Stop.DEADLINE, None, 0, True, seconds=640.0, steps=9, silent_seconds=90.0, busy=True),
            "hung: 9 steps, then none for the last 90.0 s of its 640 s",
        ),
        (
            Ending(Stop.DEADLINE, None, 0, True, seconds=5.0, steps=3, silent_seconds=4.0),
            "hung: 3 steps, then none for the last 4.0 s of its 5 s",
        ),
        (Ending(Stop.ENDED, 0, 0, False, steps=1, silent_seconds=0.5), "1 step, the last one 0.5 s before its end"),
        (Ending(Stop.ENDED, -9, 0, False), "signal 9 (SIGKILL)"),
        (Ending(Stop.ENDED, 137, 0, False), "exit status 137 (SIGKILL)"),
        (Ending(Stop.ENDED, -64, 0, False), "signal 64"),
        (
            Ending(Stop.BROKEN_EVENTS, -11, 0, False, "inside a line"),
            "SIGSEGV); invalid events: inside a line",
        ),
        (Ending(Stop.ENDED, -9, 1, False, capped=False), "the host's memory is below"),
        (
            Ending(Stop.SLOW_PATTERN, None, 0, True, seconds=1.5),
            "the pattern cannot be matched with the log: it took more than 1.5 s of",
        ),
        (
            Ending(Stop.WRONG_UNIT, None, 0, True, wrong_unit=_wrong(CauseKind.TOLD_MILLISECONDS, 154.7, 0.155)),
            "by the pattern a batch takes 2 min 35 s, and by when its lines come 155 ms: the log's figure is most "
            "likely one of milliseconds; name the group `milliseconds`",
        ),
        (
            Ending(Stop.WRONG_UNIT, None, 0, True, wrong_unit=_wrong(CauseKind.TOLD_MILLISECONDS, 0.001, 1.0)),
            "one of seconds; name the group `seconds`",
        ),
        (
            Ending(Stop.ENDED, 0, 0, True, wrong_unit=_wrong(CauseKind.TOLD_MINUTES, 60.0, 1.0)),
            "one of minutes; correct the pattern",
        ),
    ],
)
def test_each_reason_is_told(ending: Ending, words: str, make_run: Callable[..., Run]) -> None:
    """What came of the workload, and what was seen of it."""
    how, failure = outcome(ending)
    assert words in failure_in_words(replace(make_run(None), outcome=how, error=failure))

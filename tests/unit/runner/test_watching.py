"""What is sampled while a child is watched, and how long a pattern may take for its log."""

from __future__ import annotations

import math
import re
import signal
from collections.abc import Callable
from dataclasses import replace
from threading import Thread
from typing import Any

import pytest

from sizer.analysis.monitor import RunMonitor, Stop
from sizer.records.run import CauseKind, Meter, MeterKind, Sample, Step
from sizer.records.study import RunSpec
from sizer.runner.sampling import Sampler
from sizer.runner.time_limit import TimeLimit, at_most
from sizer.runner.watching import Hooks, observe

FIRST_STEP = 0.8


class Child:
    """Tells of its first step 0.8 s after its start and of one each 0.1 s from then on, until two seconds are over."""

    def __init__(self) -> None:
        self.now = 0.0

    def wait(self, seconds: float) -> tuple[list[Any], bytes]:
        before, self.now = self.now, round(self.now + min(seconds, 0.1), 6)
        stepped = before < FIRST_STEP - 1e-9 <= self.now or (self.now > FIRST_STEP and self.now > before)
        return ([Step(self.now, 8, 0.0, 0)] if stepped else []), b""

    def exit_status(self) -> int | None:
        return 0 if self.now >= 2 else None

    def is_silent(self) -> bool:
        return True

    def container_client(self, now: float) -> None:
        """It is none."""

    def escaped(self, group: object) -> None:
        """It stays under its limits."""

    def uses_framework(self) -> bool:
        """It uses none."""
        return False

    def read_at_leisure(self) -> None:
        """It tells of its steps itself."""


class Group:
    """Has read a million bytes just before the first step of its child, and nothing after it."""

    cpu_resolution = 0.0

    def __init__(self, child: Child) -> None:
        self._child = child

    def sample(self, time: float) -> Sample:
        return Sample(time, core_seconds=self._child.now, read_bytes=1_000_000 if self._child.now >= FIRST_STEP else 0)


class PrintingChild(Child):
    """Prints the lines that it was given, one each second, and writes a step of its own from its fifth second on if it
    is one that does; ends when all are printed."""

    def __init__(self, lines: list[str], writes_steps: bool = False) -> None:
        super().__init__()
        self._lines = lines
        self._writes_steps = writes_steps

    def wait(self, seconds: float) -> tuple[list[Any], bytes]:
        before, self.now = int(self.now), round(self.now + min(seconds, 0.5), 6)
        if int(self.now) == before or not self._lines:
            return [], b""
        events = [Step(self.now, 8, 0.0, 0)] if self._writes_steps and self.now >= 5 else []
        return events, f"{self._lines.pop(0)}\n".encode()

    def exit_status(self) -> int | None:
        return None if self._lines else 0


def watched(spec: RunSpec, child: Child, asleep_from: float = math.inf, seconds: float = 0.0) -> RunMonitor:
    """What is seen of the child by a sizer that stands still then, for so many seconds."""
    clock = lambda: child.now  # noqa: E731
    standing_clock = lambda: child.now + (seconds if child.now >= asleep_from else 0.0)  # noqa: E731
    seen, group = RunMonitor(spec, 0.0), Group(child)
    sampler, hooks = Sampler(group, clock, used=lambda: 0.0), Hooks(clock=clock, standing_clock=standing_clock)  # type: ignore[arg-type]
    observe(child, seen, sampler, Room(), hooks, group)  # type: ignore[arg-type]
    return seen


def word_lines(milliseconds: float = 154.72, count: int = 15) -> list[str]:
    """Lines of the word-level language model, five batches apart."""
    line = "| epoch   1 | {:5d}/ 1444 batches | lr 20.00 | ms/batch {:.2f} | loss  6.04 | ppl 42.0"
    return [line.format(5 * number, milliseconds + number % 2) for number in range(1, count)]


class Room:
    def poll(self) -> None:
        """There is room."""


def test_what_came_before_the_first_step_is_no_cost_of_the_others(make_spec: Callable[..., RunSpec]) -> None:
    """There is a sampling at the first step, so what filled the cache before it is not spread over those after."""
    child = Child()
    clock = lambda: child.now  # noqa: E731
    group = Group(child)
    sampler = Sampler(group, clock, used=lambda: 0.0)
    seen = RunMonitor(make_spec("true"), 0.0)
    observe(child, seen, sampler, Room(), Hooks(clock=clock), group)  # type: ignore[arg-type]
    assert seen.steps[0].time == FIRST_STEP
    after = [sample for sample in sampler.samples if sample.time >= FIRST_STEP]
    assert after[0].time == FIRST_STEP
    assert {sample.read_bytes for sample in after} == {1_000_000}


@pytest.mark.parametrize(
    ("at", "seconds", "stop"),
    [(1.0, 1.8, None), (1.0, 2.0, Stop.STOOD_STILL), (0.2, 28_800.0, Stop.STOOD_STILL), (2.0, 5.0, Stop.STOOD_STILL)],
)
def test_a_run_is_not_measured_over_a_standstill(
    at: float, seconds: float, stop: Stop | None, make_spec: Callable[..., RunSpec]
) -> None:
    """More than two seconds without a look, before the first step, in the middle or at the very end."""
    seen = watched(make_spec("true", seconds=60), Child(), at, seconds)
    assert seen.stop is stop
    assert seen.stop is None or seen.watched_until <= at


def test_a_command_without_a_pattern_is_measured_by_the_lines_that_it_prints(
    make_spec: Callable[..., RunSpec],
) -> None:
    """The run says by which format; here each line is five batches of eight samples."""
    seen = watched(make_spec("true", seconds=60), PrintingChild(word_lines()))
    assert seen.meter == Meter(MeterKind.LOG, "pytorch_word_language_model")
    assert {step.samples for step in seen.steps[1:]} == {40}
    assert len(seen.steps) == 14
    assert seen.meter_warnings == ()


def test_events_are_trusted_more_than_the_log(make_spec: Callable[..., RunSpec]) -> None:
    """What the log had given until the first event is forgotten: it may be the same steps."""
    seen = watched(make_spec("true", seconds=60), PrintingChild(word_lines(), writes_steps=True))
    assert seen.meter == Meter(MeterKind.EVENTS)
    assert {step.samples for step in seen.steps} == {8}
    assert seen.steps[0].time == 5.0
    assert seen.count == len(seen.steps)


def test_a_log_in_milliseconds_given_as_seconds_ends_the_run(make_spec: Callable[..., RunSpec]) -> None:
    """As soon as it is sure: nothing can be measured so."""
    spec = make_spec("true")
    spec = replace(spec, workload=replace(spec.workload, pattern=r"ms/batch +(?P<seconds>[\d.]+)"))
    seen = watched(spec, PrintingChild(word_lines(200.0, count=40)))
    assert seen.stop is Stop.WRONG_UNIT
    assert seen.wrong_unit.kind is CauseKind.TOLD_MILLISECONDS
    assert seen.meter_warnings == ()


def test_an_expression_that_backtracks_without_end_is_stopped() -> None:
    """Forty characters would take hours."""
    with pytest.raises(TimeLimit, match=r"0\.1 s"), at_most(0.1):
        re.search(r"(a+)+$", "a" * 40 + "!")


def test_what_is_quick_is_left_alone_and_nothing_is_left_armed() -> None:
    """The signal's handler and the timer are those of before."""
    before = signal.getsignal(signal.SIGVTALRM)
    with at_most(10.0):
        pass
    assert signal.getsignal(signal.SIGVTALRM) is before
    assert signal.getitimer(signal.ITIMER_VIRTUAL) == (0.0, 0.0)


def test_in_another_thread_nothing_is_bounded_and_nothing_breaks() -> None:
    """Signals are the main thread's."""
    seen: list[str] = []

    def work() -> None:
        with at_most(10.0):
            seen.append("done")

    thread = Thread(target=work)
    thread.start()
    thread.join()
    assert seen == ["done"]

"""What is sampled while a child is watched, and how long a pattern may take for its log."""

from __future__ import annotations

import re
import signal
from collections.abc import Callable
from threading import Thread
from typing import Any

import pytest

from sizer.analysis.log_rates import LogRates
from sizer.analysis.monitor import RunMonitor
from sizer.records.run import Sample, Step
from sizer.records.study import RunSpec
from sizer.runner.sampler import Sampler
from sizer.runner.watching import Hooks, TimeLimit, at_most, observe

FIRST_STEP = 0.8


class Child:
    """Tells of its first step 0.8 s after its start and of one each 0.1 s from then on, until two seconds are over."""

    def __init__(self) -> None:
        self.now = 0.0

    def wait(self, seconds: float) -> tuple[list[Any], bytes]:
        before, self.now = self.now, round(self.now + min(seconds, 0.1), 6)
        found = before < FIRST_STEP - 1e-9 <= self.now or (self.now > FIRST_STEP and self.now > before)
        return ([Step(self.now, 8, 0.0, 0)] if found else []), b""

    def exit_status(self) -> int | None:
        return 0 if self.now >= 2 else None

    def is_silent(self) -> bool:
        return True

    def container_client(self, now: float) -> None:
        """It is none."""


class Group:
    """Has read a million bytes just before the first step of its child, and nothing after it."""

    def __init__(self, child: Child) -> None:
        self._child = child

    def sample(self, time: float) -> Sample:
        return Sample(time, core_seconds=self._child.now, read_bytes=1_000_000 if self._child.now >= FIRST_STEP else 0)


class Room:
    def look(self) -> None:
        """There is room."""


def test_what_came_before_the_first_step_is_no_cost_of_the_others(make_spec: Callable[..., RunSpec]) -> None:
    """There is a sampling at the first step, so what filled the cache before it is not spread over those after."""
    child = Child()
    clock = lambda: child.now  # noqa: E731
    sampler = Sampler(Group(child), clock, used=lambda: 0.0)
    seen = RunMonitor(make_spec("true"), 0.0)
    observe(child, seen, sampler, Room(), Hooks(clock=clock))  # type: ignore[arg-type]
    assert seen.steps[0].time == FIRST_STEP
    after = [sample for sample in sampler.samples if sample.time >= FIRST_STEP]
    assert after[0].time == FIRST_STEP
    assert {sample.read_bytes for sample in after} == {1_000_000}


def test_an_expression_that_backtracks_without_end_is_stopped() -> None:
    """Forty characters would take hours."""
    with pytest.raises(TimeLimit, match=r"0\.1 s"), at_most(0.1):
        re.search(r"(a+)+$", "a" * 40 + "!")


def test_a_line_of_megabytes_is_not_looked_at_as_a_whole() -> None:
    """A known pattern of digits would be tried from each of a million places."""
    rates = LogRates("neon", 1, lambda: 0.0)
    with at_most(5.0):
        assert rates.feed(b"1" * 1_000_000 + b"\n") == []


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

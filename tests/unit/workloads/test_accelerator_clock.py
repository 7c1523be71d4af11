"""The accelerator that is emulated, and the clock of one that is there."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from workloads.accelerator import EmulatedAccelerator, StepTime
from workloads.backends.interface import Epochs
from workloads.network_program import Loop, same_batch
from workloads.page_cache import CacheState
from workloads.process import StopRequest
from workloads.progress import Events, Extent, Progress, Step

# Steps timed by an accelerator's own clock, by a double of its queue: no GPU is needed to see the order of things.


@dataclass
class Queue:
    """A GPU that does what it is asked in order, by a clock that the test sets; `waited` counts who waited for it."""

    now: float = 0.0
    free_at: float = 0.0
    waited: int = 0

    def compute(self, seconds: float) -> None:
        """Ask for work of so many seconds."""
        self.free_at = max(self.free_at, self.now) + seconds

    def mark(self) -> QueuedMark:
        """A new mark, not in the queue yet."""
        return QueuedMark(self)


@dataclass
class QueuedMark:
    """As torch.cuda.Event."""

    queue: Queue
    at: float = float("nan")

    def record(self) -> None:
        self.at = max(self.queue.free_at, self.queue.now)

    def query(self) -> bool:
        return self.queue.now >= self.at

    def synchronize(self) -> None:
        self.queue.waited += 1
        self.queue.now = max(self.queue.now, self.at)

    def elapsed_time(self, end_event: Any) -> float:
        assert self.query()
        assert end_event.query()
        return float(1000 * (end_event.at - self.at))


def begun(queue: Queue, seconds: float) -> StepTime:
    """A step of so many seconds, all of it asked for."""
    step = StepTime(queue.mark)
    queue.compute(seconds)
    step.end()
    return step


def test_a_step_is_known_when_the_accelerator_is_done_with_it() -> None:
    """Not before, and without waiting; steps that queue do not count the time that they waited for those before."""
    queue = Queue()
    first, second = begun(queue, 0.3), begun(queue, 0.2)
    assert (first.seconds(), second.seconds()) == (None, None)
    queue.now = 0.4
    assert (first.seconds(), second.seconds()) == (pytest.approx(0.3), None)
    queue.now = 0.5
    assert (first.seconds(), second.seconds()) == (pytest.approx(0.3), pytest.approx(0.2))
    assert queue.waited == 0


@pytest.fixture
def pipe(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Events, int]]:
    """A writer of events that writes at each step, and what to read from."""
    monkeypatch.setattr("workloads.progress.WRITE_SECONDS", 0.0)
    reading, writing = os.pipe()
    os.set_blocking(reading, False)
    yield Events(writing), reading
    os.close(reading)
    os.close(writing)


def events_of(reading: int) -> list[dict[str, Any]]:
    """The events written since the last look."""
    try:
        return [json.loads(line) for line in os.read(reading, 1 << 16).splitlines()]
    except BlockingIOError:
        return []


def test_steps_are_told_in_order_once_their_times_are_known(pipe: tuple[Events, int]) -> None:
    """A step that is not timed waits for those before it; each has the time at which it was told."""
    events, reading = pipe
    queue = Queue()
    for seconds in (0.25, 0.5):
        events.step(Step(8, 0.0, 0, time=begun(queue, seconds)))
    events.step(Step(8, 0.0, 0))
    assert events_of(reading) == []
    queue.now = 0.3
    events.step(Step(8, 0.0, 0))
    assert [event["accelerator_seconds"] for event in events_of(reading)] == [0.25]
    assert queue.waited == 0
    events.end()
    last = events_of(reading)
    assert [event["event"] for event in last] == ["step", "step", "step", "end"]
    assert [event.get("accelerator_seconds") for event in last] == [0.5, None, None, None]
    times = [event["time"] for event in last[:-1]]
    assert times == sorted(times)
    assert queue.waited == 1


def test_the_loop_goes_on_while_the_accelerator_computes(pipe: tuple[Events, int]) -> None:
    """Five steps of 0.1 s are asked for at once, and the only one who waits is the end."""
    events, reading = pipe
    queue = Queue()

    def compute(_batch: object) -> float:
        queue.compute(0.1)
        return 0.0

    progress = Progress("double", "image", events, StopRequest(), Extent(steps=5))
    progress.start(0, 0, 8)
    source, clock = Epochs(lambda: same_batch("batch")), lambda: StepTime(queue.mark)
    Loop(source, compute, CacheState((), "warm"), 8, report_latency=False, clock=clock).run(progress)
    assert (queue.now, queue.waited) == (0.0, 0)
    progress.end()
    assert queue.waited == 1
    steps = [event for event in events_of(reading) if event["event"] == "step"]
    assert [event["accelerator_seconds"] for event in steps] == [0.1] * 5


class Clock:
    """A clock that only sleeping and `pass_time` move; every sleep ends `late` seconds late."""

    def __init__(self, late: float = 0.0) -> None:
        self.now = 100.0
        self.late = late

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds + self.late

    def pass_time(self, seconds: float) -> None:
        self.now += seconds


def test_input_prepared_meanwhile_costs_nothing() -> None:
    """Input overlaps with the step: the rate is the slower of both, not their sum."""
    clock = Clock()
    accelerator = EmulatedAccelerator(10, clock, clock.sleep)
    for _ in range(10):
        clock.pass_time(1.5)
        accelerator.accept(20)
    accelerator.drain()
    assert clock.now == pytest.approx(100 + 1.5 + 10 * 2.0)


def test_late_wake_ups_do_not_add_up() -> None:
    """The rate is exact although every sleep ends late."""
    clock = Clock(late=0.1)
    accelerator = EmulatedAccelerator(10, clock, clock.sleep)
    for _ in range(101):
        accelerator.accept(20)
    assert clock.now - 100.0 == pytest.approx(200.1)


def test_several_step_when_each_has_its_batch() -> None:
    """Nothing is waited for until the last one has its own; then they exchange after the slowest."""
    clock = Clock()
    accelerator = EmulatedAccelerator(10, clock, clock.sleep, count=3, exchange=0.1)
    assert accelerator.accept(20) is None
    clock.pass_time(0.5)
    assert accelerator.accept(20) is None
    assert clock.now == 100.5
    assert accelerator.accept(20) == pytest.approx(2.2)
    assert clock.now == 100.5
    accelerator.drain()
    assert clock.now == pytest.approx(102.7)


class Steps:
    """Keeps the steps, and is over after `most` of them."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.kept: list[tuple[int, int]] = []

    @property
    def over(self) -> bool:
        return len(self.kept) >= self.most

    def step(self, step: Step) -> None:
        self.kept.append((step.samples, step.epoch))


def test_a_step_of_several_accelerators_counts_all_their_batches() -> None:
    """Two batches of 8 are a step of 16 samples; what an epoch leaves over begins the next one's first step."""
    source, steps = Epochs(lambda: (batch for batch in range(3))), Steps(3)
    accelerator = EmulatedAccelerator(1e6, count=2)
    compute, cache = lambda _batch: accelerator.accept(8), CacheState((), "warm")
    Loop(source, compute, cache, 16, report_latency=False).run(steps)  # type: ignore[arg-type]
    assert steps.kept == [(16, 0), (16, 1), (16, 1)]

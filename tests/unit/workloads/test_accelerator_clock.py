"""Steps timed by an accelerator's own clock, by a double of its queue: no GPU is needed to see the order of things."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest

from sizer.bundled.workloads.accelerator import AcceleratorClock, StepTime
from sizer.bundled.workloads.network_program import Loop, SameBatch
from sizer.bundled.workloads.page_cache import CacheState
from sizer.bundled.workloads.process import StopRequest
from sizer.bundled.workloads.progress import Events, Extent, Progress, Step


@dataclass
class Queue:
    """A GPU that does what it is asked in order, by a clock that the test sets; `waited` counts who waited for it."""

    now: float = 0.0
    free_at: float = 0.0
    waited: int = 0
    marks: list[QueuedMark] = field(default_factory=list)

    def compute(self, seconds: float) -> None:
        """Ask for work of so many seconds."""
        self.free_at = max(self.free_at, self.now) + seconds

    def mark(self) -> QueuedMark:
        """A new mark, not in the queue yet."""
        self.marks.append(QueuedMark(self))
        return self.marks[-1]


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


def begun(clock: AcceleratorClock, queue: Queue, seconds: float) -> StepTime:
    """A step of so many seconds, all of it asked for."""
    step = clock.begin()
    assert step is not None
    queue.compute(seconds)
    step.end()
    return step


def test_a_step_is_known_when_the_accelerator_is_done_with_it() -> None:
    """Not before, and without waiting; steps that queue do not count the time that they waited for those before."""
    queue = Queue()
    clock = AcceleratorClock(queue.mark)
    first, second = begun(clock, queue, 0.3), begun(clock, queue, 0.2)
    assert (first.seconds(), second.seconds()) == (None, None)
    queue.now = 0.4
    assert (first.seconds(), second.seconds()) == (pytest.approx(0.3), None)
    queue.now = 0.5
    assert (first.seconds(), second.seconds()) == (pytest.approx(0.3), pytest.approx(0.2))
    assert queue.waited == 0


def test_marks_are_used_again_and_a_step_without_room_is_not_timed() -> None:
    """No more marks are made than there is room for."""
    queue = Queue()
    clock = AcceleratorClock(queue.mark, room=2)
    steps = [begun(clock, queue, 1.0), begun(clock, queue, 1.0)]
    assert clock.begin() is None
    queue.now = 1.0
    assert steps[0].seconds() == 1.0
    third = begun(clock, queue, 1.0)
    assert clock.begin() is None
    queue.now = 9.0
    assert (steps[0].seconds(), steps[1].seconds(), third.seconds()) == (1.0, 1.0, 1.0)
    assert len(queue.marks) == 4


@pytest.fixture
def pipe(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Events, int]]:
    """A writer of events that writes at each step, and what to read from."""
    monkeypatch.setattr("sizer.bundled.workloads.progress.WRITE_SECONDS", 0.0)
    reading, writing = os.pipe()
    os.set_blocking(reading, False)
    yield Events(writing), reading
    os.close(reading)
    os.close(writing)


def told(reading: int) -> list[dict[str, Any]]:
    """The events written since the last look."""
    try:
        return [json.loads(line) for line in os.read(reading, 1 << 16).splitlines()]
    except BlockingIOError:
        return []


def test_steps_are_told_in_order_once_their_times_are_known(pipe: tuple[Events, int]) -> None:
    """A step that is not timed waits for those before it; each has the time at which it was told."""
    events, reading = pipe
    queue = Queue()
    clock = AcceleratorClock(queue.mark)
    for seconds in (0.25, 0.5):
        events.step(Step(8, 0.0, 0, time=begun(clock, queue, seconds)))
    events.step(Step(8, 0.0, 0))
    assert told(reading) == []
    queue.now = 0.3
    events.step(Step(8, 0.0, 0))
    assert [event["accelerator_seconds"] for event in told(reading)] == [0.25]
    assert queue.waited == 0
    events.end()
    last = told(reading)
    assert [event["event"] for event in last] == ["step", "step", "step", "end"]
    assert [event.get("accelerator_seconds") for event in last] == [0.5, None, None, None]
    times = [event["time"] for event in last[:-1]]
    assert times == sorted(times)
    assert queue.waited == 1


def test_the_loop_goes_on_while_the_accelerator_computes(pipe: tuple[Events, int]) -> None:
    """Five steps of 0.1 s are asked for at once, and the only one who waits is the end."""
    events, reading = pipe
    queue = Queue()
    clock = AcceleratorClock(queue.mark)

    def compute(_batch: object) -> float:
        queue.compute(0.1)
        return 0.0

    progress = Progress("double", "image", events, StopRequest(), Extent(steps=5))
    progress.start(0, 0, 8)
    Loop(SameBatch("batch"), compute, CacheState((), "warm"), 8, report_latency=False, clock=clock).run(progress)
    assert (queue.now, queue.waited) == (0.0, 0)
    progress.end()
    assert queue.waited == 1
    steps = [event for event in told(reading) if event["event"] == "step"]
    assert [event["accelerator_seconds"] for event in steps] == [0.1] * 5

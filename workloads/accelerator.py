"""Accelerators: emulated ones, and the time of a step on a real one."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any


class EmulatedAccelerator:
    """A clock that is busy with a step for as long as the published step of a GPU takes, or `count` that work together:
    a step begins when the previous one is done, as in a framework's queue of depth one.

    Each computes a batch of its own from when it has it; then they exchange gradients, which begins when the slowest is
    done and takes `exchange` of a step. The host goes on with its input while they are busy, so the real input pipeline
    overlaps with the step.
    """

    def __init__(
        self,
        samples_per_second: float,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
        *,
        count: int = 1,
        exchange: float = 0.0,
    ) -> None:
        self._samples_per_second = samples_per_second
        self._clock = clock
        self._sleep = sleep
        self._count = count
        self._exchange = exchange
        self._free_at = float("-inf")
        self._arrivals: list[float] = []

    def accept(self, samples: int) -> float | None:
        """Give a batch of `samples` to the next accelerator that has none.

        When the last one has its own: wait until the previous step is done and begin one; returns the seconds that this
        one takes. None while some have no batch yet, which waits for nothing. Steps that queue follow each other
        without a gap: a late wake-up of the host does not slow an accelerator.
        """
        self._arrivals.append(self._clock())
        if len(self._arrivals) < self._count:
            return None
        begins = [max(self._free_at, arrival) for arrival in self._arrivals]
        self._arrivals.clear()
        self.drain()
        seconds = samples / self._samples_per_second
        ends = [begin + seconds for begin in begins]
        self._free_at = max(ends) + self._exchange * seconds
        return seconds * (1 + self._exchange)

    def drain(self) -> None:
        """Wait until the accelerators are idle."""
        remaining = self._free_at - self._clock()
        if remaining > 0:
            self._sleep(remaining)


class StepTime:
    """How long an accelerator takes for a step that begins now, by its own clock, without waiting for it.

    A framework hands work to a GPU and goes on, so when a call returns says little of when its work is done. Two marks
    in the GPU's queue, before the step and behind it, such as torch.cuda.Event(enable_timing=True), are stamped by the
    GPU itself when it comes to them; what lies between is read once it has, some steps later. A GPU that waits for its
    next batch has passed the mark behind the last one and not yet come to the mark before the next: waiting for input
    counts for no step.
    """

    def __init__(self, new_mark: Callable[[], Any]) -> None:
        self._begin, self._end = new_mark(), new_mark()
        self._begin.record()

    def end(self) -> None:
        """All of the step was asked for."""
        self._end.record()

    def wait(self) -> None:
        """Wait until the accelerator is done with it, and so with all steps before."""
        self._end.synchronize()

    def seconds(self) -> float | None:
        """How long the accelerator took; None as long as it is not done."""
        return self._begin.elapsed_time(self._end) / 1000 if self._end.query() else None

"""Emulated accelerators: clocks that are busy with a step for as long as the published step of a GPU takes."""

from __future__ import annotations

import time
from collections.abc import Callable


class EmulatedAccelerator:
    """One accelerator, or `count` that work together: a step begins when the previous one is done, as in a framework's
    queue of depth one.

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

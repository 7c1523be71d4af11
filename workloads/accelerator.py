"""An emulated accelerator: a clock that is busy with a step for as long as the published step of a GPU takes."""

from __future__ import annotations

import time
from collections.abc import Callable


class EmulatedAccelerator:
    """Accepts a step when the previous one is done, as a framework's queue of depth one does.

    The host goes on with its input while the accelerator is busy, so the real input pipeline overlaps with the step.
    """

    def __init__(
        self,
        samples_per_second: float,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._samples_per_second = samples_per_second
        self._clock = clock
        self._sleep = sleep
        self._free_at = float("-inf")

    def accept(self, samples: int) -> float:
        """Wait until the previous step is done and begin one of `samples`; returns the seconds this one takes.

        Steps that queue follow each other without a gap: a late wake-up of the host does not slow an accelerator.
        """
        begin = max(self._free_at, self._clock())
        self.drain()
        seconds = samples / self._samples_per_second
        self._free_at = begin + seconds
        return seconds

    def drain(self) -> None:
        """Wait until the accelerator is idle."""
        remaining = self._free_at - self._clock()
        if remaining > 0:
            self._sleep(remaining)

"""Whether sizer itself ran all the time: while it stands still nothing is watched, and its program may stand, too.

It stands still when it is stopped by a signal (Ctrl-Z, SIGSTOP, a frozen group), when the machine is suspended (a
laptop's lid, a paused virtual machine), and when a host is so busy that it gets no CPU time.
"""

from __future__ import annotations

import time
from collections.abc import Callable

LONGEST_GAP_SECONDS = 2.0
"""Between two looks that come twice a second or more often; nothing is measured over a longer one."""


def seconds_since_boot() -> float:
    """CLOCK_BOOTTIME goes on while the machine is suspended, when CLOCK_MONOTONIC stands still (clock_gettime(2)), and
    nobody sets it, as they do CLOCK_REALTIME."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)


class Standstill:
    """Asked at least twice a second, it tells for how long nobody asked; `longest` of all such gaps, in seconds."""

    def __init__(self, clock: Callable[[], float] = seconds_since_boot) -> None:
        self.longest = 0.0
        self._clock = clock
        self._looked = clock()

    def poll(self) -> float:
        """The seconds since the last look, or 0 where they are no more than LONGEST_GAP_SECONDS."""
        before, self._looked = self._looked, self._clock()
        gap = self._looked - before
        if gap <= LONGEST_GAP_SECONDS:
            return 0.0
        self.longest = max(self.longest, gap)
        return gap

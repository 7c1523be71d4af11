"""Random reads on the CPUs of a run: what they cost tells how slow others make this host meanwhile.

Neighbours on a shared machine slow a job down through the clock of the cores, the cache and the memory that they share
with it, which no steal time and no pressure (PSI) shows. Reads that miss a core's own cache are slowed down by all of
them. They are made by sizer's own process, outside of the run's memory cap, and count as sizer's time.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from statistics import median

import numpy as np
from numpy.typing import NDArray

from sizer.records import Sample

BYTES = 64 << 20
"""That the reads are spread over."""
LINE = 64
READS = 1 << 16
"""A round: about 0.5 ms, and one scatters by 4 %. These are 4 MiB of lines, more than a core has for itself. Of the
probes that were compared (copies of 2 to 24 MiB, a matrix product, a loop, reads of new lines each time, of more and of
fewer), these told most of a job's cost for their time (`benchmarks/noise/probe_gain.py`)."""
LOOK_SECONDS = 0.125
"""From one look to the next, at the least: a round after another finds its lines in the core's own cache."""
MOST_CPUS = 4
"""Looked at, evenly among those of a run: a look holds up whoever watches the run for a millisecond and a half each."""
SHARE = 0.009
"""Of the run's core-seconds, what sizer may use with its probe; below the 1 % from which a run is marked."""
IDLE_LOOKS = 5
IDLE_PAUSE = 0.02
"""Seconds between two of them, so that not all of them meet the same moment."""


@cache
def _memory() -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """What is read, and where: each line once. Kept, as a study has many runs."""
    order = np.random.default_rng(0).permutation(BYTES // LINE)[:READS] * LINE
    return np.ones(BYTES, np.uint8), order


def _read() -> None:
    memory, order = _memory()
    memory[order]


class Probe:
    """A round of reads on each of these CPUs at each look, as often as sizer's share of the run's core-seconds allows.

    `core_seconds` and `rounds` are those beside the run so far; `idle` is what one cost before it, None without any.
    """

    def __init__(
        self,
        cpus: Sequence[int],
        read: Callable[[], None] = _read,
        used: Callable[[], float] = time.thread_time,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.core_seconds = 0.0
        self.rounds = 0
        self.idle: float | None = None
        self._cpus = tuple(cpus[:: math.ceil(len(cpus) / MOST_CPUS)])
        self._read = read
        self._used = used
        self._sleep = sleep
        self._first: Sample | None = None
        self._room = 0.0

    def before(self) -> None:
        """Look at the host while the run has not begun."""
        self._round(self._cpus[0])
        costs = []
        for number in range(max(IDLE_LOOKS, len(self._cpus))):
            self._sleep(IDLE_PAUSE)
            costs.append(self._round(self._cpus[number % len(self._cpus)]))
        known = [cost for cost in costs if cost is not None]
        self.idle = median(known) if known else None

    def allow(self, sample: Sample) -> None:
        """How much there is room for by the counters of now; the first of them are those of the first step."""
        self._first = self._first or sample
        used = sample.sizer_core_seconds - self._first.sizer_core_seconds
        self._room = SHARE * (sample.core_seconds - self._first.core_seconds) - used

    def look(self) -> None:
        """Read, if there is room for it."""
        if self.idle is None or self._room < self.idle * len(self._cpus):
            return
        for cpu in self._cpus:
            cost = self._round(cpu)
            if cost is not None:
                self.core_seconds += cost
                self.rounds += 1
                self._room -= cost

    def _round(self, cpu: int) -> float | None:
        """Core-seconds of a round on that CPU; None where this process may not run there."""
        try:
            with _on(cpu):
                begin = self._used()
                self._read()
                return self._used() - begin
        except OSError:
            return None


@contextmanager
def _on(cpu: int) -> Iterator[None]:
    """This thread on that CPU alone. Raises OSError."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {cpu})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)

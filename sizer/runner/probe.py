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
from itertools import cycle
from statistics import median

import numpy as np
from numpy.typing import NDArray

from sizer.records import Sample

BYTES = 64 << 20
"""That the reads are spread over: many times a core's own cache, so that they feel the memory traffic of others, which
a loop or a matrix product does not; what slows the cores alone they feel less (`benchmarks/noise/probe_gain.py`)."""
LINE = 64
READS = 1 << 16
"""A round: about 0.7 ms, of which one scatters by 4 %."""
ROUNDS = 2
"""At each look on each CPU. The first of them costs a sixth more than the next, so their number is always the same."""
MOST_CPUS = 4
"""Looked at, evenly among those of a run: a look holds up whoever watches the run for a millisecond and a half each."""
SHARE = 0.009
"""Of the run's core-seconds, what sizer may use with its probe; below the 1 % from which a run is marked."""
IDLE_LOOKS = 3
IDLE_PAUSE = 0.02
"""Seconds between two of them, so that not all of them meet the same moment."""


@cache
def _memory() -> tuple[NDArray[np.uint8], Iterator[NDArray[np.int64]]]:
    """What is read, and where in each round: all lines once before any again, so that none is found in a core's own
    cache. Kept, as a study has many runs."""
    order = np.random.default_rng(0).permutation(BYTES // LINE) * LINE
    return np.ones(BYTES, np.uint8), cycle(order.reshape(-1, READS))


def _read() -> None:
    memory, rounds = _memory()
    memory[next(rounds)]


class Probe:
    """Rounds of reads on these CPUs, as often as sizer's share of the run's core-seconds allows.

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

    def before(self) -> None:
        """Look at the host while the run has not begun."""
        self._look(self._cpus[0])
        costs = []
        for number in range(IDLE_LOOKS * len(self._cpus)):
            self._sleep(IDLE_PAUSE)
            costs += self._look(self._cpus[number % len(self._cpus)])
        self.idle = median(costs) if costs else None

    def beside(self, sample: Sample) -> None:
        """Read as there is room for; `sample` are the counters of now, the first of them those of the first step."""
        self._first = self._first or sample
        if self.idle is None:
            return
        room = SHARE * (sample.core_seconds - self._first.core_seconds)
        room -= sample.sizer_core_seconds - self._first.sizer_core_seconds
        if room < ROUNDS * len(self._cpus) * self.idle:
            return
        for cpu in self._cpus:
            costs = self._look(cpu)
            self.core_seconds += sum(costs)
            self.rounds += len(costs)

    def _look(self, cpu: int) -> list[float]:
        """Core-seconds of each round on a CPU; none where this process may not run there."""
        found = []
        try:
            with _on(cpu):
                for _ in range(ROUNDS):
                    begin = self._used()
                    self._read()
                    found.append(self._used() - begin)
        except OSError:
            return []
        return found


@contextmanager
def _on(cpu: int) -> Iterator[None]:
    """This thread on that CPU alone. Raises OSError."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {cpu})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)

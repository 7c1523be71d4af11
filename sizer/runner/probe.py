"""Random reads and matrix products on the CPUs of a run: what they cost tells how slow others make this host meanwhile.

Neighbours on a shared machine slow a job down through the clock of the cores and what a hyperthread shares, and through
the cache and the memory that all share, which no steal time and no pressure (PSI) shows. Reads that miss a core's own
cache feel the latter more, products that stay in it the former alone; which of them a host's noise is made of differs
from host to host (`benchmarks/noise/probe_gain.py`). Both are made by sizer's own process, outside of the run's memory
cap, and count as sizer's time.
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
"""That the reads are spread over: many times a core's own cache."""
LINE = 64
READS = 1 << 16
"""In a round: about 0.7 ms, of which one scatters by 4 %."""
SIDE = 64
"""Of the matrices: three of them are 96 KiB, less than a core's own cache, and OpenBLAS makes their product with one
thread (above 4 x 65,536 multiplications it starts others: `interface/gemm.c`)."""
PRODUCTS = 4
"""In a round: about 0.2 ms."""
ROUNDS = 2
"""At each look on each CPU. The first of them costs a sixth more than the next, so their number is always the same."""
MOST_CPUS = 4
"""Looked at, evenly among those of a run: a look holds up whoever watches the run for a millisecond and a half each."""
SHARE = 0.009
"""Of the run's core-seconds, what sizer may use with its probe; below the 1 % from which a run is marked."""
SAVED = 2
"""Looks that are saved up for at the most, so that the share holds in any part of a run, too."""
IDLE_LOOKS = 3
IDLE_PAUSE = 0.02
"""Seconds between two of them, so that not all of them meet the same moment."""


@cache
def _memory() -> tuple[NDArray[np.uint8], Iterator[NDArray[np.int64]]]:
    """What is read, and where in each round: all lines once before any again, so that none is found in a core's own
    cache. Kept, as a study has many runs."""
    order = np.random.default_rng(0).permutation(BYTES // LINE) * LINE
    return np.ones(BYTES, np.uint8), cycle(order.reshape(-1, READS))


@cache
def _matrices() -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Two, and where their product goes."""
    first, second = np.random.default_rng(0).random((2, SIDE, SIDE))
    return first, second, np.empty((SIDE, SIDE))


def read() -> None:
    """A round of reads."""
    memory, rounds = _memory()
    memory[next(rounds)]


def multiply() -> None:
    """A round of products."""
    first, second, target = _matrices()
    for _ in range(PRODUCTS):
        np.matmul(first, second, out=target)


class Probe:
    """Rounds of reads and products on these CPUs, as often as sizer's share of the run's core-seconds allows.

    `core_seconds` are those of each kind, in `rounds` beside the run so far; `idle` is what one of each kind cost
    before it, None without any.
    """

    def __init__(
        self,
        cpus: Sequence[int],
        kinds: Sequence[Callable[[], None]] = (read, multiply),
        used: Callable[[], float] = time.thread_time,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.core_seconds = tuple(0.0 for _ in kinds)
        self.rounds = 0
        self.idle: tuple[float, ...] | None = None
        self._cpus = tuple(cpus[:: math.ceil(len(cpus) / MOST_CPUS)])
        self._kinds = tuple(kinds)
        self._used = used
        self._sleep = sleep
        self._last: Sample | None = None
        self._room = 0.0

    def before(self) -> None:
        """Look at the host while the run has not begun."""
        self._look(self._cpus[0])
        rounds = []
        for number in range(IDLE_LOOKS * len(self._cpus)):
            self._sleep(IDLE_PAUSE)
            rounds += self._look(self._cpus[number % len(self._cpus)])
        self.idle = tuple(map(median, zip(*rounds, strict=True))) if rounds else None

    def beside(self, sample: Sample) -> None:
        """Look as there is room for; `sample` are the counters of now, the first of them those of the first step."""
        before, self._last = self._last or sample, sample
        if self.idle is None:
            return
        look = ROUNDS * len(self._cpus) * sum(self.idle)
        self._room += SHARE * (sample.core_seconds - before.core_seconds)
        self._room -= sample.sizer_core_seconds - before.sizer_core_seconds
        self._room = min(self._room, SAVED * look)
        if self._room < look:
            return
        for cpu in self._cpus:
            for costs in self._look(cpu):
                self.core_seconds = tuple(map(sum, zip(self.core_seconds, costs, strict=True)))
                self.rounds += 1

    def _look(self, cpu: int) -> list[list[float]]:
        """Core-seconds of each kind in each round on a CPU; none where this process may not run there."""
        try:
            with _on(cpu):
                return [[self._cost(kind) for kind in self._kinds] for _ in range(ROUNDS)]
        except OSError:
            return []

    def _cost(self, kind: Callable[[], None]) -> float:
        begin = self._used()
        kind()
        return self._used() - begin


@contextmanager
def _on(cpu: int) -> Iterator[None]:
    """This thread on that CPU alone. Raises OSError."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {cpu})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)

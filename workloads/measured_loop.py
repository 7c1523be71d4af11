"""The loop of the programs that run a network: wait for a batch, compute it, account for both."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .accelerator import EmulatedAccelerator
from .accelerator_clock import AcceleratorClock
from .backends import Compute, Input
from .events import Step
from .faults import InputFault
from .page_cache import CacheState
from .progress import Progress

TimedCompute = Callable[[Any], "float | None"]
"""Computes a batch; returns its latency: seconds from having the batch to having its result. None where the step waits
for the batches of other accelerators."""


def timed(compute: Compute) -> TimedCompute:
    """`compute` with its latency."""

    def run(batch: Any) -> float:
        begin = time.perf_counter()
        compute(batch)
        return time.perf_counter() - begin

    return run


def emulated(accelerator: EmulatedAccelerator, samples: int) -> TimedCompute:
    """The accelerator's acceptance of each batch of `samples`; nothing is computed."""
    return lambda _batch: accelerator.accept(samples)


class SameBatch:
    """Synthetic input: the same batch for ever."""

    def __init__(self, batch: Any) -> None:
        self._batch = batch

    def next_batch(self) -> Any:
        return self._batch

    def restart(self) -> None:
        """Never needed: the epoch does not end."""

    def close(self) -> None:
        """Holds nothing."""


@dataclass(frozen=True)
class Loop:
    """What is joined: batches from `source`, computed, with the data set's cache kept in its state.

    `samples` are those of a step: of one batch, or of a batch for each of several accelerators. `clock` is that of the
    accelerator which computes them, None where what computes is waited for.
    """

    source: Input
    compute: TimedCompute
    cache: CacheState
    samples: int
    report_latency: bool
    clock: AcceleratorClock | None = None

    def run(self, progress: Progress) -> None:
        """Go on until `progress` says it is over. Raises InputFault if an epoch has no batch."""
        epoch, empty, input_wait = 0, False, 0.0
        while not progress.over:
            begin = time.perf_counter()
            batch = self.source.next_batch()
            input_wait += time.perf_counter() - begin
            if batch is None:
                if empty:
                    raise InputFault(
                        "the data set gives no batch: give --data one with more samples, or a smaller --batch-size"
                    )
                self.cache.between_epochs()
                self.source.restart()
                epoch, empty = epoch + 1, True
                continue
            empty = False
            step_time = self.clock.begin() if self.clock is not None else None
            latency = self.compute(batch)
            if latency is None:
                continue
            if step_time is not None:
                step_time.end()
            progress.step(Step(self.samples, input_wait, epoch, latency if self.report_latency else None, step_time))
            input_wait = 0.0

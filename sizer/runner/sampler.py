"""Counters over time: what a run has used at each moment, and its rates between two moments."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Protocol

from sizer.records.gpu import GpuSample
from sizer.records.run import Sample


class Countable(Protocol):
    """A group whose counters can be read."""

    def sample(self, time: float) -> Sample:
        """The counters, stamped with `time`."""


class Sampler:
    """Collects a sample at each tick; whoever runs the loop decides when.

    `clock` is monotonic. `gpus` gives what the driver told last of each GPU that the run uses, none where it uses none.
    `used` gives the core-seconds of sizer's own process so far.
    """

    def __init__(
        self,
        group: Countable,
        clock: Callable[[], float],
        gpus: Callable[[], tuple[GpuSample, ...]] = tuple,
        used: Callable[[], float] = time.process_time,
    ) -> None:
        self.samples: list[Sample] = []
        self._group = group
        self._clock = clock
        self._gpus = gpus
        self._used = used
        self._used_before = used()

    def tick(self) -> Sample:
        """Take a sample now and keep it."""
        sample = replace(self._group.sample(self._clock()), sizer_core_seconds=self._used() - self._used_before)
        gpus = self._gpus()
        if gpus:
            busy = [gpu.busy for gpu in gpus if gpu.busy is not None]
            together = sum(busy) if len(busy) == len(gpus) else None
            sample = replace(sample, gpus=gpus, accelerator_busy=together)
        self.samples.append(sample)
        return sample

"""Counters over time: what a run has used at each moment, and its rates between two moments."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Protocol

from sizer.records import Sample


class Countable(Protocol):
    """A group whose counters can be read."""

    def sample(self, time: float) -> Sample:
        """The counters, stamped with `time`."""


class Sampler:
    """Collects a sample at each tick; whoever runs the loop decides when.

    `clock` is monotonic. `busy` gives the share of the time since the last tick an accelerator was busy, of several the
    sum of their shares, None where that is unknown; its seconds are summed into `accelerator_busy`. `used` gives the
    core-seconds of sizer's own process so far.
    """

    def __init__(
        self,
        group: Countable,
        clock: Callable[[], float],
        busy: Callable[[], float | None] | None = None,
        used: Callable[[], float] = time.process_time,
    ) -> None:
        self.samples: list[Sample] = []
        self._group = group
        self._clock = clock
        self._busy = busy
        self._busy_seconds = 0.0
        self._used = used
        self._used_before = used()

    def tick(self) -> Sample:
        """Take a sample now and keep it."""
        sample = replace(self._group.sample(self._clock()), sizer_core_seconds=self._used() - self._used_before)
        share = self._busy() if self._busy is not None else None
        if share is not None:
            since = self.samples[-1].time if self.samples else sample.time
            self._busy_seconds += share * (sample.time - since)
            sample = replace(sample, accelerator_busy=self._busy_seconds)
        self.samples.append(sample)
        return sample

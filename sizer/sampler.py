"""Counters over time: what a run has used at each moment, and its rates between two moments."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol

from sizer.records import Sample


class Countable(Protocol):
    """A group whose counters can be read."""

    def sample(self, time: float) -> Sample:
        """The counters, stamped with `time`."""


class Sampler:
    """Collects a sample at each tick; whoever runs the loop decides when.

    `clock` is monotonic. `busy` tells which share of the time since the last tick an accelerator was busy, None where
    the driver does not tell; its seconds are summed into `accelerator_busy`. `used` tells the core-seconds of sizer's
    own process so far.
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


@dataclass(frozen=True)
class Rates:
    """What a run used a second between two samples.

    `cores` and `other_cores` are busy cores of the run and of everything else on the host; `throttled` is the share of
    quota periods in which the run was held back; `accelerator` the busy share of the accelerator, None where unknown.
    """

    seconds: float
    cores: float
    other_cores: float
    read_bytes: float
    written_bytes: float
    read_ios: float
    write_ios: float
    throttled: float
    accelerator: float | None


def rates(before: Sample, after: Sample) -> Rates | None:
    """The rates between two samples; None if no time passed between them."""
    seconds = after.time - before.time
    if seconds <= 0:
        return None
    cores = (after.core_seconds - before.core_seconds) / seconds
    host_cores = (after.host_core_seconds - before.host_core_seconds) / seconds
    periods = after.periods - before.periods
    known = before.accelerator_busy is not None and after.accelerator_busy is not None
    accelerator = (after.accelerator_busy or 0.0) - (before.accelerator_busy or 0.0)
    return Rates(
        seconds=seconds,
        cores=cores,
        other_cores=max(0.0, host_cores - cores),
        read_bytes=(after.read_bytes - before.read_bytes) / seconds,
        written_bytes=(after.written_bytes - before.written_bytes) / seconds,
        read_ios=(after.read_ios - before.read_ios) / seconds,
        write_ios=(after.write_ios - before.write_ios) / seconds,
        throttled=(after.throttled_periods - before.throttled_periods) / periods if periods else 0.0,
        accelerator=accelerator / seconds if known else None,
    )

"""What a run used a second between two samples of its counters. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from sizer.records.run import Sample


@dataclass(frozen=True)
class CounterRates:
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


def rates(before: Sample, after: Sample) -> CounterRates | None:
    """The rates between two samples; None if no time passed between them."""
    seconds = after.time - before.time
    if seconds <= 0:
        return None
    cores = (after.core_seconds - before.core_seconds) / seconds
    host_cores = (after.host_core_seconds - before.host_core_seconds) / seconds
    periods = after.periods - before.periods
    known = before.accelerator_busy is not None and after.accelerator_busy is not None
    accelerator = (after.accelerator_busy or 0.0) - (before.accelerator_busy or 0.0)
    return CounterRates(
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

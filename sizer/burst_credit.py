"""Whether a rate that fell is a real disk's whose burst credit was spent, by the counters before and after. Pure."""

from __future__ import annotations

from sizer.accounting import grown, other_cores
from sizer.epochs import measured_from_epoch
from sizer.rate_change import rate_change
from sizer.records import RateChange, Run

FOLLOWS = 0.5
"""Share of the fall of the rate that the device's bytes a second must show, too: a job that computes more slowly reads
less as well, but one whose data is in memory does not read less because its disk has become slower."""

LEAST_READ = 0.2
"""Share of the bytes that the loader asks for that must come from the device: a few library pages do not slow a job."""

RISEN_CORES = 0.1
"""What something else on the host may use more than before; more of it explains a fall without the disk."""


def disk_fall(run: Run) -> RateChange | None:
    """The fall of this run's rate, where its disk can be the cause; None without one.

    An emulated tier has no credit to spend, and under `natural` the page cache changes the rate from epoch to epoch.
    """
    emulated = run.disk is not None and run.disk.tier.emulated is not None
    if emulated or run.spec.workload.input not in ("disk", "replay") or measured_from_epoch(run.spec.workload):
        return None
    change = rate_change(run.steps)
    return change if change is not None and _from_the_device(run, change) and not _by_others(run, change) else None


def _from_the_device(run: Run, change: RateChange) -> bool:
    begin, split, end = _times(run, change)
    before = grown(run.samples, "read_bytes", begin, split) / (split - begin)
    after = grown(run.samples, "read_bytes", split, end) / (end - split)
    asked = run.data_set.bytes / run.data_set.samples if run.data_set and run.data_set.samples else 0.0
    if min(before / change.before.value, after / change.after.value) <= LEAST_READ * asked:
        return False
    return 1 - after / before >= FOLLOWS * (1 - change.after.value / change.before.value)


def _by_others(run: Run, change: RateChange) -> bool:
    begin, split, end = _times(run, change)
    before, after = other_cores(run.samples, begin, split), other_cores(run.samples, split, end)
    return (after or 0.0) - (before or 0.0) > RISEN_CORES


def _times(run: Run, change: RateChange) -> tuple[float, float, float]:
    """First step, fall, and last step, in monotonic seconds."""
    return run.steps[0].time, run.steps[0].time + change.seconds, run.steps[-1].time

"""Which runs did not have the vCPUs of their limit: their rate is no more than a lower bound."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sizer.model.coordinates import vcpus_of

if TYPE_CHECKING:
    from sizer.records.run import Run

LOST = 0.15
"""Share of its vCPUs that a run may lack. By hand: on a quiet host a loader whose threads work in bursts waits for a
CPU for up to 0.4 of the time without filling its own, but then nobody else uses any."""
FULL = 0.9
"""Share of the host's CPUs that are in use where it is full."""


def is_starved(run: Run) -> bool:
    """Whether others had a part of its vCPUs: they used CPUs, it did not fill its own, and it waited for one: by the
    kernel's PSI `some`, which a quota that was used up explains, too, and by steal; else where the host was full."""
    if run.throughput is None or run.demand is None or not run.demand.core_seconds:
        return False
    vcpus, rate, stall = vcpus_of(run.configuration), run.throughput.value, run.demand.cpu_stall
    used, stolen = rate * run.demand.core_seconds, run.stolen_cores or 0.0
    others = (run.other_cores or 0.0) + stolen
    cpus = run.limited_by.host_cpus if run.limited_by is not None else None
    if stall is not None:
        waited = rate * stall + stolen / vcpus
    else:
        waited = 1.0 if cpus is not None and used + others >= FULL * cpus else 0.0
    return min(waited, 1 - used / vcpus, others / vcpus) >= LOST

"""Which runs did not have the vCPUs of their limit: their rate is no more than a lower bound."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sizer.model.coordinates import vcpus_of

if TYPE_CHECKING:
    from sizer.records import Run

LOST = 0.15
"""Share of its vCPUs that a run may lack. By hand: on a quiet host a loader whose threads work in bursts waits for a
CPU for up to 0.4 of the time without filling its own, but then nobody else uses any."""
FULL = 0.9
"""Share of the host's CPUs that are in use where it is full."""


def is_starved(run: Run) -> bool:
    """Whether others had a part of its vCPUs: they used CPUs, it did not fill its own, and it waited for one (the
    kernel's PSI `some`, which a quota that was used up explains, too) or the host was full."""
    if run.throughput is None or run.demand is None or not run.demand.core_seconds:
        return False
    vcpus, rate = vcpus_of(run.configuration), run.throughput.value
    used = rate * run.demand.core_seconds
    others = (run.other_cores or 0.0) + (run.stolen_cores or 0.0)
    waited = rate * (run.demand.cpu_stall or 0.0)
    cpus = run.limited_by.host_cpus if run.limited_by is not None else None
    if cpus is not None and used + others >= FULL * cpus:
        waited = 1.0
    return min(waited, 1 - used / vcpus, others / vcpus) >= LOST

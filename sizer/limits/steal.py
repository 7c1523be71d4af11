"""CPU time that the hypervisor gave to others: it is in the host's own statistics and in no group's."""

from __future__ import annotations

import os

STEAL_COLUMN = 8
"""In the first line of /proc/stat: cpu, user, nice, system, idle, iowait, irq, softirq, steal (proc(5))."""


def steal_core_seconds(text: str) -> float | None:
    """Core-seconds stolen from all CPUs since boot, from /proc/stat; None where the kernel does not tell."""
    columns = text.partition("\n")[0].split()
    if len(columns) <= STEAL_COLUMN or columns[0] != "cpu":
        return None
    return int(columns[STEAL_COLUMN]) / os.sysconf("SC_CLK_TCK")

"""How long a run waited for CPU, memory and disk: the kernel's pressure accounting (PSI) of its group."""

from __future__ import annotations

import os
import re
from collections import Counter
from pathlib import Path

from sizer.limits.tree import Lines, Reading, Tree, number
from sizer.records.messages import Message

_SOME = re.compile(r"^some .*\btotal=(\d+)", re.MULTILINE)


def stalls(text: str) -> Counter[str]:
    """The sum of a pressure file's `some` line, in microseconds (Linux, Documentation/accounting/psi.rst)."""
    total = _SOME.search(text)
    return Counter({"some": int(total[1]) if total else 0})


def pressure(controller: str) -> list[Reading]:
    """Seconds in which some task of the group waited for each resource."""
    return [
        Reading(controller, f"{resource}.pressure", {f"{resource}_stall": number("some", 1e6)}, stalls)
        for resource in ("cpu", "memory", "io")
    ]


def kernel_has_pressure(tree: Tree) -> bool:
    """Whether this kernel accounts pressure: with CONFIG_PSI off, or started with psi=0, the folder is not there."""
    return tree.path("/proc/pressure").is_dir()


def joinable(tree: Tree, unified: Path) -> bool:
    """Whether we may move processes to groups of a cgroup2 hierarchy that has no controllers to limit them by.

    That takes the right to write to `cgroup.procs` of what the old and the new group have in common (cgroup-v2.rst,
    Delegation Containment), which for a user's process is the top: owning a group there is not enough.
    """
    return kernel_has_pressure(tree) and tree.writable(unified / "cgroup.procs")


STEAL_COLUMN = 8
"""In the first line of /proc/stat: cpu, user, nice, system, idle, iowait, irq, softirq, steal (proc(5))."""


def steal_ticks(text: str) -> Counter[str]:
    """Ticks stolen from all CPUs since boot, from /proc/stat; none where the kernel does not say."""
    columns = text.partition("\n")[0].split()
    has_steal = len(columns) > STEAL_COLUMN and columns[0] == "cpu"
    return Counter({"steal": int(columns[STEAL_COLUMN])} if has_steal else {})


def _steal(lines: Lines) -> float | None:
    return lines["steal"] / os.sysconf("SC_CLK_TCK") if "steal" in lines else None


STEAL = Reading("host", "/proc/stat", {"steal_core_seconds": _steal}, steal_ticks)
"""What the hypervisor withheld from this host's CPUs."""


def quota_above(tree: Tree, group: Path, top: Path) -> float | None:
    """The smallest quota from this group, or the nearest above it that exists, up to `top`; in vCPUs, None for none."""
    on_the_way = [group, *group.parents]
    if top in on_the_way:
        on_the_way = on_the_way[: on_the_way.index(top) + 1]
    quotas = [quota for path in on_the_way if (quota := quota_of(tree, path)) is not None]
    return min(quotas, default=None)


def quota_of(tree: Tree, group: Path) -> float | None:
    """One group's own quota in vCPUs: `cpu.max` of cgroup v2 or `cpu.cfs_*_us` of v1; None where it has none."""
    words = tree.text(group / "cpu.max").split() or [
        tree.text(group / f"cpu.cfs_{file}_us").strip() for file in ("quota", "period")
    ]
    if len(words) != 2 or not all(word.isdecimal() and int(word) for word in words):
        return None  # `max` and -1 are no quota.
    return int(words[0]) / int(words[1])


def below_quota(how: str, quota: float | None) -> Message | str:
    """`how` vCPUs are limited, with the quota that limits them further."""
    if quota is None:
        return how
    return Message("{how}; but a parent group has a quota of {quota} vCPU", how=how, quota=f"{quota:g}")

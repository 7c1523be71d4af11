"""How long a run waited for CPU, memory and disk: the kernel's pressure accounting (PSI) of its group."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TypedDict

from sizer.limits.tree import OpenFiles, Tree
from sizer.records.messages import Message

PRESSURE_FILES: Mapping[str, str] = {
    "cpu.pressure": "cpu_stall",
    "memory.pressure": "memory_stall",
    "io.pressure": "io_stall",
}
"""The counter of `Sample` that each file of a group gives (Linux, Documentation/accounting/psi.rst)."""

_SOME = re.compile(r"^some .*\btotal=(\d+)", re.MULTILINE)


class Stalls(TypedDict):
    """The fields of a sample that pressure files fill."""

    cpu_stall: float
    memory_stall: float
    io_stall: float


def stalls(files: OpenFiles) -> Stalls:
    """Seconds in which some task of the group waited for each resource; 0 where that is not accounted."""
    found = {counter: stall_seconds(files.text(name)) for name, counter in PRESSURE_FILES.items()}
    return Stalls(cpu_stall=found["cpu_stall"], memory_stall=found["memory_stall"], io_stall=found["io_stall"])


def stall_seconds(text: str) -> float:
    """The sum of a pressure file's `some` line, which counts microseconds."""
    found = _SOME.search(text)
    return int(found[1]) / 1e6 if found else 0.0


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


def steal_core_seconds(text: str) -> float | None:
    """Core-seconds stolen from all CPUs since boot, from /proc/stat; None where the kernel does not say."""
    columns = text.partition("\n")[0].split()
    if len(columns) <= STEAL_COLUMN or columns[0] != "cpu":
        return None
    return int(columns[STEAL_COLUMN]) / os.sysconf("SC_CLK_TCK")


def quota_above(tree: Tree, group: Path, top: Path) -> float | None:
    """The smallest quota from this group, or the nearest above it that exists, up to `top`; in vCPUs, None for none."""
    on_the_way = [group, *group.parents]
    if top in on_the_way:
        on_the_way = on_the_way[: on_the_way.index(top) + 1]
    quotas = [quota for each in on_the_way if (quota := quota_of(tree, each)) is not None]
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

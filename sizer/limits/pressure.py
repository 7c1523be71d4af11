"""How long a run waited for CPU, memory and disk: the kernel's pressure accounting (PSI) of its group."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from sizer.limits.tree import OpenFiles, Tree

PRESSURE_FILES: Mapping[str, str] = {
    "cpu.pressure": "cpu_stall",
    "memory.pressure": "memory_stall",
    "io.pressure": "io_stall",
}
"""The counter of `Sample` that each file of a group tells (Linux, Documentation/accounting/psi.rst)."""

_SOME = re.compile(r"^some .*\btotal=(\d+)", re.MULTILINE)


def stalls(files: OpenFiles) -> dict[str, float]:
    """Seconds in which some task of the group waited for each resource; 0 where that is not accounted."""
    return {counter: stall_seconds(files.text(name)) for name, counter in PRESSURE_FILES.items()}


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

"""What a backend needs to know of the machine: its CPUs, which of them we may use, its memory and its swap."""

from __future__ import annotations

import os
from dataclasses import dataclass

from sizer.limits.topology import Topology, read_topology
from sizer.limits.tree import Tree


@dataclass(frozen=True)
class Machine:
    """A machine as seen from this process; sizes in bytes. `uncounted` are the counters that its kernel leaves at 0."""

    topology: Topology
    allowed: frozenset[int]
    memory_bytes: int | None = None
    swap_bytes: int = 0
    uncounted: frozenset[str] = frozenset()


def read_machine(tree: Tree) -> Machine:
    """This machine."""
    # proc(5): meminfo says kB and means KiB.
    sizes = dict(line.split(":", 1) for line in tree.text(tree.path("/proc/meminfo")).splitlines() if ":" in line)
    kibibytes = {key: int(value.split()[0]) for key, value in sizes.items() if value.split()}
    total = kibibytes.get("MemTotal")
    return Machine(
        topology=read_topology(),
        allowed=frozenset(os.sched_getaffinity(0)),
        memory_bytes=None if total is None else total * 1024,
        swap_bytes=kibibytes.get("SwapTotal", 0) * 1024,
        uncounted=uncounted(tree.text(tree.path("/proc/cmdline"))),
    )


def uncounted(command_line: str) -> frozenset[str]:
    """The counters that a kernel started so leaves at 0: with `nokmem` its own memory is neither counted nor capped."""
    words = [word.partition("=") for word in command_line.split()]
    off = any(name == "cgroup.memory" and "nokmem" in value.split(",") for name, _, value in words)
    return frozenset({"kernel_bytes"} if off else ())

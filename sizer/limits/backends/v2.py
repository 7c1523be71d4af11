"""Limits by cgroup v2: one group for a run in the unified hierarchy, and what is counted of it."""

from __future__ import annotations

import mmap
from collections import Counter
from collections.abc import Collection, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import ClassVar

from sizer.limits.backends.control_group import (
    PERIOD_MICROSECONDS,
    SCHEDULED,
    CgroupBackend,
    quota_microseconds,
    rate_lines,
    signal_all,
)
from sizer.limits.backends.delegation import AS_ROOT, is_kept
from sizer.limits.interface import Capability, Control, Throttle
from sizer.limits.process_tree import BASE
from sizer.limits.topology import Machine, format_cpus, parse_cpus
from sizer.limits.tree import Lines, Reading, Tree, kernel_has_pressure, line_count, number, pressure
from sizer.records.device import DiskRates
from sizer.records.messages import Message
from sizer.records.study import Limits

KERNEL_PARTS = ("slab", "kernel_stack", "pagetables", "percpu", "vmalloc")
"""What Linux reports of its own memory before 5.18, which sums them and the rest as `kernel` (cgroup-v2.rst)."""


def kernel_bytes(memory: Lines) -> int:
    """The kernel's own memory in a memory.stat; network buffers (`sock`) are charged to the group beside `kernel`."""
    own = memory.get("kernel")
    return (sum(memory.get(part, 0) for part in KERNEL_PARTS) if own is None else own) + memory.get("sock", 0)


READINGS = (
    Reading("cpu", "cgroup.threads", {"threads": number()}, line_count),
    Reading("cpu", "cpu.stat", {"core_seconds": number("usage_usec", 1e6), **SCHEDULED}),
    Reading("memory", "memory.current", {"memory_bytes": number()}),
    Reading("memory", "memory.swap.current", {"swap_bytes": number()}),
    Reading("memory", "memory.peak", {"peak_memory_bytes": number()}),
    Reading("memory", "memory.events", {"oom_kills": number("oom_kill")}),
    Reading(
        "memory",
        "memory.stat",
        {
            # Shared memory cannot be dropped without swap either: to a memory floor it is anonymous. The kernel counts
            # it as `file`, and so does it what waits in the swap cache (mm/swap_state.c, NR_FILE_PAGES).
            "anonymous_bytes": lambda memory: memory["anon"] + memory["shmem"],
            "page_cache_bytes": lambda memory: max(0, memory["file"] - memory["shmem"] - memory["swapcached"]),
            "unwritten_bytes": lambda memory: memory["file_dirty"] + memory["file_writeback"],
            "kernel_bytes": kernel_bytes,
        },
    ),
    *pressure("cpu"),
)

MOVED = {"read_bytes": "rbytes", "written_bytes": "wbytes", "read_ios": "rios", "write_ios": "wios"}
"""The key of each counter in io.stat."""

RATES = {"read_bytes_per_second": "rbps", "write_bytes_per_second": "wbps", "read_iops": "riops", "write_iops": "wiops"}
"""The key of each rate in io.max."""


def disk_counters(text: str, devices: Collection[str]) -> Counter[str]:
    """The sums over these devices, from lines such as `7:0 rbytes=4096 wbytes=0 rios=1 wios=0`."""
    totals: Counter[str] = Counter()
    for row in text.splitlines():
        device, _, pairs = row.partition(" ")
        if device in devices:
            for key, _, value in (pair.partition("=") for pair in pairs.split()):
                totals[key] += int(value)
    return totals


CONTROLLERS = ("cpuset", "cpu", "memory", "io", "pids")
SUPERVISOR = "supervisor"
"""The group that we move into: a group with processes of its own cannot hand controllers to groups below it."""


class V2Backend(CgroupBackend):
    """`parent` is the group that ours are made in, `root` the top of the hierarchy."""

    name = "cgroup v2"
    throttles_buffered_writes = True
    controls: ClassVar = {
        Control.FRACTIONAL_VCPUS: ("cpu", "cpu.max"),
        Control.MEMORY: ("memory", "memory.max"),
        Control.DISK: ("io", "io.max"),
    }
    swap_file = "memory.swap.max"

    def __init__(self, tree: Tree, machine: Machine, root: Path, parent: Path) -> None:
        host_cpu = {root / "cpu.stat": Reading("cpu", "cpu.stat", {"host_core_seconds": number("usage_usec", 1e6)})}
        super().__init__(tree, machine, dict.fromkeys(CONTROLLERS, parent / BASE), host_cpu, root)
        self._root, self._parent = root, parent
        effective = parse_cpus(tree.text(parent / "cpuset.cpus.effective"))
        self.allowed = machine.allowed & frozenset(effective or machine.allowed)
        self.tells_pressure = kernel_has_pressure(tree)

    def _readings(self, devices: Collection[str]) -> list[Reading]:
        moved = {field: number(key) for field, key in MOVED.items()}
        return [*READINGS, Reading("io", "io.stat", moved, partial(disk_counters, devices=devices))]

    def _lacking(self, controller: str, file: str, control: Control) -> Capability | None:
        if (self._bases[controller] / file).exists():
            return None
        if controller in self._tree.text(self._parent / "cgroup.controllers").split():
            return Capability(control, False, Message("this kernel has no {file}", file=file))
        at_top = controller in self._tree.text(self._root / "cgroup.controllers").split()
        if at_top and self._parent != self._root:
            reason = Message(
                "the {controller} controller is not delegated to {group}", controller=controller, group=self._parent
            )
            # Another scope would lack it as well.
            return Capability(control, False, reason, AS_ROOT)
        reason = Message("the {controller} controller is off in this kernel", controller=controller)
        return Capability(control, False, reason, enabling(controller))

    def _prepare(self) -> None:
        base = self._parent / BASE
        with suppress(FileExistsError):
            self._tree.make(base)
        for group in (self._parent, base):
            enable_controllers(self._tree, group)

    def _settings(
        self, limits: Limits, cpus: Collection[int], throttle: Throttle | None
    ) -> Iterator[tuple[str, str, str]]:
        yield "cpuset", "cpuset.cpus", format_cpus(cpus)
        quota = quota_microseconds(limits.vcpus)
        if quota is not None:
            yield "cpu", "cpu.max", f"{quota} {PERIOD_MICROSECONDS}"
        if limits.memory_bytes is not None:
            yield "memory", "memory.max", str(limits.memory_bytes // mmap.PAGESIZE * mmap.PAGESIZE)
            yield "memory", "memory.swap.max", "0"
            # When one worker is killed for memory the rest would wait for it for ever: all go together.
            yield "memory", "memory.oom.group", "1"
        if throttle is not None and throttle.rates != DiskRates():
            rates = " ".join(f"{key}={rate}" for key, rate in rate_lines(throttle, RATES).items())
            yield "io", "io.max", f"{throttle.device} {rates}"

    def _kill(self, directories: Collection[Path]) -> None:
        """By cgroup.kill, which nothing can fork away from; process by process before Linux 5.14."""
        for directory in directories:
            try:
                self._tree.write(directory / "cgroup.kill", "1")
            except OSError:
                signal_all(self._tree, [directory])


def enable_controllers(tree: Tree, group: Path) -> None:
    """Hand our controllers to the groups below this one; one that cannot be had shows in `capabilities`."""
    enabled = tree.text(group / "cgroup.subtree_control").split()
    wanted = [controller for controller in tree.text(group / "cgroup.controllers").split() if controller in CONTROLLERS]
    if set(wanted) <= set(enabled):
        return
    # Every group but the top of the hierarchy has a type. With processes in it, such a group would take cpu and become
    # "domain threaded", where memory and io cannot be had any more (cgroup-v2.rst, Threads; EOPNOTSUPP on Linux 6.1).
    if (group / "cgroup.type").exists():
        _move_processes(tree, group, group / SUPERVISOR)
    for controller in wanted:
        with suppress(OSError):
            tree.write(group / "cgroup.subtree_control", f"+{controller}")


def _move_processes(tree: Tree, source: Path, target: Path) -> None:
    pids = tree.text(source / "cgroup.procs").split()
    if pids:
        with suppress(FileExistsError):
            tree.make(target)
    for pid in pids:
        with suppress(ProcessLookupError):
            tree.write(target / "cgroup.procs", pid)


def own_group(tree: Tree, root: Path) -> Path | None:
    """The group that this process is in, or that its supervisor group is in."""
    for line in tree.text(tree.path("/proc/self/cgroup")).splitlines():
        if line.startswith("0::"):
            group = root / line[len("0::/") :]
            return group.parent if group.name == SUPERVISOR else group
    return None


def usable_parent(tree: Tree, root: Path) -> Path | None:
    """Where we may make groups with limits: the top as root, or the scope that systemd delegated to us."""
    for group in (root, own_group(tree, root)):
        if group is not None and tree.writable(group) and tree.writable(group / "cgroup.subtree_control"):
            return None if is_kept(group, root) else group
    return None


def enabling(controller: str) -> str | None:
    """What turns a controller on that the kernel keeps off: only memory has such a switch (on a Raspberry Pi, say)."""
    return (
        "sudo sed -i 's/$/ cgroup_enable=memory/' /boot/cmdline.txt && sudo reboot" if controller == "memory" else None
    )

"""Limits by cgroup v1: one group for a run in each controller's hierarchy, and what is counted of it."""

from __future__ import annotations

import mmap
import os
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
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
from sizer.limits.backends.delegation import AS_ROOT
from sizer.limits.interface import Capability, Control, Remedy, Throttle
from sizer.limits.process_tree import BASE
from sizer.limits.topology import Machine, format_cpus, parse_cpus
from sizer.limits.tree import Reading, Tree, joinable, line_count, number, pressure
from sizer.records.messages import Message
from sizer.records.study import Limits

PRESSURE = "pressure"
"""In the list of controllers, means the cgroup2 hierarchy beside them, whose groups report pressure."""

READINGS = (
    Reading("cpuacct", "cpuacct.usage", {"core_seconds": number(unit=1e9)}),
    Reading("cpuacct", "tasks", {"threads": number()}, line_count),
    Reading("cpu", "cpu.stat", SCHEDULED),
    Reading("memory", "memory.usage_in_bytes", {"memory_bytes": number()}),
    Reading("memory", "memory.max_usage_in_bytes", {"peak_memory_bytes": number()}),
    Reading("memory", "memory.kmem.usage_in_bytes", {"kernel_bytes": number()}),
    Reading("memory", "memory.oom_control", {"oom_kills": number("oom_kill")}),
    Reading(
        "memory",
        "memory.stat",
        {
            # Shared memory cannot be dropped without swap either: to a memory floor it is anonymous. The kernel counts
            # it as cache, and so does it what waits in the swap cache (mm/swap_state.c, NR_FILE_PAGES).
            "anonymous_bytes": lambda memory: memory["total_rss"] + memory["total_shmem"],
            "page_cache_bytes": lambda memory: max(
                0, memory["total_cache"] - memory["total_shmem"] - memory["total_swapcached"]
            ),
            # Missing where the kernel was started with swapaccount=0.
            "swap_bytes": lambda memory: memory.get("total_swap"),
            "unwritten_bytes": lambda memory: (
                memory["total_dirty"] + memory["total_writeback"] if "total_dirty" in memory else None
            ),
        },
    ),
    *pressure(PRESSURE),
)


def disk_counters(text: str, devices: Collection[str]) -> Counter[str]:
    """Reads and writes of these devices, from lines such as `7:0 Read 4096`."""
    totals: Counter[str] = Counter()
    for row in text.splitlines():
        fields = row.split()
        if len(fields) == 3 and fields[0] in devices:
            totals[fields[1]] += int(fields[2])
    return totals


CONTROLLERS = ("cpuset", "cpu", "cpuacct", "memory", "blkio", "freezer", "pids")
"""What a run joins: the limits, the accounting, the freezer, which keeps a dying group from forking, and
the number of processes."""

RATES = {
    f"{kind}_{rate}": f"blkio.throttle.{kind}_{unit}_device"
    for kind in ("read", "write")
    for rate, unit in (("bytes_per_second", "bps"), ("iops", "iops"))
}
"""The file of each rate of a disk."""


class V1Backend(CgroupBackend):
    """`mounts` says where each controller is mounted; a controller is used where we may make groups in it.

    `PRESSURE` among them means a cgroup2 hierarchy without controllers: a run joins a group there, too, because
    v1 accounts no pressure. It limits nothing, and where it cannot be joined the stalls are not accounted.
    """

    name = "cgroup v1"
    controls: ClassVar = {
        Control.FRACTIONAL_VCPUS: ("cpu", "cpu.cfs_quota_us"),
        Control.MEMORY: ("memory", "memory.limit_in_bytes"),
        Control.DISK: ("blkio", "blkio.throttle.read_bps_device"),
    }
    swap_file = "memory.memsw.limit_in_bytes"

    def __init__(self, tree: Tree, machine: Machine, mounts: Mapping[str, Path]) -> None:
        host_cpu = Reading("cpuacct", "cpuacct.usage", {"host_core_seconds": number(unit=1e9)})
        files = {mounts["cpuacct"] / host_cpu.file: host_cpu} if "cpuacct" in mounts else {}
        super().__init__(tree, machine, usable_bases(tree, mounts), files, mounts.get("cpu"))
        self._mounts = mounts
        self.allowed = machine.allowed & self._cpuset_allows()
        self.tells_pressure = PRESSURE in self._bases

    def _readings(self, devices: Collection[str]) -> list[Reading]:
        of_disks = partial(disk_counters, devices=devices)
        moved = {"read_bytes": number("Read"), "written_bytes": number("Write")}
        calls = {"read_ios": number("Read"), "write_ios": number("Write")}
        return [
            *READINGS,
            Reading("blkio", "blkio.throttle.io_service_bytes", moved, of_disks),
            Reading("blkio", "blkio.throttle.io_serviced", calls, of_disks),
        ]

    def _lacking(self, controller: str, file: str, control: Control) -> Capability | None:
        if controller not in self._mounts:
            reason = Message("the {controller} controller is not mounted", controller=controller)
            return Capability(control, False, reason, mounting(controller))
        base = self._bases.get(controller)
        if base is None:
            reason = Message("{path} is not ours to write", path=self._mounts[controller])
            # A throttled disk needs a loop device as well, which is root's.
            fix: Remedy = AS_ROOT if control is Control.DISK else delegating(self._mounts)
            return Capability(control, False, reason, fix)
        if not (base / file).exists():
            return Capability(control, False, Message("this kernel has no {file}", file=file))
        return None

    def _cpuset_allows(self) -> frozenset[int]:
        base = self._bases.get("cpuset")
        if base is None:
            return self._machine.allowed
        listing = self._tree.text(base / "cpuset.cpus").strip() or self._tree.text(base.parent / "cpuset.cpus")
        return frozenset(parse_cpus(listing))

    def _prepare(self) -> None:
        for controller, base in self._bases.items():
            with suppress(FileExistsError):
                self._tree.make(base)
            if controller == "cpuset":
                self._inherit_cpuset(base)
            elif controller == "memory":
                # Kernels before 5.11 leave out the groups below unless asked, and refuse once there are any.
                with suppress(OSError):
                    self._tree.write(base / "memory.use_hierarchy", "1")

    def _inherit_cpuset(self, group: Path) -> None:
        """A new cpuset has neither CPUs nor memory nodes, and nothing can join it until it has (ENOSPC)."""
        for file in ("cpuset.cpus", "cpuset.mems"):
            if not self._tree.text(group / file).strip():
                self._tree.write(group / file, self._tree.read(group.parent / file).strip())

    def _ready(self, folders: Mapping[str, Path], devices: Collection[str]) -> None:
        if "cpuset" in folders:
            self._inherit_cpuset(folders["cpuset"])
        for device in devices if "blkio" in folders else ():
            # Since Linux 6.10 nothing is counted on a device until some group has had a limit on it; 0 is no limit.
            with suppress(OSError):
                self._tree.write(folders["blkio"] / RATES["read_bytes_per_second"], f"{device} 0")

    def _settings(
        self, limits: Limits, cpus: Collection[int], throttle: Throttle | None
    ) -> Iterator[tuple[str, str, str]]:
        yield "cpuset", "cpuset.cpus", format_cpus(cpus)
        quota = quota_microseconds(limits.vcpus)
        if quota is not None:
            yield "cpu", "cpu.cfs_period_us", str(PERIOD_MICROSECONDS)
            yield "cpu", "cpu.cfs_quota_us", str(quota)
        if limits.memory_bytes is not None:
            whole_pages = str(limits.memory_bytes // mmap.PAGESIZE * mmap.PAGESIZE)
            # The kernel refuses a cap on memory that is above the one on memory with swap: memory goes first.
            yield "memory", "memory.limit_in_bytes", whole_pages
            yield "memory", self.swap_file, whole_pages
            yield "memory", "memory.swappiness", "0"
        if throttle is not None:
            for file, rate in rate_lines(throttle, RATES).items():
                if rate != "max":
                    yield "blkio", file, f"{throttle.device} {rate}"

    def _kill(self, directories: Collection[Path]) -> None:
        """All at once: frozen processes cannot fork away from the signal, and it reaches them when they thaw."""
        freezers = [state for state in (directory / "freezer.state" for directory in directories) if state.exists()]
        try:
            for state in freezers:
                with suppress(OSError):
                    self._tree.write(state, "FROZEN")
            signal_all(self._tree, directories)
        finally:
            for state in freezers:
                with suppress(OSError):
                    self._tree.write(state, "THAWED")


def usable_bases(tree: Tree, mounts: Mapping[str, Path]) -> dict[str, Path]:
    """The parent of our groups in each controller where we may make groups: as root, or where root delegated one."""
    bases = {controller: mounts[controller] / BASE for controller in CONTROLLERS if controller in mounts}
    if PRESSURE in mounts and joinable(tree, mounts[PRESSURE]):
        bases[PRESSURE] = mounts[PRESSURE] / BASE
    return {
        controller: base
        for controller, base in bases.items()
        if (tree.writable(base) if base.exists() else tree.writable(base.parent))
    }


def delegating(mounts: Mapping[str, Path]) -> str:
    """What root types once so that this user can set limits."""
    bases = " ".join(
        dict.fromkeys(str(mounts[controller] / BASE) for controller in CONTROLLERS if controller in mounts)
    )
    return f"sudo mkdir -p {bases} && sudo chown -R {os.geteuid()} {bases}"


def mounting(controller: str) -> str:
    """What mounts a controller that the kernel has and nobody uses yet."""
    point = f"/sys/fs/cgroup/{controller}"
    return f"sudo mkdir -p {point} && sudo mount -t cgroup -o {controller} {controller} {point}"

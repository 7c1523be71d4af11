"""Limits by cgroup v1: one group for a run in each controller's hierarchy."""

from __future__ import annotations

import mmap
import os
from collections.abc import Collection, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path

from sizer.limits.control_group import (
    PERIOD_MICROSECONDS,
    ControlGroup,
    GroupPath,
    kill_until_empty,
    leftovers,
    limited_by,
    make_group,
    quota_microseconds,
    remove_base,
    signal_all,
    with_bases,
)
from sizer.limits.delegation import AS_ROOT
from sizer.limits.device import physical_disks
from sizer.limits.identity import BASE, owned_name
from sizer.limits.interface import Capability, Control, Group, LimitsBackend, Remedy, Throttle, require
from sizer.limits.machine import Machine
from sizer.limits.surroundings import below_quota, joinable, quota_above
from sizer.limits.topology import format_cpus, parse_cpus
from sizer.limits.tree import Held, Tree
from sizer.limits.v1_counters import PRESSURE, V1Counters
from sizer.records.messages import Message
from sizer.records.study import Limits

CONTROLLERS = ("cpuset", "cpu", "cpuacct", "memory", "blkio", "freezer", "pids")
"""What a run joins: the limits, the accounting, the freezer, which keeps a dying group from forking, and
the number of processes."""


class V1Backend(LimitsBackend):
    """`mounts` says where each controller is mounted; a controller is used where we may make groups in it.

    `PRESSURE` among them means a cgroup2 hierarchy without controllers: a run joins a group there, too, because
    v1 accounts no pressure. It limits nothing, and where it cannot be joined the stalls are not accounted.
    """

    name = "cgroup v1"

    def __init__(self, tree: Tree, machine: Machine, mounts: Mapping[str, Path]) -> None:
        self.topology, self.memory_bytes = machine.topology, machine.memory_bytes
        self._tree, self._machine, self._mounts = tree, machine, mounts
        self._bases = usable_bases(tree, mounts)
        self.allowed = machine.allowed & self._cpuset_allows()
        self.tells_pressure = PRESSURE in self._bases
        cpu = mounts.get("cpu")
        self._quota_above = None if cpu is None else quota_above(tree, self._bases.get("cpu", cpu), cpu)

    def capabilities(self) -> tuple[Capability, ...]:
        bases = set(self._bases.values())
        try:
            return with_bases(bases, self._prepare, self._capabilities)
        finally:
            for base in bases:
                remove_base(self._tree, base)

    def open(
        self, run_id: str, limits: Limits, throttle: Throttle | None = None, processes: int | None = None
    ) -> Group:
        require(self, limits, throttle)
        cpus, name = self.cpus_for(limits), owned_name(run_id)
        directories = {controller: base / name for controller, base in self._bases.items()}
        # Controllers that are mounted together, as cpu,cpuacct often are, share one directory.
        distinct = tuple(dict.fromkeys(directories.values()))
        make_group(self._tree, self._prepare, distinct)
        held = Held(self._tree)
        try:
            self._limit(held, directories, limits, cpus)
            devices = self._limit_disk(held, directories.get("blkio"), throttle)
            if processes is not None and "pids" in directories:
                held.hold(directories["pids"] / "pids.max", str(processes))
            statistics = self._tree.path("/proc/stat")
            cpuacct_root, uncounted = self._mounts.get("cpuacct"), self._machine.uncounted
            counters = V1Counters(directories, cpuacct_root, statistics, devices, uncounted)
        except BaseException:
            self._remove(distinct)
            raise
        by_cpuset = "cpuset" in directories
        counted = processes if "pids" in directories else None
        known = limited_by(self.name, limits, cpus, self.topology, throttle, by_cpuset, counted)
        path = GroupPath(distinct, cpus, known, by_affinity=not by_cpuset)
        return ControlGroup(self._tree, path, held, counters, partial(freeze_and_kill, self._tree))

    def remove_leftovers(self) -> tuple[str, ...]:
        groups = leftovers(self._bases.values())
        kill_until_empty(self._tree, groups, partial(freeze_and_kill, self._tree))
        self._remove(groups)
        return tuple(sorted({group.name for group in groups}))

    def _remove(self, groups: Collection[Path]) -> None:
        for group in groups:
            self._tree.discard(group)
            remove_base(self._tree, group.parent)

    def _capabilities(self) -> tuple[Capability, ...]:
        return (
            Capability(Control.VCPUS, True, self._whole_vcpus()),
            self._capability(Control.FRACTIONAL_VCPUS, "cpu", "cpu.cfs_quota_us"),
            self._memory_capability(),
            self._capability(Control.DISK, "blkio", "blkio.throttle.read_bps_device"),
        )

    def _capability(self, control: Control, controller: str, file: str) -> Capability:
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
        return Capability(control, True, file)

    def _whole_vcpus(self) -> Message | str:
        return below_quota("cpuset" if "cpuset" in self._bases else "CPU affinity", self._quota_above)

    def _memory_capability(self) -> Capability:
        found = self._capability(Control.MEMORY, "memory", "memory.limit_in_bytes")
        if not found.available or self._counts_swap() or self._machine.swap_bytes == 0:
            return found
        reason = Message("this kernel does not count the swap of a group")
        return Capability(Control.MEMORY, False, reason, "sudo swapoff -a")

    def _counts_swap(self) -> bool:
        return (self._bases["memory"] / "memory.memsw.limit_in_bytes").exists()

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

    def _limit(self, held: Held, directories: Mapping[str, Path], limits: Limits, cpus: Collection[int]) -> None:
        if "cpuset" in directories:
            self._inherit_cpuset(directories["cpuset"])
            held.hold(directories["cpuset"] / "cpuset.cpus", format_cpus(cpus))
        quota = quota_microseconds(limits.vcpus)
        if quota is not None:
            held.hold(directories["cpu"] / "cpu.cfs_period_us", str(PERIOD_MICROSECONDS))
            held.hold(directories["cpu"] / "cpu.cfs_quota_us", str(quota))
        if limits.memory_bytes is not None:
            whole_pages = str(limits.memory_bytes // mmap.PAGESIZE * mmap.PAGESIZE)
            # The kernel refuses a cap on memory that is above the one on memory with swap: memory goes first.
            held.hold(directories["memory"] / "memory.limit_in_bytes", whole_pages)
            if self._counts_swap():
                held.hold(directories["memory"] / "memory.memsw.limit_in_bytes", whole_pages)
            held.hold(directories["memory"] / "memory.swappiness", "0")

    def _limit_disk(self, held: Held, blkio: Path | None, throttle: Throttle | None) -> frozenset[str]:
        """Set the rates, and return the devices whose counters make up the run's."""
        devices = physical_disks(self._tree) if throttle is None else frozenset({throttle.device})
        if blkio is None:
            return devices
        for device in devices:
            # Since Linux 6.10 nothing is counted on a device until some group has had a limit on it; 0 is no limit.
            with suppress(OSError):
                self._tree.write(blkio / "blkio.throttle.read_bps_device", f"{device} 0")
        for file, line in throttle_lines(throttle).items() if throttle else ():
            held.hold(blkio / file, line)
        return devices


def throttle_lines(throttle: Throttle) -> dict[str, str]:
    """The file of each rate that is limited, with the line that sets it; 0 would mean no limit."""
    rates = {
        "blkio.throttle.read_bps_device": throttle.rates.read_bytes_per_second,
        "blkio.throttle.write_bps_device": throttle.rates.write_bytes_per_second,
        "blkio.throttle.read_iops_device": throttle.rates.read_iops,
        "blkio.throttle.write_iops_device": throttle.rates.write_iops,
    }
    return {file: f"{throttle.device} {max(1, round(rate))}" for file, rate in rates.items() if rate is not None}


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


def freeze_and_kill(tree: Tree, directories: Collection[Path]) -> None:
    """Kill all at once: frozen processes cannot fork away from the signal, and it reaches them when they thaw."""
    freezers = [state for state in (directory / "freezer.state" for directory in directories) if state.exists()]
    for state in freezers:
        with suppress(OSError):
            tree.write(state, "FROZEN")
    try:
        signal_all(tree, directories)
    finally:
        for state in freezers:
            with suppress(OSError):
                tree.write(state, "THAWED")


def delegating(mounts: Mapping[str, Path]) -> str:
    """What root types once so that this user can set limits."""
    bases = " ".join(dict.fromkeys(str(mounts[each] / BASE) for each in CONTROLLERS if each in mounts))
    return f"sudo mkdir -p {bases} && sudo chown -R {os.geteuid()} {bases}"


def mounting(controller: str) -> str:
    """What mounts a controller that the kernel has and nobody uses yet."""
    point = f"/sys/fs/cgroup/{controller}"
    return f"sudo mkdir -p {point} && sudo mount -t cgroup -o {controller} {controller} {point}"

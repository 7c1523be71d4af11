"""Limits by cgroup v1: one group for a run in each controller's hierarchy, and what is counted of it."""

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
from sizer.limits.surroundings import PRESSURE_FILES, below_quota, joinable, quota_above, stalls, steal_core_seconds
from sizer.limits.topology import Machine, format_cpus, parse_cpus
from sizer.limits.tree import Held, OpenFiles, Tree, keyed
from sizer.records.messages import Message
from sizer.records.run import Sample
from sizer.records.study import Limits

PRESSURE = "pressure"
"""In the list of controllers, means the cgroup2 hierarchy beside them, whose groups report pressure."""

_FILES = {
    "cpuacct.usage": ("cpuacct", ("core_seconds", "host_core_seconds")),
    "tasks": ("cpuacct", ("threads",)),
    "cpu.stat": ("cpu", ("periods", "throttled_periods")),
    "memory.usage_in_bytes": ("memory", ("memory_bytes",)),
    "memory.max_usage_in_bytes": ("memory", ("peak_memory_bytes",)),
    "memory.stat": ("memory", ("anonymous_bytes", "page_cache_bytes", "swap_bytes", "unwritten_bytes")),
    "memory.kmem.usage_in_bytes": ("memory", ("kernel_bytes",)),
    "memory.oom_control": ("memory", ("oom_kills",)),
    "blkio.throttle.io_service_bytes": ("blkio", ("read_bytes", "written_bytes")),
    "blkio.throttle.io_serviced": ("blkio", ("read_ios", "write_ios")),
    **{name: (PRESSURE, (counter,)) for name, counter in PRESSURE_FILES.items()},
}


_LINES = {"swap_bytes": "total_swap", "unwritten_bytes": "total_dirty"}
"""Counters whose line of memory.stat can be missing: swap's where the kernel was started with swapaccount=0."""


class V1Counters:
    """The counters of one group; the disk's are summed over `devices`. `uncounted` are those that stay at 0.

    `statistics` is the host's /proc/stat.
    """

    def __init__(
        self,
        directories: Mapping[str, Path],
        cpuacct_root: Path | None,
        statistics: Path,
        devices: Collection[str],
        uncounted: Collection[str],
    ) -> None:
        files = {
            name: directories[controller] / name
            for name, (controller, _) in _FILES.items()
            if controller in directories
        }
        if cpuacct_root is not None:
            files["host"] = cpuacct_root / "cpuacct.usage"
        files["statistics"] = statistics
        self._files = OpenFiles(files)
        self._devices = devices
        counted = {field for name, (_, fields) in _FILES.items() if name in self._files.names for field in fields}
        lines = keyed(self._files.text("memory.stat"))
        unknown = {counter for counter, line in _LINES.items() if line not in lines}
        steal = {"steal_core_seconds"} if steal_core_seconds(self._files.text("statistics")) is not None else set()
        self.accounted = frozenset((counted | steal) - unknown - set(uncounted))

    def sample(self, time: float) -> Sample:
        """The counters now; cpuacct counts nanoseconds."""
        files = self._files
        scheduler, memory = keyed(files.text("cpu.stat")), keyed(files.text("memory.stat"))
        read_bytes, written_bytes = disk_counters(files.text("blkio.throttle.io_service_bytes"), self._devices)
        read_ios, write_ios = disk_counters(files.text("blkio.throttle.io_serviced"), self._devices)
        shared = memory.get("total_shmem", 0)
        return Sample(
            time=time,
            core_seconds=files.number("cpuacct.usage") / 1e9,
            memory_bytes=files.number("memory.usage_in_bytes"),
            # Shared memory cannot be dropped without swap either: to a memory floor it is anonymous. The kernel counts
            # it as cache, and so does it what waits in the swap cache (mm/swap_state.c, NR_FILE_PAGES).
            anonymous_bytes=memory.get("total_rss", 0) + shared,
            page_cache_bytes=max(0, memory.get("total_cache", 0) - shared - memory.get("total_swapcached", 0)),
            kernel_bytes=files.number("memory.kmem.usage_in_bytes"),
            swap_bytes=memory.get("total_swap", 0),
            read_bytes=read_bytes,
            written_bytes=written_bytes,
            read_ios=read_ios,
            write_ios=write_ios,
            periods=scheduler.get("nr_periods", 0),
            throttled_periods=scheduler.get("nr_throttled", 0),
            oom_kills=keyed(files.text("memory.oom_control")).get("oom_kill", 0),
            host_core_seconds=files.number("host") / 1e9,
            peak_memory_bytes=files.number("memory.max_usage_in_bytes"),
            steal_core_seconds=steal_core_seconds(files.text("statistics")) or 0.0,
            unwritten_bytes=memory.get("total_dirty", 0) + memory.get("total_writeback", 0),
            threads=files.count("tasks"),
            **stalls(files),
        )

    def close(self) -> None:
        """Close the counter files."""
        self._files.close()


def disk_counters(text: str, devices: Collection[str]) -> tuple[int, int]:
    """Reads and writes of these devices, from lines such as `7:0 Read 4096`."""
    totals = {"Read": 0, "Write": 0}
    for line in text.splitlines():
        fields = line.split()
        if len(fields) == 3 and fields[0] in devices and fields[1] in totals:
            totals[fields[1]] += int(fields[2])
    return totals["Read"], totals["Write"]


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

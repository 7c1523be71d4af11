"""Limits by cgroup v2: one group for a run in the unified hierarchy, and what is counted of it."""

from __future__ import annotations

import mmap
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
from sizer.limits.delegation import AS_ROOT, is_kept
from sizer.limits.device import physical_disks
from sizer.limits.identity import BASE, owned_name
from sizer.limits.interface import Capability, Control, Group, LimitsBackend, Throttle, require
from sizer.limits.surroundings import (
    PRESSURE_FILES,
    below_quota,
    kernel_has_pressure,
    quota_above,
    stalls,
    steal_core_seconds,
)
from sizer.limits.topology import Machine, format_cpus, parse_cpus
from sizer.limits.tree import Held, OpenFiles, Tree, keyed
from sizer.records.device import DiskRates
from sizer.records.messages import Message
from sizer.records.run import Sample
from sizer.records.study import Limits

_FILES = {
    "cgroup.threads": ("threads",),
    "cpu.stat": ("core_seconds", "periods", "throttled_periods"),
    "memory.current": ("memory_bytes",),
    "memory.swap.current": ("swap_bytes",),
    "memory.peak": ("peak_memory_bytes",),
    "memory.stat": ("anonymous_bytes", "page_cache_bytes", "kernel_bytes", "unwritten_bytes"),
    "memory.events": ("oom_kills",),
    "io.stat": ("read_bytes", "written_bytes", "read_ios", "write_ios"),
    "host": ("host_core_seconds",),
    **{name: (counter,) for name, counter in PRESSURE_FILES.items()},
}

KERNEL_PARTS = ("slab", "kernel_stack", "pagetables", "percpu", "vmalloc")
"""What Linux reports of its own memory before 5.18, which sums them and the rest as `kernel` (cgroup-v2.rst)."""


class V2Counters:
    """The counters of one group; the disk's are summed over `devices`. `uncounted` are those that stay at 0.

    `statistics` is the host's /proc/stat.
    """

    def __init__(
        self, group: Path, root: Path, statistics: Path, devices: Collection[str], uncounted: Collection[str]
    ) -> None:
        files = {name: group / name for name in _FILES}
        self._files = OpenFiles({**files, "host": root / "cpu.stat", "statistics": statistics})
        self._devices = devices
        counted = {field for name in self._files.names for field in _FILES.get(name, ())}
        steal = {"steal_core_seconds"} if steal_core_seconds(self._files.text("statistics")) is not None else set()
        self.accounted = frozenset((counted | steal) - set(uncounted))

    def sample(self, time: float) -> Sample:
        """The counters now; cpu.stat counts microseconds."""
        files = self._files
        scheduler, memory = keyed(files.text("cpu.stat")), keyed(files.text("memory.stat"))
        disk, shared = disk_counters(files.text("io.stat"), self._devices), memory.get("shmem", 0)
        return Sample(
            time=time,
            core_seconds=scheduler.get("usage_usec", 0) / 1e6,
            memory_bytes=files.number("memory.current"),
            # Shared memory cannot be dropped without swap either: to a memory floor it is anonymous. The kernel counts
            # it as `file`, and so does it what waits in the swap cache (mm/swap_state.c, NR_FILE_PAGES).
            anonymous_bytes=memory.get("anon", 0) + shared,
            page_cache_bytes=max(0, memory.get("file", 0) - shared - memory.get("swapcached", 0)),
            kernel_bytes=kernel_bytes(memory),
            swap_bytes=files.number("memory.swap.current"),
            read_bytes=disk["rbytes"],
            written_bytes=disk["wbytes"],
            read_ios=disk["rios"],
            write_ios=disk["wios"],
            periods=scheduler.get("nr_periods", 0),
            throttled_periods=scheduler.get("nr_throttled", 0),
            oom_kills=keyed(files.text("memory.events")).get("oom_kill", 0),
            host_core_seconds=keyed(files.text("host")).get("usage_usec", 0) / 1e6,
            peak_memory_bytes=files.number("memory.peak"),
            steal_core_seconds=steal_core_seconds(files.text("statistics")) or 0.0,
            unwritten_bytes=memory.get("file_dirty", 0) + memory.get("file_writeback", 0),
            threads=files.count("cgroup.threads"),
            **stalls(files),
        )

    def close(self) -> None:
        """Close the counter files."""
        self._files.close()


def kernel_bytes(memory: Mapping[str, int]) -> int:
    """The kernel's own memory in a memory.stat; network buffers (`sock`) are charged to the group beside `kernel`."""
    own = memory.get("kernel")
    return (sum(memory.get(part, 0) for part in KERNEL_PARTS) if own is None else own) + memory.get("sock", 0)


def disk_counters(text: str, devices: Collection[str]) -> dict[str, int]:
    """The sums over these devices, from lines such as `7:0 rbytes=4096 wbytes=0 rios=1 wios=0`."""
    totals = {"rbytes": 0, "wbytes": 0, "rios": 0, "wios": 0}
    for line in text.splitlines():
        device, _, pairs = line.partition(" ")
        if device in devices:
            for key, _, value in (pair.partition("=") for pair in pairs.split()):
                if key in totals:
                    totals[key] += int(value)
    return totals


CONTROLLERS = ("cpuset", "cpu", "memory", "io", "pids")
SUPERVISOR = "supervisor"
"""The group that we move into: a group with processes of its own cannot hand controllers to groups below it."""


class V2Backend(LimitsBackend):
    """`parent` is the group that ours are made in, `root` the top of the hierarchy."""

    name = "cgroup v2"
    throttles_buffered_writes = True

    def __init__(self, tree: Tree, machine: Machine, root: Path, parent: Path) -> None:
        self.topology, self.memory_bytes = machine.topology, machine.memory_bytes
        self._tree, self._machine, self._root, self._parent = tree, machine, root, parent
        self._base = parent / BASE
        effective = parse_cpus(tree.text(parent / "cpuset.cpus.effective"))
        self.allowed = machine.allowed & frozenset(effective or machine.allowed)
        self.tells_pressure = kernel_has_pressure(tree)
        self._quota_above = quota_above(tree, self._base, root)

    def capabilities(self) -> tuple[Capability, ...]:
        try:
            return with_bases([self._base], self._prepare, self._capabilities)
        finally:
            remove_base(self._tree, self._base)

    def open(
        self, run_id: str, limits: Limits, throttle: Throttle | None = None, processes: int | None = None
    ) -> Group:
        require(self, limits, throttle)
        cpus, group = self.cpus_for(limits), self._base / owned_name(run_id)
        make_group(self._tree, self._prepare, [group])
        held, counted = Held(self._tree), None
        try:
            self._limit(held, group, limits, cpus)
            if processes is not None and (group / "pids.max").exists():
                held.hold(group / "pids.max", str(processes))
                counted = processes
            if throttle is not None and throttle.rates != DiskRates():
                held.hold(group / "io.max", io_max(throttle))
            devices = physical_disks(self._tree) if throttle is None else frozenset({throttle.device})
            statistics = self._tree.path("/proc/stat")
            counters = V2Counters(group, self._root, statistics, devices, self._machine.uncounted)
        except BaseException:
            self._remove(group)
            raise
        by_cpuset = (group / "cpuset.cpus").exists()
        known = limited_by(self.name, limits, cpus, self.topology, throttle, by_cpuset, counted)
        path = GroupPath((group,), cpus, known, by_affinity=not by_cpuset)
        return ControlGroup(self._tree, path, held, counters, partial(kill_group, self._tree))

    def remove_leftovers(self) -> tuple[str, ...]:
        groups = leftovers([self._base])
        kill_until_empty(self._tree, groups, partial(kill_group, self._tree))
        for group in groups:
            self._remove(group)
        return tuple(group.name for group in groups)

    def _remove(self, group: Path) -> None:
        self._tree.discard(group)
        remove_base(self._tree, group.parent)

    def _capabilities(self) -> tuple[Capability, ...]:
        by_cpuset = (self._base / "cpuset.cpus").exists()
        return (
            Capability(Control.VCPUS, True, below_quota("cpuset" if by_cpuset else "CPU affinity", self._quota_above)),
            self._capability(Control.FRACTIONAL_VCPUS, "cpu", "cpu.max"),
            self._memory_capability(),
            self._capability(Control.DISK, "io", "io.max"),
        )

    def _capability(self, control: Control, controller: str, file: str) -> Capability:
        if (self._base / file).exists():
            return Capability(control, True, file)
        offered = self._tree.text(self._parent / "cgroup.controllers").split()
        if controller in offered:
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

    def _memory_capability(self) -> Capability:
        found = self._capability(Control.MEMORY, "memory", "memory.max")
        if not found.available or self._machine.swap_bytes == 0 or (self._base / "memory.swap.max").exists():
            return found
        reason = Message("this kernel does not count the swap of a group")
        return Capability(Control.MEMORY, False, reason, "sudo swapoff -a")

    def _prepare(self) -> None:
        with suppress(FileExistsError):
            self._tree.make(self._base)
        for group in (self._parent, self._base):
            enable_controllers(self._tree, group)

    def _limit(self, held: Held, group: Path, limits: Limits, cpus: Collection[int]) -> None:
        if (group / "cpuset.cpus").exists():
            held.hold(group / "cpuset.cpus", format_cpus(cpus))
        quota = quota_microseconds(limits.vcpus)
        if quota is not None:
            held.hold(group / "cpu.max", f"{quota} {PERIOD_MICROSECONDS}")
        if limits.memory_bytes is not None:
            held.hold(group / "memory.max", str(limits.memory_bytes // mmap.PAGESIZE * mmap.PAGESIZE))
            if (group / "memory.swap.max").exists():
                held.hold(group / "memory.swap.max", "0")
            # When one worker is killed for memory the rest would wait for it for ever: all go together.
            held.hold(group / "memory.oom.group", "1")


def io_max(throttle: Throttle) -> str:
    """The line that sets a device's rates, as it reads back."""
    rates = {
        "rbps": throttle.rates.read_bytes_per_second,
        "wbps": throttle.rates.write_bytes_per_second,
        "riops": throttle.rates.read_iops,
        "wiops": throttle.rates.write_iops,
    }
    words = {key: "max" if rate is None else str(max(1, round(rate))) for key, rate in rates.items()}
    return f"{throttle.device} {' '.join(f'{key}={value}' for key, value in words.items())}"


def enable_controllers(tree: Tree, group: Path) -> None:
    """Hand our controllers to the groups below this one; one that cannot be had shows in `capabilities`."""
    enabled = tree.text(group / "cgroup.subtree_control").split()
    wanted = [each for each in tree.text(group / "cgroup.controllers").split() if each in CONTROLLERS]
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


def kill_group(tree: Tree, directories: Collection[Path]) -> None:
    """Kill by cgroup.kill, which nothing can fork away from; process by process before Linux 5.14."""
    for directory in directories:
        try:
            tree.write(directory / "cgroup.kill", "1")
        except OSError:
            signal_all(tree, [directory])


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

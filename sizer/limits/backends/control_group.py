"""A group of the kernel, in one hierarchy or several: join, sample, kill until empty, remove."""

from __future__ import annotations

import errno
import os
import time
from abc import abstractmethod
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from math import ceil
from pathlib import Path
from typing import ClassVar

from sizer.limits.device import physical_disks
from sizer.limits.interface import Capability, Control, Group, LimitsBackend, Throttle, require
from sizer.limits.process_tree import BASE, end_all, kill, owned_name, owner_is_dead
from sizer.limits.supervised import join_command
from sizer.limits.topology import Machine, Topology, beyond, format_cpus, named, threads_of
from sizer.limits.tree import STEAL, Counters, Held, Reading, Tree, below_quota, keyed, number, quota_above
from sizer.records.messages import HostError, Message
from sizer.records.run import LimitedBy, LimitedByKind, Sample
from sizer.records.study import Limits

PERIOD_MICROSECONDS = 100_000
"""The kernel's default. A 10 ms period cuts the stalls at 0.25 vCPU from 92 to 11 ms and costs 3-4 % of the rate."""

SCHEDULED = {"periods": number("nr_periods"), "throttled_periods": number("nr_throttled")}
"""Of cpu.stat: how often a quota began, and was used up."""

TRIES = 3
"""To make a base that another sizer, which closed its last group, took along."""


OUTSIDE_CHECKS = 3
"""How often a thread must be seen outside its group before it counts as escaped."""

CHECK_SECONDS = 0.05
"""Between two looks: a loaded host takes a while to end a thread."""


def quota_microseconds(vcpus: float | None) -> int | None:
    """The CPU time a period for a fraction of vCPUs; None for whole ones, which the cpuset holds without stalls."""
    if vcpus is None or vcpus == ceil(vcpus):
        return None
    return round(vcpus * PERIOD_MICROSECONDS)


class ControlGroup(Group):
    """A group that the kernel keeps: a directory in each hierarchy, whose processes `kill_all` signals once."""

    def __init__(
        self,
        tree: Tree,
        directories: tuple[Path, ...],
        cpus: tuple[int, ...],
        limited_by: LimitedBy,
        limits: Held,
        counters: Counters,
        kill_all: Callable[[Collection[Path]], None],
        by_affinity: bool,
    ) -> None:
        self.limited_by, self.cpus, self.accounted = limited_by, cpus, counters.accounted
        self._tree, self._directories, self._by_affinity = tree, directories, by_affinity
        self._limits, self._counters, self._kill_all = limits, counters, kill_all
        self._closed = False

    def command(self, argv: Sequence[str], report: int | None = None) -> list[str]:
        files = [directory / "cgroup.procs" for directory in self._directories]
        return join_command(argv, files, self.cpus if self._by_affinity else (), report)

    def sample(self, time: float) -> Sample:
        return self._counters.sample(time)

    def escaped(self, processes: Collection[int]) -> str | None:
        outside = self._outside(processes)
        for _ in range(OUTSIDE_CHECKS - 1):
            if not outside:
                break
            # A thread that ends leaves its group before it is dead; one that was moved stays outside.
            time.sleep(CHECK_SECONDS)
            still = self._outside(processes)
            outside = {thread: process for thread, process in outside.items() if thread in still}
        return named(set(outside.values())) or self._limits.changed()

    def _outside(self, processes: Collection[int]) -> dict[int, int]:
        """The process of each thread that is in none of the groups, or may run beside their CPUs."""
        # Before the groups' lists: of what is started meanwhile nothing is asked.
        threads = threads_of(processes)
        inside = [self._tree.threads(directory) for directory in self._directories]
        left = beyond(self.cpus, threads) if self._by_affinity else frozenset()
        return {
            thread: process
            for thread, process in threads.items()
            if thread in left or any(thread not in group for group in inside)
        }

    @property
    def ran_out_of_processes(self) -> bool:
        return any(keyed(self._tree.text(path / "pids.events")).get("max") for path in self._directories)

    def kill(self) -> None:
        kill_until_empty(self._tree, self._directories, self._kill_all)

    def close(self) -> None:
        if self._closed:
            return
        self.kill()
        self._counters.close()
        for directory in self._directories:
            self._tree.discard(directory)
            remove_base(self._tree, directory.parent)
        self._closed = True


def kill_until_empty(tree: Tree, directories: Collection[Path], kill_all: Callable[[Collection[Path]], None]) -> None:
    """Kill what is in these directories until nothing is; HostError if a process will not die."""
    end_all(lambda: set().union(*map(tree.processes, directories)), lambda _: kill_all(directories))


def signal_all(tree: Tree, directories: Collection[Path]) -> None:
    """SIGKILL to every process in these directories."""
    for directory in directories:
        kill(tree.processes(directory))


def leftovers(bases: Collection[Path]) -> list[Path]:
    """The groups under these bases whose sizer is dead, and that we may empty: an ordinary user cannot end root's."""
    groups = []
    for base in bases:
        with suppress(FileNotFoundError, NotADirectoryError):  # Another sizer removed the last of them.
            groups += [group for group in base.iterdir() if owner_is_dead(group.name) and _may_empty(group)]
    return sorted(groups)


def _may_empty(group: Path) -> bool:
    """Not what another sizer, which found it, too, has removed meanwhile."""
    try:
        return group.is_dir() and os.geteuid() in (0, group.stat().st_uid)
    except FileNotFoundError:
        return False


def make_group(tree: Tree, prepare: Callable[[], None], directories: Collection[Path]) -> None:
    """Make these directories, or none and HostError. `prepare` makes their parents."""
    made: list[Path] = []
    for directory in directories:
        try:
            _make(tree, prepare, directory)
        except OSError as error:
            for group in made:
                tree.discard(group)
            raise HostError(
                "{directory} cannot be made ({reason}); to see what this host allows, type: sizer doctor",
                directory=directory,
                reason=error.strerror,
            ) from error
        made.append(directory)


def _make(tree: Tree, prepare: Callable[[], None], directory: Path) -> None:
    for _ in range(TRIES):
        with suppress(FileNotFoundError):  # Another sizer closed its last group and took the parent along.
            prepare()
            tree.make(directory)
            return
    raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(directory))


def remove_base(tree: Tree, base: Path) -> None:
    """Remove the common parent of groups when it is empty and ours; one that root delegated to a user stays."""
    with suppress(OSError):
        if base.name == BASE and base.stat().st_uid == os.geteuid():
            tree.remove(base)


def limited_by(
    backend: str,
    limits: Limits,
    cpus: Collection[int],
    topology: Topology,
    throttle: Throttle | None,
    by_cpuset: bool,
    processes: int | None = None,
) -> LimitedBy:
    """How these limits are set, for the record of a run; `by_cpuset` is False where affinity holds it on its CPUs."""
    single, paired = topology.pairing(cpus)
    limited, siblings = limits.vcpus is not None, limits.vcpus is not None and topology.hyperthreads
    quota = quota_microseconds(limits.vcpus)
    return LimitedBy(
        LimitedByKind.SIZER,
        backend,
        cpus=format_cpus(cpus) if limited else None,
        by_cpuset=limited and by_cpuset,
        cores=single + paired if siblings else None,
        paired_cores=paired if siblings else None,
        quota_vcpus=None if quota is None else quota / PERIOD_MICROSECONDS,
        memory_bytes=limits.memory_bytes,
        device=throttle.device if throttle is not None else None,
        rates=throttle.rates if throttle is not None else None,
        processes=processes,
    )


class CgroupBackend(LimitsBackend):
    """Limits by groups of the kernel. `bases` has the parent of our groups for each controller, `host_cpu` the file
    that counts the CPU time of all, and `quota` is that of the groups above ours.
    """

    controls: ClassVar[Mapping[Control, tuple[str, str]]]
    """The controller and the file of each control beside the CPUs."""
    swap_file: str
    optional = frozenset({"cpuset.cpus", "pids.max"})
    """Files without which a limit is held in another way, or is not needed."""

    def __init__(
        self,
        tree: Tree,
        machine: Machine,
        bases: Mapping[str, Path],
        host_cpu: Mapping[Path, Reading],
        top: Path | None,
    ) -> None:
        self.topology, self.memory_bytes = machine.topology, machine.memory_bytes
        self._tree, self._machine, self._bases, self._host_cpu = tree, machine, bases, host_cpu
        self._quota_above = None if top is None else quota_above(tree, bases.get("cpu", top), top)

    @abstractmethod
    def _prepare(self) -> None:
        """Make the bases, as far as it can be done."""

    @abstractmethod
    def _settings(
        self, limits: Limits, cpus: Collection[int], throttle: Throttle | None
    ) -> Iterator[tuple[str, str, str]]:
        """The controller, the file and the value of each limit."""

    @abstractmethod
    def _lacking(self, controller: str, file: str, control: Control) -> Capability | None:
        """Why a file is not to be had; None where it is."""

    @abstractmethod
    def _readings(self, devices: Collection[str]) -> list[Reading]:
        """The counter files of a group; what is read and written is that of these devices."""

    @abstractmethod
    def _kill(self, directories: Collection[Path]) -> None:
        """Signal all processes of these groups once."""

    def _ready(self, folders: Mapping[str, Path], devices: Collection[str]) -> None:
        """What a new group needs before its limits."""

    def capabilities(self) -> tuple[Capability, ...]:
        bases = set(self._bases.values())
        try:
            for _ in range(TRIES):
                with suppress(FileNotFoundError):
                    self._prepare()
                capabilities = self._capabilities()
                # Another sizer, a `doctor` say, may have removed one meanwhile.
                if all(base.is_dir() for base in bases):
                    break
            return capabilities
        finally:
            for base in bases:
                remove_base(self._tree, base)

    def _capabilities(self) -> tuple[Capability, ...]:
        how = below_quota("cpuset" if _has_cpuset(self._bases) else "CPU affinity", self._quota_above)
        capabilities = [Capability(Control.VCPUS, True, how)]
        for control, (controller, file) in self.controls.items():
            capability = self._lacking(controller, file, control) or Capability(control, True, file)
            uncounted = control is Control.MEMORY and self._machine.swap_bytes and capability.available
            if uncounted and not self._counts_swap():
                reason = Message("this kernel does not count the swap of a group")
                capability = Capability(control, False, reason, "sudo swapoff -a")
            capabilities.append(capability)
        return tuple(capabilities)

    def _counts_swap(self) -> bool:
        return (self._bases["memory"] / self.swap_file).exists()

    def open(
        self, run_id: str, limits: Limits, throttle: Throttle | None = None, processes: int | None = None
    ) -> Group:
        require(self, limits, throttle)
        cpus, name = self.cpus_for(limits), owned_name(run_id)
        folders = {controller: base / name for controller, base in self._bases.items()}
        # Controllers that are mounted together, as cpu,cpuacct often are, share one directory.
        distinct = tuple(dict.fromkeys(folders.values()))
        make_group(self._tree, self._prepare, distinct)
        held = Held(self._tree)
        try:
            devices = physical_disks(self._tree) if throttle is None else frozenset({throttle.device})
            self._ready(folders, devices)
            settings = [*self._settings(limits, cpus, throttle)]
            if processes is not None:
                settings.append(("pids", "pids.max", str(processes)))
            for controller, file, value in settings:
                path = folders.get(controller)
                if path is not None and (file not in {*self.optional, self.swap_file} or (path / file).exists()):
                    held.hold(path / file, value)
            counters = Counters(self._files(folders, devices), self._machine.uncounted)
        except BaseException:
            self._remove(distinct)
            raise
        by_cpuset, pids = _has_cpuset(folders), folders.get("pids")
        counted = processes if pids is not None and (pids / "pids.max").exists() else None
        record = limited_by(self.name, limits, cpus, self.topology, throttle, by_cpuset, counted)
        return ControlGroup(self._tree, distinct, cpus, record, held, counters, self._kill, not by_cpuset)

    def _files(self, folders: Mapping[str, Path], devices: Collection[str]) -> dict[Path, Reading]:
        """The counter files of a group and of its host; those of disks count these devices alone."""
        of_group = {
            folders[reading.controller] / reading.file: reading
            for reading in self._readings(devices)
            if reading.controller in folders
        }
        return {**of_group, **self._host_cpu, self._tree.path(STEAL.file): STEAL}

    def remove_leftovers(self) -> tuple[str, ...]:
        groups = leftovers(set(self._bases.values()))
        kill_until_empty(self._tree, groups, self._kill)
        self._remove(groups)
        return tuple(sorted({group.name for group in groups}))

    def _remove(self, groups: Collection[Path]) -> None:
        for group in groups:
            self._tree.discard(group)
            remove_base(self._tree, group.parent)


def _has_cpuset(folders: Mapping[str, Path]) -> bool:
    return "cpuset" in folders and (folders["cpuset"] / "cpuset.cpus").exists()


def rate_lines(throttle: Throttle, names: Mapping[str, str]) -> dict[str, str]:
    """Each rate of the throttle under its name in the kernel; `max` where it is not limited, and never 0."""
    rates = {name: getattr(throttle.rates, rate) for rate, name in names.items()}
    return {name: "max" if rate is None else str(max(1, round(rate))) for name, rate in rates.items()}

"""A group of the kernel, in one hierarchy or several: join, sample, kill until empty, remove."""

from __future__ import annotations

import errno
import os
import signal
import time
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass
from math import ceil
from pathlib import Path
from typing import Protocol, TypeVar

from sizer.limits.identity import BASE, KILL_SECONDS, owner_is_dead
from sizer.limits.interface import Group, Throttle
from sizer.limits.supervised import join_command
from sizer.limits.topology import Topology, beyond, format_cpus, named, threads_of
from sizer.limits.tree import Held, Tree, keyed
from sizer.records.messages import HostError
from sizer.records.run import LimitedBy, LimitedByKind, Sample
from sizer.records.study import Limits

PERIOD_MICROSECONDS = 100_000
"""The kernel's default. A 10 ms period cuts the stalls at 0.25 vCPU from 92 to 11 ms and costs 3-4 % of the rate."""

Found = TypeVar("Found")

TRIES = 3
"""To make a base that another sizer, which closed its last group, took along."""


LOOKS = 3
"""How often a thread must be seen outside its group before it counts as escaped."""

LOOK_SECONDS = 0.05
"""Between two looks: a loaded host takes a while to end a thread."""


def quota_microseconds(vcpus: float | None) -> int | None:
    """The CPU time a period for a fraction of vCPUs; None for whole ones, which the cpuset holds without stalls."""
    if vcpus is None or vcpus == ceil(vcpus):
        return None
    return round(vcpus * PERIOD_MICROSECONDS)


class Counters(Protocol):
    """What a group's counter files say."""

    accounted: frozenset[str]

    def sample(self, time: float) -> Sample:
        """The counters now."""

    def close(self) -> None:
        """Give the descriptors back."""


@dataclass(frozen=True)
class GroupPath:
    """Where a group is: its directory in each hierarchy, its CPUs, and whether affinity has to hold them."""

    directories: tuple[Path, ...]
    cpus: tuple[int, ...]
    limited_by: LimitedBy
    by_affinity: bool = False


class ControlGroup(Group):
    """A group that the kernel keeps. `kill_all` signals every process in its directories once."""

    def __init__(
        self,
        tree: Tree,
        path: GroupPath,
        limits: Held,
        counters: Counters,
        kill_all: Callable[[Collection[Path]], None],
    ) -> None:
        self.limited_by = path.limited_by
        self.cpus = path.cpus
        self.accounted = counters.accounted
        self._tree = tree
        self._path = path
        self._limits = limits
        self._counters = counters
        self._kill_all = kill_all
        self._closed = False

    def command(self, argv: Sequence[str], report: int | None = None) -> list[str]:
        files = [directory / "cgroup.procs" for directory in self._path.directories]
        return join_command(argv, files, self.cpus if self._path.by_affinity else (), report)

    def sample(self, time: float) -> Sample:
        return self._counters.sample(time)

    def escaped(self, processes: Collection[int]) -> str | None:
        outside = self._outside(processes)
        for _ in range(LOOKS - 1):
            if not outside:
                break
            # A thread that ends leaves its group before it is dead; one that was moved stays outside.
            time.sleep(LOOK_SECONDS)
            still = self._outside(processes)
            outside = {thread: process for thread, process in outside.items() if thread in still}
        return named(set(outside.values())) or self._limits.changed()

    def _outside(self, processes: Collection[int]) -> dict[int, int]:
        """The process of each thread that is in none of the groups, or may run beside their CPUs."""
        # Before the groups' lists: of what is started meanwhile nothing is asked.
        threads = threads_of(processes)
        inside = [self._tree.threads(directory) for directory in self._path.directories]
        left = beyond(self.cpus, threads) if self._path.by_affinity else frozenset()
        return {
            thread: process
            for thread, process in threads.items()
            if thread in left or any(thread not in group for group in inside)
        }

    @property
    def ran_out_of_processes(self) -> bool:
        return any(keyed(self._tree.text(path / "pids.events")).get("max") for path in self._path.directories)

    def kill(self) -> None:
        kill_until_empty(self._tree, self._path.directories, self._kill_all)

    def close(self) -> None:
        if self._closed:
            return
        self.kill()
        self._counters.close()
        for directory in self._path.directories:
            self._tree.discard(directory)
            remove_base(self._tree, directory.parent)
        self._closed = True


def kill_until_empty(tree: Tree, directories: Collection[Path], kill_all: Callable[[Collection[Path]], None]) -> None:
    """Kill what is in these directories until nothing is; HostError if a process will not die."""
    deadline = time.monotonic() + KILL_SECONDS
    while pids := set().union(*(tree.processes(directory) for directory in directories)):
        if time.monotonic() > deadline:
            listing = " ".join(map(str, sorted(pids)))
            raise HostError(
                "Processes {listing} do not die; to see what they wait for, type: ps -o pid,stat,wchan,cmd {listing}",
                listing=listing,
            )
        kill_all(directories)
        time.sleep(0.002)


def signal_all(tree: Tree, directories: Collection[Path]) -> None:
    """SIGKILL to every process in these directories."""
    for directory in directories:
        for pid in tree.processes(directory):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


def leftovers(bases: Collection[Path]) -> list[Path]:
    """The groups under these bases whose sizer is dead, and that we may empty: an ordinary user cannot end root's."""
    found = []
    for base in bases:
        with suppress(FileNotFoundError, NotADirectoryError):  # Another sizer removed the last of them.
            found += [group for group in base.iterdir() if owner_is_dead(group.name) and _may_empty(group)]
    return sorted(found)


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


def with_bases(bases: Collection[Path], prepare: Callable[[], None], look: Callable[[], Found]) -> Found:
    """What `look` finds in the bases that `prepare` makes: again if another sizer, a `doctor` say, removed one."""
    for _ in range(TRIES):
        with suppress(FileNotFoundError):
            prepare()
        found = look()
        if all(base.is_dir() for base in bases):
            break
    return found


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

"""The files of control groups: the one place that reads and writes them."""

from __future__ import annotations

import os
import re
import time
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sizer.records.messages import HostError, Message
from sizer.records.run import Sample

REMOVAL_SECONDS = 5.0
"""How long a removed group may stay busy after its last process: the kernel frees it a moment later."""


class Tree:
    """The file system under `root`; `/` but for tests, which describe a host in a folder."""

    def __init__(self, root: Path = Path("/")) -> None:
        self.root = root

    def path(self, absolute: str) -> Path:
        """Where an absolute path of the host lies."""
        return self.root / absolute.lstrip("/")

    def read(self, file: Path) -> str:
        """The text of a file; OSError as the kernel gives it."""
        return file.read_text()

    def text(self, file: Path) -> str:
        """The text of a file, empty where it cannot be read."""
        try:
            return self.read(file)
        except OSError:
            return ""

    def write(self, file: Path, value: str) -> None:
        """Write in one call, because the kernel takes a value whole; OSError as the kernel gives it."""
        descriptor = os.open(file, os.O_WRONLY)
        try:
            os.write(descriptor, value.encode())
        finally:
            os.close(descriptor)

    def writable(self, path: Path) -> bool:
        """Whether we may write there; read-only mounts count as no."""
        return os.access(path, os.W_OK)

    def make(self, directory: Path) -> None:
        """Make a group; OSError as the kernel gives it."""
        directory.mkdir()

    def below(self, directory: Path) -> list[Path]:
        """The group and the groups inside it, the innermost first."""
        try:
            inner = [entry for entry in directory.iterdir() if entry.is_dir()]
        except OSError:
            return []
        return [*(group for entry in inner for group in self.below(entry)), directory]

    def processes(self, directory: Path) -> set[int]:
        """The pids in a group and below; 0 means one in another pid namespace and is left out."""
        listings = [self.text(group / "cgroup.procs") for group in self.below(directory)]
        return {int(pid) for listing in listings for pid in listing.split()} - {0}

    def threads(self, directory: Path) -> set[int]:
        """The threads in a group and below, each of which v1 can move alone."""
        listings = [
            self.text(group / "tasks") or self.text(group / "cgroup.threads") for group in self.below(directory)
        ]
        return {int(thread) for listing in listings for thread in listing.split()}

    def discard(self, directory: Path) -> None:
        """Remove an empty group and the groups inside it; HostError if it stays busy."""
        deadline = time.monotonic() + REMOVAL_SECONDS
        for group in self.below(directory):
            while True:
                try:
                    self.remove(group)
                    break
                except FileNotFoundError:
                    break
                except OSError as error:
                    if time.monotonic() > deadline:
                        raise HostError(
                            "{group} could not be removed ({reason}); when it is empty, type: rmdir {group}",
                            group=group,
                            reason=error.strerror,
                        ) from error
                    time.sleep(0.005)

    def remove(self, directory: Path) -> None:
        """Remove one group; OSError as the kernel gives it."""
        directory.rmdir()


class Held:
    """Limits that were set and read back, to be looked at again: a program of root's can set them, too."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._lines: list[tuple[Path, str]] = []

    def hold(self, file: Path, value: str) -> None:
        """Write a limit and find it again among the file's lines; HostError if it does not hold."""
        try:
            self._tree.write(file, value)
            text = self._tree.read(file)
        except OSError as error:
            raise HostError(
                "{file} did not accept {value} ({reason}); to see what this host allows, type: sizer doctor",
                file=file,
                value=repr(value),
                reason=error.strerror,
            ) from error
        if not _reads(text, value):
            raise HostError(
                "{file} was set to {value} and reads {found}, so the limit does not hold; to see what this host "
                "allows, type: sizer doctor",
                file=file,
                value=repr(value),
                found=repr(text.strip()),
            )
        self._lines.append((file, value))

    def changed(self) -> str | None:
        """The file of the first that no longer reads as it was set."""
        return next((file.name for file, value in self._lines if not _reads(self._tree.text(file), value)), None)


def _reads(text: str, value: str) -> bool:
    return value in [line.strip() for line in text.splitlines()]


Lines = Mapping[str, int]
"""The numbers of a counter file by their lines' names, the empty one where it has but one; 0 for a missing one."""


def keyed(text: str) -> Counter[str]:
    """`key number` lines, as in cpu.stat and memory.stat, or one number."""
    words = (line.split() for line in text.splitlines())
    return Counter({pair[0] if len(pair) == 2 else "": int(pair[-1]) for pair in words if len(pair) in (1, 2)})


def line_count(text: str) -> Counter[str]:
    """How many lines a listing has."""
    return Counter({"": text.count("\n")})


def number(name: str = "", unit: float | None = None) -> Callable[[Lines], float]:
    """What reads one line, in so many of a `unit`."""
    return lambda lines: lines[name] if unit is None else lines[name] / unit


@dataclass(frozen=True)
class Reading:
    """The fields of `Sample` that a controller's counter file gives; None for what it does not say."""

    controller: str
    file: str
    fields: Mapping[str, Callable[[Lines], float | None]]
    parse: Callable[[str], Lines] = keyed


class Counters:
    """The counter files of a group, kept open: a sample costs 0.12 ms so, against 2 ms when they are opened each time.

    `accounted` are the fields that they say, without the `uncounted` ones, which stay at 0.
    """

    def __init__(self, readings: Mapping[Path, Reading], uncounted: Collection[str] = ()) -> None:
        self._open: list[tuple[Path, int, Reading]] = []
        for file, reading in readings.items():
            try:
                descriptor = os.open(file, os.O_RDONLY | os.O_CLOEXEC)
            except OSError:
                continue  # A controller that this host lacks.
            if _readable(descriptor):
                self._open.append((file, descriptor, reading))
            else:
                os.close(descriptor)
        self.accounted = frozenset(self._values()) - frozenset(uncounted)

    def sample(self, time: float) -> Sample:
        """The counters now."""
        return Sample(time, **self._values())

    def _values(self) -> dict[str, Any]:
        values = {}
        for file, descriptor, reading in self._open:
            lines = reading.parse(_listing(file) if reading.parse is line_count else _text(descriptor))
            values.update({field: value(lines) for field, value in reading.fields.items()})
        return {field: value for field, value in values.items() if value is not None}

    def close(self) -> None:
        """Close every file; a second call does nothing."""
        while self._open:
            os.close(self._open.pop()[1])


def _text(descriptor: int) -> str:
    return os.pread(descriptor, 65536, 0).decode()


def _listing(file: Path) -> str:
    """Opened each time: version 1 goes on showing a reader what it has listed once (`cgroup_pidlist_start`)."""
    try:
        return file.read_text()
    except OSError:
        return ""


def _readable(descriptor: int) -> bool:
    """Pressure files can be there and refuse to be read where the kernel was started with psi=0 (EOPNOTSUPP)."""
    try:
        os.pread(descriptor, 1, 0)
    except OSError:
        return False
    return True


_SOME = re.compile(r"^some .*\btotal=(\d+)", re.MULTILINE)


def stalls(text: str) -> Counter[str]:
    """The sum of a pressure file's `some` line, in microseconds (Linux, Documentation/accounting/psi.rst)."""
    total = _SOME.search(text)
    return Counter({"some": int(total[1]) if total else 0})


def pressure(controller: str) -> list[Reading]:
    """Seconds in which some task of the group waited for each resource."""
    return [
        Reading(controller, f"{resource}.pressure", {f"{resource}_stall": number("some", 1e6)}, stalls)
        for resource in ("cpu", "memory", "io")
    ]


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


def steal_ticks(text: str) -> Counter[str]:
    """Ticks stolen from all CPUs since boot, from /proc/stat; none where the kernel does not say."""
    columns = text.partition("\n")[0].split()
    has_steal = len(columns) > STEAL_COLUMN and columns[0] == "cpu"
    return Counter({"steal": int(columns[STEAL_COLUMN])} if has_steal else {})


def _steal(lines: Lines) -> float | None:
    return lines["steal"] / os.sysconf("SC_CLK_TCK") if "steal" in lines else None


STEAL = Reading("host", "/proc/stat", {"steal_core_seconds": _steal}, steal_ticks)
"""What the hypervisor withheld from this host's CPUs."""


def quota_above(tree: Tree, group: Path, top: Path) -> float | None:
    """The smallest quota from this group, or the nearest above it that exists, up to `top`; in vCPUs, None for none."""
    on_the_way = [group, *group.parents]
    if top in on_the_way:
        on_the_way = on_the_way[: on_the_way.index(top) + 1]
    quotas = [quota for path in on_the_way if (quota := quota_of(tree, path)) is not None]
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

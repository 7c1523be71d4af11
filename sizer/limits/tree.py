"""The files of control groups: the one place that reads and writes them."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from pathlib import Path

from sizer.records.errors import HostError

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

    def hold(self, file: Path, value: str) -> None:
        """Write a limit and find it again among the file's lines; HostError if it does not hold."""
        try:
            self.write(file, value)
            found = self.read(file)
        except OSError as error:
            raise HostError(
                "{file} did not accept {value} ({reason}); to see what this host allows, type: sizer doctor",
                file=file,
                value=repr(value),
                reason=error.strerror,
            ) from error
        if not _reads(found, value):
            raise HostError(
                "{file} was set to {value} and reads {found}, so the limit does not hold; to see what this host "
                "allows, "
                "type: sizer doctor",
                file=file,
                value=repr(value),
                found=repr(found.strip()),
            )

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
        self._tree.hold(file, value)
        self._lines.append((file, value))

    def changed(self) -> str | None:
        """The file of the first that no longer reads as it was set."""
        return next((file.name for file, value in self._lines if not _reads(self._tree.text(file), value)), None)


def _reads(text: str, value: str) -> bool:
    return value in [line.strip() for line in text.splitlines()]


class OpenFiles:
    """Counter files kept open: a sample costs 0.12 ms so, against 2 ms when they are opened each time."""

    def __init__(self, files: Mapping[str, Path]) -> None:
        self._files = dict(files)
        self._descriptors: dict[str, int] = {}
        for name, file in files.items():
            try:
                descriptor = os.open(file, os.O_RDONLY | os.O_CLOEXEC)
            except OSError:
                continue  # A controller that this host lacks: see `names`.
            if _readable(descriptor):
                self._descriptors[name] = descriptor
            else:
                os.close(descriptor)

    @property
    def names(self) -> frozenset[str]:
        """The counters that are there."""
        return frozenset(self._descriptors)

    def text(self, name: str) -> str:
        """What a counter file says now; empty where it is not there."""
        descriptor = self._descriptors.get(name)
        return "" if descriptor is None else os.pread(descriptor, 65536, 0).decode()

    def number(self, name: str) -> int:
        """A counter file that holds one number; 0 where it is not there."""
        return int(self.text(name) or 0)

    def count(self, name: str) -> int:
        """The lines of a listing; 0 where it is not there.

        It is opened each time: version 1 goes on showing a reader what it has listed once (`cgroup_pidlist_start`).
        """
        if name not in self._descriptors:
            return 0
        try:
            return self._files[name].read_bytes().count(b"\n")
        except OSError:
            return 0

    def close(self) -> None:
        """Close every descriptor; a second call does nothing."""
        while self._descriptors:
            os.close(self._descriptors.popitem()[1])


def _readable(descriptor: int) -> bool:
    """Pressure files can be there and refuse to be read where the kernel was started with psi=0 (EOPNOTSUPP)."""
    try:
        os.pread(descriptor, 1, 0)
    except OSError:
        return False
    return True


def keyed(text: str) -> dict[str, int]:
    """`key number` lines, as in cpu.stat and memory.stat."""
    pairs = (line.split() for line in text.splitlines())
    return {pair[0]: int(pair[1]) for pair in pairs if len(pair) == 2}

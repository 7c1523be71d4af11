"""An initial file system for an emulated machine, packed from files of this one.

The interpreter, its standard library and every shared library are found by asking (sysconfig, ldd, package metadata)
and lie in the guest where they lie here, so that no path is written down.
"""

from __future__ import annotations

import os
import re
import stat
import subprocess
import sys
import sysconfig
from collections.abc import Iterable, Iterator
from importlib import metadata
from pathlib import Path

UNUSED = {"test", "tests", "idlelib", "ensurepip", "tkinter", "turtledemo", "lib2to3", "site-packages", "dist-packages"}
"""Folders of the standard library that the guest does without."""


class Initramfs:
    """A `newc` cpio archive being collected (Linux, Documentation/driver-api/early-userspace/buffer-format.rst)."""

    def __init__(self) -> None:
        self._entries: dict[str, tuple[int, int, bytes | Path]] = {}

    def folder(self, path: str) -> None:
        """A folder and those above it."""
        for each in [*reversed(Path(path).parents), Path(path)]:
            if str(each) != "/":
                self._entries.setdefault(str(each).lstrip("/"), (stat.S_IFDIR | 0o755, 0, b""))

    def file(self, source: Path, target: str | None = None) -> None:
        """A file of this machine, at the same path unless `target` says another; links are followed."""
        place = target or str(source)
        self.folder(str(Path(place).parent))
        found = source.stat()
        # Compiled Python files are valid for one modification time of their source: the times go along.
        self._entries[place.lstrip("/")] = (found.st_mode, int(found.st_mtime), source)

    def text(self, path: str, content: str, mode: int = 0o755) -> None:
        """A file with this content."""
        self.folder(str(Path(path).parent))
        self._entries[path.lstrip("/")] = (stat.S_IFREG | mode, 0, content.encode())

    def link(self, path: str, target: str) -> None:
        """A symbolic link."""
        self.folder(str(Path(path).parent))
        self._entries[path.lstrip("/")] = (stat.S_IFLNK | 0o777, 0, target.encode())

    def program(self, source: Path, target: str | None = None) -> None:
        """A program or shared library with the libraries that ldd names."""
        self.file(source, target)
        for library in libraries(source):
            self.file(library)

    def tree(self, folder: Path, unused: Iterable[str] = ()) -> None:
        """Every file below a folder, with the libraries of the shared objects among them."""
        for place, folders, files in os.walk(folder):
            folders[:] = [each for each in folders if each not in unused]
            for name in files:
                path = Path(place, name)
                if path.suffix == ".so" or ".so." in name:
                    self.program(path)
                elif path.is_file():
                    self.file(path)

    def write(self, archive: Path) -> None:
        """Write the archive, uncompressed: unpacking would take the emulated CPU longer than loading."""
        with archive.open("wb") as output:
            for number, (name, (mode, time, content)) in enumerate(self._entries.items(), start=1):
                data = content if isinstance(content, bytes) else content.read_bytes()
                output.write(_record(number, name, mode, time, data))
            output.write(_record(0, "TRAILER!!!", 0, 0, b""))


def _record(number: int, name: str, mode: int, time: int, data: bytes) -> bytes:
    encoded = name.encode() + b"\0"
    fields = (number, mode, 0, 0, 1, time, len(data), 0, 0, 0, 0, len(encoded), 0)
    header = b"070701" + "".join(f"{field:08X}" for field in fields).encode() + encoded
    return _padded(header) + _padded(data)


def _padded(data: bytes) -> bytes:
    return data + b"\0" * (-len(data) % 4)


def libraries(program: Path) -> list[Path]:
    """The shared libraries of a program as its loader finds them, the loader among them."""
    shown = subprocess.run(["ldd", str(program)], capture_output=True, text=True)
    return [Path(path) for path in re.findall(r"(/\S+) \(0x", shown.stdout)]


def add_python(image: Initramfs, distributions: Iterable[str]) -> dict[str, str]:
    """This interpreter, its standard library and these distributions with what they require.

    Returns the guest's environment: where the interpreter is and what it needs to find its modules.
    """
    executable = Path(sys.executable).resolve()
    image.program(executable)
    for name in ("stdlib", "platstdlib"):
        # In a virtual environment `platstdlib` names a folder of the environment; the library stays with its base.
        folder = Path(sysconfig.get_path(name, vars={"base": sys.base_prefix, "platbase": sys.base_prefix}))
        if folder.is_dir():
            image.tree(folder, UNUSED)
    roots = set()
    for distribution in _required(distributions):
        for file in distribution.files or ():
            path = Path(str(distribution.locate_file(file)))
            if ".." not in file.parts and path.is_file():
                image.program(path) if path.suffix == ".so" else image.file(path)
        roots.add(str(distribution.locate_file("")))
    return {"python": str(executable), "path": os.pathsep.join(sorted(roots))}


def _required(names: Iterable[str]) -> Iterator[metadata.Distribution]:
    """These distributions and, without extras, those they require and this interpreter has."""
    waiting, seen = list(names), set()
    while waiting:
        name = waiting.pop()
        if name in seen:
            continue
        seen.add(name)
        try:
            distribution = metadata.distribution(name)
        except metadata.PackageNotFoundError:
            continue  # Required on another system or Python alone.
        yield distribution
        waiting += [
            re.split(r"[\s;<>=!~\[(]", line, maxsplit=1)[0]
            for line in distribution.requires or ()
            if "extra ==" not in line
        ]


def add_modules(image: Initramfs, folder: Path, names: Iterable[str]) -> list[str]:
    """Kernel modules and what they depend on, in the order to load them; those built in are passed over."""
    files = {path.name[: -len(".ko")].replace("-", "_"): path for path in folder.rglob("*.ko")}
    order: list[str] = []

    def add(name: str) -> None:
        path = files.get(name.replace("-", "_"))
        if path is None or f"/modules/{path.name}" in order:
            return
        depends = re.search(rb"\0depends=([^\0]*)\0", path.read_bytes())
        for needed in depends[1].decode().split(",") if depends else ():
            add(needed)
        image.file(path, f"/modules/{path.name}")
        order.append(f"/modules/{path.name}")

    for name in names:
        add(name)
    return order

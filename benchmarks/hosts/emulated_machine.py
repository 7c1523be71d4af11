"""A machine that QEMU emulates in software: its programs and its kernel, found or fetched, its first file system, and
its boot.

Needs no virtualisation of this host. The kernel is Debian's current one for clouds, from apt, kept for the next time.
The file system is packed from files of this machine: the interpreter, its standard library and every shared library
are found by asking (sysconfig, ldd, package metadata) and lie in the guest where they lie here.
"""

from __future__ import annotations

import os
import re
import shutil
import stat
import subprocess
import sys
import sysconfig
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib import metadata
from pathlib import Path
from typing import NoReturn

CACHE = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "sizer"
KERNEL_FOLDER = CACHE / "v2_kernel"
KERNEL = "linux-image-cloud-amd64"
PACKAGES = {"qemu-system-x86_64": "qemu-system-x86", "busybox": "busybox-static"}
UNUSED = {"test", "tests", "idlelib", "ensurepip", "tkinter", "turtledemo", "lib2to3", "site-packages", "dist-packages"}
"""Folders of the standard library that the guest does without."""


def refuse(sentence: str) -> NoReturn:
    """End with 3: this host cannot do what was asked."""
    print(f"{Path(sys.argv[0]).stem}: {sentence}", file=sys.stderr)
    sys.exit(3)


def provide_programs(packages: Mapping[str, str] = PACKAGES) -> None:
    """Programs and the Debian packages that they are in: installed where we are root, named where not."""
    missing = [package for program, package in packages.items() if shutil.which(program) is None]
    if not missing:
        return
    install = ["apt-get", "install", "-y", "--no-install-recommends", *missing]
    may = os.geteuid() == 0 and shutil.which("apt-get") is not None
    if not may or subprocess.run(install, stdout=sys.stderr).returncode != 0:
        refuse(f"{' and '.join(missing)} cannot be found; type: sudo {' '.join(install)}")


def provide_kernel(folder: Path) -> Path:
    """The kernel, unpacked into `folder` with its modules; kept there for the next time."""
    for kernel in sorted(folder.glob("boot/vmlinuz-*")):
        return kernel
    folder.mkdir(parents=True, exist_ok=True)
    depends = subprocess.run(["apt-cache", "depends", KERNEL], capture_output=True, text=True).stdout
    package = re.search(r"Depends: (linux-image-\S+)", depends)
    fetched = package and subprocess.run(["apt-get", "download", package[1]], cwd=folder, stdout=sys.stderr)
    archives = list(folder.glob("linux-image-*.deb"))
    if not fetched or fetched.returncode != 0 or not archives:
        refuse(f"apt offers no {KERNEL}; type: sudo apt-get update")
    subprocess.run(["dpkg-deb", "-x", str(archives[0]), str(folder)], check=True)
    archives[0].unlink()
    return next(folder.glob("boot/vmlinuz-*"))


def add_busybox(image: Initramfs, applets: Iterable[str]) -> None:
    """Busybox as /bin/busybox, and a link for each of these applets."""
    image.program(Path(shutil.which("busybox") or ""), "/bin/busybox")
    for applet in applets:
        image.link(f"/bin/{applet}", "busybox")


def boot(
    kernel: Path,
    image: Path,
    disks: Sequence[Path],
    result: Path,
    seconds: float,
    *,
    mebibytes: int = 1024,
    kept: bool = False,
) -> float:
    """Run a guest of two CPUs until it powers off, for so many seconds at most; returns the seconds that took.

    What the guest writes to its second serial line lands in `result`, its console on stderr. Where the disks are to be
    `kept` they stay as they are.
    """
    begin = time.monotonic()
    # panic=-1 with -no-reboot ends a guest that could not start.
    command = ["qemu-system-x86_64", "-accel", "tcg,thread=multi", "-cpu", "max", "-smp", "2", "-m", str(mebibytes)]
    command += ["-display", "none", "-no-reboot", "-nodefaults", "-serial", "stdio", "-serial", f"file:{result}"]
    command += ["-kernel", str(kernel), "-initrd", str(image), "-append", "console=ttyS0 quiet panic=-1"]
    for disk in disks:
        command += ["-drive", f"file={disk},if=virtio,format=raw,cache=unsafe,snapshot={'on' if kept else 'off'}"]
    try:
        subprocess.run(command, stdin=subprocess.DEVNULL, stdout=sys.stderr, timeout=seconds, check=False)
    except subprocess.TimeoutExpired:
        print(f"{Path(sys.argv[0]).stem}: the guest was stopped after {seconds:g} s", file=sys.stderr)
    return time.monotonic() - begin


class Initramfs:
    """A `newc` cpio archive being collected (Linux, Documentation/driver-api/early-userspace/buffer-format.rst)."""

    def __init__(self) -> None:
        self._entries: dict[str, tuple[int, int, bytes | Path]] = {}

    def folder(self, path: str) -> None:
        """A folder and those above it."""
        for folder in [*reversed(Path(path).parents), Path(path)]:
            if str(folder) != "/":
                self._entries.setdefault(str(folder).lstrip("/"), (stat.S_IFDIR | 0o755, 0, b""))

    def file(self, source: Path, target: str | None = None) -> None:
        """A file of this machine, at the same path unless `target` says another; links are followed."""
        place = target or str(source)
        self.folder(str(Path(place).parent))
        status = source.stat()
        # Compiled Python files are valid for one modification time of their source: the times go along.
        self._entries[place.lstrip("/")] = (status.st_mode, int(status.st_mtime), source)

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
            folders[:] = [folder for folder in folders if folder not in unused]
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

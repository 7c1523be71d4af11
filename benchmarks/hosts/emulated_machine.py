"""A machine that QEMU emulates in software: its programs and its kernel, found or fetched, and its boot.

Needs no virtualisation of this host. The kernel is Debian's current one for clouds, from apt, kept for the next time.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NoReturn

from initramfs import Initramfs

CACHE = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "sizer"
KERNEL_FOLDER = CACHE / "v2_kernel"
KERNEL = "linux-image-cloud-amd64"
PACKAGES = {"qemu-system-x86_64": "qemu-system-x86", "busybox": "busybox-static"}


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

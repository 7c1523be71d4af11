"""A small Debian whose init is systemd, with what sizer requires of PyPI, and sizer as it is here copied over it."""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

from emulated_machine import Initramfs, add_busybox, add_modules, provide_programs, refuse

PROJECT = Path(__file__).resolve().parents[2]
SUITE, MIRROR, PYTHON = "bookworm", "http://deb.debian.org/debian", "3.11"
PACKAGES = (
    *("systemd", "systemd-sysv", "dbus", "dbus-user-session", "libpam-systemd", "sudo"),
    *("python3", "e2fsprogs", "mount", "fio"),
)
LIBRARIES = f"usr/local/lib/python{PYTHON}/dist-packages"
OF_THE_WORKLOADS = {"mxnet", "setuptools", "opencv-python-headless", "lmdb"}
"""What sizer requires for its own workloads; the studies here measure commands."""

APPLETS = ("sh", "mount", "umount", "insmod", "cp", "switch_root")
ROOT_BYTES = 3 << 30

INIT = """#!/bin/busybox sh
export PATH=/bin
mount -t proc proc /proc; mount -t sysfs sys /sys; mount -t devtmpfs dev /dev
for module in {modules}; do insmod $module; done
mount -t ext4 /dev/vda /root
cp -a /payload/. /root/
umount /proc; umount /sys
exec switch_root /root /sbin/init
"""

SERVICE = """[Unit]
After=systemd-logind.service systemd-user-sessions.service dbus.service
[Service]
Type=oneshot
Environment=HOME=/root PYTHONDONTWRITEBYTECODE=1
ExecStart=/usr/bin/python3 -S /opt/systemd_guest.py host /dev/ttyS1
ExecStopPost=/usr/bin/systemctl poweroff --force
StandardOutput=journal+console
StandardError=journal+console
TimeoutStartSec=infinity
"""

SIZER = """#!/usr/bin/python3
import sys
from sizer.cli import main
sys.exit(main())
"""


def requirements() -> list[str]:
    """What sizer requires beside its own workloads' libraries, as its installed metadata says."""
    named = [line.partition(";") for line in metadata.requires("sizer") or ()]
    wanted = [
        name.strip()
        for name, _, marker in named
        if "extra" not in marker and re.split(r"[<>=~! ]", name, maxsplit=1)[0] not in OF_THE_WORKLOADS
    ]
    return sorted(wanted)


def provide_root(folder: Path) -> Path:
    """The Debian as an ext4 image, made by this recipe once."""
    recipe = json.dumps([SUITE, MIRROR, PACKAGES, requirements(), ROOT_BYTES])
    image = folder / f"root-{hashlib.sha256(recipe.encode()).hexdigest()[:12]}.ext4"
    if image.exists():
        return image
    if os.geteuid() != 0:
        refuse("only root makes a Debian with mmdebstrap; type: sudo and the rest of the command")
    provide_programs({"mmdebstrap": "mmdebstrap"})
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder) as aside:
        root, wheels, unfinished = (Path(aside, name) for name in ("root", "wheels", "image"))
        options = ["--variant=minbase", f"--include={','.join(PACKAGES)}", '--aptopt=Apt::Install-Recommends "false"']
        _step(["mmdebstrap", *options, SUITE, str(root), f"deb {MIRROR} {SUITE} main"], "see what apt says above")
        options = [f"--python-version={PYTHON}", "--only-binary=:all:", "--no-cache-dir", f"--dest={wheels}"]
        options += [f"--platform={name}_x86_64" for name in ("manylinux2014", "manylinux_2_28")]
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check"]
        _step([*pip, *options, *requirements()], "see what pip says above")
        for wheel in wheels.glob("*.whl"):
            zipfile.ZipFile(wheel).extractall(root / LIBRARIES)
        # As an ordinary user nothing can be compiled there later, and an emulated CPU is slow at it.
        _step(["chroot", str(root), "python3", "-m", "compileall", "-q", f"/{LIBRARIES}"], "see what Python says above")
        unfinished.touch()
        os.truncate(unfinished, ROOT_BYTES)
        _step(["mkfs.ext4", "-q", "-F", "-d", str(root), str(unfinished)], "install e2fsprogs")
        unfinished.rename(image)
    return image


def _step(command: list[str], advice: str) -> None:
    if subprocess.run(command, stdout=sys.stderr).returncode != 0:
        refuse(f"`{' '.join(command[:4])} ...` failed; {advice}")


def build(image_file: Path, modules: Path) -> None:
    """What is copied over the Debian at its boot: sizer as it is here, and the guest's program as a service."""
    image = Initramfs()
    for folder in ("/proc", "/sys", "/dev", "/root", "/bin", "/payload"):
        image.folder(folder)
    add_busybox(image, APPLETS)
    for source, target in sources():
        image.file(source, f"/payload/{LIBRARIES}/{target}")
    image.text("/payload/usr/local/bin/sizer", SIZER)
    image.text("/payload/etc/hostname", "emulated\n", 0o644)
    image.text("/payload/etc/hosts", "127.0.0.1 localhost emulated\n", 0o644)
    image.file(PROJECT / "benchmarks/hosts/systemd_guest.py", "/payload/opt/systemd_guest.py")
    units = "/payload/etc/systemd/system"
    image.text(f"{units}/sizer-guest.service", SERVICE, 0o644)
    image.link(f"{units}/multi-user.target.wants/sizer-guest.service", "../sizer-guest.service")
    loaded = add_modules(image, modules, ["virtio_pci", "virtio_blk", "loop"])
    image.text("/init", INIT.format(modules=" ".join(loaded)))
    image.write(image_file)


def sources() -> Iterator[tuple[Path, str]]:
    """sizer's files as they are installed: `workloads` and `reports` are links inside; the photographs not."""
    for place, folders, files in os.walk(PROJECT / "sizer", followlinks=True):
        folders[:] = [folder for folder in folders if folder != "__pycache__"]
        for name in files:
            if not name.endswith((".jpg", ".txt")):
                yield Path(place, name), os.path.relpath(Path(place, name), PROJECT)

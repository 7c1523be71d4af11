"""Run the cgroup v2 limits on a real v2 kernel in an emulated machine: `python benchmarks/v2_kernel.py [--out FILE]`.

Needs no v2 host and no virtualisation: QEMU emulates two CPUs in software, boots Debian's cloud kernel with cgroup v2
alone, and runs there the contract tests, those of the real limits (with swap) and a few figures. It shows that the code
path holds; the emulated machine is slow, so that the cost of a sample is an upper bound. JSON to stdout, the guest's
console to stderr; ends with 0 if every test passed and every vCPU limit held, 1 if not, 3 if QEMU or the kernel cannot
be had here.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from initramfs import Initramfs, add_modules, add_python

PROJECT = Path(__file__).resolve().parents[1]
PACKAGES = {"qemu-system-x86_64": "qemu-system-x86", "busybox": "busybox-static"}
KERNEL = "linux-image-cloud-amd64"
APPLETS = (
    *("sh", "mount", "insmod", "poweroff", "mkswap", "swapon"),
    *("sleep", "dd", "env", "sync", "nproc", "taskset", "true"),
)
DISK_BYTES, SWAP_BYTES = 512 << 20, 128 << 20
GUEST_SECONDS = 240
SHARE_ABOVE, SHARE_BELOW = 0.03, 0.05
SHARE_BELOW_TWO_BUSY = 0.25
"""Above 1 vCPU both emulated CPUs are busy at once, and lack whatever else this host is doing meanwhile."""

INIT = """#!/bin/busybox sh
export PATH=/bin:/sbin:/usr/bin:/usr/sbin HOME=/tmp
mount -t proc proc /proc; mount -t sysfs sys /sys; mount -t devtmpfs dev /dev
mount -t cgroup2 cgroup2 /sys/fs/cgroup
for module in {modules}; do insmod $module; done
mount -t ext4 /dev/vda /disk
mkswap /dev/vdb >/dev/null; swapon /dev/vdb
cd {project} && PYTHONPATH={path} {python} {project}/benchmarks/v2_guest.py /dev/ttyS1 {project} /disk
poweroff -f
"""


def provide_programs() -> None:
    """QEMU and busybox: installed where we are root, named where not."""
    missing = [package for program, package in PACKAGES.items() if shutil.which(program) is None]
    if not missing:
        return
    install = ["apt-get", "install", "-y", "--no-install-recommends", *missing]
    if os.geteuid() != 0 or subprocess.run(install, stdout=sys.stderr).returncode != 0:
        sys.exit(_refused(f"{' and '.join(missing)} cannot be found; type: sudo {' '.join(install)}"))


def _refused(sentence: str) -> int:
    print(f"v2_kernel: {sentence}", file=sys.stderr)
    return 3


def provide_kernel(cache: Path) -> Path:
    """Debian's current cloud kernel, unpacked into `cache`; kept there for the next time."""
    for kernel in sorted(cache.glob("boot/vmlinuz-*")):
        return kernel
    cache.mkdir(parents=True, exist_ok=True)
    depends = subprocess.run(["apt-cache", "depends", KERNEL], capture_output=True, text=True).stdout
    package = re.search(r"Depends: (linux-image-\S+)", depends)
    fetched = package and subprocess.run(["apt-get", "download", package[1]], cwd=cache, stdout=sys.stderr)
    archives = list(cache.glob("linux-image-*.deb"))
    if not fetched or fetched.returncode != 0 or not archives:
        sys.exit(_refused(f"apt offers no {KERNEL}; type: sudo apt-get update"))
    subprocess.run(["dpkg-deb", "-x", str(archives[0]), str(cache)], check=True)
    archives[0].unlink()
    return next(cache.glob("boot/vmlinuz-*"))


def build(image_file: Path, modules: Path) -> None:
    """The guest's file system: busybox, this interpreter, sizer's limits and their tests."""
    image = Initramfs()
    for folder in ("/proc", "/sys", "/dev", "/tmp", "/disk", "/bin"):
        image.folder(folder)
    busybox = Path(shutil.which("busybox") or "")
    image.program(busybox, "/bin/busybox")
    for applet in APPLETS:
        image.link(f"/bin/{applet}", "busybox")
    image.link("/usr/bin/env", "/bin/busybox")
    image.program(Path(shutil.which("lscpu") or "/usr/bin/lscpu"))
    python = add_python(image, ["psutil", "pytest"])
    for folder in ("sizer/limits", "tests/limits"):
        image.tree(PROJECT / folder)
    for file in (
        "pyproject.toml",
        "sizer/__init__.py",
        "sizer/records.py",
        "sizer/errors.py",
        "sizer/subprograms.py",
        "sizer/disks.py",
        "sizer/page_cache.py",
        "benchmarks/v2_guest.py",
    ):
        image.file(PROJECT / file)
    loaded = add_modules(image, modules, ["virtio_pci", "virtio_blk"])
    path = os.pathsep.join([str(PROJECT), python["path"]])
    init = INIT.format(modules=" ".join(loaded), project=PROJECT, path=path, python=python["python"])
    image.text("/init", init)
    image.write(image_file)


def boot(kernel: Path, image: Path, disks: Iterable[Path], result: Path) -> float:
    """Run the guest until it powers off; returns the seconds that took."""
    begin = time.monotonic()
    # The kernel's memory controller comes on by itself; panic=-1 with -no-reboot ends a guest that could not start.
    command = ["qemu-system-x86_64", "-accel", "tcg,thread=multi", "-cpu", "max", "-smp", "2", "-m", "1024"]
    command += ["-display", "none", "-no-reboot", "-nodefaults", "-serial", "stdio", "-serial", f"file:{result}"]
    command += ["-kernel", str(kernel), "-initrd", str(image), "-append", "console=ttyS0 quiet panic=-1"]
    for disk in disks:
        command += ["-drive", f"file={disk},if=virtio,format=raw,cache=unsafe"]
    try:
        subprocess.run(command, stdin=subprocess.DEVNULL, stdout=sys.stderr, timeout=GUEST_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        print(f"v2_kernel: the guest was stopped after {GUEST_SECONDS} s", file=sys.stderr)
    return time.monotonic() - begin


def verdict(found: dict[str, Any]) -> list[str]:
    """What does not hold, in sentences; none if all is well."""
    if not found:
        return ["the guest ended without a result; the console above tells why"]
    wrong = []
    if found.get("backend") != "cgroup v2":
        wrong.append(f"the guest limits by {found.get('backend')}")
    if found.get("tests_exit_status") != 0:
        wrong.append("a contract test failed; its name is on the console above")
    wrong += [f"{each['control']} is not available" for each in found.get("capabilities", ()) if not each["available"]]
    for vcpus, share in found.get("core_share", {}).items():
        asked = float(vcpus)
        least = asked * (1 - (SHARE_BELOW if asked <= 1 else SHARE_BELOW_TWO_BUSY))
        if not least <= share <= asked * (1 + SHARE_ABOVE):
            wrong.append(f"{vcpus} vCPU gave {share} cores")
    if found.get("uncounted"):
        wrong.append(f"not counted: {', '.join(found['uncounted'])}")
    if found.get("groups_left"):
        wrong.append(f"groups are left: {found['groups_left']}")
    return wrong


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, help="also write the JSON here")
    default_cache = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "sizer" / "v2_kernel"
    parser.add_argument("--cache", type=Path, default=default_cache, help="where the kernel is kept [%(default)s]")
    arguments = parser.parse_args()
    provide_programs()
    kernel = provide_kernel(arguments.cache)
    begin = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        image, disk, swap, result = (Path(folder, name) for name in ("initramfs", "disk", "swap", "result"))
        build(image, arguments.cache / "lib" / "modules")
        for file, size in ((disk, DISK_BYTES), (swap, SWAP_BYTES)):
            file.touch()
            os.truncate(file, size)
        subprocess.run(["mkfs.ext4", "-q", "-F", str(disk)], check=True)
        build_seconds = time.monotonic() - begin
        qemu_seconds = boot(kernel, image, (disk, swap), result)
        lines = result.read_text().splitlines() if result.exists() else []
    found: dict[str, Any] = json.loads(lines[-1]) if lines else {}
    found["wrong"] = verdict(found)
    found["build_seconds"], found["qemu_seconds"] = round(build_seconds, 1), round(qemu_seconds, 1)
    text = json.dumps(found, indent=2)
    print(text)
    if arguments.out:
        arguments.out.write_text(text + "\n")
    return 1 if found["wrong"] else 0


if __name__ == "__main__":
    sys.exit(main())

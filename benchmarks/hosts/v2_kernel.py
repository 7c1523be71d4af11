"""The cgroup v2 limits on a real v2 kernel in an emulated machine: `python benchmarks/hosts/v2_kernel.py [--out FILE]`.

Needs no v2 host and no virtualisation: QEMU emulates two CPUs in software, boots Debian's cloud kernel with cgroup v2
alone, and runs there the contract tests and those of the real limits (with swap). It shows that the code path holds,
not speed. JSON to stdout, the guest's console to stderr; ends with 0 if every test passed, 1 if not, 3 if QEMU or the
kernel cannot be had here.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from emulated_machine import (
    KERNEL_FOLDER,
    Initramfs,
    add_busybox,
    add_modules,
    add_python,
    boot,
    provide_kernel,
    provide_programs,
)

PROJECT = Path(__file__).resolve().parents[2]
APPLETS = (
    *("sh", "mount", "insmod", "poweroff", "mkswap", "swapon"),
    *("cat", "sleep", "dd", "env", "sync", "nproc", "taskset", "true"),
)
DISK_BYTES, SWAP_BYTES = 512 << 20, 128 << 20
GUEST_SECONDS = 240

INIT = """#!/bin/busybox sh
export PATH=/bin:/sbin:/usr/bin:/usr/sbin HOME=/tmp
mount -t proc proc /proc; mount -t sysfs sys /sys; mount -t devtmpfs dev /dev
mount -t cgroup2 cgroup2 /sys/fs/cgroup
for module in {modules}; do insmod $module; done
mount -t ext4 /dev/vda /disk
mkswap /dev/vdb >/dev/null; swapon /dev/vdb
cd {project} && PYTHONPATH={path} {python} {project}/benchmarks/hosts/v2_guest.py /dev/ttyS1 {project} /disk
poweroff -f
"""


def build(image_file: Path, modules: Path) -> None:
    """The guest's file system: busybox, this interpreter, sizer's limits and their tests."""
    image = Initramfs()
    for folder in ("/proc", "/sys", "/dev", "/tmp", "/disk", "/bin"):
        image.folder(folder)
    add_busybox(image, APPLETS)
    image.link("/usr/bin/env", "/bin/busybox")
    image.program(Path(shutil.which("lscpu") or "/usr/bin/lscpu"))
    python = add_python(image, ["psutil", "pytest"])
    for folder in ("sizer/files", "sizer/limits", "sizer/records", "sizer/storage", "tests/integration/limits"):
        image.tree(PROJECT / folder)
    parts = ("pyproject.toml", "benchmarks/hosts/v2_guest.py", "tests/__init__.py", "tests/described_hosts.py")
    for file in (*PROJECT.glob("sizer/*.py"), *(PROJECT / part for part in parts)):
        image.file(file)
    loaded = add_modules(image, modules, ["virtio_pci", "virtio_blk"])
    path = os.pathsep.join([str(PROJECT), python["path"]])
    init = INIT.format(modules=" ".join(loaded), project=PROJECT, path=path, python=python["python"])
    image.text("/init", init)
    image.write(image_file)


def verdict(written: dict[str, Any]) -> list[str]:
    """What does not hold, in sentences; none if all is well."""
    if not written:
        return ["the guest ended without a result; the console above tells why"]
    wrong = []
    if written.get("backend") != "cgroup v2":
        wrong.append(f"the guest limits by {written.get('backend')}")
    if written.get("tests_exit_status") != 0:
        wrong.append("a contract test failed; its name is on the console above")
    wrong += [f"{cap['control']} is not available" for cap in written.get("capabilities", ()) if not cap["available"]]
    if written.get("uncounted"):
        wrong.append(f"not counted: {', '.join(written['uncounted'])}")
    if written.get("groups_left"):
        wrong.append(f"groups are left: {written['groups_left']}")
    return wrong


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, help="also write the JSON here")
    parser.add_argument("--cache", type=Path, default=KERNEL_FOLDER, help="where the kernel is kept [%(default)s]")
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
        qemu_seconds = boot(kernel, image, (disk, swap), result, GUEST_SECONDS)
        lines = result.read_text().splitlines() if result.exists() else []
    written: dict[str, Any] = json.loads(lines[-1]) if lines else {}
    written["wrong"] = verdict(written)
    written["build_seconds"], written["qemu_seconds"] = round(build_seconds, 1), round(qemu_seconds, 1)
    text = json.dumps(written, indent=2)
    print(text)
    if arguments.out:
        arguments.out.write_text(text + "\n")
    return 1 if written["wrong"] else 0


if __name__ == "__main__":
    sys.exit(main())

"""What v2_kernel.py runs inside the emulated machine: the contract tests, then figures, as JSON to a file."""

from __future__ import annotations

import json
import math
import subprocess
import sys
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from sizer.limits import Group, LimitsBackend, Throttle, detect, device_of
from sizer.records import DiskRates, Limits

SHARES = (0.25, 0.5, 0.75, 1.0, 1.5, 2.0)
SECONDS = 2.0


def core_share(backend: LimitsBackend, vcpus: float) -> float:
    """Busy cores of as many burning processes as the limit has CPUs."""
    with backend.open(f"share-{vcpus}", Limits(vcpus=vcpus)) as group:
        burn = [sys.executable, "-S", "-c", "while True: pass"]
        children = [subprocess.Popen(group.command(burn)) for _ in range(math.ceil(vcpus))]
        while group.sample(0.0).core_seconds < 0.5:
            time.sleep(0.05)
        before = group.sample(time.monotonic())
        time.sleep(SECONDS)
        after = group.sample(time.monotonic())
        group.kill()
        for child in children:
            child.wait()
    return (after.core_seconds - before.core_seconds) / (after.time - before.time)


def sample_seconds(group: Group) -> float:
    """Mean cost of a sample."""
    begin = time.perf_counter()
    for _ in range(200):
        group.sample(0.0)
    return (time.perf_counter() - begin) / 200


def read_rate(backend: LimitsBackend, folder: Path, rate: float) -> float:
    """Bytes a second of direct reads under a throttle."""
    file = folder / "throttled"
    file.write_bytes(bytes(16 << 20))
    subprocess.run(["sync"], check=True)
    throttle = Throttle(device_of(folder), DiskRates(read_bytes_per_second=rate))
    with backend.open("read", Limits(disk="throttled"), throttle) as group:
        begin = time.monotonic()
        command = ["dd", f"if={file}", "of=/dev/null", "bs=1M", "iflag=direct"]
        subprocess.run(group.command(command), check=True, capture_output=True)
        return (16 << 20) / (time.monotonic() - begin)


def main(result: Path, project: Path, disk: Path) -> None:
    backend = detect()
    found: dict[str, Any] = {
        "kernel": Path("/proc/sys/kernel/osrelease").read_text().strip(),
        "backend": backend.name,
        "topology": backend.topology.describe(),
        "capabilities": [asdict(each) for each in backend.capabilities()],
        "core_share": {f"{vcpus:g}": round(core_share(backend, vcpus), 4) for vcpus in SHARES},
    }
    with backend.open("cost", Limits(vcpus=1, memory_bytes=64 << 20)) as group:
        found["sample_milliseconds"] = round(sample_seconds(group) * 1e3, 3)
    found["read_megabytes_per_second"] = {"asked": 8.0, "measured": round(read_rate(backend, disk, 8e6) / 1e6, 3)}
    tests = [
        str(project / "tests/limits" / name)
        for name in ("test_contract.py", "test_real_limits.py", "test_delegation.py")
    ]
    options = [
        "-p",
        "no:cacheprovider",
        "-m",
        "root",
        "-v",
        "--color=no",
        "--tb=short",
        "-rfs",
        f"--rootdir={project}",
        f"--basetemp={disk}/tests",
    ]
    found["tests_exit_status"] = int(pytest.main([*options, *tests]))
    found["groups_left"] = [str(path) for path in Path("/sys/fs/cgroup").glob("sizer/*") if path.is_dir()]
    result.write_text(json.dumps(found) + "\n")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))

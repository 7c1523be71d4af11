"""What v2_kernel.py runs inside the emulated machine: the contract tests, then figures, as JSON to a file."""

from __future__ import annotations

import json
import math
import subprocess
import sys
import time
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import pytest

from sizer.limits.detection import detect
from sizer.limits.device import device_of
from sizer.limits.interface import Group, LimitsBackend, Throttle
from sizer.records.device import DiskRates
from sizer.records.run import Sample
from sizer.records.study import Limits
from tests.described_hosts import ELSEWHERE

SHARES = (0.25, 0.5, 0.75, 1.0, 1.5, 2.0)
SECONDS = 2.0
TESTS = ("test_contract.py", "test_real_limits.py", "test_real_disk.py", "test_delegation.py")

LEFT_OUT = "not (readahead or mapped or direct or through)"
"""Ways of reading and writing that take the block layer's same path once more, at emulated speed."""


def core_share(backend: LimitsBackend, vcpus: float) -> float:
    """Busy cores of as many burning processes as the limit has CPUs."""
    before, after = burned(backend, vcpus, math.ceil(vcpus))
    return (after.core_seconds - before.core_seconds) / (after.time - before.time)


def waiting_share(backend: LimitsBackend) -> float:
    """The share of the time in which one of two busy processes waits for their one CPU: 1."""
    before, after = burned(backend, 1, 2)
    return (after.cpu_stall - before.cpu_stall) / (after.time - before.time)


def burned(backend: LimitsBackend, vcpus: float, processes: int) -> tuple[Sample, Sample]:
    """The counters of burning processes, SECONDS apart."""
    with backend.open(f"burning-{processes}-{vcpus}", Limits(vcpus=vcpus)) as group:
        burn = [sys.executable, "-S", "-c", "while True: pass"]
        children = [subprocess.Popen(group.command(burn)) for _ in range(processes)]
        while group.sample(0.0).core_seconds < 0.5:
            time.sleep(0.05)
        before = group.sample(time.monotonic())
        time.sleep(SECONDS)
        after = group.sample(time.monotonic())
        group.kill()
        for child in children:
            child.wait()
    return before, after


def sample_seconds(group: Group) -> float:
    """Mean cost of a sample."""
    begin = time.perf_counter()
    for _ in range(200):
        group.sample(0.0)
    return (time.perf_counter() - begin) / 200


def read_rate(backend: LimitsBackend, folder: Path, rate: float) -> tuple[float, float]:
    """Bytes a second of direct reads under a throttle, and the share of the time in which pressure saw them wait."""
    file = folder / "throttled"
    file.write_bytes(bytes(16 << 20))
    subprocess.run(["sync"], check=True)
    throttle = Throttle(device_of(folder), DiskRates(read_bytes_per_second=rate))
    with backend.open("read", Limits(disk="throttled"), throttle) as group:
        begin = time.monotonic()
        command = ["dd", f"if={file}", "of=/dev/null", "bs=1M", "iflag=direct"]
        subprocess.run(group.command(command), check=True, capture_output=True)
        seconds = time.monotonic() - begin
        return (16 << 20) / seconds, group.sample(0.0).io_stall / seconds


def memory_parts(backend: LimitsBackend) -> dict[str, float]:
    """What a process with 16 MiB of its own is charged for, in MiB, by the kernel's own parts."""
    program = "held = bytearray(b'x' * (16 << 20)); print('up', flush=True); import sys; sys.stdin.read()"
    with backend.open("parts", Limits(memory_bytes=64 << 20)) as group:
        command = group.command([sys.executable, "-S", "-c", program])
        child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert child.stdout is not None
        child.stdout.readline()
        sample = asdict(group.sample(0.0))
        child.communicate()
    names = ("memory_bytes", "anonymous_bytes", "page_cache_bytes", "kernel_bytes", "swap_bytes")
    return {name: round(sample[name] / 2**20, 2) for name in names}


def main(result: Path, project: Path, disk: Path) -> None:
    backend = detect()
    found: dict[str, Any] = {
        "kernel": Path("/proc/sys/kernel/osrelease").read_text().strip(),
        "backend": backend.name,
        "topology": asdict(backend.topology.counts),
        "capabilities": [asdict(each) for each in backend.capabilities()],
        "core_share": {f"{vcpus:g}": round(core_share(backend, vcpus), 4) for vcpus in SHARES},
    }
    with backend.open("cost", Limits(vcpus=1, memory_bytes=64 << 20)) as group:
        found["sample_milliseconds"] = round(sample_seconds(group) * 1e3, 3)
        found["uncounted"] = sorted({field.name for field in fields(Sample)} - group.accounted - ELSEWHERE)
    rate, waited = read_rate(backend, disk, 8e6)
    found["read_megabytes_per_second"] = {"asked": 8.0, "measured": round(rate / 1e6, 3)}
    found["io_stall_share_of_throttled_reads"] = round(waited, 3)
    found["cpu_stall_share_of_two_on_one_cpu"] = round(waiting_share(backend), 3)
    found["memory_mebibytes"] = memory_parts(backend)
    tests = [str(project / "tests/integration/limits" / name) for name in TESTS]
    options = [
        "-p",
        "no:cacheprovider",
        "-p",
        "tests.described_hosts",
        "-m",
        "root",
        "-k",
        LEFT_OUT,
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

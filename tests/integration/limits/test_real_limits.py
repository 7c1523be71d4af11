"""The kernel holds what was set: real processes under real limits."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from sizer.limits.device import device_of
from sizer.limits.interface import Group, LimitsBackend, Throttle
from sizer.limits.process_tree import is_of_this_world, is_owned, owner_is_dead
from sizer.limits.supervised import join_command
from sizer.records.device import DiskRates
from sizer.records.messages import HostError
from sizer.records.run import Sample
from sizer.records.study import Limits

pytestmark = [pytest.mark.root, pytest.mark.slow]

BURN = "while True: pass"
HOG = "held = []\nwhile True: held.append(bytearray(b'x' * (1 << 20)))"
PIPES = """
import fcntl, os, time
held = []
while len(held) < 96:
    held.append(os.pipe())
    fcntl.fcntl(held[-1][1], fcntl.F_SETPIPE_SZ, 1 << 20)
    os.write(held[-1][1], bytes(1 << 20))
    time.sleep(0.005)
"""
"""96 MiB in pipes: memory that the kernel allocates for the run, and hardly any of the run's own; slowly enough to be
watched."""

MIXED = """
import mmap, os, sys
len(bytearray(b"x" * (96 << 20)))
private, shared = bytearray(b"x" * (32 << 20)), mmap.mmap(-1, 8 << 20)
shared.write(b"x" * (8 << 20))
with open(sys.argv[1], "wb") as file:
    file.write(bytes(16 << 20))
    os.fsync(file.fileno())
print("up", flush=True)
sys.stdin.read()
"""
"""96 MiB that are given back before anybody looks; 32 MiB private, 8 MiB shared, 16 MiB of a file in the page cache."""

THREADS = """
import threading, time
for _ in range(899):
    threading.Thread(target=time.sleep, args=[60], daemon=True).start()
print("up", flush=True)
time.sleep(60)
"""

SHORT_THREADS = """
import threading
print("up", flush=True)
while True:
    threads = [threading.Thread(target=int) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
"""


def started(group: Group, program: str, *arguments: str) -> subprocess.Popen[bytes]:
    command = group.command([sys.executable, "-c", program, *arguments])
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)


def needs(group: Group, *counters: str) -> None:
    """Skip where the kernel does not count these."""
    missing = set(counters) - group.accounted
    if missing:
        pytest.skip(f"this kernel does not count {', '.join(sorted(missing))}")


def sample_now(group: Group) -> Sample:
    """A sample whose time is that of its counters to 5 ms: on a busy host much can be counted between the two."""
    while True:
        sample = group.sample(time.monotonic())
        if time.monotonic() - sample.time < 0.005:
            return sample


def share(group: Group, seconds: float) -> tuple[float, float]:
    """Busy cores of the group over some seconds, and the share of quota periods in which it used up its quota."""
    while group.sample(0.0).core_seconds < 0.15:
        time.sleep(0.02)
    before = sample_now(group)
    time.sleep(seconds)
    after = sample_now(group)
    throttled = (after.throttled_periods - before.throttled_periods) / max(1, after.periods - before.periods)
    return (after.core_seconds - before.core_seconds) / (after.time - before.time), throttled


@pytest.mark.alone
def test_half_a_vcpu_is_half_a_core(real: LimitsBackend) -> None:
    """0.5 vCPU gives 0.5 core-seconds a second, to 3 %, in the quota periods that other programs left to the run."""
    with real.open("half", Limits(vcpus=0.5)) as group:
        child = started(group, BURN)
        windows = [share(group, 2.0)]
        while windows[-1][1] < 0.95 and len(windows) < 5:
            windows.append(share(group, 2.0))
        group.kill()
        child.communicate()
    assert max(cores for cores, _ in windows) < 0.515
    cores, throttled = max(windows, key=lambda window: window[1])
    if throttled == 0:
        pytest.skip("others had the CPUs in every period, so that no quota was used up")
    assert cores > 0.485 * throttled


@pytest.mark.alone
def test_one_vcpu_is_one_cpu_for_two_busy_processes(real: LimitsBackend) -> None:
    """Two burners share the one CPU of the cpuset, whatever else the host has: one of them always waits."""
    with real.open("one", Limits(vcpus=1)) as group:
        children = [started(group, BURN) for _ in range(2)]
        assert share(group, 1.0)[0] < 1.03
        assert {len(os.sched_getaffinity(child.pid)) for child in children} == {1}
        before = sample_now(group)
        time.sleep(1.5)
        after = sample_now(group)
        group.kill()
        for child in children:
            child.communicate()
        if "cpu_stall" in group.accounted:
            waited = (after.cpu_stall - before.cpu_stall) / (after.time - before.time)
            assert waited == pytest.approx(1.0, abs=0.1)


def test_a_process_over_its_cap_is_killed_and_counted(real: LimitsBackend) -> None:
    """SIGKILL, at least one oom_kill, and never more memory than the cap."""
    with real.open("hog", Limits(memory_bytes=64 << 20)) as group:
        child = started(group, HOG)
        child.communicate(timeout=60)
        sample = group.sample(0.0)
        assert child.returncode == -9
        assert sample.oom_kills >= 1
        assert sample.memory_bytes <= 64 << 20


def test_the_kernel_kills_the_run_and_not_who_measures_it(real: LimitsBackend) -> None:
    """Where memory runs out for both, the larger of the two lives: it is sizer."""
    if real.name == "cgroup v2":
        pytest.skip("there the first process to be killed takes its group along")
    measured = join_command([sys.executable, "-S", "-c", HOG])
    measuring = (
        "open('/proc/self/oom_score_adj', 'w').write('0')\nimport subprocess\nheld = bytearray(b'x') * (80 << 20)\n"
        f"print(subprocess.run({measured}).returncode)"
    )
    with real.open("both", Limits(memory_bytes=128 << 20)) as group:
        output, _ = started(group, measuring).communicate(timeout=60)
        assert output == b"-9\n"
        assert group.sample(0.0).oom_kills == 1


def test_memory_is_told_apart(real: LimitsBackend, tmp_path: Path) -> None:
    """Private and shared memory are anonymous, the file is page cache, and with the kernel's own they are the whole. A
    spike that no sample saw is in the kernel's own high-water mark."""
    _device(tmp_path)
    with real.open("mixed", Limits()) as group:
        needs(group, "anonymous_bytes", "page_cache_bytes", "kernel_bytes", "swap_bytes")
        child = started(group, MIXED, str(tmp_path / "file"))
        child.stdout.readline()
        sample = group.sample(0.0)
        child.communicate(timeout=20)
    assert 40 << 20 <= sample.anonymous_bytes < 56 << 20
    assert 16 << 20 <= sample.page_cache_bytes < 32 << 20
    assert 100_000 < sample.kernel_bytes < 16 << 20
    assert sample.swap_bytes == 0
    parts = sample.anonymous_bytes + sample.page_cache_bytes + sample.kernel_bytes
    assert parts == pytest.approx(sample.memory_bytes, abs=2 << 20)
    if "peak_memory_bytes" in group.accounted:
        assert sample.peak_memory_bytes >= 96 << 20 > sample.memory_bytes


def test_threads_are_counted_as_they_are_now(real: LimitsBackend) -> None:
    """More than a page of the kernel's listing holds, and none of them when there were none yet."""
    with real.open("threads", Limits()) as group:
        needs(group, "threads")
        assert group.sample(0.0).threads == 0
        child = started(group, THREADS)
        child.stdout.readline()
        assert group.sample(0.0).threads == 900
        child.kill()
        child.communicate(timeout=20)


def test_a_thread_that_ends_has_not_escaped(real: LimitsBackend) -> None:
    """A thread leaves its group a little before it is dead; its program is under its limits all the same."""
    with real.open("short", Limits(vcpus=1)) as group:
        child = started(group, SHORT_THREADS)
        child.stdout.readline()
        looks = [group.escaped([child.pid]) for _ in range(100)]
        child.kill()
        child.communicate(timeout=20)
    assert looks == [None] * 100


def test_the_kernels_memory_is_under_the_cap(real: LimitsBackend) -> None:
    """A run that lets the kernel allocate for it is killed at its cap like any other."""
    with real.open("pipes", Limits(memory_bytes=48 << 20)) as group:
        needs(group, "kernel_bytes")
        child, peak = started(group, PIPES), 0
        while child.poll() is None:
            peak = max(peak, group.sample(0.0).kernel_bytes)
            time.sleep(0.002)
        child.communicate(timeout=20)
        sample = group.sample(0.0)
    assert child.returncode == -9
    assert sample.oom_kills >= 1
    assert 16 << 20 < peak <= 48 << 20


def test_a_capped_run_does_not_swap(real: LimitsBackend) -> None:
    """Over its cap it is killed; let to swap, the same run is not, which is counted."""
    if "SwapTotal:             0 kB" in Path("/proc/meminfo").read_text():
        pytest.skip("needs a host with swap")
    over = "held = bytearray(b'x' * (72 << 20))\nprint('up', flush=True)\nimport sys; sys.stdin.read()"
    for swapping in (False, True):
        with real.open("swap", Limits(memory_bytes=64 << 20)) as group:
            if swapping:
                (limit,) = Path("/sys/fs/cgroup").rglob("*-swap/memory.swap.max")
                limit.write_text("max")
            child = started(group, over)
            line = child.stdout.readline()
            sample = group.sample(0.0)
            child.communicate(timeout=20)
        assert (line == b"up\n") is swapping
        assert (sample.swap_bytes > 4 << 20) is swapping
        assert (sample.oom_kills == 0) is swapping


def test_reclaiming_at_the_cap_is_a_stall(real: LimitsBackend, tmp_path: Path) -> None:
    """A run that writes a file larger than its cap has to free memory as it goes."""
    _device(tmp_path)
    write = f"file = open({str(tmp_path / 'file')!r}, 'wb')\nfor _ in range(96): file.write(bytes(1 << 20))"
    with real.open("reclaim", Limits(memory_bytes=32 << 20)) as group:
        needs(group, "memory_stall")
        started(group, write).communicate(timeout=60)
        assert group.sample(0.0).memory_stall > 0


def _device(folder: Path) -> str:
    try:
        return device_of(folder)
    except HostError as error:
        pytest.skip(str(error))


def _read_direct(group: Group, file: Path) -> float:
    """Seconds to read a file past the page cache."""
    begin = time.monotonic()
    command = ["dd", f"if={file}", "of=/dev/null", "bs=1M", "iflag=direct"]
    subprocess.run(group.command(command), check=True, capture_output=True, timeout=60)
    return time.monotonic() - begin


@pytest.mark.alone
def test_reads_keep_to_the_rate_of_the_throttle(real: LimitsBackend, tmp_path: Path) -> None:
    """20 MB/s takes 1.57 s for 32 MiB less what the first slice gives at once, and every byte is counted; without one,
    too: since Linux 6.10 v1 counts nothing on a device that no group was ever limited on, unless it is made to."""
    file = tmp_path / "data"
    file.write_bytes(os.urandom(32 << 20))
    os.sync()
    with real.open("count", Limits()) as group:
        _read_direct(group, file)
        assert 32 << 20 <= group.sample(0.0).read_bytes < 34 << 20
    throttle = Throttle(_device(tmp_path), DiskRates(read_bytes_per_second=20e6))
    rates: list[float] = []
    # The disk below may be slower for a moment: one of three has to be as fast as its limit, and none is faster.
    while len(rates) < 3 and max(rates, default=0.0) < 0.9 * 20e6:
        with real.open("read", Limits(disk="slow"), throttle) as group:
            seconds = _read_direct(group, file)
            sample = group.sample(0.0)
            needs(group, "io_stall")
        rates.append((32 << 20) / seconds)
    assert 0.9 * 20e6 < max(rates) < 1.1 * 20e6
    # Pressure tells less than what a throttle costs (11 of 16 s were seen on Linux 6.18).
    assert 0.3 * seconds < sample.io_stall <= 1.05 * seconds
    assert 32 << 20 <= sample.read_bytes < 34 << 20
    assert sample.read_ios > 0


def test_an_overlay_counts_as_the_disk_of_its_upper_layer(tmp_path: Path) -> None:
    """What a container's file system usually is."""
    expected = device_of(tmp_path)
    layers = {name: tmp_path / name for name in ("lower", "upper", "work", "merged")}
    for layer in layers.values():
        layer.mkdir()
    options = f"lowerdir={layers['lower']},upperdir={layers['upper']},workdir={layers['work']}"
    merged = str(layers["merged"])
    mounted = subprocess.run(
        ["mount", "-t", "overlay", "overlay", "-o", options, merged], capture_output=True, text=True
    )
    if mounted.returncode != 0:
        pytest.skip(f"no overlay can be mounted here: {mounted.stderr.strip()}")
    try:
        assert device_of(layers["merged"] / "new") == expected
    finally:
        subprocess.run(["umount", merged], check=True)


def test_another_pid_namespace_is_another_world() -> None:
    """A name made in a container says nothing outside of it."""
    code = "from sizer.limits.process_tree import owned_name; print(owned_name('run'))"
    argv = ["unshare", "--pid", "--fork", "--mount-proc", sys.executable, "-c", code]
    name = subprocess.run(argv, capture_output=True, text=True, check=True).stdout.strip()
    assert is_owned(name)
    assert not is_of_this_world(name)
    assert not owner_is_dead(name)

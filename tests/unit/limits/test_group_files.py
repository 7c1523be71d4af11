"""What limits write into the files of their groups, and what they count by them, with both versions of cgroups."""

from __future__ import annotations

import os
from dataclasses import asdict, fields
from pathlib import Path

import pytest

from sizer.limits.interface import Group, LimitsBackend, Throttle
from sizer.limits.process_tree import world
from sizer.limits.tree import Tree
from sizer.records.device import DiskRates
from sizer.records.messages import HostError
from sizer.records.run import Sample
from sizer.records.study import Limits
from sizer.words.runs import limits_in_words
from tests.described_hosts import ELSEWHERE

TOP = "/sys/fs/cgroup"
BASES = {"v1": ("cpu", "memory", "unified"), "v2": ("",)}
MIB_256 = str(256 << 20)


def group_file(tree: Tree, name: str) -> Path:
    """`memory/memory.stat` of a v1 group, `memory.stat` of a v2 one."""
    controller, _, file = name.rpartition("/")
    (path,) = tree.path(TOP).glob(f"{controller}/sizer/*/{file}".lstrip("/"))
    return path


@pytest.fixture(params=["v1", "v2"])
def version(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def backend(version: str, request: pytest.FixtureRequest) -> LimitsBackend:
    backend: LimitsBackend = request.getfixturevalue(version)
    return backend


@pytest.fixture
def tree(version: str, request: pytest.FixtureRequest) -> Tree:
    tree: Tree = request.getfixturevalue(f"{version}_tree")
    return tree


WRITTEN = {
    "v1": {
        "cpuset/cpuset.cpus": "0",
        "cpuset/cpuset.mems": "0",
        "cpu/cpu.cfs_quota_us": "50000",
        "memory/memory.limit_in_bytes": MIB_256,
        "memory/memory.memsw.limit_in_bytes": MIB_256,
        "memory/memory.swappiness": "0",
        "blkio/blkio.throttle.read_bps_device": "7:0 60000000",
        "blkio/blkio.throttle.read_iops_device": "7:0 1000",
        "blkio/blkio.throttle.write_bps_device": "7:0 30000000",
        "blkio/blkio.throttle.write_iops_device": "",
    },
    "v2": {
        "cpuset.cpus": "0",
        "cpu.max": "50000 100000",
        "memory.max": MIB_256,
        "memory.swap.max": "0",
        "memory.oom.group": "1",
        "io.max": "7:0 rbps=60000000 wbps=30000000 riops=1000 wiops=max",
    },
}


def test_every_limit_lands_in_its_file(version: str, backend: LimitsBackend, tree: Tree) -> None:
    """Half a vCPU, a cap in whole pages and the rates that are given, in the units of the kernel's documentation."""
    rates = DiskRates(read_iops=1000, read_bytes_per_second=60e6, write_bytes_per_second=30e6)
    with backend.open("a", Limits(0.5, (256 << 20) + 5, "slow"), Throttle("7:0", rates)) as group:
        assert {file: group_file(tree, file).read_text() for file in WRITTEN[version]} == WRITTEN[version]
        assert limits_in_words(group.limited_by) == (
            f"cgroup {version}: cpuset 0, quota of 0.5 vCPU, memory 256 MiB without swap, "
            "disk 7:0 read 60 MB/s, 1,000 IOPS; write 30 MB/s"
        )


COUNTERS = {
    "v1": {
        "cpuacct/cpuacct.usage": "2500000000",
        "cpuacct/tasks": "11\n12\n13\n",
        "cpu/cpu.stat": "nr_periods 20\nnr_throttled 18\nthrottled_time 5\n",
        "memory/memory.usage_in_bytes": "9000",
        "memory/memory.max_usage_in_bytes": "12000",
        "memory/memory.kmem.usage_in_bytes": "705",
        "memory/memory.stat": "cache 9\nrss 1\ntotal_cache 3000\ntotal_rss 4096\ntotal_shmem 100\ntotal_swap 60\n"
        "total_swapcached 50\ntotal_dirty 500\ntotal_writeback 40\n",
        "memory/memory.oom_control": "oom_kill_disable 0\nunder_oom 0\noom_kill 3\n",
        "blkio/blkio.throttle.io_service_bytes": "254:0 Read 10\n254:0 Write 20\n253:0 Read 10\n7:0 Read 5\nTotal 45\n",
        "blkio/blkio.throttle.io_serviced": "254:0 Read 1\n254:0 Write 2\n7:0 Read 4\nTotal 7\n",
    },
    "v2": {
        "cpu.stat": "usage_usec 2500000\nnr_periods 20\nnr_throttled 18\n",
        "memory.current": "9000",
        "cgroup.threads": "11\n12\n13\n",
        "memory.swap.current": "60",
        "memory.peak": "12000",
        "memory.stat": "anon 4096\nfile 3000\nkernel 700\nslab 500\nsock 5\nshmem 100\nswapcached 50\n"
        "file_dirty 500\nfile_writeback 40\n",
        "memory.events": "oom 1\noom_kill 3\n",
        "io.stat": "254:0 rbytes=10 wbytes=20 rios=1 wios=2\n253:0 rbytes=10\n7:0 rbytes=5 rios=4 dbytes=0\n8:0\n",
    },
}
OF_HOST = {"v1": ("cpuacct/cpuacct.usage", "4000000000"), "v2": ("cpu.stat", "usage_usec 4000000\n")}
STALLS = {"cpu": 1_500_000, "memory": 20, "io": 250_000}
COUNTED = {
    **{"core_seconds": 2.5, "host_core_seconds": 4.0, "steal_core_seconds": 3.0, "time": 8.0},
    **{"memory_bytes": 9000, "anonymous_bytes": 4196, "peak_memory_bytes": 12000, "page_cache_bytes": 2850},
    **{"kernel_bytes": 705, "swap_bytes": 60, "unwritten_bytes": 540, "oom_kills": 3},
    **{"cpu_stall": 1.5, "memory_stall": 20e-6, "io_stall": 0.25},
    **{"periods": 20, "throttled_periods": 18, "threads": 3},
}
ON_DISK = {"read_bytes": 10, "written_bytes": 20, "read_ios": 1, "write_ios": 2}
ON_LOOP = {"read_bytes": 5, "written_bytes": 0, "read_ios": 4, "write_ios": 0}


def sample_of(group: Group, version: str, tree: Tree) -> dict[str, float]:
    """A sample of a group whose counters read as described."""
    for file, text in COUNTERS[version].items():
        group_file(tree, file).write_text(text)
    for resource, microseconds in STALLS.items():
        lines = f"some avg10=1.00 avg60=0.50 avg300=0.10 total={microseconds}\nfull avg10=0.00 total=7\n"
        group_file(tree, f"{'unified/' if version == 'v1' else ''}{resource}.pressure").write_text(lines)
    file, text = OF_HOST[version]
    tree.path(f"{TOP}/{file}").write_text(text)
    tree.path("/proc/stat").write_text(f"cpu  1 2 3 4 5 6 7 {3 * os.sysconf('SC_CLK_TCK')} 0 0\ncpu0 1 2 3\n")
    assert group.accounted == {field.name for field in fields(Sample)} - ELSEWHERE
    return asdict(group.sample(8.0))


def test_a_sample_is_in_seconds_and_bytes(version: str, backend: LimitsBackend, tree: Tree) -> None:
    """Shared memory counts as anonymous and not as page cache, and neither does the swap cache; network buffers are the
    kernel's; only physical disks are summed, and of a throttled run its device alone, which shows again on the disk
    that carries it; a device line without counters is no error.
    """
    with backend.open("a", Limits()) as group:
        assert sample_of(group, version, tree).items() >= (COUNTED | ON_DISK).items()
    with backend.open("b", Limits(disk="slow"), Throttle("7:0", DiskRates(read_iops=50))) as group:
        assert sample_of(group, version, tree).items() >= (COUNTED | ON_LOOP).items()


@pytest.mark.parametrize(
    ("version", "deaf"), [("v1", "memory.limit_in_bytes"), ("v2", "memory.max")], indirect=["version"]
)
def test_a_limit_that_does_not_read_back_is_an_error_and_leaves_nothing(
    backend: LimitsBackend, tree: Tree, deaf: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A kernel that takes a value and keeps another must not pass for limited."""
    write = type(tree).write
    monkeypatch.setattr(
        type(tree), "write", lambda tree, file, value: None if file.name == deaf else write(tree, file, value)
    )
    with pytest.raises(HostError, match="does not hold"):
        backend.open("a", Limits(memory_bytes=1 << 28))
    assert not list(tree.path(TOP).glob("**/sizer"))


def test_leftovers_of_a_dead_sizer_are_removed(version: str, backend: LimitsBackend, tree: Tree) -> None:
    """With the groups inside them; its pid may be in use again, but not its start time. Other folders are not ours."""
    reused, gone = f"{world()}-1-1-old", f"{world()}-999999999-5-gone"
    with backend.open("mine", Limits()):
        bases = [tree.path(f"{TOP}/{controller}/sizer") for controller in BASES[version]]
        for base in bases:
            for name in (reused, gone, f"{gone}/inner", "notes", "1-1-old"):
                tree.make(base / name)
        assert backend.remove_leftovers() == (reused, gone)
        for base in bases:
            left = {path.name.rpartition("-")[2] for path in base.iterdir() if path.is_dir()}
            assert left == {"mine", "notes", "old"}

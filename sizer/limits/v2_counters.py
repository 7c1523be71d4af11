"""What cgroup v2 counts of a group."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path

from sizer.limits.surroundings import PRESSURE_FILES, stalls, steal_core_seconds
from sizer.limits.tree import OpenFiles, keyed
from sizer.records.run import Sample

_FILES = {
    "cgroup.threads": ("threads",),
    "cpu.stat": ("core_seconds", "periods", "throttled_periods"),
    "memory.current": ("memory_bytes",),
    "memory.swap.current": ("swap_bytes",),
    "memory.peak": ("peak_memory_bytes",),
    "memory.stat": ("anonymous_bytes", "page_cache_bytes", "kernel_bytes", "unwritten_bytes"),
    "memory.events": ("oom_kills",),
    "io.stat": ("read_bytes", "written_bytes", "read_ios", "write_ios"),
    "host": ("host_core_seconds",),
    **{name: (counter,) for name, counter in PRESSURE_FILES.items()},
}

KERNEL_PARTS = ("slab", "kernel_stack", "pagetables", "percpu", "vmalloc")
"""What Linux reports of its own memory before 5.18, which sums them and the rest as `kernel` (cgroup-v2.rst)."""


class V2Counters:
    """The counters of one group; the disk's are summed over `devices`. `uncounted` are those that stay at 0.

    `statistics` is the host's /proc/stat.
    """

    def __init__(
        self, group: Path, root: Path, statistics: Path, devices: Collection[str], uncounted: Collection[str]
    ) -> None:
        files = {name: group / name for name in _FILES}
        self._files = OpenFiles({**files, "host": root / "cpu.stat", "statistics": statistics})
        self._devices = devices
        counted = {field for name in self._files.names for field in _FILES.get(name, ())}
        steal = {"steal_core_seconds"} if steal_core_seconds(self._files.text("statistics")) is not None else set()
        self.accounted = frozenset((counted | steal) - set(uncounted))

    def sample(self, time: float) -> Sample:
        """The counters now; cpu.stat counts microseconds."""
        files = self._files
        scheduler, memory = keyed(files.text("cpu.stat")), keyed(files.text("memory.stat"))
        disk, shared = disk_counters(files.text("io.stat"), self._devices), memory.get("shmem", 0)
        return Sample(
            time=time,
            core_seconds=scheduler.get("usage_usec", 0) / 1e6,
            memory_bytes=files.number("memory.current"),
            # Shared memory cannot be dropped without swap either: to a memory floor it is anonymous. The kernel counts
            # it as `file`, and so does it what waits in the swap cache (mm/swap_state.c, NR_FILE_PAGES).
            anonymous_bytes=memory.get("anon", 0) + shared,
            page_cache_bytes=max(0, memory.get("file", 0) - shared - memory.get("swapcached", 0)),
            kernel_bytes=kernel_bytes(memory),
            swap_bytes=files.number("memory.swap.current"),
            read_bytes=disk["rbytes"],
            written_bytes=disk["wbytes"],
            read_ios=disk["rios"],
            write_ios=disk["wios"],
            periods=scheduler.get("nr_periods", 0),
            throttled_periods=scheduler.get("nr_throttled", 0),
            oom_kills=keyed(files.text("memory.events")).get("oom_kill", 0),
            host_core_seconds=keyed(files.text("host")).get("usage_usec", 0) / 1e6,
            peak_memory_bytes=files.number("memory.peak"),
            steal_core_seconds=steal_core_seconds(files.text("statistics")) or 0.0,
            unwritten_bytes=memory.get("file_dirty", 0) + memory.get("file_writeback", 0),
            threads=files.count("cgroup.threads"),
            **stalls(files),
        )

    def close(self) -> None:
        """Close the counter files."""
        self._files.close()


def kernel_bytes(memory: Mapping[str, int]) -> int:
    """The kernel's own memory in a memory.stat; network buffers (`sock`) are charged to the group beside `kernel`."""
    own = memory.get("kernel")
    return (sum(memory.get(part, 0) for part in KERNEL_PARTS) if own is None else own) + memory.get("sock", 0)


def disk_counters(text: str, devices: Collection[str]) -> dict[str, int]:
    """The sums over these devices, from lines such as `7:0 rbytes=4096 wbytes=0 rios=1 wios=0`."""
    totals = {"rbytes": 0, "wbytes": 0, "rios": 0, "wios": 0}
    for line in text.splitlines():
        device, _, pairs = line.partition(" ")
        if device in devices:
            for key, _, value in (pair.partition("=") for pair in pairs.split()):
                if key in totals:
                    totals[key] += int(value)
    return totals

"""What cgroup v1 counts of a group."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path

from sizer.limits.surroundings import PRESSURE_FILES, stalls, steal_core_seconds
from sizer.limits.tree import OpenFiles, keyed
from sizer.records.run import Sample

PRESSURE = "pressure"
"""In the list of controllers, means the cgroup2 hierarchy beside them, whose groups report pressure."""

_FILES = {
    "cpuacct.usage": ("cpuacct", ("core_seconds", "host_core_seconds")),
    "tasks": ("cpuacct", ("threads",)),
    "cpu.stat": ("cpu", ("periods", "throttled_periods")),
    "memory.usage_in_bytes": ("memory", ("memory_bytes",)),
    "memory.max_usage_in_bytes": ("memory", ("peak_memory_bytes",)),
    "memory.stat": ("memory", ("anonymous_bytes", "page_cache_bytes", "swap_bytes", "unwritten_bytes")),
    "memory.kmem.usage_in_bytes": ("memory", ("kernel_bytes",)),
    "memory.oom_control": ("memory", ("oom_kills",)),
    "blkio.throttle.io_service_bytes": ("blkio", ("read_bytes", "written_bytes")),
    "blkio.throttle.io_serviced": ("blkio", ("read_ios", "write_ios")),
    **{name: (PRESSURE, (counter,)) for name, counter in PRESSURE_FILES.items()},
}


_LINES = {"swap_bytes": "total_swap", "unwritten_bytes": "total_dirty"}
"""Counters whose line of memory.stat can be missing: swap's where the kernel was started with swapaccount=0."""


class V1Counters:
    """The counters of one group; the disk's are summed over `devices`. `uncounted` are those that stay at 0.

    `statistics` is the host's /proc/stat.
    """

    def __init__(
        self,
        directories: Mapping[str, Path],
        cpuacct_root: Path | None,
        statistics: Path,
        devices: Collection[str],
        uncounted: Collection[str],
    ) -> None:
        files = {
            name: directories[controller] / name
            for name, (controller, _) in _FILES.items()
            if controller in directories
        }
        if cpuacct_root is not None:
            files["host"] = cpuacct_root / "cpuacct.usage"
        files["statistics"] = statistics
        self._files = OpenFiles(files)
        self._devices = devices
        counted = {field for name, (_, fields) in _FILES.items() if name in self._files.names for field in fields}
        lines = keyed(self._files.text("memory.stat"))
        unknown = {counter for counter, line in _LINES.items() if line not in lines}
        steal = {"steal_core_seconds"} if steal_core_seconds(self._files.text("statistics")) is not None else set()
        self.accounted = frozenset((counted | steal) - unknown - set(uncounted))

    def sample(self, time: float) -> Sample:
        """The counters now; cpuacct counts nanoseconds."""
        files = self._files
        scheduler, memory = keyed(files.text("cpu.stat")), keyed(files.text("memory.stat"))
        read_bytes, written_bytes = disk_counters(files.text("blkio.throttle.io_service_bytes"), self._devices)
        read_ios, write_ios = disk_counters(files.text("blkio.throttle.io_serviced"), self._devices)
        shared = memory.get("total_shmem", 0)
        return Sample(
            time=time,
            core_seconds=files.number("cpuacct.usage") / 1e9,
            memory_bytes=files.number("memory.usage_in_bytes"),
            # Shared memory cannot be dropped without swap either: to a memory floor it is anonymous. The kernel counts
            # it as cache, and so does it what waits in the swap cache (mm/swap_state.c, NR_FILE_PAGES).
            anonymous_bytes=memory.get("total_rss", 0) + shared,
            page_cache_bytes=max(0, memory.get("total_cache", 0) - shared - memory.get("total_swapcached", 0)),
            kernel_bytes=files.number("memory.kmem.usage_in_bytes"),
            swap_bytes=memory.get("total_swap", 0),
            read_bytes=read_bytes,
            written_bytes=written_bytes,
            read_ios=read_ios,
            write_ios=write_ios,
            periods=scheduler.get("nr_periods", 0),
            throttled_periods=scheduler.get("nr_throttled", 0),
            oom_kills=keyed(files.text("memory.oom_control")).get("oom_kill", 0),
            host_core_seconds=files.number("host") / 1e9,
            peak_memory_bytes=files.number("memory.max_usage_in_bytes"),
            steal_core_seconds=steal_core_seconds(files.text("statistics")) or 0.0,
            unwritten_bytes=memory.get("total_dirty", 0) + memory.get("total_writeback", 0),
            threads=files.count("tasks"),
            **stalls(files),
        )

    def close(self) -> None:
        """Close the counter files."""
        self._files.close()


def disk_counters(text: str, devices: Collection[str]) -> tuple[int, int]:
    """Reads and writes of these devices, from lines such as `7:0 Read 4096`."""
    totals = {"Read": 0, "Write": 0}
    for line in text.splitlines():
        fields = line.split()
        if len(fields) == 3 and fields[0] in devices and fields[1] in totals:
            totals[fields[1]] += int(fields[2])
    return totals["Read"], totals["Write"]

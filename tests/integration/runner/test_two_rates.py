"""A real disk that becomes slower while it is measured, as a cloud volume does when its burst credit is spent."""

from __future__ import annotations

import os
import sys
import textwrap
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from sizer.analysis.monitor import Live
from sizer.limits import Throttle, detect
from sizer.records.run import DataSet, DiskCheck, Outcome, WarningKind
from sizer.records.study import DiskRates, DiskTier, RunSpec
from sizer.runner.commands import RunPaths
from sizer.runner.launcher import RunContext, launch
from sizer.runner.watching import Hooks
from sizer.storage.disks import emulated_volume

pytestmark = [pytest.mark.root, pytest.mark.slow, pytest.mark.alone]

FAST, SLOW = 8_000_000, 2_400_000
"""Bytes a second: what a disk has to spare that others use, too."""
READER = """
    import json, mmap, os, sys, time
    descriptor = int(os.environ["SIZER_EVENTS_FD"])
    def write(**fields):
        os.write(descriptor, (json.dumps(fields) + "\\n").encode())
    size = os.path.getsize(sys.argv[1])
    write(event="start", sample_unit="block", batch_size=2, dataset_bytes=size, dataset_samples=size // 65536)
    data, block, offset = os.open(sys.argv[1], os.O_RDONLY | os.O_DIRECT), mmap.mmap(-1, 65536), 0
    while True:
        began = time.monotonic()
        for _ in range(2):
            os.preadv(data, [block], offset)
            offset = (offset + 65536) % size
        now = time.monotonic()
        write(event="step", time=now, samples=2, input_wait=now - began, epoch=0)
"""


def test_a_disk_whose_rate_falls_is_reported_as_two_rates(make_spec: Callable[..., RunSpec], tmp_path: Path) -> None:
    """8 MB/s until four seconds are over, 2.4 MB/s from then on: both are found, and the later one counts.

    In one of three runs: the host's own disk may be slower for a moment, but no run is faster than its throttle.
    """
    with emulated_volume(tmp_path, 64 * 2**20) as volume:
        data = volume.folder / "data.bin"
        data.write_bytes(os.urandom(64 * 2**20))
        scratch = tmp_path / "scratch"
        scratch.mkdir()
        device = volume.device
        assert device is not None
        spec = make_spec(sys.executable, "-c", textwrap.dedent(READER), str(data), seconds=9.0)
        context = RunContext(
            paths=RunPaths(Path(sys.executable), tmp_path, None, None, scratch, scratch),
            data_set=DataSet(str(data), "bin", 64 * 2**20, 1024, False),
            throttle=Throttle(device, DiskRates(read_bytes_per_second=FAST)),
            disk=DiskCheck(DiskTier("disk", path=str(volume.folder)), DiskRates(read_bytes_per_second=FAST)),
            host_vcpus=2,
            host_memory_bytes=2**34,
            environment=os.environ,
            log_path=tmp_path / "run.log",
        )
        # A run that measures long enough to see both: no interval is as narrow as this.
        spec = replace(spec, measure=replace(spec.measure, precision=1e-6))
        for _ in range(3):
            run = launch(spec, context, detect(), Hooks(watch=_slower_after(4.0, device)))
            assert run.outcome is Outcome.COMPLETED, run.error
            change = run.rate_change
            if change is None:
                continue
            assert change.before.value * 65536 < 1.1 * FAST
            assert run.throughput == change.after
            assert any(warning.kind is WarningKind.TWO_RATES for warning in run.warnings)
            found = change.before.value * 65536, change.after.value * 65536, change.seconds
            if found == (pytest.approx(FAST, rel=0.1), pytest.approx(SLOW, rel=0.1), pytest.approx(4, abs=2)):
                return
    assert change is not None
    assert found == (pytest.approx(FAST, rel=0.1), pytest.approx(SLOW, rel=0.1), pytest.approx(4, abs=2))


def _slower_after(seconds: float, device: str) -> Callable[[Live], None]:
    """Tighten the throttle of the run's group once so many seconds are over."""

    def watch(live: Live) -> None:
        if live.seconds < seconds:
            return
        for group in Path("/sys/fs/cgroup").glob(f"**/sizer/*{os.getpid()}*"):
            for file, line in (
                ("blkio.throttle.read_bps_device", f"{device} {SLOW}"),
                ("io.max", f"{device} rbps={SLOW}"),
            ):
                if (group / file).exists():
                    (group / file).write_text(line)

    return watch

"""A real disk that becomes slower while it is measured, as a cloud volume does when its burst credit is spent."""

from __future__ import annotations

import os
import sys
import textwrap
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from sizer.analysis.monitor import Live
from sizer.limits.control_group import ControlGroup
from sizer.limits.detection import detect
from sizer.limits.interface import Throttle
from sizer.records.run import DataSet, DiskCheck, Outcome, Step, WarningKind
from sizer.records.study import DiskRates, DiskTier, RunSpec
from sizer.runner.commands import RunPaths
from sizer.runner.launcher import RunContext, launch
from sizer.runner.watching import Hooks
from sizer.storage.disks import emulated_volume

pytestmark = [pytest.mark.root, pytest.mark.slow, pytest.mark.alone]

BLOCK = 65_536
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


def test_a_disk_whose_rate_falls_is_reported_as_two_rates(
    make_spec: Callable[..., RunSpec], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """8 MB/s until four seconds are over, 2.4 MB/s from then on: both are found, and the later one counts.

    No run is faster than its throttle; where the host's own disk lets none of three be as fast, no more can be seen.
    """
    # It is the throttle that falls, in the place of the disk's own rate: elsewhere such a run is refused.
    monkeypatch.setattr(ControlGroup, "escaped", lambda *_: None)
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
            tightened: list[float] = []
            run = launch(spec, context, detect(), Hooks(watch=_slower_after(4.0, device, tightened)))
            assert run.outcome is Outcome.COMPLETED, run.error
            before, after = (_rate(part) for part in _parted(run.steps, tightened[0]))
            assert before < 1.1 * FAST
            assert after < 1.1 * SLOW
            if before < 0.9 * FAST or after < 0.9 * SLOW:
                continue
            change = run.rate_change
            assert change is not None
            found = change.before.value * BLOCK, change.after.value * BLOCK, change.seconds
            assert found == (pytest.approx(FAST, rel=0.15), pytest.approx(SLOW, rel=0.15), pytest.approx(4, abs=2))
            assert run.throughput == change.after
            assert any(warning.kind is WarningKind.TWO_RATES for warning in run.warnings)
            return


def _parted(steps: Sequence[Step], moment: float) -> tuple[list[Step], list[Step]]:
    """Those before the disk became slower, and those from a second after it."""
    return [step for step in steps if step.time < moment], [step for step in steps if step.time > moment + 1.0]


def _rate(steps: Sequence[Step]) -> float:
    """Bytes a second, by the program's own steps."""
    return BLOCK * sum(step.samples for step in steps[1:]) / (steps[-1].time - steps[0].time)


def _slower_after(seconds: float, device: str, tightened: list[float]) -> Callable[[Live], None]:
    """Tighten the throttle of the run's group once so many seconds are over; when, is the first of `tightened`."""

    def watch(live: Live) -> None:
        if live.seconds < seconds:
            return
        tightened.append(time.monotonic())
        for group in Path("/sys/fs/cgroup").glob(f"**/sizer/*{os.getpid()}*"):
            for file, line in (
                ("blkio.throttle.read_bps_device", f"{device} {SLOW}"),
                ("io.max", f"{device} rbps={SLOW}"),
            ):
                if (group / file).exists():
                    (group / file).write_text(line)

    return watch

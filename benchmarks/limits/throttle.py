"""The throttle of an emulated tier: which reads and writes it holds, and preprocessing under it.

    python benchmarks/limits/throttle.py [--seconds 4]

Two tables:
1. Reading and writing in every way that a program may, on a tier of 40 MB/s and 2,000 IOPS and on one of 150 MB/s and
   4,000: what the program got against the tier's limit, and the device's bytes for each of the program's by the group's
   own accounting. cgroup v1 does not hold buffered writes that nobody waits for, nor does it count them. Small blocks
   are read one at a time: a program that waits for a busy CPU after each does not reach the limit on operations.
2. One pass of preprocessing to RecordIO and to LMDB on a tier whose write limit is below what it does without a limit.

Aim: every rate within 3 % of its limit, of preprocessing within 5 %, but for buffered writes under cgroup v1.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sizer.files.cache import cache_folder
from sizer.limits.detection import detect
from sizer.limits.interface import LimitsBackend, Throttle
from sizer.records.device import DiskRates
from sizer.records.messages import HostError, SizerError
from sizer.records.run import Sample
from sizer.records.study import Limits
from sizer.records.units import GIB
from sizer.storage.data_sets import size_of
from sizer.storage.disks import Volume, emulated_volume, remove_leftovers
from sizer.storage.page_cache import evict

PROJECT = Path(__file__).resolve().parents[2]
BLOCKS = Path(__file__).with_name("blocks.py")

Stamps = NDArray[np.float64]
"""One row a block: the monotonic seconds at which it was there, and the bytes that were there by then."""


FILE_BYTES = GIB
"""More than the fastest tier reads in the time, so that no byte comes twice."""

LARGE, SMALL = 128 << 10, 4 << 10
FIRST_SECONDS = 0.5
"""Left out of a rate: the program's start."""

AIM, AIM_OF_A_PASS = 0.03, 0.05

TIERS = {"40 MB/s": DiskRates(2000, 40e6, 2000, 40e6), "150 MB/s": DiskRates(4000, 150e6, 4000, 150e6)}
WAYS = (
    ("sequential", LARGE),
    ("shuffled", LARGE),
    ("shuffled", SMALL),
    ("ahead", LARGE),
    ("mapped", LARGE),
    ("direct", LARGE),
    ("direct", SMALL),
    ("direct_write", LARGE),
    ("synced_write", LARGE),
    ("buffered_write", LARGE),
)
"""Programs of blocks.py, and the bytes that they ask for at a time."""

NOT_HELD, REMARK = "buffered_write", "  (cgroup v1 neither holds nor counts these)"
"""The way that no rate is asked of: cgroup v2 holds it, cgroup v1 does not."""

PASSES = {"recordio": 8e6, "lmdb": 30e6}
"""Bytes a second that a pass of preprocessing may write in each format; it then takes some 7 s."""


@dataclass(frozen=True)
class ThrottledVolume:
    """Where everything is measured: a backend, an emulated volume, and a file on it."""

    backend: LimitsBackend
    volume: Volume
    file: Path

    def throttle(self, rates: DiskRates) -> Throttle:
        """These limits on the volume's device."""
        assert self.volume.device is not None
        return Throttle(self.volume.device, rates)


@dataclass(frozen=True)
class Watched:
    """What the group counted over time while a program ran, and when the program ended."""

    samples: tuple[Sample, ...]
    ended: float

    @property
    def other_cores(self) -> float:
        """Cores that other programs used meanwhile."""
        first, last = self.samples[0], self.samples[-1]
        others = [sample.host_core_seconds - sample.core_seconds for sample in (first, last)]
        return max(0.0, others[1] - others[0]) / (last.time - first.time)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=4, help="of each way of reading and writing")
    seconds = parser.parse_args().seconds
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    scratch = cache_folder(os.environ) / "disks"
    try:
        backend = detect()
        backend.remove_leftovers()
        remove_leftovers(scratch)
        with emulated_volume(scratch, FILE_BYTES) as volume:
            bench = ThrottledVolume(backend, volume, volume.folder / "blocks")
            write_whole(bench.file)
            worst = max(show_ways(bench, name, rates, seconds) for name, rates in TIERS.items())
            bench.file.unlink()
            worst_pass = show_passes(bench)
    except SizerError as error:
        print(f"throttle: {error}")
        return error.exit_code
    holds = worst <= AIM and worst_pass <= AIM_OF_A_PASS
    print(
        f"worst: {worst:.1%} off (aim {AIM:.0%}), preprocessing {worst_pass:.1%} off (aim {AIM_OF_A_PASS:.0%}): "
        f"{'holds' if holds else 'DOES NOT HOLD'}"
    )
    return 0 if holds else 1


def write_whole(file: Path) -> None:
    """Bytes that are there: what was only allocated "reads" without the device."""
    with file.open("wb") as opened:
        for _ in range(FILE_BYTES >> 24):
            opened.write(os.urandom(1 << 24))
        os.fdatasync(opened.fileno())


def show_ways(bench: ThrottledVolume, tier: str, rates: DiskRates, seconds: float) -> float:
    """The first table of one tier. The worst miss of a way that should be held."""
    worst = 0.0
    print(f"Ways of reading and writing on the tier of {tier}")
    print("way             block KiB   limit MB/s  program MB/s  of limit  device bytes a byte  other cores")
    for way, block in WAYS:
        stamps, watched = blocks(bench, rates, way, block, seconds)
        found, limit = rate(stamps, FIRST_SECONDS), allowed(rates, way, block)
        worst = max(worst, abs(found / limit - 1)) if way != NOT_HELD else worst
        device = getattr(watched.samples[-1], "written_bytes" if "write" in way else "read_bytes")
        print(
            f"{way:14s}  {block >> 10:9d}  {limit / 1e6:11.2f}  {found / 1e6:12.2f}  {found / limit:8.3f}"
            f"  {device / stamps[-1, 1]:19.3f}  {watched.other_cores:11.2f}{REMARK if way == NOT_HELD else ''}"
        )
    print()
    return worst


def allowed(rates: DiskRates, way: str, block: int) -> float:
    """Bytes a second that the tier allows: small blocks meet the limit on operations first."""
    reads, writes = (rates.read_iops, rates.read_bytes_per_second), (rates.write_iops, rates.write_bytes_per_second)
    iops, bandwidth = writes if "write" in way else reads
    assert iops is not None
    assert bandwidth is not None
    return min(bandwidth, iops * block)


def blocks(bench: ThrottledVolume, rates: DiskRates, way: str, block: int, seconds: float) -> tuple[Stamps, Watched]:
    """The stamps of a program of blocks.py under the tier's limits, from a file that is not in memory."""
    evict([bench.file])
    with tempfile.NamedTemporaryFile() as stamps:
        words = [sys.executable, str(BLOCKS), way, str(bench.file), stamps.name, f"--seconds={seconds}"]
        watched = watch(bench, rates, [*words, f"--block={block}"])
        found: Stamps = np.fromfile(stamps.name).reshape(-1, 2)
    return found, watched


def watch(bench: ThrottledVolume, rates: DiskRates, words: list[str]) -> Watched:
    """Run a program under limits to its end, looking at its counters. HostError if it fails."""
    samples = []
    with bench.backend.open("throttle", Limits(disk="tier"), bench.throttle(rates)) as group:
        process = subprocess.Popen(group.command(words), cwd=PROJECT, stdout=subprocess.DEVNULL)
        try:
            while process.poll() is None:
                samples.append(group.sample(time.monotonic()))
                time.sleep(0.02)
            ended = time.monotonic()
            samples.append(group.sample(ended))
        finally:
            process.kill()  # It may not have joined the group yet.
            group.kill()
            process.wait()
    if process.returncode != 0:
        raise HostError(f"`{' '.join(words)}` ended with {process.returncode}; see what it said above")
    return Watched(tuple(samples), ended)


def show_passes(bench: ThrottledVolume) -> float:
    """The second table. The worst miss."""
    worst = 0.0
    print("One pass of preprocessing 1,024 images, from its first written byte to its end")
    print("format    limit MB/s  output MB/s  of limit  device MB/s by accounting  output MB/s without a limit")
    for form, limit in PASSES.items():
        free, _ = one_pass(bench, form, DiskRates())
        output, device = one_pass(bench, form, DiskRates(write_bytes_per_second=limit))
        worst = max(worst, abs(output / limit - 1), abs(device / limit - 1))
        print(
            f"{form:8s}  {limit / 1e6:10.1f}  {output / 1e6:11.2f}  {output / limit:8.3f}  {device / 1e6:25.2f}"
            f"  {free / 1e6:27.1f}"
        )
    print()
    return worst


def one_pass(bench: ThrottledVolume, form: str, rates: DiskRates) -> tuple[float, float]:
    """Bytes a second of the output, and of the device by the group's accounting."""
    with tempfile.TemporaryDirectory(dir=bench.volume.folder) as output:
        words = [sys.executable, "-m", "workloads.imagenet_preprocessing", "--output", output, "--format", form]
        watched = watch(bench, rates, words)
        before = max((sample for sample in watched.samples if not sample.written_bytes), key=lambda each: each.time)
        seconds = watched.ended - before.time
        return size_of(Path(output)) / seconds, watched.samples[-1].written_bytes / seconds


def rate(stamps: Stamps, skip_seconds: float) -> float:
    """Bytes a second after the first `skip_seconds`, by least squares: a burst at either end has little weight so."""
    kept = stamps[stamps[:, 0] >= stamps[0, 0] + skip_seconds]
    assert len(kept) >= 2, f"{len(kept)} blocks after the first {skip_seconds} s are too few for a rate"
    return float(np.polyfit(kept[:, 0] - kept[0, 0], kept[:, 1], 1)[0])


if __name__ == "__main__":
    raise SystemExit(main())

"""The page cache under a memory cap: hit rates that sizer records against what they must be.

    python benchmarks/memory/memory.py [--seconds 6] [--copies 8]

Image training on an emulated accelerator that is faster than any loader, so that reading is what is measured, from a
RecordIO file on an emulated volume (the embedded photographs, several times over). A run without a cap tells the
anonymous memory; the caps leave room for 1/4, 1/2, 3/4 and more than all of the file beside it.

- resident: the file's pages in memory, counted from outside (cachestat): before the run, on average over one later
  epoch, and after the run, as shares of the file.
- 1st epoch: the device's bytes for each byte asked for, when nothing can be found. A shuffled loader of small records
  makes the kernel read 128 KiB ahead for each, so that a byte asked for costs several.
- hits: of the bytes asked for in the second epoch, the share that the device did not read; its own counter is read
  twenty times a second, outside of sizer. Beside it 1 - u + u ln u with u = 1 - resident: least recently used, in a new
  random order each epoch. The formula knows nothing of readahead: it must hold with readahead off; the rows with it
  show what it does, to hits below zero. Inference reads in order and finds nothing again until all of it fits; its last
  whole epoch counts.
- recorded: the run's own `hit_rate`, all later epochs together: 1 - device bytes / bytes asked for, not below 0.

Aim, with readahead off: hits within 0.05 of the formula, the recorded rate between that and the resident share (0.05 of
room); in order, both within 0.05 of 0 or 1; at most 1 % resident before a run.
"""

from __future__ import annotations

import argparse
import math
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

sys.path.append(str(Path(__file__).parents[1] / "shared"))

from bench import BenchmarkHost, data_of, opened

from sizer.analysis.monitor import Live
from sizer.bundled import WORKLOADS_PATH
from sizer.host.interpreters import interpreter
from sizer.limits.interface import Throttle
from sizer.records.device import Device, DiskRates
from sizer.records.errors import HostError, SizerError
from sizer.records.run import Run, Step
from sizer.records.run_kinds import Outcome
from sizer.records.study import Limits, Measure, RunSpec, Workload
from sizer.runner.launcher import launch
from sizer.runner.watching import Hooks
from sizer.storage.data_cache import cache_folder
from sizer.storage.disks import Volume, emulated_volume, remove_leftovers
from sizer.storage.page_cache import resident_bytes
from sizer.words.failures import failure_line

ACCELERATOR = Device("emulated", samples_per_second=20_000)
TIER = DiskRates(40_000, 400e6, 40_000, 400e6)
BATCH_SIZE = 64
SECOND = 1
"""Epochs are counted from 0."""

SECTOR_BYTES = 512
"""The unit of a block device's stat file, whatever its sectors are (Documentation/block/stat.rst)."""

READAHEAD_KIB = 128
"""What sizer sets on an emulated volume, as cloud images do."""

AIM, BEFORE_AIM = 0.05, 0.01


@dataclass(frozen=True)
class LoaderRuns:
    """Runs of one loader: its kind of workload, how it reads, the volume's readahead, and the caps."""

    name: str
    kind: str
    readahead_kib: int
    fractions: tuple[float, ...]

    @property
    def shuffled(self) -> bool:
        """Training reads in a new order each epoch, inference in the file's."""
        return self.kind == "image_training"


SERIES = (
    LoaderRuns("shuffled, no readahead", "image_training", 0, (0.25, 0.5, 0.75, 1.2)),
    LoaderRuns("shuffled", "image_training", READAHEAD_KIB, (0.25, 0.75)),
    LoaderRuns("in order", "image_inference", READAHEAD_KIB, (0.75, 1.2)),
)


@dataclass(frozen=True)
class Read:
    """One run: shares of the file that were resident, device bytes a byte asked for, hits of one epoch and of all."""

    fraction: float
    cap_bytes: int
    before: float
    resident: float
    after: float
    amplified: float
    hits: float
    recorded: float | None


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=6, help="of each capped run, from the second epoch on")
    parser.add_argument("--copies", type=int, default=8, help="of the embedded data set's 400 photographs")
    given = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    scratch = cache_folder(os.environ) / "disks"
    try:
        with opened() as bench:
            remove_leftovers(scratch)
            once = Path(data_of(workload("image_training", None)).path)  # type: ignore[union-attr]
            with emulated_volume(scratch, given.copies * once.stat().st_size) as volume:
                file = several_times(once, volume.folder / "copies.rec", given.copies)
                holds = show_hits(Reader(bench, volume, file, given.seconds))
    except SizerError as error:
        print(f"memory: {error}")
        return error.exit_code
    print("holds" if holds else "DOES NOT HOLD")
    return 0 if holds else 1


def workload(kind: str, file: Path | None) -> Workload:
    """A loader and nothing else."""
    data = str(file) if file else None
    return Workload(kind, kind, network="resnet50", data=data, cache="natural", device=ACCELERATOR)


def several_times(records: Path, target: Path, copies: int) -> Path:
    """A RecordIO file of the same records several times over, with its index: records follow each other freely."""
    with target.open("wb") as opened_target:
        for _ in range(copies):
            opened_target.write(records.read_bytes())
        os.fdatasync(opened_target.fileno())
    words = ["--data", str(target), "--out", str(target.with_suffix(".idx"))]
    program = [str(interpreter("mxnet")), "-m", "workloads.record_index", *words]
    environment = {**os.environ, "PYTHONPATH": str(WORKLOADS_PATH)}
    subprocess.run(program, env=environment, check=True, stdout=subprocess.DEVNULL)
    return target


@dataclass
class Seen:
    """What was seen of a run from outside, each with its time: bytes of the file resident, and read by the device."""

    resident: list[tuple[float, int]] = field(default_factory=list)
    device: list[tuple[float, int]] = field(default_factory=list)

    def read_between(self, start: float, end: float) -> float:
        """Bytes that the device read between two monotonic times."""
        times, counts = zip(*self.device, strict=True)
        return float(np.diff(np.interp([start, end], times, counts))[0])


@contextmanager
def counted(stat: Path, seen: Seen) -> Iterator[None]:
    """Reads the device's counter twenty times a second meanwhile; the third field is sectors read."""
    over = threading.Event()

    def count() -> None:
        while not over.wait(0.05):
            seen.device.append((time.monotonic(), int(stat.read_text().split()[2]) * SECTOR_BYTES))

    thread = threading.Thread(target=count)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


@dataclass(frozen=True)
class Reader:
    """Reads the file through a loader under caps."""

    bench: BenchmarkHost
    volume: Volume
    file: Path
    seconds: float

    def run(self, kind: str, memory_bytes: int | None) -> tuple[Run, Seen]:
        """The run, and what was seen of it from outside. Raises HostError if it did not complete."""
        assert self.volume.device is not None
        seen = Seen()

        def look(_live: Live) -> None:
            seen.resident.append((time.monotonic(), resident_bytes([self.file]) or 0))

        named = workload(kind, self.file)
        measure = Measure(1, self.seconds, 1e-6)
        spec = RunSpec(named, BATCH_SIZE, Limits(memory_bytes=memory_bytes, disk="fast"), measure)
        context = replace(self.bench.context(named), throttle=Throttle(self.volume.device, TIER))
        with counted(self.queue.parent / "stat", seen):
            run = launch(spec, context, self.bench.backend, Hooks(watch=look))
        if run.outcome is not Outcome.COMPLETED:
            raise HostError(f"{kind} under {memory_bytes} bytes ended as {run.outcome.value}: {failure_line(run)}")
        return run, seen

    def read(self, series: LoaderRuns, base_bytes: int, fraction: float) -> Read:
        """A run whose cap leaves room for a fraction of the file beside `base_bytes`."""
        size = self.file.stat().st_size
        cap = base_bytes + round(fraction * size)
        run, seen = self.run(series.kind, cap)
        assert run.data_set is not None
        epoch = SECOND if series.shuffled else last_whole(run.steps, run.data_set.samples)
        ends = {step.epoch: step.time for step in run.steps}
        within = [count for at, count in seen.resident if ends[epoch - 1] <= at <= ends[epoch]]
        first = seen.read_between(seen.device[0][0], ends[0])
        again = seen.read_between(ends[epoch - 1], ends[epoch])
        after = run.resident_after_bytes if run.resident_after_bytes is not None else seen.resident[-1][1]
        return Read(
            fraction=fraction,
            cap_bytes=cap,
            before=(run.resident_bytes or 0) / size,
            resident=sum(within) / len(within) / size,
            after=after / size,
            amplified=first / size,
            hits=1 - again / size,
            recorded=run.hit_rate,
        )

    @property
    def queue(self) -> Path:
        """The settings of the volume's device; its counters lie beside them."""
        return Path(f"/sys/dev/block/{self.volume.device}/queue")

    def read_ahead(self, kib: int) -> None:
        """What the kernel reads ahead on the volume, for files that are opened from now on."""
        (self.queue / "read_ahead_kb").write_text(str(kib))


def last_whole(steps: Sequence[Step], samples: int) -> int:
    """The last epoch that was read to its end; `samples` are those of a whole one.

    Raises HostError if that is the first: nothing is known then of what memory kept.
    """
    last = steps[-1].epoch
    done = sum(step.samples for step in steps if step.epoch == last)
    whole = last if done > samples - steps[-1].samples else last - 1
    if whole < SECOND:
        raise HostError("the run was too short for a whole second epoch; give a larger --seconds or fewer --copies")
    return whole


def least_recently_used(resident: float) -> float:
    """Hit rate of an LRU cache that holds this share of what is read in a new random order each epoch."""
    missing = 1 - min(1.0, resident)
    return 1 - missing + (missing * math.log(missing) if missing else 0.0)


def show_hits(reader: Reader) -> bool:
    """The table of hit rates. Whether it holds."""
    print(f"{reader.file.stat().st_size / 1e6:.0f} MB; shares of the file or of the bytes asked for")
    print(
        "reading                 room   cap MiB  resident: before  during  after  1st epoch    hits  formula  recorded"
    )
    holds = True
    for series in SERIES:
        reader.read_ahead(series.readahead_kib)
        free, _ = reader.run(series.kind, None)
        base = (free.peak_anonymous_bytes or 0) + (free.peak_kernel_bytes or 0)
        for fraction in series.fractions:
            read = reader.read(series, base, fraction)
            formula = least_recently_used(read.resident) if series.shuffled else float(fraction >= 1)
            holds = holds and right(read, series, formula)
            recorded = "-" if read.recorded is None else f"{read.recorded:.3f}"
            print(
                f"{series.name:22s}  {fraction:4.2f}  {read.cap_bytes / 2**20:8.0f}  {read.before:16.3f}"
                f"  {read.resident:6.3f}  {read.after:5.3f}  {read.amplified:9.2f}  {read.hits:6.3f}  {formula:7.3f}"
                f"  {recorded:>8s}"
            )
    return holds


def right(read: Read, series: LoaderRuns, formula: float) -> bool:
    """Whether a row is within the aims; of a shuffled loader with readahead only the pages before the run have one."""
    if series.shuffled and series.readahead_kib:
        return read.before <= BEFORE_AIM
    recorded = formula if read.recorded is None else read.recorded
    if not series.shuffled:
        return read.before <= BEFORE_AIM and all(abs(x - formula) <= AIM for x in (read.hits, recorded))
    within = formula - AIM <= recorded <= max(formula, read.resident) + AIM
    return read.before <= BEFORE_AIM and abs(read.hits - formula) <= AIM and within


if __name__ == "__main__":
    raise SystemExit(main())

"""A job on one CPU with probes of several kinds beside it: the CPU seconds of each, as they went by."""

from __future__ import annotations

import itertools
import multiprocessing
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

sys.path.append(str(Path(__file__).parents[2]))

from sizer.runner.probe import multiply, read
from workloads.image_transform import as_jpeg, decode, resize
from workloads.photograph_crops import load_photographs, make_image

MEBI = 1 << 20
IMAGES = 24
READS = 1 << 16
Probe = Callable[[], object]
Array = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True)
class Series:
    """What both processes noted, times of the host's monotonic clock.

    `job`: rows of (time, CPU seconds so far, images so far). `probes`: of each kind rows of (time, CPU seconds of one).
    """

    job: Array
    probes: dict[str, Array]


def probe_kinds() -> dict[str, Probe]:
    """Each takes about as long whatever it finds in a cache, and holds its own memory."""
    source = np.random.default_rng(0).integers(0, 256, 24 * MEBI, np.uint8)
    target = np.zeros_like(source)
    small = np.random.default_rng(2).random((96, 96))

    def copy(mebi: int) -> Probe:
        size = mebi * MEBI
        return lambda: np.copyto(target[:size], source[:size])

    order = np.random.default_rng(0).permutation(MEBI)[:READS] * 64
    same = np.ones(64 * MEBI, np.uint8)

    def reads(mebi: int) -> Probe:
        """Of as many lines each time, all of them once before any again."""
        far = np.ones(mebi * MEBI, np.uint8)
        places = np.random.default_rng(1).permutation(mebi * MEBI // 64) * 64
        rounds = itertools.cycle(places.reshape(-1, READS))
        return lambda: far[next(rounds)].sum()

    def loop() -> int:
        total = 0
        for number in range(20_000):
            total += number & 3
        return total

    return {
        "copy 24 MiB": copy(24),
        "copy 8 MiB": copy(8),
        "copy 2 MiB": copy(2),
        "reads of 65,536 lines": lambda: same[order].sum(),
        "reads of 16,384 lines": lambda: same[order[: 1 << 14]].sum(),
        "reads of all in 16 MiB": reads(16),
        "sizer's reads": read,
        "sizer's products": multiply,
        "matrix product 96": lambda: small @ small,
        "python loop": loop,
    }


def record(cpu: int, seconds: float, pause: float, names: Sequence[str] = ()) -> Series:
    """Run both on the CPU for that long, with probes of these kinds, by default all."""
    context = multiprocessing.get_context("spawn")
    until = time.monotonic() + seconds + 3.0
    job_end, own_end = context.Pipe()
    job = context.Process(target=work, args=(cpu, until, own_end))
    job.start()
    try:
        os.sched_setaffinity(0, {cpu})
        probes = _probe(until, pause, names)
        return Series(np.array(job_end.recv()), probes)
    finally:
        job.join()


def work(cpu: int, until: float, end: Any) -> None:
    """Decode, scale and encode on one CPU until then."""
    import cv2

    cv2.setNumThreads(1)
    os.sched_setaffinity(0, {cpu})
    photographs = load_photographs()
    encoded = [make_image(photographs, 0, index) for index in range(IMAGES)]
    noted, done = [], 0
    while time.monotonic() < until:
        for image in encoded:
            pixels = decode(image)
            assert pixels is not None
            scaled = resize(pixels)
            assert scaled is not None
            as_jpeg(scaled)
            done += 1
            if done % 8 == 0:
                noted.append((time.monotonic(), time.process_time(), done))
    end.send(noted)


def _probe(until: float, pause: float, names: Sequence[str]) -> dict[str, Array]:
    kinds = {name: probe for name, probe in probe_kinds().items() if name in (names or (name,))}
    for probe in kinds.values():
        probe()
    noted: dict[str, list[tuple[float, float]]] = {name: [] for name in kinds}
    for name in _in_turn(kinds):
        if time.monotonic() >= until:
            break
        begin = time.process_time()
        kinds[name]()
        noted[name].append((time.monotonic(), time.process_time() - begin))
        time.sleep(pause)
    return {name: np.array(rows) for name, rows in noted.items()}


def _in_turn(kinds: dict[str, Probe]) -> Iterator[str]:
    while True:
        yield from kinds

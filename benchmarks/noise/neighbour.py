"""A neighbour of our own: copies memory on one CPU in spells, as other tenants of a shared machine do."""

from __future__ import annotations

import multiprocessing
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

BYTES = 128 << 20
SPELLS = (3.0, 30.0)
"""Seconds that it copies for, and that it rests for: any between these."""


@contextmanager
def neighbour(cpu: int, seed: int = 0) -> Iterator[None]:
    """It is there until the context ends."""
    process = multiprocessing.get_context("spawn").Process(target=_copy, args=(cpu, seed), daemon=True)
    process.start()
    try:
        yield
    finally:
        process.kill()
        process.join()


def _copy(cpu: int, seed: int) -> None:
    os.sched_setaffinity(0, {cpu})
    random = np.random.default_rng(seed)
    source, target = np.ones(BYTES, np.uint8), np.ones(BYTES, np.uint8)
    while True:
        until = time.monotonic() + random.uniform(*SPELLS)
        while time.monotonic() < until:
            np.copyto(target, source)
        time.sleep(random.uniform(*SPELLS))

"""What tests share: programs that tell their steps, and what takes long to make, made once for all workers."""

from __future__ import annotations

import fcntl
import os
import pickle
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

import pytest

Made = TypeVar("Made")

TELLS = """
import json, os, sys, time
def write(**fields):
    os.write(int(os.environ["SIZER_EVENTS_FD"]), (json.dumps(fields) + "\\n").encode())
def start():
    write(event="start", sample_unit="image", batch_size=8, dataset_bytes=0, dataset_samples=0, bytes_per_sample=0)
def step(seconds=0.02):
    time.sleep(seconds)
    write(event="step", time=time.monotonic(), samples=8, input_wait=0.0, epoch=0)
"""
"""How a measured program begins that tells its steps itself."""


@contextmanager
def held(factory: pytest.TempPathFactory, name: str) -> Iterator[Path]:
    """A path that all workers of this session share; one of them at a time is in the block."""
    base = factory.getbasetemp()
    place = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / name
    with place.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield place


def made_once(factory: pytest.TempPathFactory, name: str, make: Callable[[], Made]) -> Made:
    """What `make` returns, which can be pickled: made by the first worker that asks, and read by the others."""
    with held(factory, f"{name}.pickle") as place:
        if not place.exists():
            place.write_bytes(pickle.dumps(make()))
        made: Made = pickle.loads(place.read_bytes())
    return made

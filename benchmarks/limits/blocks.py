"""Reads or writes a file block by block in one way, and stamps each block: what `throttle.py` starts under a limit.

    python benchmarks/limits/blocks.py WAY FILE STAMPS --seconds S [--block BYTES]

STAMPS gets two doubles a block: monotonic seconds and bytes so far.
"""

from __future__ import annotations

import argparse
import mmap
import os
import random
import time
from array import array
from collections.abc import Callable, Iterator
from pathlib import Path

AHEAD_BLOCKS = 32
"""How far a program reads ahead that tells the kernel what it will need: 4 MiB of 128 KiB blocks."""

SYNC_BYTES = 4 << 20
"""Between two syncs of a program that syncs as it goes; workloads/data_sets/record_writers.py."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("way", choices=WAYS)
    parser.add_argument("file", type=Path)
    parser.add_argument("stamps", type=Path)
    parser.add_argument("--seconds", type=float, required=True)
    parser.add_argument("--block", type=int, default=128 << 10)
    given = parser.parse_args()
    stamps = array("d")
    blocks = WAYS[given.way](given.file, given.block)
    go_on(blocks, stamps, given.seconds)
    given.stamps.write_bytes(stamps.tobytes())


def go_on(blocks: Iterator[int], stamps: array[float], seconds: float) -> None:
    """Stamp blocks until the time is up or the file ends."""
    total = stamps[-1] if stamps else 0.0
    end = time.monotonic() + seconds
    for count in blocks:
        total += count
        now = time.monotonic()
        stamps.extend((now, total))
        if now > end:
            return


def sequential(file: Path, block: int) -> Iterator[int]:
    """Through the page cache, from the beginning; the kernel reads ahead."""
    descriptor = os.open(file, os.O_RDONLY)
    while data := os.read(descriptor, block):
        yield len(data)


def shuffled(file: Path, block: int) -> Iterator[int]:
    """Through the page cache, every block once in a random order."""
    descriptor = os.open(file, os.O_RDONLY)
    for offset in shuffled_offsets(file, block):
        yield len(os.pread(descriptor, block, offset))


def ahead(file: Path, block: int) -> Iterator[int]:
    """Through the page cache, telling the kernel some blocks before each is needed."""
    descriptor = os.open(file, os.O_RDONLY)
    offsets = shuffled_offsets(file, block)
    for index, offset in enumerate(offsets):
        for ahead in offsets[index + AHEAD_BLOCKS - 1 : index + AHEAD_BLOCKS] if index else offsets[:AHEAD_BLOCKS]:
            os.posix_fadvise(descriptor, ahead, block, os.POSIX_FADV_WILLNEED)
        yield len(os.pread(descriptor, block, offset))


def mapped(file: Path, block: int) -> Iterator[int]:
    """By page faults in a map of the file, from the beginning."""
    with file.open("rb") as opened, mmap.mmap(opened.fileno(), 0, prot=mmap.PROT_READ) as view:
        for offset in range(0, len(view), block):
            yield len(view[offset : offset + block])


def direct(file: Path, block: int) -> Iterator[int]:
    """Past the page cache, in a random order, over and over."""
    descriptor, buffer = os.open(file, os.O_RDONLY | os.O_DIRECT), mmap.mmap(-1, block)
    while True:
        for offset in shuffled_offsets(file, block):
            yield os.preadv(descriptor, [buffer], offset)


def direct_write(file: Path, block: int) -> Iterator[int]:
    """Past the page cache, over what is there."""
    descriptor, buffer = os.open(file, os.O_WRONLY | os.O_DIRECT), mmap.mmap(-1, block)
    while True:
        for offset in range(0, file.stat().st_size // block * block, block):
            yield os.pwritev(descriptor, [buffer], offset)


def synced_write(file: Path, block: int) -> Iterator[int]:
    """Through the page cache, synced every few MiB; counted when synced."""
    yield from _written(file, block, os.fdatasync)


def buffered_write(file: Path, block: int) -> Iterator[int]:
    """Through the page cache, never synced."""
    yield from _written(file, block, lambda _descriptor: None)


def _written(file: Path, block: int, sync: Callable[[int], None]) -> Iterator[int]:
    descriptor, data = os.open(file, os.O_WRONLY), os.urandom(block)
    while True:
        for offset in range(0, file.stat().st_size // SYNC_BYTES * SYNC_BYTES, SYNC_BYTES):
            for inside in range(0, SYNC_BYTES, block):
                os.pwrite(descriptor, data, offset + inside)
            sync(descriptor)
            yield SYNC_BYTES


def shuffled_offsets(file: Path, block: int) -> list[int]:
    """Where the whole blocks of a file begin, in a random order that is the same each time."""
    offsets = list(range(0, file.stat().st_size // block * block, block))
    random.Random(1).shuffle(offsets)
    return offsets


WAYS: dict[str, Callable[[Path, int], Iterator[int]]] = {
    way.__name__: way
    for way in (sequential, shuffled, ahead, mapped, direct, direct_write, synced_write, buffered_write)
}


if __name__ == "__main__":
    main()

"""The programs of blocks do what their names say, on real files."""

from __future__ import annotations

import sys
from array import array
from itertools import islice
from pathlib import Path

import blocks
import numpy as np
import pytest
from throttle import rate

BLOCK = 128 << 10
FILE_BYTES = 8 << 20
ENDING = ("sequential", "shuffled", "ahead", "mapped")
WRITING = ("direct_write", "synced_write", "buffered_write")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "file"
    path.write_bytes(bytes(FILE_BYTES))
    return path


@pytest.mark.parametrize("way", ENDING)
def test_buffered_reading_reads_every_byte_once(way: str, file: Path) -> None:
    """Nothing is read twice, which memory would serve, and nothing is left out."""
    assert sum(blocks.WAYS[way](file, BLOCK)) == FILE_BYTES


@pytest.mark.parametrize("way", WRITING)
def test_writing_stays_within_the_file_and_goes_on(way: str, file: Path) -> None:
    """The file keeps its size, however long a program writes."""
    try:
        written = sum(islice(blocks.WAYS[way](file, BLOCK), 2 * FILE_BYTES // BLOCK))
    except OSError as error:
        pytest.skip(f"no direct I/O here: {error.strerror}")
    assert written >= 2 * FILE_BYTES
    assert file.stat().st_size == FILE_BYTES


def test_a_shuffled_order_has_every_block_once_and_is_the_same_each_time(file: Path) -> None:
    """Runs are alike, and no block comes twice."""
    offsets = blocks.shuffled_offsets(file, BLOCK)
    assert offsets == blocks.shuffled_offsets(file, BLOCK)
    assert offsets != sorted(offsets)
    assert sorted(offsets) == list(range(0, FILE_BYTES, BLOCK))


def test_stamps_grow_in_time_and_bytes(file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each block has one stamp; the last tells all bytes."""
    target = tmp_path / "stamps"
    monkeypatch.setattr(sys, "argv", ["blocks", "sequential", str(file), str(target), "--seconds=60"])
    blocks.main()
    stamps = array("d", target.read_bytes())
    assert list(stamps[1::2]) == [BLOCK * count for count in range(1, FILE_BYTES // BLOCK + 1)]
    assert list(stamps[::2]) == sorted(stamps[::2])


def test_the_rate_does_not_depend_on_where_in_a_burst_the_stream_ends() -> None:
    """10 blocks every 100 ms are 100 a second, to 1 % over 5 s, with the last burst or without it."""
    times = [0.1 * number + 0.001 * block for number in range(50) for block in range(10)]
    stamps = np.array([(time, 1000.0 * (count + 1)) for count, time in enumerate(times)])
    for kept in (stamps, stamps[:-5], stamps[:-10]):
        assert rate(kept, 0.5) == pytest.approx(100_000, rel=0.01)

from __future__ import annotations

import ctypes
import mmap
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from workloads.page_cache import CacheState, ask_for, evict, preload

SIZE = 8 << 20


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "data"
    path.write_bytes(os.urandom(SIZE))
    return path


def resident(path: Path) -> float:
    """Share of our own file's pages in the page cache, by mincore."""
    library = ctypes.CDLL(None, use_errno=True)
    with path.open("r+b") as opened, mmap.mmap(opened.fileno(), 0) as mapped:
        pages = (ctypes.c_ubyte * (SIZE // mmap.PAGESIZE))()
        begin = ctypes.c_char.from_buffer(mapped)
        assert library.mincore(ctypes.c_void_p(ctypes.addressof(begin)), ctypes.c_size_t(SIZE), pages) == 0
        del begin
        return sum(page & 1 for page in pages) / len(pages)


def untold(_done: int, _whole: int) -> None:
    """Nobody listens."""


def test_evicted_files_are_gone_and_preloaded_ones_are_there(file: Path) -> None:
    """Eviction works on a file just written; preloading brings all of it, and tells how far it is."""
    evict([file])
    if resident(file) == 1.0:
        pytest.skip("this file system keeps its files in memory")
    assert resident(file) < 0.01
    told: list[tuple[int, int]] = []
    preload([file], lambda done, whole: told.append((done, whole)))
    assert resident(file) == 1.0
    assert told == [(SIZE // 2, SIZE), (SIZE, SIZE)]


def test_files_that_are_asked_for_come_by_themselves(file: Path, tmp_path: Path) -> None:
    """At least their beginning, as far as the kernel reads ahead; one that is not there is nobody's fault yet."""
    evict([file])
    if resident(file) == 1.0:
        pytest.skip("this file system keeps its files in memory")
    ask_for([tmp_path / "gone", file])
    deadline = time.monotonic() + 100
    while resident(file) == 0 and time.monotonic() < deadline:
        time.sleep(0.01)
    assert resident(file) > 0


@pytest.mark.parametrize(("state", "before", "between"), [("cold", 0, 0), ("natural", 0, 1), ("warm", 1, 1)])
def test_each_state_is_what_it_says(file: Path, state: str, before: int, between: int) -> None:
    """Cold is empty at every epoch's begin, natural at the first only, warm never."""
    evict([file])
    if resident(file) == 1.0:
        pytest.skip("this file system keeps its files in memory")
    preload([file], untold)
    cache = CacheState((file,), state)
    cache.before_run(untold)
    assert round(resident(file), 2) == before
    preload([file], untold)
    cache.between_epochs()
    assert round(resident(file), 2) == between


ROUNDS = 20
PAGES_A_ROUND = 48 * 2**20 // 4096

PROGRAM = f"""
import resource, sys
from workloads.process import keep_freed_memory
if sys.argv[1] == "kept":
    assert keep_freed_memory()
b"x" * (48 << 20)
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range({ROUNDS}):
    b"x" * (48 << 20)
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""
"""Takes and frees 48 MiB in each round, and prints the pages that had to be fetched."""


def pages_fetched(memory: str) -> int:
    done = subprocess.run([sys.executable, "-c", PROGRAM, memory], capture_output=True, text=True, check=True)
    return int(done.stdout)


def test_what_is_freed_is_taken_again_without_asking_the_kernel() -> None:
    """By itself the C library fetches all of it in each round."""
    assert pages_fetched("given back") > ROUNDS * PAGES_A_ROUND / 2
    assert pages_fetched("kept") < PAGES_A_ROUND

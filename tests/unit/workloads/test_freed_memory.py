"""Memory that a step frees is there for the next one."""

from __future__ import annotations

import subprocess
import sys

ROUNDS = 20
PAGES_A_ROUND = 48 * 2**20 // 4096

PROGRAM = f"""
import resource, sys
from workloads.freed_memory import keep_freed_memory
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

"""One program that takes of the host what others want of it: the CPU or the memory bus.

    python benchmarks/answers/busy_load.py cpu|memory SECONDS

It works for these seconds (`inf`: always) and rests for as long, in turn. It ends when it is killed, and when whoever
started it is no longer there.
"""

from __future__ import annotations

import hashlib
import os
import sys
import time
from collections.abc import Callable

MIB = 1 << 20


def cpu() -> Callable[[], object]:
    """Some milliseconds of one thread."""
    block = bytes(MIB)
    return lambda: hashlib.blake2b(block).digest()


def memory() -> Callable[[], object]:
    """A copy of more than any cache holds."""
    import numpy as np

    source, target = np.ones(128 * MIB, np.uint8), np.ones(128 * MIB, np.uint8)
    return lambda: np.copyto(target, source)


def main() -> None:
    takes, seconds = sys.argv[1:]
    once, spell, parent = {"cpu": cpu, "memory": memory}[takes](), float(seconds), os.getppid()
    while os.getppid() == parent:
        until = time.monotonic() + spell
        while time.monotonic() < until and os.getppid() == parent:
            once()
        if os.getppid() == parent:
            time.sleep(spell)


if __name__ == "__main__":
    main()

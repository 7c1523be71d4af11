"""One program that takes of the host what others want of it: the CPU, the memory bus or the disk.

    python benchmarks/answers/busy_load.py cpu|memory|disk PROCESSES SECONDS

So many processes, each of which works for these seconds (`inf`: always) and rests for as long, in turn. They end when
they are killed, and when whoever started them is no longer there.
"""

from __future__ import annotations

import hashlib
import os
import sys
import tempfile
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


def disk() -> Callable[[], object]:
    """32 MiB written to a file without a name and synced."""
    file, block = tempfile.TemporaryFile(dir="/var/tmp"), os.urandom(32 * MIB)  # noqa: SIM115 (open until it is killed)

    def write() -> None:
        os.pwrite(file.fileno(), block, 0)
        os.fsync(file.fileno())

    return write


def main() -> None:
    takes, processes, seconds = sys.argv[1:]
    for _ in range(int(processes) - 1):
        if os.fork() == 0:
            break
    once, spell, parent = {"cpu": cpu, "memory": memory, "disk": disk}[takes](), float(seconds), os.getppid()
    while os.getppid() == parent:
        until = time.monotonic() + spell
        while time.monotonic() < until and os.getppid() == parent:
            once()
        if os.getppid() == parent:
            time.sleep(spell)


if __name__ == "__main__":
    main()

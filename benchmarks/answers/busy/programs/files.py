"""Two processes that read the files of a folder, unpack each and count its lines."""

from __future__ import annotations

import sys
import zlib
from multiprocessing import get_context
from pathlib import Path


def lines(path: Path) -> int:
    return zlib.decompress(path.read_bytes()).count(b"\n")


if __name__ == "__main__":
    files = sorted(Path(sys.argv[1]).iterdir())
    step = 0
    with get_context("fork").Pool(2) as pool:
        while True:
            for _ in pool.imap_unordered(lines, files):
                step += 1
                print(f"step {step}", flush=True)

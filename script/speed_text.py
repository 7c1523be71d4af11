"""How fast the text of the speed probe is compressed beside the published one: python script/speed_text.py DICKENS.

DICKENS is the file `dickens` of the Silesia corpus. Each of its ten megabytes is compressed between two of our text,
three times over; the median of their CPU times over the mean of ours is `OF_PUBLISHED` of `sizer/host/speed.py`.
"""

from __future__ import annotations

import hashlib
import sys
import time
from pathlib import Path
from statistics import fmean, median

from sizer.host.speed import COMPRESSORS, libraries, text

SHA256 = "b24c37886142e11d0ee687db6ab06f936207aa7f2ea1fd1d9a36763c7a507e6a"


def seconds(compressor: str, sample: bytes) -> float:
    """Of CPU time."""
    began = time.thread_time()
    COMPRESSORS[compressor](sample)
    return time.thread_time() - began


def main() -> None:
    """A line for each compressor."""
    published = Path(sys.argv[1]).read_bytes()
    if hashlib.sha256(published).hexdigest() != SHA256:
        sys.exit(f"{sys.argv[1]} is not Silesia's dickens (SHA-256 {SHA256[:8]}...).")
    ours, size = text(), len(text())
    parts = [published[place : place + size] for place in range(0, len(published) - size, size)]
    for name, library in libraries().items():
        turns = [(seconds(name, ours), seconds(name, part), seconds(name, ours)) for part in 3 * parts]
        rate = median(theirs / fmean((before, after)) for before, theirs, after in turns)
        shares = [len(COMPRESSORS[name](sample)) / len(sample) for sample in (ours, published)]
        print(f"{name} ({library}): rate {rate:.3f}; compressed to {shares[0]:.3f}, published {shares[1]:.3f}")


if __name__ == "__main__":
    main()

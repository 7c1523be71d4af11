"""How fast the text of the speed probe is compressed beside the published one: python script/speed_text.py DICKENS.

DICKENS is the file `dickens` of the Silesia corpus, 10,192,446 bytes. In turn, the best of 15 by CPU time; what it
prints as `rate` is `OF_PUBLISHED` of `sizer/host/speed.py`.
"""

from __future__ import annotations

import hashlib
import sys
import time
from pathlib import Path

from sizer.host.speed import COMPRESSORS, libraries, text

SHA256 = "b24c37886142e11d0ee687db6ab06f936207aa7f2ea1fd1d9a36763c7a507e6a"


def main() -> None:
    published = Path(sys.argv[1]).read_bytes()
    if hashlib.sha256(published).hexdigest() != SHA256:
        sys.exit(f"{sys.argv[1]} is not Silesia's dickens (SHA-256 {SHA256[:8]}...).")
    best: dict[tuple[str, int], float] = {}
    for _ in range(15):
        for name, compress in COMPRESSORS.items():
            for sample in (text(), published):
                began = time.process_time()
                compress(sample)
                took = (time.process_time() - began) / len(sample)
                best[name, len(sample)] = min(took, best.get((name, len(sample)), took))
    for name, library in libraries().items():
        rates = [1e-6 / best[name, len(sample)] for sample in (text(), published)]
        sizes = [len(COMPRESSORS[name](sample)) / len(sample) for sample in (text(), published)]
        print(
            f"{name} ({library}): {rates[0]:.2f} MB/s, published {rates[1]:.2f}, rate {rates[0] / rates[1]:.3f}; ",
            end="",
        )
        print(f"compressed to {sizes[0]:.3f}, published {sizes[1]:.3f}")


if __name__ == "__main__":
    main()

"""What a page cache serves of shuffled and of ordered reads: epochs over a least-recently-used list. Pure."""

from __future__ import annotations

from collections import OrderedDict
from functools import lru_cache

import numpy as np

RECORDS = 1000
EPOCHS = 4
STEPS = 24


def hit_share(cached: float, sequential: bool, keep: float) -> float:
    """Share of reads served when this share of the data set fits (0 to 1 and above).

    `keep` 0 is least recently used, 1 keeps a fixed part, whatever is read: kernels lie between.
    """
    if cached >= 1:
        return 1.0
    if sequential or cached <= 0:
        return 0.0
    places, shares = _shuffled()
    least_recent = float(np.interp(cached, places, shares))
    return (1 - keep) * least_recent + keep * cached


@lru_cache(maxsize=1)
def _shuffled() -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Hits over the later epochs of records that are shuffled anew in each, at rising shares that fit."""
    places = tuple(step / STEPS for step in range(STEPS + 1))
    return places, tuple(_simulated(round(place * RECORDS)) for place in places)


def _simulated(capacity: int) -> float:
    if capacity == 0:
        return 0.0
    random, kept, hits = np.random.default_rng(capacity), OrderedDict[int, None](), 0
    for epoch in range(EPOCHS):
        for record in map(int, random.permutation(RECORDS)):
            if record in kept:
                kept.move_to_end(record)
                hits += epoch > 0
                continue
            kept[record] = None
            if len(kept) > capacity:
                kept.popitem(last=False)
    return hits / (RECORDS * (EPOCHS - 1))

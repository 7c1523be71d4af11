"""Published rates by batch size: every second one left out, each half in turn, and told from the others."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from sizer.catalog.accelerator_rates import PROCESSOR, AcceleratorRate
from sizer.catalog.batch_curve import rate_at

LEAST_SIZES = 3
LARGE = 16


@dataclass(frozen=True)
class LeftOut:
    """A rate that was left out, what was told for it, and what a straight line between its neighbours' rates tells."""

    source: str
    true: float
    told: float
    straight: float

    @property
    def error(self) -> float:
        """Ln of what was told over what is true."""
        return math.log(self.told / self.true)


def curves(rates: Sequence[AcceleratorRate]) -> dict[tuple[object, ...], dict[int, float]]:
    """Rates by batch size that differ in nothing else, where there are enough."""
    found: dict[tuple[object, ...], dict[int, float]] = {}
    for rate in rates:
        if rate.batch_size:
            plain = replace(rate, batch_size=1, samples_per_second=1.0, note=None, commit=None)
            found.setdefault(tuple(vars(plain).values()), {})[rate.batch_size] = rate.samples_per_second
    return {key: dict(sorted(curve.items())) for key, curve in found.items() if len(curve) >= LEAST_SIZES}


def left_out(rates: Sequence[AcceleratorRate]) -> list[LeftOut]:
    """All of them; sizes outside of those that stay are no question of a curve."""
    found = []
    for key, curve in curves(rates).items():
        for kept, asked in _halves(curve):
            told, straight = rate_at(kept, asked).value, _straight(kept, asked)
            found.append(LeftOut(str(key[8]), curve[asked], told, straight))
    return found


def _halves(curve: Mapping[int, float]) -> Iterator[tuple[dict[int, float], int]]:
    sizes = list(curve)
    for start in (0, 1):
        kept = {size: curve[size] for size in sizes[start::2]}
        for asked in sizes[1 - start :: 2]:
            if min(kept) < asked < max(kept):
                yield kept, asked


def _straight(kept: Mapping[int, float], asked: int) -> float:
    """The rates, linear in the logarithm of the batch: linear in the batch itself is worse."""
    return float(np.interp(math.log(asked), np.log(list(kept)), list(kept.values())))


def growth(rates: Sequence[AcceleratorRate]) -> tuple[float, float]:
    """Ln rate an e-fold of batch between any two large sizes of an accelerator's curve: the median, and its 90 %."""
    slopes = [
        math.log(curve[more] / curve[less]) / math.log(more / less)
        for key, curve in curves(rates).items()
        if not str(key[2]).startswith(PROCESSOR)
        for less in curve
        for more in curve
        if LARGE <= less < more
    ]
    middle = float(np.median(slopes))
    return middle, float(np.quantile([abs(slope - middle) for slope in slopes], 0.9))

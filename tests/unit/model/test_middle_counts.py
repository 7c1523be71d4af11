"""Counts of accelerators between measured ones, on storages that saturate: how often the intervals hold the rate.

The tables are as benchmarks of storage publish them: each accelerator reads 100 samples/s until the disk gives no more.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from sizer.model.fitting import fit
from sizer.model.prediction import predict
from sizer.records.configuration import Configuration, Estimate
from tests.tables import runs_of

COUNTS = (1, 2, 4, 8, 12, 16, 24)
COVERED = 0.85
WIDE = 0.25
"""Half of an interval in ln rate, in the median: between neighbours that are a factor of 2 apart."""

Place = tuple[str, int]


def _knee(at: float, sharpness: float = 40.0) -> Callable[[int], float]:
    """Linear up to a number of accelerators, flat beyond it."""
    return lambda count: 100 * count / (1 + (count / at) ** sharpness) ** (1 / sharpness)


SHAPES: Mapping[str, Callable[[int], float]] = {
    "a sharp knee early": _knee(3),
    "a sharp knee in the middle": _knee(9),
    "a sharp knee late": _knee(18),
    "a gentle bend": _knee(9, 2.5),
    "nearly linear": lambda count: 100 * count**0.96,
    "slower beyond the knee": lambda count: _knee(6)(count) * (1 - 0.04 * max(0.0, math.log2(count / 6))),
}


@dataclass(frozen=True)
class LeftOut:
    """A rate that was left out of its table, what was predicted there, and the rates of its measured neighbours."""

    rate: float
    predicted: Estimate
    below: float
    above: float
    extrapolated: bool

    @property
    def covered(self) -> bool:
        return self.predicted.low <= self.rate <= self.predicted.high

    @property
    def half(self) -> float:
        return math.log(self.predicted.high / self.predicted.low) / 2

    @property
    def held(self) -> bool:
        """Whether the interval reaches no further beyond the neighbours than half the step between them, and noise."""
        low, high = sorted((self.below, self.above))
        beyond = 1.07 * math.sqrt(high / low)
        return low / beyond <= self.predicted.low and self.predicted.high <= high * beyond


def _noisy(rates: Mapping[Place, float], noise: float, seed: int) -> dict[Place, float]:
    random = np.random.default_rng(seed)
    return {place: rate * math.exp(noise * random.standard_normal()) for place, rate in rates.items()}


def _left_out(folder: Path, rates: Mapping[Place, float], groups: Sequence[Sequence[Place]]) -> Iterator[LeftOut]:
    """What is predicted for each group by a model of the rows without it."""
    for group in groups:
        kept = {place: rate for place, rate in rates.items() if place not in group}
        rows = "\n".join(f"unet,{disk},H100,{count},{rate:.2f}" for (disk, count), rate in kept.items())
        model = fit(runs_of(folder, f"workload,disk,gpu,gpu_count,throughput\n{rows}")).workload("unet")
        for disk, count in group:
            found = predict(model, Configuration(None, None, disk, None, "H100", count))
            below, above = (
                kept[disk, nearest([each for name, each in kept if name == disk and (each - count) * side > 0])]
                for nearest, side in ((max, -1), (min, 1))
            )
            yield LeftOut(rates[disk, count], found.throughput, below, above, found.extrapolated)


def _middle(rates: Mapping[Place, float]) -> list[Place]:
    return [place for place in rates if place[1] not in (COUNTS[0], COUNTS[-1])]


def _thirds(places: Sequence[Place]) -> list[Sequence[Place]]:
    return [places[start::3] for start in range(3)]


def _judge(found: Sequence[LeftOut]) -> None:
    """The intervals hold most of the rates, and say more than that the rate is somewhere."""
    assert np.mean([each.covered for each in found]) >= COVERED
    assert np.median([each.half for each in found]) < WIDE
    assert all(each.held for each in found)
    assert not any(each.extrapolated for each in found)


def test_middle_counts_of_one_storage_are_in_their_intervals(tmp_path: Path) -> None:
    """One at a time and in thirds, wherever the knee is and however sharp, with noise of 1 to 3 %."""
    found: list[LeftOut] = []
    for index, shape in enumerate(SHAPES.values()):
        rates = _noisy({("array", count): shape(count) for count in COUNTS}, (0.01, 0.02, 0.03)[index % 3], seed=index)
        middle = _middle(rates)
        own = list(_left_out(tmp_path, rates, [[place] for place in middle] if index % 2 else _thirds(middle)))
        assert np.mean([each.covered for each in own]) >= 0.4
        found += own
    _judge(found)


@pytest.mark.parametrize(("noise", "sharpness"), [(0.01, 40.0), (0.03, 3.0)])
def test_middle_counts_on_several_disks_are_in_their_intervals(tmp_path: Path, noise: float, sharpness: float) -> None:
    """Each disk has its own knee; that a count was not run on one of them makes it no extrapolation."""
    knees = {"efficiency": 3.5, "ssd": 9.0, "nvme": 30.0}
    rates = {(disk, count): _knee(at, sharpness)(count) for disk, at in knees.items() for count in COUNTS}
    noisy = _noisy(rates, noise, seed=5)
    middle = _middle(noisy)
    _judge(list(_left_out(tmp_path, noisy, _thirds(middle))))

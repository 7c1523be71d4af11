"""Rates left out of a table and foretold from the others: one at a time between measured ones, and a third at once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from statistics import fmean
from typing import Any

from accuracy_scores import error

from sizer.model.fitting import fit
from sizer.model.prediction import predict
from sizer.records.configuration import Configuration
from sizer.records.errors import NoAnswer
from sizer.records.run import Run

FEWEST = 4
"""With one of three left out nothing could be said of it."""
AXES = ("batch_size", "gpu_count", "vcpus")
PARTS = 3


@dataclass(frozen=True)
class HeldOutRate:
    """One rate that was left out; `predicted` None is a refusal. `between` is whether its machine's kind was measured
    at no more and at no less of every axis."""

    configuration: Configuration
    between: bool
    truth: float
    predicted: float | None
    low: float = 0.0
    high: float = 0.0

    @property
    def error(self) -> float:
        return error(self.predicted or 0.0, self.truth)

    @property
    def covered(self) -> bool:
        """Whether it lies in the 90 % interval."""
        return self.low <= self.truth <= self.high


def one_at_a_time(runs: Sequence[Run]) -> tuple[HeldOutRate, ...]:
    """Every inner value of every series of four or more that differs in one axis alone."""
    found: list[HeldOutRate] = []
    for axis in AXES:
        series: dict[tuple[Any, ...], dict[float, Configuration]] = defaultdict(dict)
        for place in _places(runs):
            others = asdict(place)
            value = others.pop(axis)
            series[tuple(others.values())][value or 0] = place
        for places in series.values():
            inner = sorted(places)[1:-1] if len(places) >= FEWEST else []
            for value in inner:
                found += _held_out(runs, [places[value]])
    return tuple(found)


def thirds(runs: Sequence[Run]) -> tuple[HeldOutRate, ...]:
    """Every configuration of a table with four or more once: each third in the order of the rows (1, 4, 7 ...; 2, 5, 8
    ...; 3, 6, 9 ...) is left out at once."""
    places = _places(runs)
    if len(places) < FEWEST:
        return ()
    return tuple(rate for part in range(PARTS) for rate in _held_out(runs, places[part::PARTS]))


def _places(runs: Sequence[Run]) -> list[Configuration]:
    return list(dict.fromkeys(run.configuration for run in runs if run.throughput is not None))


def _held_out(runs: Sequence[Run], left_out: Sequence[Configuration]) -> list[HeldOutRate]:
    kept = [run for run in runs if run.configuration not in left_out]
    try:
        model = fit(kept).workloads[0]
    except NoAnswer:
        model = None
    found = []
    for place in left_out:
        rates = [run.throughput.value for run in runs if run.configuration == place and run.throughput is not None]
        truth, between = fmean(rates), is_between(_places(kept), place)
        try:
            said = None if model is None else predict(model, place).throughput
        except NoAnswer:
            said = None
        if said is None:
            found.append(HeldOutRate(place, between, truth, None))
        else:
            found.append(HeldOutRate(place, between, truth, said.value, said.low, said.high))
    return found


def is_between(kept: Sequence[Configuration], place: Configuration) -> bool:
    """Whether every axis of it lies in the range of the kept ones with the same GPU."""
    alike = [asdict(each) for each in kept if each.gpu == place.gpu]
    values = asdict(place)
    return bool(alike) and all(
        min(each[axis] or 0 for each in alike) <= (values[axis] or 0) <= max(each[axis] or 0 for each in alike)
        for axis in AXES
    )

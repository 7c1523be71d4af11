"""Rates left out of a table one at a time and foretold from the others, where an axis has four values or more."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from statistics import fmean
from typing import Any

from accuracy_scores import error

from sizer.model import fit, predict
from sizer.records import Configuration, NoAnswer, Run

FEWEST = 4
"""With one of three left out nothing could be said of it."""
AXES = ("batch_size", "gpu_count")


@dataclass(frozen=True)
class HeldOutRate:
    """One rate that was left out, between measured ones; `predicted` None is a refusal."""

    configuration: Configuration
    axis: str
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


def held_out_rates(runs: Sequence[Run]) -> tuple[HeldOutRate, ...]:
    """Every inner value of every series that differs in one axis alone."""
    found: list[HeldOutRate] = []
    for axis in AXES:
        series: dict[tuple[Any, ...], dict[int, Configuration]] = defaultdict(dict)
        for run in runs:
            others = asdict(run.configuration)
            value = others.pop(axis)
            series[tuple(others.values())][value or 0] = run.configuration
        for places in series.values():
            inner = sorted(places)[1:-1] if len(places) >= FEWEST else []
            found += [_held_out(runs, places[value], axis) for value in inner]
    return tuple(found)


def _held_out(runs: Sequence[Run], place: Configuration, axis: str) -> HeldOutRate:
    rates = [run.throughput.value for run in runs if run.configuration == place and run.throughput is not None]
    truth = fmean(rates)
    try:
        said = predict(fit([run for run in runs if run.configuration != place]).workloads[0], place).throughput
    except NoAnswer:
        return HeldOutRate(place, axis, truth, None)
    return HeldOutRate(place, axis, truth, said.value, said.low, said.high)

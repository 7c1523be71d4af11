"""How uncertain a rate is whose values were never measured together: an axis may act otherwise there than elsewhere."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sizer.model.model import MeasuredRange, WorkloadModel
from sizer.model.predicted_rates import mean_rates
from sizer.records import Configuration

NAMES_APART = 0.3
"""Standard deviation of ln rate where two names, or a count of accelerators and a name, were not measured together."""
AXIS_APART = 0.15
"""The same for each factor e by which a number lies beyond those that were measured with the others: an axis acts
otherwise on one machine than on the next."""
AXIS_UNSEEN = 0.5
"""The same where no two rows differ in this axis alone. Of batch sizes anything from no gain to one in proportion is
common, which deviates by so much from none; memory that is enough does nothing.

With the three, 97 % of 748 rates of published tables whose values were not measured together, left out and foretold,
lie in their 90 % intervals (benchmarks, published.py and its held-out tables)."""


def interplay_deviations(model: WorkloadModel, configurations: Sequence[Configuration]) -> list[float]:
    """Standard deviation of ln rate that comes of values which were not measured together, on top of the model's own.

    How an axis acts where it was not measured is judged by how differently from the model it acts where it was.
    """
    all_moves = [model.measured.design.moves(each) for each in configurations]
    moves = [
        _move(model.measured, configuration, axis, *ends)
        for configuration, asked in zip(configurations, all_moves, strict=True)
        for axis, ends in (asked or {}).items()
    ]
    seen = [each for each in moves if each.seen]
    rates = mean_rates(model, [place for each in seen for place in each.ends]) if seen else np.empty(0)
    said = {id(each): float(rates[2 * turn + 1] - rates[2 * turn]) for turn, each in enumerate(seen)}
    deviations = iter([each.deviation(said.get(id(each), 0.0)) for each in moves])
    return [NAMES_APART if asked is None else math.hypot(*(next(deviations) for _ in asked)) for asked in all_moves]


@dataclass(frozen=True)
class _Move:
    """From the nearest value of an axis that was measured with the others to the one that is asked for.

    `ends` are the two configurations, `steps` how far apart they are in ln, `seen` what the axis does elsewhere.
    """

    axis: str
    ends: tuple[Configuration, Configuration]
    steps: float
    seen: Sequence[float]

    def deviation(self, gained: float) -> float:
        """By what the model says that the move gains, in ln rate."""
        if not self.seen:
            return (AXIS_APART if self.axis == "memory_bytes" else AXIS_UNSEEN) * abs(self.steps)
        said = gained / self.steps
        square = sum((each - said) ** 2 for each in self.seen) / len(self.seen)
        return math.hypot(AXIS_APART, math.sqrt(square)) * abs(self.steps)


def _move(measured: MeasuredRange, configuration: Configuration, axis: str, near: float, value: float) -> _Move:
    there: dict[str, Any] = {axis: type(getattr(configuration, axis))(near)}
    ends = replace(configuration, **there), configuration
    return _Move(axis, ends, math.log(value / near), _slopes(measured, axis, near, value))


def _slopes(measured: MeasuredRange, axis: str, near: float, value: float) -> list[float]:
    """What the axis does elsewhere between these two values, or those nearest to them: d ln rate / d ln value."""
    found = []
    for rates in measured.rates_along(axis).values():
        one, other = (min(rates, key=lambda each: abs(math.log(each / end))) for end in (near, value))
        if one != other:
            gained = math.log(rates[other].throughput.value / rates[one].throughput.value)
            found.append(gained / math.log(other / one))
    return found

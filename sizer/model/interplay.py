"""How uncertain a rate is whose values were never measured together: an axis may act otherwise there than elsewhere."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from sizer.model.model import MeasuredRange, WorkloadModel
from sizer.model.predicted_rates import predict_rates
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


def interplay_deviation(model: WorkloadModel, configuration: Configuration) -> float:
    """Standard deviation of ln rate that comes of values which were not measured together, on top of the model's own.

    How an axis acts where it was not measured is judged by how differently from the model it acts where it was.
    """
    moves = model.measured.design.moves(configuration)
    if moves is None:
        return NAMES_APART
    return math.hypot(*(_of_move(model, configuration, axis, *move) for axis, move in moves.items()))


def _of_move(model: WorkloadModel, configuration: Configuration, axis: str, near: float, value: float) -> float:
    """From the nearest value of an axis that was measured with the others to the one that is asked for."""
    steps = math.log(value / near)
    seen = _slopes(model.measured, axis, near, value)
    if not seen:
        return (AXIS_APART if axis == "memory_bytes" else AXIS_UNSEEN) * abs(steps)
    there: dict[str, Any] = {axis: type(getattr(configuration, axis))(near)}
    from_there = predict_rates(model, [replace(configuration, **there), configuration]).mean
    said = float(from_there[1] - from_there[0]) / steps
    square = sum((each - said) ** 2 for each in seen) / len(seen)
    return math.hypot(AXIS_APART, math.sqrt(square)) * abs(steps)


def _slopes(measured: MeasuredRange, axis: str, near: float, value: float) -> list[float]:
    """What the axis does elsewhere between these two values, or those nearest to them: d ln rate / d ln value."""
    found = []
    for rates in measured.rates_along(axis).values():
        one, other = (min(rates, key=lambda each: abs(math.log(each / end))) for end in (near, value))
        if one != other:
            found.append(math.log(rates[other] / rates[one]) / math.log(other / one))
    return found

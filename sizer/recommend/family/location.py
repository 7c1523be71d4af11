"""Which K of many shapes serve all workloads at least cost: the p-median problem with forbidden pairs (Hakimi 1964).

By greedy choice and exchanges (Teitz and Bart 1968), with the distance to the bound of the linear relaxation, which
subgradients of the Lagrangian reach (Geoffrion 1974); up to EXACT_PAIRS by branch and bound (HiGHS), which proves it.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Columns = tuple[int, ...]

EXACT_PAIRS = 200 * 50
"""Shapes times workloads up to which the least cost is proven."""
LONGEST = 20.0
"""Seconds after which a proof is given up; the gap that is left is shown."""
FORBIDDEN = 1e6
"""What a forbidden pair costs while exchanges look for a choice without any; costs of others are about 1."""
PROVEN = 1e-6
"""A gap that is no more than the arithmetic's."""
ASCENTS, PATIENCE = 300, 15
"""Steps towards the Lagrangian's bound, and how many in vain before they become half as long."""


@dataclass(frozen=True)
class Location:
    """The columns that are chosen, what all rows cost on the best of them, and by which share of that another choice
    may be cheaper at the most: 0 is proven."""

    columns: Columns
    cost: float
    gap: float = 0.0


def least_cost(costs: Array, count: int, seconds: float = LONGEST, most_pairs: int = EXACT_PAIRS) -> Location | None:
    """At most `count` columns of `costs` (W, S) that make the sum over rows of the least cost in them least.

    An infinite cost is forbidden. None where no choice serves every row; of more pairs, where none was seen to.
    """
    if not np.isfinite(costs).any(axis=1).all():
        return None
    kept = _undominated(costs)
    rows = costs[:, kept]
    columns = _exchanged(rows, count)
    cost, bound = cost_of(rows, columns), _bound(rows, count, cost_of(rows, columns))
    if rows.size <= most_pairs and _gap(cost, bound) > 0:
        columns, bound = _proven(rows, count, seconds, columns, bound)
        cost = cost_of(rows, columns)
    if not np.isfinite(cost):
        return None
    return Location(tuple(sorted(int(kept[column]) for column in columns)), cost, _gap(cost, bound))


def cost_of(costs: Array, columns: Sequence[int]) -> float:
    """What all rows cost on the best of these columns; infinite where one of them has none."""
    return float(costs[:, list(columns)].min(axis=1).sum())


def fewest(allowed: NDArray[np.bool_]) -> float:
    """With how few columns every row of `allowed` (W, S) has one (set cover); infinite where a row has none at all."""
    if not allowed.any(axis=1).all():
        return math.inf
    from scipy.optimize import Bounds, LinearConstraint, milp

    patterns = np.unique(allowed, axis=1).astype(float)
    ones = np.ones(patterns.shape[1])
    solved = milp(ones, constraints=LinearConstraint(patterns, lb=1), integrality=ones, bounds=Bounds(0, 1))
    return round(float(solved.fun))


def least_limit(ratios: Array, count: int) -> float | None:
    """The least limit on `ratios` (W, S) at which so many columns serve every row within it; None where none do."""
    limits = np.unique(ratios[np.isfinite(ratios)]).tolist()
    place = bisect_left(limits, True, key=lambda limit: fewest(ratios <= limit) <= count)
    return limits[place] if place < len(limits) else None


def after_exchange(costs: Array, columns: Columns) -> float:
    """The least that the rows cost on these columns once one of them is exchanged for any other, or none is."""
    return min([cost_of(costs, columns), *(float(sums.min()) for sums in _exchanges(costs, columns))])


def without_one(costs: Array, columns: Columns) -> Iterator[Array]:
    """For each column that goes what every row costs (W,) on the others."""
    for place in range(len(columns)):
        yield np.delete(costs[:, list(columns)], place, axis=1).min(axis=1, initial=np.inf)


def _exchanges(costs: Array, columns: Columns) -> list[Array]:
    """For each column that goes what the rows cost (S,) with any in its place."""
    return [np.minimum(rest[:, None], costs).sum(axis=0) for rest in without_one(costs, columns)]


def _undominated(costs: Array) -> NDArray[np.intp]:
    """The columns that are not as dear in every row as another; of equal ones the first."""
    order = np.argsort(np.where(np.isfinite(costs), costs, FORBIDDEN).sum(axis=0), kind="stable")
    kept: list[int] = []
    for column in order:
        if not kept or not (costs[:, kept] <= costs[:, [column]]).all(axis=0).any():
            kept.append(int(column))
    return np.array(sorted(kept))


def _exchanged(costs: Array, count: int) -> Columns:
    """Greedy, then the best exchange of one column for as long as one helps; forbidden pairs only where it must."""
    finite = np.where(np.isfinite(costs), costs, FORBIDDEN)
    columns: Columns = ()
    least = np.full(len(costs), np.inf)
    for _ in range(min(count, costs.shape[1])):
        columns += (int(np.minimum(least[:, None], finite).sum(axis=0).argmin()),)
        least = finite[:, list(columns)].min(axis=1)
    while True:
        sums = _exchanges(finite, columns)
        place = min(range(len(columns)), key=lambda number: float(sums[number].min()))
        if sums[place].min() >= least.sum() * (1 - PROVEN):
            return columns
        columns = (*columns[:place], int(sums[place].argmin()), *columns[place + 1 :])
        least = finite[:, list(columns)].min(axis=1)


def _bound(costs: Array, count: int, cost: float) -> float:
    """Below which no choice is, near the linear relaxation's: each row pays a price for being served."""
    prices = np.sort(costs, axis=1)[:, 0]
    best, kept, step, in_vain = -np.inf, prices, 2.0, 0
    goal = cost if np.isfinite(cost) else 2 * float(prices.sum())
    for _ in range(ASCENTS):
        worth = np.minimum(0.0, costs - prices[:, None])
        taken = np.argsort(worth.sum(axis=0))[:count]
        bound = float(prices.sum() + worth[:, taken].sum())
        if bound > best:
            best, kept, in_vain = bound, prices, 0
        elif (in_vain := in_vain + 1) > PATIENCE:
            step, in_vain, prices = step / 2, 0, kept
        slope = 1.0 - (costs[:, taken] < prices[:, None]).sum(axis=1)
        if not slope.any() or _gap(goal, best) == 0:
            break
        prices = prices + step * max(goal - bound, PROVEN) / float(slope @ slope) * slope
    return best


def _proven(costs: Array, count: int, seconds: float, columns: Columns, bound: float) -> tuple[Columns, float]:
    """The best columns and the highest bound after branch and bound with a variable for each column, and for each pair
    that is allowed."""
    from scipy.optimize import Bounds, LinearConstraint, milp
    from scipy.sparse import coo_array

    rows, opened = np.nonzero(np.isfinite(costs))
    pairs, width = np.arange(len(rows)), costs.shape[1]
    size = width + len(rows)
    served = coo_array((np.ones(len(rows)), (rows, width + pairs)), shape=(len(costs), size))
    signs, places = np.repeat([1.0, -1.0], len(rows)), np.concatenate([width + pairs, opened])
    only_opened = coo_array((signs, (np.tile(pairs, 2), places)), shape=(len(rows), size))
    is_column = (np.arange(size) < width).astype(float)
    solved = milp(
        np.concatenate([np.zeros(width), costs[rows, opened]]),
        constraints=[
            LinearConstraint(served.tocsc(), lb=1, ub=1),
            LinearConstraint(only_opened.tocsc(), ub=0),
            LinearConstraint(is_column[None, :], ub=count),
        ],
        integrality=is_column,
        bounds=Bounds(0, 1),
        options={"mip_rel_gap": 0, "time_limit": seconds},
    )
    if solved.x is not None:
        whole = tuple(np.flatnonzero(solved.x[:width] > 0.5).tolist())
        columns = min(columns, whole, key=lambda some: cost_of(costs, some))
    return columns, max(bound, -np.inf if solved.mip_dual_bound is None else solved.mip_dual_bound)


def _gap(cost: float, bound: float) -> float:
    gap = max(0.0, 1 - bound / cost) if np.isfinite(cost) else 1.0
    return 0.0 if gap < PROVEN else gap

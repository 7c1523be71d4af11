"""The family: which shapes serve all at least cost, whom each serves, what each further one buys, how sure that is,
and what it leaves idle.

By greedy choice and exchanges (Teitz and Bart 1968), with the distance to the bound of the linear relaxation, which
subgradients of the Lagrangian reach (Geoffrion 1974); up to EXACT_PAIRS by branch and bound (HiGHS), which proves it.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import astuple, dataclass, replace

import numpy as np
from numpy.typing import NDArray

from sizer.recommend.family.fleet import Fleet
from sizer.recommend.family.parts import TABLE
from sizer.recommend.rule import SLACK, Array
from sizer.records.family import Amounts, Family, FamilyShape, Idle, Offer, OneDisk, Served, Step
from sizer.records.messages import Message, NoAnswer
from sizer.records.units import format_share

# Which K of many shapes serve all workloads at least cost: the p-median problem with forbidden pairs (Hakimi 1964).

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


MAX_PENALTY = 0.1
"""What a workload may pay above its own best where nobody says otherwise, as a share."""
ALIKE = 0.01
"""Families whose costs differ by less are alike."""
MOST_STEPS = 12
"""Numbers of shapes that are compared, the last ones."""
QUICK = 3.0
"""Seconds at most to prove what stands beside the answer."""
HALVINGS = 40
LEAST_SHARE = 1e-5
"""Of the bill: what there is none of is served at least cost, too, by more than what PROVEN leaves open."""


@dataclass(frozen=True)
class _Choice:
    """What is chosen of at most `count` shapes: their columns, and the place in these of each workload's (W,).

    `shares` (W, 1) are of the bill if each workload had its own best shape, which costs it `own` (W, 1) USD a sample;
    `ratios` (W, S) are costs over that. What a workload may pay is `most` of them.
    """

    fleet: Fleet
    shares: Array
    own: Array
    ratios: Array
    most: float
    count: int
    location: Location
    places: NDArray[np.intp]

    @property
    def allowed(self) -> Array:
        return _up_to(self.ratios, self.most)

    @property
    def shapes(self) -> NDArray[np.intp]:
        """The column of each workload's shape (W,)."""
        return np.array(self.location.columns)[self.places]


def _up_to(costs: Array, most: Array | float) -> Array:
    """Infinite where they are larger."""
    return np.where(costs <= most, costs, np.inf)


def family_of(
    fleet: Fleet, count: int | None = None, max_penalty: float = MAX_PENALTY, amounts: Amounts | None = None
) -> Family:
    """The shapes that serve the workloads of a fleet at the least weighted cost: so many, or the fewest.

    None pays more than `max_penalty` (a share) above its own best; without `amounts` there is as much of the bill of
    each. NoAnswer where so few cannot keep every workload within that; it says how many can, or within which.
    """
    choice = _choice(fleet, count, max_penalty, amounts)
    within, same = _how_sure(choice)
    return Family(
        shapes=tuple(_shapes(choice)),
        served=tuple(_served(choice, within.mean(axis=0))),
        curve=tuple(_curve(choice)),
        more=max(0.0, choice.location.cost - 1),
        gap=choice.location.gap,
        max_penalty=max_penalty,
        within=float(within.all(axis=1).mean()),
        same=same,
        one_disk=_one_disk(choice),
        offer=_offer(choice),
        grid=fleet.grid,
        prices=fleet.prices,
        not_served=tuple(work.name for work in fleet.not_served),
        unpriced=fleet.unpriced,
    )


def _choice(fleet: Fleet, count: int | None, max_penalty: float, amounts: Amounts | None) -> _Choice:
    own = fleet.costs.min(axis=1, keepdims=True)
    shares = np.ones(own.shape)
    if amounts is not None:
        shares = np.array([[amounts.by_workload[work.name]] for work in fleet.works])
        shares = shares * own if amounts.samples else shares
    shares = np.maximum(shares / shares.sum(), LEAST_SHARE)
    ratios, most = fleet.costs / own, 1 + max_penalty + SLACK
    allowed = _up_to(ratios, most)
    needed = int(fewest(np.isfinite(allowed)))
    count = count or needed
    if count < needed:
        limit = least_limit(ratios, count)
        raise NoAnswer(
            "With --shapes {count} a workload would pay over {allowed} more than on its own best shape; type --shapes "
            "{needed}{otherwise}.",
            count=count,
            allowed=format_share(max_penalty),
            needed=needed,
            otherwise=""
            if limit is None
            else Message(", or --max-penalty {percent}%", percent=math.ceil((limit - 1) * 100 - SLACK)),
        )
    best = least_cost(allowed * shares, count)
    assert best is not None, "so many are enough"
    columns = np.array(best.columns)
    used, places = np.unique(columns[allowed[:, columns].argmin(axis=1)], return_inverse=True)
    return _Choice(fleet, shares, own, ratios, most, count, replace(best, columns=tuple(used.tolist())), places)


def _how_sure(choice: _Choice) -> tuple[NDArray[np.bool_], float]:
    """Of each draw whether each workload is within the penalty (D, W); in which share of them no exchange saves."""
    within, same, columns = [], [], choice.location.columns
    for costs in choice.fleet.drawn():
        ratios = costs / costs.min(axis=1, keepdims=True)
        within.append(ratios[np.arange(len(ratios)), choice.shapes] <= choice.most)
        weighted = _up_to(ratios, choice.most) * choice.shares
        cost = cost_of(weighted, columns)
        same.append(np.isfinite(cost) and cost <= (1 + ALIKE) * after_exchange(weighted, columns))
    return np.array(within), float(np.mean(same))


def _served(choice: _Choice, within: Array) -> Iterator[Served]:
    fleet = choice.fleet
    for number, (work, column) in enumerate(zip(fleet.works, choice.shapes, strict=True)):
        need = fleet.need(number, column)
        yield Served(
            workload=work.name,
            weight=float(choice.shares[number, 0]),
            place=int(choice.places[number]),
            penalty=max(0.0, float(choice.ratios[number, column]) - 1),
            within=float(within[number]),
            own=fleet.shapes[int(choice.ratios[number].argmin())],
            throughput=1 / float(fleet.hours[number, column]) / 3600,
            sample_unit=work.model.sample_unit,
            vcpus=need.vcpus,
            vcpus_known=need.vcpus_known,
            memory_bytes=need.memory_bytes or None,
            memory_known=work.memory_known,
            idle=fleet.idle(number, column),
            emulated=work.model.facts.device.kind == "emulated",
        )


def _shapes(choice: _Choice) -> Iterator[FamilyShape]:
    fleet = choice.fleet
    for place, column in enumerate(choice.location.columns):
        shape, sold, users = fleet.shapes[column], fleet.sold[column], np.flatnonzero(choice.places == place)
        # What is not known, None, is nan here, and so is a mean with it.
        idles = np.array([astuple(fleet.idle(int(user), column)) for user in users], dtype=float)
        machine_hours = (choice.shares / choice.own)[users, 0] * fleet.hours[users, column]
        means = np.average(idles, axis=0, weights=machine_hours).tolist()
        vcpus, memory, rate, gpus = (None if math.isnan(mean) else mean for mean in means)
        yield FamilyShape(
            shape=shape,
            usd_per_hour=float(fleet.usd[column]),
            sold=None if sold is None else sold.name.strip(),
            as_of=None if sold is None or sold.source == TABLE else sold.as_of,
            sold_by=fleet.sold_by[column],
            break_even=_break_even(choice, place),
            idle=Idle(vcpus, memory, rate, gpus or 0.0),
            disk_bytes_per_second=fleet.tier(shape).rates.read_bytes_per_second,
        )


# What each further shape buys, and what simpler ones would.


def _curve(choice: _Choice) -> Iterator[Step]:
    """Up to one more than are taken, if that brings anything."""
    taken = len(choice.location.columns)
    for count in range(max(1, taken + 2 - MOST_STEPS), taken + 2):
        step = _cheapest(choice, count)
        if count <= taken or (step.more or 0.0) < choice.location.cost - 1 - SLACK:
            yield step


def _one_disk(choice: _Choice) -> OneDisk | None:
    """The best disk tier for all of as many shapes."""
    tiers = choice.fleet.grid.disks
    if len(tiers) == 1:
        return None
    disks = np.array([shape.disk for shape in choice.fleet.shapes])
    steps = [(str(tier), _cheapest(choice, choice.count, disks == tier)) for tier in tiers]
    disk, best = min(steps, key=lambda pair: (not pair[1].kept, math.inf if pair[1].more is None else pair[1].more))
    more = None if best.more is None else (1 + best.more) / choice.location.cost - 1
    return OneDisk(disk, more, best.penalty, best.kept)


def _cheapest(choice: _Choice, count: int, of: NDArray[np.bool_] | None = None) -> Step:
    """So many shapes, `of` some (S,): the best within the penalty, where there are none the best of all."""
    for ratios, kept in ((choice.allowed, True), (choice.ratios, False)):
        some = ratios if of is None else ratios[:, of]
        is_own = kept and of is None and count == choice.count
        best = choice.location if is_own else least_cost(some * choice.shares, count, QUICK)
        if best is not None:
            penalty = float(some[:, best.columns].min(axis=1).max()) - 1
            return Step(count, max(0.0, best.cost - 1), max(0.0, penalty), kept, best.gap)
    return Step(count, None, None, False)


# What a shape may cost.


def _break_even(choice: _Choice, place: int) -> float | None:
    """USD an hour at which the family with this shape costs as much as the best one of as many without it."""
    fleet, columns, scale = choice.fleet, choice.location.columns, choice.shares / choice.own
    others = np.delete(fleet.costs, columns[place], axis=1)
    most = choice.most * others.min(axis=1, keepdims=True, initial=np.inf)
    without = least_cost(_up_to(others, most) * scale, choice.count, QUICK)
    if without is None:
        return None
    rest = list(without_one(_up_to(fleet.costs, most) * scale, columns))[place]
    hours = fleet.hours[:, [columns[place]]]
    highest = _highest([rest], hours, most, scale, without.cost, (most / hours).max(axis=0))
    return max(float(fleet.usd[columns[place]]), float(highest[0]))


def _offer(choice: _Choice) -> Offer | None:
    """Of the shapes that nobody sells and the family has not the one that is nearest to being worth a place in it: an
    exchange for one of its shapes, or beside them where fewer were taken than asked for. None that is larger than
    one of these, or where nobody is faster than on a smaller one that is sold."""
    fleet, own, chosen = choice.fleet, choice.own, choice.location.columns
    sold = np.array([bool(providers) for providers in fleet.sold_by])
    kinds = np.array([shape.gpu or "" for shape in fleet.shapes])
    sizes = np.array([(shape.vcpus, shape.memory_bytes, shape.gpu_count) for shape in fleet.shapes])
    columns = []
    for column in np.flatnonzero(~sold):
        smaller = (kinds == kinds[column]) & (sizes <= sizes[column]).all(axis=1)
        faster = ((1 + ALIKE) * fleet.hours[:, [column]] < fleet.hours[:, smaller & sold]).any(axis=0)
        if faster.all() and not smaller[list(chosen)].any():
            columns.append(int(column))
    if not columns:
        return None
    weighted, usd = choice.allowed * choice.shares, fleet.usd[columns]
    is_full = len(chosen) == choice.count
    rests = list(without_one(weighted, chosen)) if is_full else [weighted[:, chosen].min(axis=1)]
    hours, cost = fleet.hours[:, columns], choice.location.cost
    prices = _highest(rests, hours, choice.most * own, choice.shares / own, cost, usd)
    best = int((prices / usd).argmax())
    return Offer(fleet.shapes[columns[best]], float(usd[best]), float(prices[best])) if prices[best] > 0 else None


def _highest(rests: Sequence[Array], hours: Array, allowed: Array, scale: Array, goal: float, most: Array) -> Array:
    """The highest price of each of n shapes, up to `most` (n,), at which all workloads cost no more than the goal on it
    or on one of the `rests` (W,) beside it, by halving; 0 where there is none. A sample takes `hours` (W, n) on it, and
    may cost `allowed` (W, 1)."""
    low, high = np.zeros(len(most)), most * (1 + SLACK)
    for _ in range(HALVINGS):
        price = (low + high) / 2
        mine = _up_to(price * hours, allowed) * scale
        # What serves nobody is worth nothing, also where the rest alone costs no more than the goal.
        pairs = [(np.minimum(rest[:, None], mine).sum(axis=0), mine <= rest[:, None]) for rest in rests]
        worth = np.any([(cost <= goal) & serves.any(axis=0) for cost, serves in pairs], axis=0)
        low, high = np.where(worth, price, low), np.where(worth, high, price)
    return np.where(low > most * SLACK, np.minimum(low, most), 0.0)

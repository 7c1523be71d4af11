"""The family: which shapes, whom each serves, what each further one buys, how sure that is, and what it leaves idle."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from sizer.model.memory import undroppable_bytes
from sizer.recommend.family.fleet import Fleet
from sizer.recommend.family.location import (
    Array,
    Columns,
    Location,
    after_exchange,
    cost_of,
    fewest,
    least_cost,
    least_limit,
    without_one,
)
from sizer.recommend.rule import SLACK
from sizer.records.family import Amounts, Family, FamilyShape, Idle, Offer, OneDisk, Served, Shape, Step
from sizer.records.messages import NoAnswer
from sizer.records.units import format_share

MAX_PENALTY = 0.1
"""What a workload may pay above its own best where nobody says otherwise, as a share."""
ALIKE = 0.01
"""Families whose costs differ by less are alike."""
MOST_STEPS = 12
"""Numbers of shapes that are compared."""
QUICK = 3.0
"""Seconds at most to prove what stands beside the answer."""
HALVINGS = 40
LEAST_SHARE = 1e-9
"""Of the bill: what there is none of is served at least cost, too."""


@dataclass(frozen=True)
class Asked:
    """How many shapes, None for the fewest that keep the penalty; what a workload may pay above its own best; and how
    much there is of each workload, None for as much of the bill of each."""

    count: int | None = None
    max_penalty: float = MAX_PENALTY
    amounts: Amounts | None = None


@dataclass(frozen=True)
class _Costs:
    """`shares` (W,): of the bill if each workload had its own best shape, which costs it `own` USD a sample. `ratios`
    (W, S) are costs over that, `allowed` those that the penalty allows, else infinite."""

    shares: Array
    own: Array
    ratios: Array
    allowed: Array

    @property
    def weighted(self) -> Array:
        return _weighted(self.allowed, self.shares)


def _weighted(ratios: Array, shares: Array) -> Array:
    """Shares of the bill (W, S); infinite where the ratio is."""
    allowed = np.isfinite(ratios)
    parts: Array = np.where(allowed, np.where(allowed, ratios, 0.0) * shares[:, None], np.inf)
    return parts


def _within(ratios: Array, max_penalty: float) -> Array:
    """The ratios of costs to the least, infinite where the penalty is larger than allowed."""
    return np.where(ratios <= 1 + max_penalty + SLACK, ratios, np.inf)


def family_of(fleet: Fleet, asked: Asked) -> Family:
    """The shapes that serve the workloads of a fleet at the least weighted cost.

    NoAnswer where so few cannot keep every workload within the penalty; it says how many can, or within which.
    """
    costs = _costs(fleet, asked)
    needed = fewest(np.isfinite(costs.allowed))
    assert needed is not None, "each workload may have its own best"
    count = needed if asked.count is None else asked.count
    if count < needed:
        raise _too_few(costs, count, needed, asked.max_penalty)
    chosen = least_cost(costs.weighted, count)
    assert chosen is not None, "so many are enough"
    places = costs.allowed[:, chosen.columns].argmin(axis=1)
    columns = tuple(chosen.columns[place] for place in sorted(set(places.tolist())))
    places = costs.allowed[:, columns].argmin(axis=1)
    choice = _Choice(fleet, costs, asked.max_penalty, count, columns, places, chosen)
    within, same = _how_sure(choice)
    return Family(
        shapes=tuple(_shapes(choice)),
        served=tuple(_served(choice, within.mean(axis=0))),
        curve=tuple(_curve(choice, needed)),
        more=max(0.0, chosen.cost - 1),
        gap=chosen.gap,
        max_penalty=asked.max_penalty,
        within=float(within.all(axis=1).mean()),
        same=same,
        one_disk=_one_disk(choice),
        offer=_offer(choice),
        grid=fleet.grid,
        prices=fleet.prices.parts,
        not_served=fleet.not_served,
    )


def _costs(fleet: Fleet, asked: Asked) -> _Costs:
    own = fleet.costs.min(axis=1)
    shares = np.ones(len(own))
    if asked.amounts is not None:
        shares = np.array([asked.amounts.by_workload[work.name] for work in fleet.works])
        shares = shares * own if asked.amounts.samples else shares
    ratios = fleet.costs / own[:, None]
    return _Costs(np.maximum(shares / shares.sum(), LEAST_SHARE), own, ratios, _within(ratios, asked.max_penalty))


def _too_few(costs: _Costs, count: int, needed: int, max_penalty: float) -> NoAnswer:
    limit = least_limit(costs.ratios, count)
    if limit is None:
        return NoAnswer(
            "No {count} of the shapes that can be built serve all workloads; type --shapes {needed}.",
            count=count,
            needed=needed,
        )
    return NoAnswer(
        "With --shapes {count} a workload would pay over {allowed} more than on its own best shape; type --shapes "
        "{needed}, or --max-penalty {penalty}%.",
        count=count,
        allowed=format_share(max_penalty),
        needed=needed,
        penalty=math.ceil((limit - 1) * 100 - SLACK),
    )


@dataclass(frozen=True)
class _Choice:
    """The `columns` of a fleet that are chosen of at most `count`, and the place in them of each workload's (W,)."""

    fleet: Fleet
    costs: _Costs
    max_penalty: float
    count: int
    columns: Columns
    places: NDArray[np.intp]
    location: Location

    @property
    def machine_hours(self) -> Array:
        """Of each workload (W,), for a bill of one dollar if each had its own best shape."""
        hours = self.fleet.hours[np.arange(len(self.places)), np.array(self.columns)[self.places]]
        time: Array = self.costs.shares / self.costs.own * hours
        return time


def _how_sure(choice: _Choice) -> tuple[NDArray[np.bool_], float]:
    """Of each draw whether each workload is within the penalty (D, W); in which share of them no exchange saves."""
    within, same, shapes = [], [], np.array(choice.columns)[choice.places]
    for costs in choice.fleet.drawn():
        ratios = costs / costs.min(axis=1, keepdims=True)
        within.append(ratios[np.arange(len(shapes)), shapes] <= 1 + choice.max_penalty + SLACK)
        weighted = _weighted(_within(ratios, choice.max_penalty), choice.costs.shares)
        own = cost_of(weighted, choice.columns)
        same.append(np.isfinite(own) and own <= (1 + ALIKE) * after_exchange(weighted, choice.columns))
    return np.array(within), float(np.mean(same))


def _served(choice: _Choice, within: Array) -> Iterator[Served]:
    for number, work in enumerate(choice.fleet.works):
        place = int(choice.places[number])
        column = choice.columns[place]
        need = choice.fleet.need(number, column)
        yield Served(
            workload=work.name,
            weight=float(choice.costs.shares[number]),
            place=place,
            penalty=max(0.0, float(choice.costs.ratios[number, column]) - 1),
            within=float(within[number]),
            own=choice.fleet.shapes[int(choice.costs.ratios[number].argmin())],
            throughput=1 / float(choice.fleet.hours[number, column]) / 3600,
            sample_unit=work.model.sample_unit,
            vcpus=need.vcpus,
            memory_bytes=need.memory_bytes or None,
            memory_known=undroppable_bytes(work.model.measured, None, None) is not None,
            idle=choice.fleet.idle(number, column),
            emulated=work.model.facts.device.kind == "emulated",
        )


def _shapes(choice: _Choice) -> Iterator[FamilyShape]:
    fleet = choice.fleet
    for place, column in enumerate(choice.columns):
        shape, users = fleet.shapes[column], np.flatnonzero(choice.places == place)
        cheapest = {instance.provider: instance.name for instance in reversed(fleet.prices.sold(shape))}
        yield FamilyShape(
            shape=shape,
            usd_per_hour=float(fleet.usd[column]),
            sold=fleet.sold[column],
            sold_by=tuple(cheapest.values()),
            break_even=_break_even(choice, place),
            idle=_mean_idle([fleet.idle(int(user), column) for user in users], choice.machine_hours[users]),
            disk_bytes_per_second=fleet.tier(shape).rates.read_bytes_per_second,
        )


def _mean_idle(idles: Sequence[Idle], hours: Array) -> Idle:
    def mean(name: str) -> float | None:
        values = [getattr(idle, name) for idle in idles]
        return None if None in values else float(np.average(values, weights=hours))

    return Idle(*(mean(field.name) for field in fields(Idle)))  # type: ignore[arg-type]  # not None where none is


# What each further shape buys, and what simpler ones would.


def _curve(choice: _Choice, needed: int) -> Iterator[Step]:
    """One to one more than asked for; no more than bring anything."""
    for count in sorted({*range(1, min(choice.count + 1, MOST_STEPS) + 1), choice.count}):
        kept, own = count >= needed, count == choice.count
        ratios = choice.costs.allowed if kept else choice.costs.ratios
        location = choice.location if own else least_cost(_weighted(ratios, choice.costs.shares), count, QUICK)
        if location is None:
            yield Step(count, None, None, kept)
            continue
        penalty = float(ratios[:, location.columns].min(axis=1).max()) - 1
        yield Step(count, max(0.0, location.cost - 1), max(0.0, penalty), kept, location.gap)
        if location.cost <= 1 + SLACK and count >= choice.count:
            return


def _one_disk(choice: _Choice) -> OneDisk | None:
    """The best disk tier for all of as many shapes: within the penalty if one is, else the cheapest."""
    tiers = choice.fleet.grid.disks
    disks = np.array([shape.disk for shape in choice.fleet.shapes], dtype=object)
    for ratios in (choice.costs.allowed, choice.costs.ratios) if len(tiers) > 1 else ():
        of_tiers = []
        for disk in tiers:
            own = ratios[:, disks == disk]
            location = least_cost(_weighted(own, choice.costs.shares), choice.count, QUICK) if own.size else None
            if location is not None:
                penalty = max(0.0, float(own[:, location.columns].min(axis=1).max()) - 1)
                of_tiers.append(OneDisk(str(disk), location.cost / choice.location.cost - 1, penalty))
        if of_tiers:
            return min(of_tiers, key=lambda one: one.more or 0.0)
    return OneDisk(str(tiers[0]), None, None) if len(tiers) > 1 else None


# What a shape may cost.


def _break_even(choice: _Choice, place: int) -> float | None:
    """USD an hour at which the family with this shape costs as much as the best one of as many without it."""
    costs, column = choice.fleet.costs, choice.columns[place]
    others = np.delete(np.arange(costs.shape[1]), column)
    own = costs[:, others].min(axis=1, initial=np.inf)
    if not np.isfinite(own).all():
        return None
    most, scale = (1 + choice.max_penalty + SLACK) * own[:, None], choice.costs.shares / choice.costs.own
    allowed = _weighted(np.where(costs <= most, costs, np.inf), scale)
    without = least_cost(allowed[:, others], choice.count, QUICK)
    if without is None:
        return None
    rest = list(without_one(allowed, choice.columns))[place]
    hours = choice.fleet.hours[:, [column]]
    highest = _highest([rest], hours, most, scale, without.cost, (most / hours).max(axis=0))
    return max(float(choice.fleet.usd[column]), float(highest[0]))


def _offer(choice: _Choice) -> Offer | None:
    """Of the shapes that nobody sells and the family has not the one that is nearest to being worth a place in it: an
    exchange for one of its shapes, or beside them where fewer were taken than asked for. None that is only larger, or
    has another disk."""
    fleet, costs = choice.fleet, choice.costs
    taken = [fleet.shapes[column] for column in choice.columns]
    columns = [
        column
        for column, shape in enumerate(fleet.shapes)
        if not any(_holds(shape, one) for one in taken) and not fleet.prices.sold(shape)
    ]
    if not columns:
        return None
    rests = list(without_one(costs.weighted, choice.columns))
    if len(taken) < choice.count:
        rests = [costs.weighted[:, choice.columns].min(axis=1)]
    most, usd = (1 + choice.max_penalty + SLACK) * costs.own[:, None], fleet.usd[columns]
    scale, cost = costs.shares / costs.own, choice.location.cost
    prices = _highest(rests, fleet.hours[:, columns], most, scale, cost, usd)
    best = int((prices / usd).argmax())
    return Offer(fleet.shapes[columns[best]], float(usd[best]), float(prices[best])) if prices[best] > 0 else None


def _holds(one: Shape, other: Shape) -> bool:
    larger = one.vcpus >= other.vcpus and one.memory_bytes >= other.memory_bytes and one.gpu_count >= other.gpu_count
    return larger and one.gpu == other.gpu


def _highest(rests: Sequence[Array], hours: Array, allowed: Array, scale: Array, goal: float, most: Array) -> Array:
    """The highest price of each of n shapes, up to `most` (n,), at which all workloads cost no more than the goal on it
    or on one of the `rests` (W,) beside it, by halving; 0 where there is none. A sample takes `hours` (W, n) on it, and
    may cost `allowed` (W, 1)."""
    low, high = np.zeros(len(most)), most * (1 + SLACK)
    for _ in range(HALVINGS):
        price = (low + high) / 2
        costs = np.where(np.isfinite(hours), price * np.where(np.isfinite(hours), hours, 1.0), np.inf)
        mine = _weighted(np.where(costs <= allowed, costs, np.inf), scale)
        worth = np.min([np.minimum(rest[:, None], mine).sum(axis=0) for rest in rests], axis=0) <= goal
        low, high = np.where(worth, price, low), np.where(worth, high, price)
    return np.where(low > most * SLACK, np.minimum(low, most), 0.0)

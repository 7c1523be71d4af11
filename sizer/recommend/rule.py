"""The rule: the cheapest with P >= 0.9, or one of less expected regret, in one table of candidates with draws."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from sizer.model.model import WorkloadModel
from sizer.model.prediction import Rates, rates
from sizer.recommend.candidates import Candidate, Kind, one_currency
from sizer.records.answer import Event
from sizer.records.prediction import Configuration
from sizer.records.study import Objective

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]

SURE = 0.9
"""What is asked for is given with at least this probability; an answer that is less likely right is provisional."""
LIKELY = 0.5
"""What is less likely than this gives not what is asked for."""
TIE = 0.99
"""`fastest` takes the cheapest of those within one percent of the highest rate."""
DISK_LOSS = 0.02
"""The share of the best disk's rate that a cheaper one may cost, at the same size and whatever the target."""
ALIKE = 0.05
"""Costs, or rates, that differ by less are alike: that another is better by less is no doubt of an answer."""
SHORT = 10.0
"""One percent below what is asked for is as bad as so many percent above the least cost. By hand."""
LITTLE = 0.02
"""Of cost, and of expected ln regret: what differs by less is alike."""
LATENCY_NOISE = 0.05
"""Standard deviation of ln p99 latency between runs, at the least: few batches of a run are slower than 99 of 100."""
UNKNOWN = 50.0
"""Of ln: by how much what nobody measured is too late."""
SLACK = 1e-9
"""What is exactly as asked for is enough."""
WRONG = math.log(1.05)
"""Of ln cost, or of what is lacking: less is no matter."""
DRAWS = 1024
OUTCOMES = 64
"""Rates that a run may give, of which each is thought through."""
SEED = 1763


def is_sure(probability: float) -> bool:
    """Whether a probability is SURE as it is printed, with two digits."""
    return round(probability, 2) >= SURE


def rounded(probability: float) -> float:
    """Three digits, and never 0 or 1, which no finite measurement supports."""
    return min(max(round(probability, 3), 0.001), 0.999)


@dataclass(frozen=True)
class Row:
    """A candidate, its `number` in the table, and how it does.

    `probability` is that of giving what is asked for: a rate, or the target's share of the best of its kind and count
    of accelerator; `fraction` its expected rate over that best. `in_latency` is the probability that it keeps the
    latency that is asked for, 1 where none is, `chance` that of both. `disk_loss` is the share of its rate that it
    loses by its disk, `dearer_disk` whether a cheaper disk is as good.
    """

    candidate: Candidate
    number: int
    probability: float
    fraction: float
    in_latency: float
    chance: float
    disk_loss: float = 0.0
    dearer_disk: bool = False

    @property
    def sure(self) -> bool:
        return is_sure(self.chance)

    @property
    def meets_latency(self) -> bool:
        return self.in_latency >= LIKELY - SLACK

    @property
    def disk_is_right(self) -> bool:
        return self.disk_loss <= DISK_LOSS + SLACK and not self.dearer_disk

    @property
    def passes(self) -> bool:
        """Whether it is likely enough, on a disk that is right for it."""
        return self.chance >= LIKELY - SLACK and self.disk_is_right


@dataclass(frozen=True)
class Table:
    """N candidates with D draws: `log_rates` (D, N) ln of their true mean rates, `middle` (N,) that of the median draw,
    `lacking` (D, N) by how much of ln each misses the rate and the latency asked for. `of_machines`: measured as they
    are. `of_runs` (D, X) are ln rates of places where runs may be made."""

    objective: Objective
    rows: tuple[Row, ...]
    log_rates: Array
    middle: Array
    lacking: Array
    of_machines: bool
    of_runs: Array

    @cached_property
    def enough(self) -> Flags:
        """(D, N) whether each gives what is asked for."""
        return np.asarray(self.lacking <= SLACK)

    @cached_property
    def log_merits(self) -> Array:
        """Ln of what the objective makes least (D, N): the cost of the work, that times its time, or the time."""
        return self._merits_at(self.log_rates)

    def _merits_at(self, log_rates: Array) -> Array:
        counts = self.objective.counts
        if counts == "fastest":
            return -log_rates
        log_usd = np.log([row.candidate.hourly for row in self.rows])
        return np.asarray(log_usd - log_rates * (2 if counts == "balanced" else 1))

    @cached_property
    def merits(self) -> Array:
        """What the objective makes least (N,), in the median draw; infinite where no price is known."""
        return np.asarray(np.exp(self._merits_at(self.middle)))

    def merit(self, row: Row) -> float:
        return float(self.merits[row.number])

    @cached_property
    def regret(self) -> Array:
        """(D, N) ln of the merit over the least that is enough, and SHORT times what is lacking."""
        return np.asarray(self._dear + SHORT * self.lacking)

    @cached_property
    def wrong(self) -> Flags:
        """(D, N) whether it is too dear, or too slow, by more than counts."""
        return np.asarray(np.maximum(self._dear, self.lacking) > WRONG)

    @cached_property
    def _dear(self) -> Array:
        least = np.where(self.enough, self.log_merits, np.inf).min(axis=1, keepdims=True)
        with np.errstate(invalid="ignore"):
            dear = np.nan_to_num(self.log_merits - least, nan=0.0, posinf=np.inf, neginf=0.0)
        return np.asarray(np.maximum(0.0, dear))


# The choice.


@dataclass(frozen=True)
class Choice:
    """The row that is the answer, with the `probability` of `event`; None where no row is."""

    table: Table
    chosen: Row | None
    probability: float = 0.0
    event: Event = Event.REACHES_TARGET

    @cached_property
    def priced(self) -> tuple[Row, ...]:
        """Those whose price is known."""
        return tuple(row for row in self.table.rows if row.candidate.usd_per_hour is not None)

    @cached_property
    def in_latency(self) -> tuple[Row, ...]:
        """Those that keep the latency that is asked for."""
        return tuple(row for row in self.table.rows if row.meets_latency)

    @property
    def likeliest(self) -> Row | None:
        """Of those that keep the latency, the one that likeliest gives the rate; None where none keeps it."""
        return max(self.in_latency, key=lambda row: (row.probability, row.candidate.rate), default=None)

    @property
    def fastest(self) -> Candidate:
        """The smallest of those that keep the latency and are as fast as the fastest."""
        return min((row.candidate for row in self.in_latency), key=lambda one: (-one.rate, one.size))

    @cached_property
    def others(self) -> list[Row]:
        """All that give what is asked for but the chosen one, whatever its disk; the best by the objective first."""
        own = None if self.chosen is None else self.chosen.candidate.but_for_disk
        rows = [row for row in self.table.rows if row.passes and row.candidate.but_for_disk != own]
        return sorted(rows, key=lambda row: (self.table.merit(row), -row.candidate.rate))


def choose(table: Table) -> Choice:
    """The cheapest with P >= 0.9, or one of less expected regret: where that one is too slow it is by little, and what
    is surely fast enough costs much more.

    Cheapest by the cost of the work; `balanced` by that times the time that the work takes; `fastest` is the least
    costly within 1 % of the highest rate. What has no known price is never the cheapest. What is likely too slow is no
    answer where something is not, and never where a rate or a latency is asked for.
    """
    objective = table.objective
    in_latency = [row for row in table.rows if row.meets_latency]
    if objective.counts == "fastest":
        rows = in_latency or table.rows
        near = [row for row in rows if row.candidate.rate >= TIE * max(other.candidate.rate for other in rows)]
        best = min(near, key=lambda row: (row.candidate.hourly, row.candidate.size, -row.candidate.rate))
        return _with_probability(table, best)
    offered = [row for row in in_latency if row.disk_is_right]
    likely = [row for row in offered if row.passes]
    offered = likely if likely or objective.rate is not None else offered
    if not offered:
        return Choice(table, None)
    if all(row.candidate.usd_per_hour is None for row in offered):
        return _with_probability(table, _least(table, offered))
    expected = table.regret.mean(axis=0)
    least = min(expected[row.number] for row in offered)
    chosen = _least(table, [row for row in offered if row.sure] or offered)
    if expected[chosen.number] > least + LITTLE:
        chosen = _least(table, [row for row in offered if expected[row.number] <= least + LITTLE])
    return _with_probability(table, chosen)


def _least(table: Table, rows: Sequence[Row]) -> Row:
    """Of those that rent at the same price and do as much for it the smallest. Where no price is known in US dollars:
    the least cost in the one currency that all have; else the kind that makes the most of each accelerator, and of it
    the smallest machine."""
    priced = [row for row in rows if row.candidate.usd_per_hour is not None]
    if priced:
        best = min(priced, key=lambda row: (table.merit(row), row.candidate.size))
        as_dear = [row for row in priced if math.isclose(row.candidate.hourly, best.candidate.hourly)]
        alike = [row for row in as_dear if table.merit(row) <= (1 + LITTLE) * table.merit(best)]
        return min(alike, key=lambda row: (row.candidate.size, table.merit(row)))
    if one_currency(row.candidate for row in rows) is not None:
        return min(rows, key=lambda row: (row.candidate.foreign_cost, row.candidate.size))
    kind = max(rows, key=lambda row: row.candidate.rate / max(1, row.candidate.kind[1])).candidate.kind
    alike = [row for row in rows if row.candidate.kind == kind]
    return min(alike, key=lambda row: (row.candidate.size, -row.candidate.rate))


def _with_probability(table: Table, chosen: Row) -> Choice:
    """With the probability that it gives what is asked for and that no other that does is ALIKE better."""
    enough, event = table.enough[:, chosen.number], _event(table, chosen)
    if event in (Event.NONE_CHEAPER, Event.NONE_BETTER, Event.NONE_FASTER):
        fastest = event is Event.NONE_FASTER
        rivals = [
            row.number
            for row in table.rows
            if row is not chosen and (row.meets_latency if fastest else row.passes and row.candidate.hourly < math.inf)
        ]
        own = table.log_merits[:, [chosen.number]]
        none = ~(table.log_merits[:, rivals] < own - math.log1p(ALIKE)).any(axis=1)
        enough = none if fastest else none & enough
    return Choice(table, chosen, float(enough.mean()), event)


def _event(table: Table, chosen: Row) -> Event:
    objective = table.objective
    if objective.counts == "fastest":
        return Event.NONE_FASTER if table.of_machines else Event.REACHES_TARGET
    if table.of_machines and chosen.candidate.usd_per_hour is not None:
        return Event.NONE_BETTER if objective.counts == "balanced" else Event.NONE_CHEAPER
    return asked_event(objective)


def asked_event(objective: Objective) -> Event:
    """What the probability of a row is that of."""
    if objective.rate is None:
        return Event.REACHES_TARGET
    return Event.GIVES_RATE if objective.deadline is None else Event.IN_TIME


def weighed_after(log_rates: Array, noise: float) -> Array:
    """What each of the draws (D,) weighs for each of some rates (J,) that a run there may give (preposterior analysis,
    Raiffa and Schlaifer 1961)."""
    outcomes = log_rates[:: max(1, len(log_rates) // OUTCOMES)]
    # Of so few draws a rate would name one; the width is that of a kernel density (Silverman 1986, 3.4.2).
    low, high = np.quantile(log_rates, (0.25, 0.75))
    width = 0.9 * min(float(log_rates.std()), float(high - low) / 1.34) * len(log_rates) ** -0.2
    weights = np.exp(-0.5 * ((outcomes[:, None] - log_rates) / math.hypot(noise, width, 1e-9)) ** 2)
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


# The draws.


def table_of_sizes(
    model: WorkloadModel,
    candidates: Sequence[Candidate],
    best: Configuration,
    objective: Objective,
    runs: Sequence[Configuration] = (),
) -> Table:
    """Sizes on one curve; a share is that of the rate at `best`, or of the highest of the curve where `runs` may be
    made: a peak may lie where nothing was measured."""
    places = [_as(best, place, model) for place in (*(one.place for one in candidates), *runs)]
    rates, column = _rates_at(model, [best, *places])
    top, sizes, tried = np.split(column, [1, 1 + len(candidates)])
    drawn = _drawn(rates)
    log_best = drawn[:, top]
    if runs:
        above = rates.mean[:, [*top, *tried]].max(axis=1, keepdims=True) - rates.mean[:, top]
        log_best = log_best + np.tile(above, (DRAWS // len(above), 1))
    noise = np.sqrt(rates.further[sizes] + rates.noise**2)
    return replace(_judged(candidates, drawn[:, sizes], log_best, noise, objective, False), of_runs=drawn[:, tried])


def table_of_machines(
    candidates: Sequence[Candidate],
    objective: Objective,
    model: WorkloadModel | None = None,
    on_real_gpus: Array | None = None,
) -> Table:
    """Machines as they were measured; a share is that of the fastest of its kind.

    Each is uncertain by itself, or as the `model` says where they are sizes of one kind. `on_real_gpus` are draws
    (d, N) of ln of how many times as fast each is where its emulated accelerator is a real one.
    """
    if model is None:
        own = np.log([one.rate for one in candidates])
        drawn = own + np.array([one.deviation for one in candidates]) * _normal(len(candidates), 0)
        if on_real_gpus is not None:
            drawn = drawn + np.tile(on_real_gpus, (DRAWS // len(on_real_gpus), 1))
    else:
        most = replace(candidates[0].place, memory_bytes=max(model.measured.memory_bytes, default=None))
        rates, column = _rates_at(model, [_as(most, one.place, model) for one in candidates])
        drawn = _drawn(rates)[:, column]
    best = _best_of_kinds(candidates, objective)
    log_best = drawn[:, [best[one.kind] for one in candidates]]
    return _judged(candidates, drawn, log_best, np.array([one.noise for one in candidates]), objective, True)


def _rates_at(model: WorkloadModel, places: Sequence[Configuration]) -> tuple[Rates, NDArray[np.intp]]:
    """What the draws say of the distinct ones of these N places, and which of them each is (N,)."""
    numbers = {place: number for number, place in enumerate(dict.fromkeys(places))}
    return rates(model, list(numbers)), np.array([numbers[place] for place in places])


def _drawn(rates: Rates) -> Array:
    """Ln of the true mean rates (DRAWS, n)."""
    return rates.drawn(DRAWS // len(rates.mean))


def _as(best: Configuration, place: Configuration, model: WorkloadModel) -> Configuration:
    """Memory that does not count is that of the best."""
    return place if model.memory_counts else replace(place, memory_bytes=best.memory_bytes)


def _normal(count: int, part: int) -> Array:
    """Draws (D, count) of a standard normal: of each column one in every D-th part of it, and each beside its opposite,
    so that of a sum of several, too, half are above its mean."""
    random = np.random.default_rng([SEED, part])
    half = np.array([NormalDist().inv_cdf((place + 0.5) / DRAWS) for place in range(DRAWS // 2)])
    drawn = random.permuted(np.tile(half, (count, 1)), axis=1).T * random.choice([-1.0, 1.0], (DRAWS // 2, count))
    return np.concatenate([drawn, -drawn])


def _best_of_kinds(candidates: Sequence[Candidate], objective: Objective) -> dict[Kind, int]:
    """The number of the fastest of each kind: of those that keep the latency, and if price decides, that have one."""
    alike: dict[Kind, list[int]] = defaultdict(list)
    for number, one in enumerate(candidates):
        alike[one.kind].append(number)
    best = {}
    for kind, numbers in alike.items():
        able = [n for n in numbers if _in_latency(candidates[n], objective) >= LIKELY] or numbers
        if objective.prefer != "fastest":
            able = [n for n in able if candidates[n].usd_per_hour is not None] or able
        best[kind] = max(able, key=lambda n: candidates[n].rate)
    return best


def _judged(
    candidates: Sequence[Candidate],
    drawn: Array,
    log_best: Array,
    noise: Array,
    objective: Objective,
    of_machines: bool,
) -> Table:
    if objective.rate is not None:
        lacking = math.log(objective.rate) - (drawn + noise * _normal(len(candidates), 1))
    else:
        lacking = log_best + math.log(objective.target) - drawn
    late = _late(candidates, objective)
    fast, enough = (lacking <= SLACK).mean(axis=0), ((lacking <= SLACK) & (late <= SLACK)).mean(axis=0)
    middle = np.median(drawn, axis=0)
    losses = _disk_losses(candidates, drawn, middle, objective)
    fractions = np.minimum(1.0, np.exp(np.median(drawn - log_best, axis=0)))
    rows = tuple(
        Row(one, n, float(fast[n]), float(fractions[n]), _in_latency(one, objective), float(enough[n]), *losses[n])
        for n, one in enumerate(candidates)
    )
    lacking = np.maximum(lacking, 0.0) + np.maximum(late, 0.0)
    return Table(objective, rows, drawn, middle, lacking, of_machines, np.zeros((len(drawn), 0)))


def _in_latency(candidate: Candidate, objective: Objective) -> float:
    """P(its p99 latency in a new run <= the most that is asked for); 0 where it was not measured."""
    if objective.latency_p99 is None:
        return 1.0
    if not candidate.latency_p99:
        return 0.0 if candidate.latency_p99 is None else 1.0
    over = math.log(candidate.latency_p99 / objective.latency_p99)
    return NormalDist().cdf(-over / math.hypot(candidate.noise, LATENCY_NOISE))


def _late(candidates: Sequence[Candidate], objective: Objective) -> Array:
    """By how much of ln the p99 latencies of new runs are longer than the most that is asked for (D, N)."""
    most = objective.latency_p99
    if most is None:
        return np.zeros((DRAWS, len(candidates)))
    latencies = [one.latency_p99 for one in candidates]
    over = [UNKNOWN if latency is None else math.log(max(latency, 1e-9) / most) for latency in latencies]
    spread = np.array([math.hypot(one.noise, LATENCY_NOISE) for one in candidates])
    return np.asarray(np.array(over) + spread * _normal(len(candidates), 2))


def _disk_losses(
    candidates: Sequence[Candidate], drawn: Array, middle: Array, objective: Objective
) -> list[tuple[float, bool]]:
    """Of each what it surely loses by its disk against the best one at its size, and whether a cheaper one is as good.

    A disk costs little beside vCPUs and accelerators, so what it loses is not weighed against the target: the target is
    for how many of those are bought.
    """
    losses = [(0.0, False)] * len(candidates)
    if objective.rate is not None or objective.counts == "fastest":
        return losses
    alike: dict[tuple[object, ...], list[int]] = defaultdict(list)
    for number, one in enumerate(candidates):
        if _in_latency(one, objective) >= LIKELY:
            alike[one.but_for_disk].append(number)
    for numbers in alike.values():
        best = max(numbers, key=lambda number: float(middle[number]))
        of_disks = dict.fromkeys(numbers, 0.0)
        for number in numbers:
            gained = drawn[:, number] - drawn[:, best]
            if (gained < 0).mean() >= SURE:  # else it is no more than chance
                of_disks[number] = max(0.0, -math.expm1(float(np.median(gained))))
        good = [candidates[n].disk_price for n, loss in of_disks.items() if loss <= DISK_LOSS + SLACK]
        for number, loss in of_disks.items():
            losses[number] = loss, candidates[number].disk_price > min(good)
    return losses

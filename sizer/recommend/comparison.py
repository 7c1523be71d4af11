"""Which of the machines that were measured: a comparison needs no curve, only their rates, intervals and prices."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist

from sizer.recommend.machines import Machine
from sizer.records import Objective

SURE = 0.9
"""A rate that is asked for is given with at least this probability; a choice that is less likely right is close."""
LIKELY = 0.5
"""A machine counts as one of the fast ones of its kind if that is likelier than not.

More is not asked: where a machine at half the price is just above the target or just below, the dearer one is no safe
choice. Of 500 simulated fleets with noise of 2 to 4 % the best by this rule is right in 97 % and with SURE in 90 %
(benchmarks, fleets.py).
"""
LATENCY_NOISE = 0.1
"""Standard deviation of ln p99 latency between runs, at the least: few batches of a run are slower than 99 of 100."""
TIE = 0.99
"""`fastest` takes the cheapest of those within one percent of the highest rate."""
ALIKE = 0.05
"""Costs that differ by less are alike: that another machine is cheaper by less is no doubt about the answer."""
DISK_LOSS = 0.02
"""The share of the best disk's rate that a cheaper one may cost, at the same size and whatever the target."""


@dataclass(frozen=True)
class Contender:
    """A machine with the probability that it is as fast as asked for, and its rate over the best of its kind.

    `prompt` is the probability that it keeps the latency that is asked for, 1 where none is; `disk_loss` the share of
    its rate that it loses by its disk against the best one at its size.
    """

    machine: Machine
    probability: float
    fraction: float
    least: float = LIKELY
    prompt: float = 1.0
    disk_loss: float = 0.0

    @property
    def passes(self) -> bool:
        return self.probability >= self.least and self.prompt >= LIKELY and self.disk_loss <= DISK_LOSS


@dataclass(frozen=True)
class Comparison:
    """The machine that was chosen among all that were measured; `probability` that no other would have been right.

    None of them is chosen where none gives the rate that is asked for.
    """

    contenders: tuple[Contender, ...]
    chosen: Contender | None
    probability: float = 0.0

    @property
    def priced(self) -> tuple[Contender, ...]:
        """Those whose price is known."""
        return tuple(each for each in self.contenders if each.machine.usd_per_hour is not None)

    def others(self) -> list[Contender]:
        """All that give what is asked for but the one that was chosen, the least costly first."""
        found = [each for each in self.contenders if each.passes and each is not self.chosen]
        return sorted(found, key=lambda each: (each.machine.cost, -each.machine.rate))


def compare(machines: Sequence[Machine], objective: Objective) -> Comparison:
    """By the objective.

    The target is of the best of the same kind and count of accelerator: on its machine a job is to lose nothing.
    Across kinds and counts `cheapest` takes the least cost of the work, `balanced` the least cost times the time that
    the work takes, and `fastest` the least costly within 1 % of the highest rate. A rate that is asked for takes the
    place of the target: a machine gives it surely, or where none does, likely. A price that is not known is never the
    least, nor is a machine without one what others are measured by.
    """
    contenders = _contenders(machines, objective)
    passing = [each for each in contenders if each.passes]
    if not passing:
        return Comparison(contenders, None)
    if objective.prefer == "fastest" and objective.rate is None:
        chosen = _fastest(passing)
        return Comparison(contenders, chosen, _probability_fastest(chosen, contenders))
    cost = _COSTS["cheapest" if objective.rate is not None else objective.prefer]
    priced = [each for each in passing if each.machine.usd_per_hour is not None]
    if not priced:
        chosen = _without_prices(passing)
        return Comparison(contenders, chosen, min(chosen.probability, chosen.prompt))
    chosen = min(priced, key=lambda each: (cost(each.machine), -each.machine.rate))
    return Comparison(contenders, chosen, _probability_least(chosen, priced, objective.prefer))


_COSTS: dict[str, Callable[[Machine], float]] = {
    "cheapest": lambda machine: machine.cost,
    "balanced": lambda machine: machine.cost / machine.rate,
}


def kind_of(machine: Machine) -> tuple[str | None, int]:
    """Its kind and count of accelerator."""
    return machine.accelerators.gpu, machine.accelerators.count or 0


def only_in_disk(machine: Machine, machines: Sequence[Machine]) -> list[Machine]:
    """It and those that differ from it in nothing but the disk."""
    bare = replace(machine.configuration, disk=None)
    return [
        each
        for each in machines
        if replace(each.configuration, disk=None) == bare
        and each.rented == machine.rented
        and kind_of(each) == kind_of(machine)
    ]


def _contenders(machines: Sequence[Machine], objective: Objective) -> tuple[Contender, ...]:
    found = tuple(_contender(each, machines, objective, SURE) for each in machines)
    if objective.rate is None or any(each.passes for each in found):
        return found
    return tuple(replace(each, least=LIKELY) for each in found)


def _contender(machine: Machine, machines: Sequence[Machine], objective: Objective, least: float) -> Contender:
    prompt = _prompt(machine, objective.latency_p99)
    best = _best(machine, machines, objective)
    fraction = machine.rate / best.rate
    if objective.rate is not None:
        spread = math.hypot(machine.deviation, machine.noise)
        likely = NormalDist().cdf(math.log(machine.rate / objective.rate) / spread)
        return Contender(machine, likely, fraction, least, prompt)
    on_disks = [each for each in only_in_disk(machine, machines) if _prompt(each, objective.latency_p99) >= LIKELY]
    loss = 1 - machine.rate / max([machine.rate, *(each.rate for each in on_disks)])
    if fraction >= 1:
        return Contender(machine, 1.0, fraction, prompt=prompt, disk_loss=loss)
    spread = math.hypot(machine.deviation, best.deviation)
    likely = NormalDist().cdf(math.log(fraction / objective.target) / spread)
    return Contender(machine, likely, fraction, prompt=prompt, disk_loss=loss)


def _best(machine: Machine, machines: Sequence[Machine], objective: Objective) -> Machine:
    """The fastest of its kind and count that keeps the latency; of those with a price, if price decides."""
    alike = [each for each in machines if kind_of(each) == kind_of(machine)]
    alike = [each for each in alike if _prompt(each, objective.latency_p99) >= LIKELY] or alike
    if objective.prefer != "fastest":
        alike = [each for each in alike if each.usd_per_hour is not None] or alike
    return max(alike, key=lambda each: each.rate)


def _prompt(machine: Machine, most: float | None) -> float:
    """P(its p99 latency in a new run <= the most that is asked for); 0 where it was not measured."""
    if most is None:
        return 1.0
    if not machine.latency_p99:
        return 0.0 if machine.latency_p99 is None else 1.0
    return NormalDist().cdf(math.log(most / machine.latency_p99) / math.hypot(machine.noise, LATENCY_NOISE))


def _fastest(passing: Sequence[Contender]) -> Contender:
    top = max(each.machine.rate for each in passing)
    near = [each for each in passing if each.machine.rate >= TIE * top]
    return min(near, key=lambda each: (each.machine.usd_per_hour or math.inf, each.machine.size, -each.machine.rate))


def _without_prices(passing: Sequence[Contender]) -> Contender:
    """Where no price is known: the kind that makes the most of each accelerator, and of it the smallest machine.

    A smaller machine is never dearer; of equally small ones, the fastest.
    """
    best = max(passing, key=lambda each: each.machine.rate / max(1, kind_of(each.machine)[1])).machine
    alike = [each for each in passing if kind_of(each.machine) == kind_of(best)]
    return min(alike, key=lambda each: (each.machine.size, -each.machine.rate))


def _probability_fastest(chosen: Contender, contenders: Sequence[Contender]) -> float:
    others = [each.machine for each in contenders if each is not chosen and each.prompt >= LIKELY]
    return min([chosen.prompt, *(_likely_no_less(chosen.machine, each, TIE) for each in others)])


def _likely_no_less(one: Machine, other: Machine, factor: float) -> float:
    """P(rate of one >= factor x rate of the other), by what is uncertain about both."""
    margin = math.log(one.rate / other.rate / factor)
    return NormalDist().cdf(margin / math.hypot(one.deviation, other.deviation))


def _probability_least(chosen: Contender, priced: Sequence[Contender], prefer: str) -> float:
    """P(its target is reached, and no other's work costs less by more than ALIKE)."""
    power = 2 if prefer == "balanced" else 1
    found = [chosen.probability, chosen.prompt]
    for each in priced:
        if each is chosen:
            continue
        ratio = _hourly(chosen.machine) / _hourly(each.machine) * (each.machine.rate / chosen.machine.rate) ** power
        spread = power * math.hypot(chosen.machine.deviation, each.machine.deviation)
        found.append(NormalDist().cdf((math.log1p(ALIKE) - math.log(ratio)) / spread))
    return min(found)


def _hourly(machine: Machine) -> float:
    assert machine.usd_per_hour is not None, "only machines with a price are compared by it"
    return max(machine.usd_per_hour + machine.disk_usd_per_hour, 1e-9)

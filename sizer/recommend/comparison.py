"""Which of the machines that were measured: a comparison needs no curve, only their rates, intervals and prices."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
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
TIE = 0.99
"""`fastest` takes the cheapest of those within one percent of the highest rate."""
ALIKE = 0.05
"""Costs that differ by less are alike: that another machine is cheaper by less is no doubt about the answer."""


@dataclass(frozen=True)
class Contender:
    """A machine with the probability that it gives what is asked for, and its rate over the best of its kind."""

    machine: Machine
    probability: float
    fraction: float
    least: float = LIKELY

    @property
    def passes(self) -> bool:
        return self.probability >= self.least


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
        return sorted(found, key=lambda each: (each.machine.usd_a_sample, -each.machine.rate))


def compare(machines: Sequence[Machine], objective: Objective) -> Comparison:
    """By the objective.

    The target is of the best of the same kind and count of accelerator: on its machine a job is to lose nothing.
    Across kinds and counts `cheapest` takes the least cost of the work, `balanced` the least cost times the time that
    the work takes, and `fastest` the least costly within 1 % of the highest rate. A rate that is asked for takes the
    place of the target. A price that is not known is never the least.
    """
    needed = objective.rate
    best: dict[tuple[str | None, int], Machine] = {}
    for each in machines:
        kind = kind_of(each)
        if kind not in best or each.rate > best[kind].rate:
            best[kind] = each
    contenders = tuple(_contender(each, best[kind_of(each)], objective, needed) for each in machines)
    passing = [each for each in contenders if each.passes]
    if not passing:
        return Comparison(contenders, None)
    if objective.prefer == "fastest" and needed is None:
        chosen = _fastest(passing)
        return Comparison(contenders, chosen, _probability_fastest(chosen, contenders))
    cost = _COSTS["cheapest" if needed is not None else objective.prefer]
    priced = [each for each in passing if each.machine.usd_per_hour is not None]
    if not priced:
        chosen = _without_prices(passing)
        return Comparison(contenders, chosen, chosen.probability)
    chosen = min(priced, key=lambda each: (cost(each.machine), -each.machine.rate))
    return Comparison(contenders, chosen, _probability_least(chosen, priced, objective.prefer))


_COSTS: dict[str, Callable[[Machine], float]] = {
    "cheapest": lambda machine: machine.usd_a_sample,
    "balanced": lambda machine: machine.usd_a_sample / machine.rate,
}


def kind_of(machine: Machine) -> tuple[str | None, int]:
    """Its kind and count of accelerator."""
    return machine.accelerators.gpu, machine.accelerators.count or 0


def _contender(machine: Machine, best: Machine, objective: Objective, needed: float | None) -> Contender:
    if needed is not None:
        spread = math.hypot(machine.deviation, machine.noise)
        return Contender(
            machine, NormalDist().cdf(math.log(machine.rate / needed) / spread), machine.rate / best.rate, SURE
        )
    if machine is best:
        return Contender(machine, 1.0, 1.0)
    margin = math.log(machine.rate / best.rate / objective.target)
    spread = math.hypot(machine.deviation, best.deviation)
    return Contender(machine, NormalDist().cdf(margin / spread), machine.rate / best.rate)


def _fastest(passing: Sequence[Contender]) -> Contender:
    top = max(each.machine.rate for each in passing)
    near = [each for each in passing if each.machine.rate >= TIE * top]
    return min(near, key=lambda each: (each.machine.usd_per_hour or math.inf, -each.machine.rate))


def _without_prices(passing: Sequence[Contender]) -> Contender:
    """The most of each accelerator, where no price is known of any machine; of those without one, the fewest vCPUs."""
    return max(
        passing,
        key=lambda each: (each.machine.rate / max(1, each.machine.accelerators.count or 0), each.fraction),
    )


def _probability_fastest(chosen: Contender, contenders: Sequence[Contender]) -> float:
    return min(
        (_likely_no_less(chosen.machine, each.machine, TIE) for each in contenders if each is not chosen), default=1.0
    )


def _likely_no_less(one: Machine, other: Machine, factor: float) -> float:
    """P(rate of one >= factor x rate of the other), by what is uncertain about both."""
    margin = math.log(one.rate / other.rate / factor)
    return NormalDist().cdf(margin / math.hypot(one.deviation, other.deviation))


def _probability_least(chosen: Contender, priced: Sequence[Contender], prefer: str) -> float:
    """P(its target is reached, and no other's work costs less by more than ALIKE)."""
    power = 2 if prefer == "balanced" else 1
    found = [chosen.probability]
    for each in priced:
        if each is chosen:
            continue
        ratio = _hourly(chosen.machine) / _hourly(each.machine) * (each.machine.rate / chosen.machine.rate) ** power
        spread = power * math.hypot(chosen.machine.deviation, each.machine.deviation)
        found.append(NormalDist().cdf((math.log1p(ALIKE) - math.log(ratio)) / spread))
    return min(found)


def _hourly(machine: Machine) -> float:
    assert machine.usd_per_hour is not None, "only machines with a price are compared by it"
    return max(machine.usd_per_hour, 1e-9)


def rises_with_count(chosen: Machine, machines: Sequence[Machine]) -> float | None:
    """The gain of the last step to its count of accelerators, where it has the most measured of its kind; else None."""
    kind, count = kind_of(chosen)
    fewer = [each for each in machines if kind_of(each)[0] == kind and 0 < kind_of(each)[1] < count]
    if not fewer or any(kind_of(each)[0] == kind and kind_of(each)[1] > count for each in machines):
        return None
    before = max(kind_of(each)[1] for each in fewer)
    best = max(each.rate for each in fewer if kind_of(each)[1] == before)
    return chosen.rate / best - 1


def rises_with_vcpus(chosen: Machine, machines: Sequence[Machine]) -> float | None:
    """The gain of the last doubling of vCPUs of its kind and count, where it has the most measured; else None."""
    vcpus = chosen.configuration.vcpus
    if vcpus is None:
        return None
    alike = [each for each in machines if kind_of(each) == kind_of(chosen) and each.configuration.vcpus is not None]
    if any((each.configuration.vcpus or 0) > vcpus for each in alike):
        return None
    fewer = [each for each in alike if (each.configuration.vcpus or 0) < vcpus]
    if not fewer:
        return None
    half = [each for each in fewer if (each.configuration.vcpus or 0) >= vcpus / 2] or fewer
    return chosen.rate / max(each.rate for each in half) - 1

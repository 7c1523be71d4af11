"""Which of the machines that were measured: a comparison needs no curve, only their rates, intervals and prices."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist, fmean

from sizer.model import more_than_chance
from sizer.recommend.machines import Machine
from sizer.recommend.thresholds import DISK_LOSS, SURE, TIE
from sizer.records import Event, Objective

LIKELY = 0.5
"""A machine counts as fast enough, or as prompt enough, if that is likelier than not.

More is not asked: where a machine at half the price is just above the target or just below, the dearer one is no safe
choice. Of 500 simulated fleets with noise of 2 to 4 % the best by this rule is right in 97 % and with SURE in 90 %
(benchmarks, fleets.py). An answer that is less than SURE is provisional, and names the least costly machine that is.
"""
LATENCY_NOISE = 0.05
"""Standard deviation of ln p99 latency between runs, at the least: few batches of a run are slower than 99 of 100."""
ALIKE = 0.05
"""Costs, or rates, that differ by less are alike: that another machine is better by less is no doubt of an answer."""
SLACK = 1e-9
"""What is exactly as asked for is enough."""
FAR = 6.0
"""Standard deviations beyond which a difference is no matter of chance."""
EQUALLY_LIKELY = tuple(NormalDist().inv_cdf((part + 0.5) / 100) for part in range(100))
"""The middles, in probability, of equal parts of a standard normal, for a mean over it."""
SAME = 1 + 1e-9
"""Costs that differ in their last digits are the same, and the faster machine is taken."""


@dataclass(frozen=True)
class Contender:
    """A machine with the probability that it is as fast as asked for, and its rate over the best of its kind.

    `prompt` is the probability that it keeps the latency that is asked for, 1 where none is; `disk_loss` the share of
    its rate that it loses by its disk against the best one at its size; `dearer_disk` whether a cheaper one is as good.
    """

    machine: Machine
    probability: float
    fraction: float
    prompt: float = 1.0
    disk_loss: float = 0.0
    dearer_disk: bool = False

    @property
    def prompt_enough(self) -> bool:
        return self.prompt >= LIKELY - SLACK

    @property
    def fast_enough(self) -> bool:
        return self.probability >= LIKELY - SLACK

    @property
    def sure(self) -> bool:
        """Whether it surely gives the rate and keeps the latency that are asked for."""
        return min(self.probability, self.prompt) >= SURE - SLACK

    @property
    def passes(self) -> bool:
        return self.fast_enough and self.prompt_enough and self.disk_loss <= DISK_LOSS + SLACK and not self.dearer_disk


@dataclass(frozen=True)
class Comparison:
    """The machine that was chosen among all that were measured, with the `probability` of `event`.

    None of them is chosen where none gives the rate that is asked for.
    """

    contenders: tuple[Contender, ...]
    chosen: Contender | None
    probability: float = 0.0
    event: Event = Event.REACHES_TARGET
    merit: Callable[[Machine], float] = lambda machine: machine.cost
    """What the objective makes least, of MERITS."""

    @property
    def priced(self) -> tuple[Contender, ...]:
        """Those whose price is known."""
        return tuple(each for each in self.contenders if each.machine.usd_per_hour is not None)

    @property
    def prompt(self) -> tuple[Contender, ...]:
        """Those that keep the latency that is asked for."""
        return tuple(each for each in self.contenders if each.prompt_enough)

    @property
    def likeliest(self) -> Contender | None:
        """Of those that keep the latency, the one that likeliest gives the rate; None where none keeps it."""
        return max(self.prompt, key=lambda each: (each.probability, each.machine.level_rate), default=None)

    @property
    def fastest(self) -> Machine:
        """Of those that keep the latency."""
        return fastest_of([each.machine for each in self.prompt])

    def others(self) -> list[Contender]:
        """All that give what is asked for but the chosen one, whatever its disk; the best by the objective first.

        Nor what differs from it in memory alone and gives the same.
        """
        own = but_for_disk(self.chosen.machine) if self.chosen is not None else None
        level = self.chosen.machine.level if self.chosen is not None else None
        found = [
            each
            for each in self.contenders
            if each.passes and but_for_disk(each.machine) != own and (level is None or each.machine.level is not level)
        ]
        return sorted(
            found, key=lambda each: (self.merit(each.machine), each.machine.cost, *_fastest_first(each.machine))
        )

    def surer(self) -> Contender | None:
        """The best that surely gives what is asked for, where the chosen one only likely does."""
        if self.chosen is None or self.chosen.sure:
            return None
        return next((each for each in self.others() if each.sure), None)


def compare(machines: Sequence[Machine], objective: Objective) -> Comparison:
    """By the objective.

    The target is of the best of the same kind and count of accelerator: on its machine a job is to lose nothing.
    Across kinds and counts `cheapest` takes the least cost of the work, `balanced` the least cost times the time that
    the work takes, and `fastest` the least costly within 1 % of the highest rate. A rate that is asked for takes the
    place of the target. A price that is not known is never the least, nor is a machine without one what others are
    measured by.
    """
    contenders = _contenders(machines, objective)
    passing = [each for each in contenders if each.passes]
    if not passing:
        return Comparison(contenders, None)
    merit = MERITS[objective.counts]
    if objective.counts == "fastest":
        chosen = _fastest(passing)
        return Comparison(contenders, chosen, _probability_fastest(chosen, contenders), Event.NONE_FASTER, merit)
    priced = [each for each in passing if each.machine.usd_per_hour is not None]
    if not priced:
        chosen = _without_prices(passing)
        event = Event.REACHES_TARGET if objective.rate is None else Event.GIVES_RATE
        return Comparison(contenders, chosen, min(chosen.probability, chosen.prompt), event, merit)
    chosen = _least(priced, merit)
    event = Event.NONE_BETTER if objective.counts == "balanced" else Event.NONE_CHEAPER
    return Comparison(contenders, chosen, _probability_least(chosen, priced, objective.counts), event, merit)


MERITS: dict[str, Callable[[Machine], float]] = {
    "cheapest": lambda machine: machine.cost,
    "balanced": lambda machine: machine.cost / machine.level_rate,
    "fastest": lambda machine: 1 / machine.level_rate,
}
"""What an objective makes least: the cost of the work, its cost times its time, or its time."""


def _least(priced: Sequence[Contender], cost: Callable[[Machine], float]) -> Contender:
    """The least by cost, and of equal ones the fastest; one that is sure rather than one that costs next to no less."""
    least = min(cost(each.machine) for each in priced)
    same = max(
        (each for each in priced if cost(each.machine) <= SAME * least), key=lambda each: each.machine.level_rate
    )
    sure = [each for each in priced if each.sure and cost(each.machine) <= (1 + ALIKE) * least]
    found = same if same.sure or not sure else min(sure, key=lambda each: cost(each.machine))
    return _smallest_within(found, priced)


def _smallest_within(chosen: Contender, priced: Sequence[Contender]) -> Contender:
    """The smallest size on the same rented machine at the same price that is as fast as far as a tie goes."""
    machine = chosen.machine
    alike = [
        each
        for each in priced
        if each.sure >= chosen.sure
        and (kind_of(each.machine), each.machine.rented) == (kind_of(machine), machine.rented)
        and hourly(machine) / SAME <= hourly(each.machine) <= SAME * hourly(machine)
        and each.machine.level_rate >= TIE * machine.level_rate
    ]
    return min(alike, key=lambda each: (each.machine.size, -each.machine.rate))


def fastest_of(machines: Sequence[Machine]) -> Machine:
    """The smallest of those that are as fast as the fastest."""
    return min(machines, key=_fastest_first)


def _fastest_first(machine: Machine) -> tuple[float, tuple[float, int, float]]:
    return -machine.level_rate, machine.size


def kind_of(machine: Machine) -> tuple[str | None, int]:
    """Its kind and count of accelerator; of a machine whose name is all that is known of it, that name. Machines
    without accelerators that ran a job together are a kind by their number."""
    if machine.only_named or (machine.spec.nodes > 1 and not machine.accelerators.count):
        return machine.name or f"{machine.spec.nodes} x", 0
    return machine.accelerators.gpu, machine.accelerators.count or 0


def but_for_disk(machine: Machine) -> tuple[object, ...]:
    """What two machines have alike that differ in nothing but the disk."""
    here = machine.configuration
    return here.vcpus, here.memory_bytes, here.batch_size, machine.rented, kind_of(machine)


def _contenders(machines: Sequence[Machine], objective: Objective) -> tuple[Contender, ...]:
    prompt = [_prompt(each, objective.latency_p99) for each in machines]
    best = _best_of_each(machines, prompt, objective)
    found = tuple(
        _contender(machine, best[kind_of(machine)], objective, likely)
        for machine, likely in zip(machines, prompt, strict=True)
    )
    return _by_disk(found) if objective.rate is None and objective.prefer != "fastest" else found


def _contender(machine: Machine, best: Machine, objective: Objective, prompt: float) -> Contender:
    """`best` is the fastest of its kind and count."""
    fraction = machine.level_rate / best.level_rate
    if objective.rate is not None:
        spread = math.hypot(machine.level_deviation, machine.noise)
        likely = NormalDist().cdf(math.log(machine.level_rate / objective.rate) / spread)
        return Contender(machine, likely, fraction, prompt)
    if fraction >= 1:
        return Contender(machine, 1.0, fraction, prompt)
    spread = math.hypot(machine.level_deviation, best.level_deviation)
    return Contender(machine, NormalDist().cdf(math.log(fraction / objective.target) / spread), fraction, prompt)


def _by_disk(contenders: Sequence[Contender]) -> tuple[Contender, ...]:
    """The same with what each loses by its disk, and whether a cheaper disk loses no more than a disk may.

    A loss that is no more than chance, at all sizes together and at each, is none.
    """
    alike: dict[tuple[object, ...], list[Machine]] = defaultdict(list)
    sizes = [but_for_disk(each.machine) for each in contenders]
    for each, size in zip(contenders, sizes, strict=True):
        if each.prompt_enough:
            alike[size].append(each.machine)
    clear = _faster_disks(list(alike.values()))
    cheapest = {size: _cheapest_good_disk(group, clear) for size, group in alike.items()}
    found = []
    for each, size in zip(contenders, sizes, strict=True):
        loss = _disk_loss(each.machine, alike.get(size, ()), clear)
        dearer = each.machine.disk_usd_per_hour > cheapest.get(size, math.inf)
        found.append(replace(each, disk_loss=loss, dearer_disk=dearer) if loss or dearer else each)
    return tuple(found)


def _cheapest_good_disk(group: Sequence[Machine], clear: set[Disks]) -> float:
    """USD an hour of the cheapest that loses no more than a disk may; the fastest of a group loses nothing."""
    return min(each.disk_usd_per_hour for each in group if _disk_loss(each, group, clear) <= DISK_LOSS + SLACK)


Disks = tuple[object, str | None, str | None]
"""A kind of accelerator and two disks."""


def _faster_disks(groups: Sequence[Sequence[Machine]]) -> set[Disks]:
    """Of which the second is faster than the first by more than chance; the machines of a group differ in the disk."""
    gains: dict[Disks, list[tuple[float, float]]] = defaultdict(list)
    for group in groups:
        for one in group:
            for other in group:
                gain = math.log(other.level_rate / one.level_rate)
                gains[_disks(one, other)].append((gain, math.hypot(one.level_deviation, other.level_deviation)))
    return {disks for disks, found in gains.items() if more_than_chance(found)}


def _disks(one: Machine, other: Machine) -> Disks:
    return kind_of(one), one.configuration.disk, other.configuration.disk


def _disk_loss(machine: Machine, group: Sequence[Machine], clear: set[Disks]) -> float:
    faster = [each.level_rate for each in group if _disks(machine, each) in clear]
    return max(0.0, 1 - machine.level_rate / max(faster)) if faster else 0.0


def _best_of_each(
    machines: Sequence[Machine], prompt: Sequence[float], objective: Objective
) -> dict[tuple[str | None, int], Machine]:
    """The fastest of each kind and count: of those that keep the latency, and if price decides, of those with one."""
    alike: dict[tuple[str | None, int], list[tuple[Machine, float]]] = defaultdict(list)
    for machine, likely in zip(machines, prompt, strict=True):
        alike[kind_of(machine)].append((machine, likely))
    found = {}
    for kind, group in alike.items():
        among = [machine for machine, likely in group if likely >= LIKELY] or [machine for machine, _ in group]
        if objective.prefer != "fastest":
            among = [each for each in among if each.usd_per_hour is not None] or among
        found[kind] = max(among, key=lambda each: each.level_rate)
    return found


def _prompt(machine: Machine, most: float | None) -> float:
    """P(its p99 latency in a new run <= the most that is asked for); 0 where it was not measured."""
    if most is None:
        return 1.0
    if not machine.latency_p99:
        return 0.0 if machine.latency_p99 is None else 1.0
    return NormalDist().cdf(math.log(most / machine.latency_p99) / math.hypot(machine.noise, LATENCY_NOISE))


def _fastest(passing: Sequence[Contender]) -> Contender:
    top = max(each.machine.level_rate for each in passing)
    near = [each for each in passing if each.machine.level_rate >= TIE * top]
    return min(near, key=lambda each: (each.machine.usd_per_hour or math.inf, each.machine.size, -each.machine.rate))


def _without_prices(passing: Sequence[Contender]) -> Contender:
    """Where no price is known: the kind that makes the most of each accelerator, and of it the smallest machine.

    A smaller machine is never dearer; of equally small ones, the fastest.
    """
    best = max(passing, key=lambda each: each.machine.level_rate / max(1, kind_of(each.machine)[1])).machine
    alike = [each for each in passing if kind_of(each.machine) == kind_of(best)]
    return min(alike, key=lambda each: (each.machine.size, -each.machine.rate))


def _probability_fastest(chosen: Contender, contenders: Sequence[Contender]) -> float:
    """P(it keeps the latency, and no other is faster by more than ALIKE)."""
    others = [each.machine for each in contenders if each is not chosen and each.prompt_enough]
    return min(chosen.prompt, _probability_none_better(chosen.machine, others, 1, paid=False))


def _probability_least(chosen: Contender, priced: Sequence[Contender], prefer: str) -> float:
    """P(its target is reached, and no other's work costs less by more than ALIKE)."""
    others = [each.machine for each in priced if each is not chosen]
    none = _probability_none_better(chosen.machine, others, 2 if prefer == "balanced" else 1, paid=True)
    return min(chosen.probability, chosen.prompt, none)


def _gain(one: Machine, other: Machine, power: int, paid: bool) -> float:
    """Ln of how many times as fast the other is, to the `power`, and where it is `paid` as cheap an hour."""
    faster = power * math.log(other.level_rate / one.level_rate)
    return faster + math.log(hourly(one) / hourly(other)) if paid else faster


def _probability_none_better(chosen: Machine, others: Sequence[Machine], power: int, paid: bool) -> float:
    """P(no other gains more than ALIKE), of all of them together.

    Rates are apart, each uncertain by itself, but for machines of one level, which have one rate: of these the one that
    gains most counts. The chosen one's rate is in every comparison, so it is averaged over last.
    """
    margins: dict[int, tuple[float, float]] = {}
    for each in others:
        margin = math.log1p(ALIKE) - _gain(chosen, each, power, paid)
        if each.level is not None and each.level is chosen.level:
            if margin < 0:
                return 0.0
            continue
        key = id(each if each.level is None else each.level)
        margins[key] = min((margin, power * each.level_deviation), margins.get(key, (math.inf, 0.0)))
    own = power * chosen.level_deviation
    close = [(margin, spread) for margin, spread in margins.values() if margin < FAR * math.hypot(own, spread)]
    if not close:
        return 1.0
    normal = NormalDist()

    def none(own_off: float) -> float:
        return math.prod(normal.cdf((margin + own_off) / max(spread, SLACK)) for margin, spread in close)

    return fmean(none(own * off) for off in EQUALLY_LIKELY)


def hourly(machine: Machine) -> float:
    """USD an hour with the disk, for comparing machines that have a price; never 0, so that it has a logarithm."""
    assert machine.usd_per_hour is not None, "only machines with a price are compared by it"
    return max(machine.usd_per_hour + machine.disk_usd_per_hour, 1e-9)

"""The right answer of a job by looking at all of its rows, and whether an answer is right. Pure, nothing of sizer."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass
from statistics import fmean

from answers_jobs import SYNTHETIC, Machine, MeasuredRow

OBJECTIVES = ("cheapest", "balanced", "fastest")
TARGET = 0.95
"""Of the best rate of its own GPU kind and count: below it a row is neither `cheapest` nor `balanced`."""
AS_FAST = 0.99
"""Of rows that are so close to the fastest, the cheapest is taken."""
CLOSE = 0.05
"""An answer that is so much worse than the best is still right."""

PriceOf = Callable[[Machine], "float | None"]


@dataclass(frozen=True)
class Choice:
    """A row that could be chosen: its rate in samples/s, and its price an hour; None is unknown."""

    machine: Machine
    batch_size: int | None
    rate: float
    usd_per_hour: float | None
    least: float
    """The rate that rows of its GPU kind and count have to reach."""

    @property
    def usd_per_million(self) -> float | None:
        return None if self.usd_per_hour is None else self.usd_per_hour / 3600 / self.rate * 1e6

    @property
    def label(self) -> str:
        batch = f", batch {self.batch_size}" if self.batch_size else ""
        cost = f"${self.usd_per_million:.3g} a million" if self.usd_per_million is not None else "no price"
        return f"{self.machine.label}{batch}: {self.rate:.4g}/s, {cost}"


@dataclass(frozen=True)
class Given:
    """What sizer answered: a machine and a batch size as far as it says them; `refused` says why it answered nothing.

    `priced` is whether a price was given with it.
    """

    gpu: str | None = None
    gpu_count: int = 0
    vcpus: float | None = None
    memory_gib: float | None = None
    batch_size: int | None = None
    instance_type: str | None = None
    priced: bool = False
    refused: str = ""


@dataclass(frozen=True)
class Verdict:
    """Whether an answer is right, and if not, why. `without_price`: no machine of the job has one, and one is asked."""

    right: bool
    reason: str = ""
    without_price: bool = False


def choices(rows: Sequence[MeasuredRow], price: PriceOf, retired: Container[str] = ()) -> list[Choice]:
    """Each machine with each batch size, repeats as their mean; what did not fit is none, nor is synthetic input where
    the table has real data too, nor an instance type of `retired`."""
    rates: dict[tuple[Machine, int | None], list[float]] = defaultdict(list)
    for row in rows:
        if row.rate is not None and row.input != SYNTHETIC and row.machine.instance_type not in retired:
            rates[row.machine, row.batch_size].append(row.rate)
    best: dict[tuple[str | None, int], float] = defaultdict(float)
    for (machine, _), repeats in rates.items():
        best[_kind(machine)] = max(best[_kind(machine)], fmean(repeats))
    return [
        Choice(machine, batch, fmean(repeats), price(machine), TARGET * best[_kind(machine)])
        for (machine, batch), repeats in rates.items()
    ]


def _kind(machine: Machine) -> tuple[str | None, int]:
    return machine.gpu, machine.gpu_count


def best_choice(options: Sequence[Choice], objective: str) -> Choice | None:
    """The right one; None where that needs a price and no row has one."""
    if objective == "fastest":
        fastest = max(choice.rate for choice in options)
        close = [choice for choice in options if choice.rate >= AS_FAST * fastest]
        return min(close, key=lambda choice: (choice.usd_per_hour is None, choice.usd_per_hour or 0.0, -choice.rate))
    priced = [choice for choice in options if choice.usd_per_hour is not None and choice.rate >= choice.least]
    return min(priced, key=lambda choice: loss(choice, objective), default=None)


def loss(choice: Choice, objective: str) -> float:
    """What the objective wants least of: seconds a sample, its price, or their product; without a price the most."""
    if objective == "fastest":
        return 1 / choice.rate
    if choice.usd_per_hour is None:
        return float("inf")
    return choice.usd_per_hour / choice.rate ** (2 if objective == "balanced" else 1)


def verdict(options: Sequence[Choice], objective: str, given: Given) -> Verdict:
    """Whether what sizer answered is within 5 % of the best of the rows; where there is none, whether it refused."""
    if not options:
        return Verdict(bool(given.refused), "" if given.refused else f"nobody can rent {label_of(given)}")
    best = best_choice(options, objective)
    without_price = best is None
    if given.refused:
        return Verdict(False, f"refused: {given.refused}", without_price)
    mine = chosen(options, given)
    if mine is None:
        return Verdict(False, f"{label_of(given)} is not in the table", without_price)
    if best is None:
        fastest = best_choice(options, "fastest")
        assert fastest is not None, "a job has rows"
        right = not given.priced or loss(mine, "fastest") <= (1 + CLOSE) * loss(fastest, "fastest")
        return Verdict(right, "" if right else f"{mine.label} was given a price that nobody knows", True)
    if objective != "fastest" and mine.rate < (1 - CLOSE) * mine.least:
        return Verdict(False, f"{mine.label} is below {TARGET:.0%} of its own kind and count; best {best.label}")
    if loss(mine, objective) <= (1 + CLOSE) * loss(best, objective):
        return Verdict(True)
    return Verdict(False, f"{mine.label}; best {best.label}")


def chosen(options: Sequence[Choice], given: Given) -> Choice | None:
    """The row that an answer means: the slowest of those that are as it says, and of the instance type that it names
    where some row has that; None where there is none."""
    meant = [choice for choice in options if _means(given, choice)]
    named = [choice for choice in meant if given.instance_type and choice.machine.instance_type == given.instance_type]
    return min(named or meant, key=lambda choice: choice.rate, default=None)


def _means(given: Given, choice: Choice) -> bool:
    machine = choice.machine
    if given.gpu != machine.gpu or (given.gpu is not None and given.gpu_count not in (0, machine.gpu_count)):
        return False
    if given.batch_size is not None and choice.batch_size is not None and given.batch_size != choice.batch_size:
        return False
    if given.vcpus is not None and machine.vcpus is not None:
        return given.vcpus == machine.vcpus
    return machine.gpu is not None or given.instance_type == machine.instance_type


def label_of(given: Given) -> str:
    """What sizer answered, as a person would name it."""
    parts = [f"{given.gpu_count or '?'} x {given.gpu}" if given.gpu else "no GPU"]
    parts += [f"{given.vcpus:g} vCPUs"] if given.vcpus else []
    parts += [f"{given.memory_gib:g} GiB"] if given.memory_gib else []
    parts += [f"batch {given.batch_size}"] if given.batch_size else []
    parts += [given.instance_type] if given.instance_type else []
    return ", ".join(parts)

"""Does the recommended machine cost what the best one does? Simulated fleets whose true rates are known.

    python benchmarks/answers/fleets.py [--fleets 500] [--first 0] [--processes 2] [--worst 20]

Each fleet is some instance types of the catalogue with a job (`fleet_machines.py`), measured with noise, and asked in
turn for the least cost of the work and for a deadline; half of the tables have prices of their own. The best machine is
found by looking at the true rates; beside it what looking at the measured ones finds, which noise misleads alike.
Exit status 1 where a goal is missed.
"""

from __future__ import annotations

import math
import os
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

# Before numpy: two processes that compute with two threads each would wait for one another.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

sys.path.append(str(Path(__file__).parents[1] / "shared"))

from answers_asked import asked, read_table, write_table
from answers_jobs import MeasuredRow, Sold, sold_machines
from answers_truth import CLOSE, TARGET, Choice, Given, best_choice, choices, label_of
from fleet_machines import Fleet, drawn_fleet, name_of
from goals import GoalRow, at_most, judge_numbered, share

from sizer.records.messages import SizerError
from sizer.records.study import Deadline, Objective

SAMPLES = 1e8
LEAST_RIGHT, LEAST_ANSWERED = 0.95, 0.80
PHANTOM = "nobody sells or measured it"


@dataclass(frozen=True)
class JudgedFleet:
    """What was answered for a fleet: its regret in cost, or infinity for a machine that is too slow or that is none.

    `by_rows` is the regret of who looks at the measured means.
    """

    fleet: Fleet
    given: Given
    regret: float
    by_rows: float
    reason: str

    @property
    def phantom(self) -> bool:
        return self.reason == PHANTOM


@dataclass(frozen=True)
class Bought:
    """A machine, and what it truly does and costs; a price that nobody knows is infinite."""

    sold: Sold
    rate: float
    usd_per_hour: float

    @property
    def usd_per_million(self) -> float:
        return self.usd_per_hour / 3600 / self.rate * 1e6

    @property
    def label(self) -> str:
        return f"{name_of(self.sold)}: {self.rate:.4g}/s, ${self.usd_per_million:.3g} a million"


def judge_fleet(number: int) -> JudgedFleet:
    """Measure the fleet of that number, ask sizer, and compare with the truth."""
    on_offer = sold_machines()
    fleet = drawn_fleet(number, on_offer)
    given = _asked(fleet)
    by_rows = _choice(fleet, [fmean(rates) for rates in fleet.measured])
    theirs = _regret(fleet, _member(fleet, fleet.machines.index(by_rows.machine)) if by_rows else None)[0]
    if given.refused:
        return JudgedFleet(fleet, given, math.inf, theirs, f"refused: {given.refused}")
    bought = _bought(fleet, given, on_offer)
    regret, reason = _regret(fleet, bought)
    return JudgedFleet(fleet, given, regret, theirs, reason)


def _asked(fleet: Fleet) -> Given:
    objective = Objective(deadline=Deadline(SAMPLES, SAMPLES / fleet.needed)) if fleet.needed else Objective()
    try:
        with tempfile.TemporaryDirectory() as folder:
            write_table(path := Path(folder) / "fleet.csv", _rows(fleet))
            return asked(read_table(path), objective)
    except SizerError as error:
        return Given(refused=str(error).replace(f"{folder}/", ""))


def _rows(fleet: Fleet) -> list[dict[str, object]]:
    return [
        {
            "workload": f"fleet-{fleet.number}",
            "provider": sold.provider,
            "instance_type": sold.instance_type,
            "usd_per_hour": f"{usd:g}" if fleet.told_prices else None,
            "gpu": sold.gpu,
            "gpu_count": sold.gpu_count or None,
            "vcpus": f"{sold.vcpus:g}",
            "memory_gib": f"{sold.memory_gib:g}",
            "throughput": f"{rate:.6g}",
        }
        for sold, usd, rates in zip(fleet.sold, fleet.usd_per_hour, fleet.measured, strict=True)
        for rate in rates
    ]


def _choice(fleet: Fleet, rates: Sequence[float]) -> Choice | None:
    """The best machine by these rates: the rule of the objective, without sizer."""
    prices = dict(zip(fleet.machines, fleet.usd_per_hour, strict=True))
    rows = [MeasuredRow(machine, None, rate) for machine, rate in zip(fleet.machines, rates, strict=True)]
    options = choices(rows, prices.get)
    if fleet.needed is None:
        return best_choice(options, "cheapest")
    in_time = [choice for choice in options if choice.rate >= fleet.needed]
    return min(in_time, key=lambda choice: choice.usd_per_million or math.inf, default=None)


def _member(fleet: Fleet, index: int) -> Bought:
    return Bought(fleet.sold[index], fleet.rates[index], fleet.usd_per_hour[index])


def _bought(fleet: Fleet, given: Given, on_offer: Sequence[Sold]) -> Bought | None:
    """The machine of the fleet that the answer means, else the instance type that it offers; None where it is none."""
    offered = [index for index, sold in enumerate(fleet.sold) if _is_offered(sold, given)]
    members = [index for index, sold in enumerate(fleet.sold) if _is(sold, given)]
    named = [index for index in members if index in offered]
    if members or offered:
        return _member(fleet, min(named or members or offered, key=lambda index: fleet.usd_per_hour[index]))
    elsewhere = next((sold for sold in on_offer if _is_offered(sold, given)), None)
    if elsewhere is None:
        return None
    usd = math.inf if elsewhere.usd_per_hour is None else elsewhere.usd_per_hour
    return Bought(elsewhere, fleet.job.rate(elsewhere), usd)


def _is_offered(sold: Sold, given: Given) -> bool:
    return sold.instance_type == given.instance_type and sold.gpu == given.gpu


def _is(sold: Sold, given: Given) -> bool:
    counts = given.gpu_count in (0, sold.gpu_count)
    memory = given.memory_gib is None or math.isclose(given.memory_gib, sold.memory_gib, rel_tol=1e-3)
    return given.gpu == sold.gpu and counts and given.vcpus in (None, sold.vcpus) and memory


def _regret(fleet: Fleet, bought: Bought | None) -> tuple[float, str]:
    """In cost over the best by the same rule; infinity and why, where the machine is none or too slow."""
    if bought is None:
        return math.inf, PHANTOM
    best = _choice(fleet, fleet.rates)
    assert best is not None, "every machine has a price, and one is in time"
    alike = [
        rate
        for sold, rate in zip(fleet.sold, fleet.rates, strict=True)
        if (sold.gpu, sold.gpu_count) == (bought.sold.gpu, bought.sold.gpu_count)
    ]
    least = fleet.needed if fleet.needed is not None else (1 - CLOSE) * TARGET * max(alike, default=0.0)
    says = f"{bought.label}; best {best.label}"
    if bought.rate < least:
        return math.inf, f"too slow ({least:.4g}/s are needed): {says}"
    regret = bought.usd_per_million / (best.usd_per_million or math.nan) - 1
    return regret, f"{says}: {regret:+.0%}"


def scores(judged: Sequence[JudgedFleet]) -> list[GoalRow]:
    """The rows of the table, all fleets and those of each kind and objective."""
    kinds = {
        f"{kind} fleets": [fleet for fleet in judged if fleet.fleet.kind == kind] for kind in ("gpu", "cpu", "mixed")
    }
    table = [*_rows_of("all fleets", judged, LEAST_ANSWERED, LEAST_RIGHT)]
    answered = [fleet for fleet in judged if not fleet.given.refused]
    regrets, by_rows = [max(0.0, fleet.regret) for fleet in answered], [fleet.by_rows <= CLOSE for fleet in judged]
    table += [
        share("all fleets", "machines that are sold or were measured", [not fleet.phantom for fleet in answered], 1.0),
        at_most("all fleets", "median regret", regrets, 0.5),
        share("all fleets", "by the means of the rows: regret at most 5 %", by_rows),
    ]
    groups = {
        **kinds,
        "least cost": [fleet for fleet in judged if fleet.fleet.needed is None],
        "deadline": [fleet for fleet in judged if fleet.fleet.needed is not None],
        "prices in the table": [fleet for fleet in judged if fleet.fleet.told_prices],
        "prices of the catalogue": [fleet for fleet in judged if not fleet.fleet.told_prices],
    }
    return [*table, *(row for part, members in groups.items() for row in _rows_of(part, members))]


def _rows_of(
    part: str, members: Sequence[JudgedFleet], answered: float | None = None, right: float | None = None
) -> list[GoalRow]:
    with_answer = [member for member in members if not member.given.refused]
    return [
        share(part, "answered", [not fleet.given.refused for fleet in members], answered),
        share(part, "regret at most 5 %, of those answered", [member.regret <= CLOSE for member in with_answer], right),
    ]


def _worst_lines(judged: Sequence[JudgedFleet]) -> list[str]:
    """The worst answers and the refusals, a line each with what the fleet was measured at."""
    lines = []
    for member in sorted((fleet for fleet in judged if fleet.regret > CLOSE), key=lambda member: -member.regret):
        fleet, asks = member.fleet, f"at least {member.fleet.needed:.4g}/s" if member.fleet.needed else "least cost"
        rows = [
            f"{name_of(sold)}, {sold.vcpus:g} vCPUs, {sold.gpu_count} GPUs, ${usd:.4g}: "
            f"{fmean(rates):.4g}/s (true {rate:.4g})"
            for sold, usd, rates, rate in zip(fleet.sold, fleet.usd_per_hour, fleet.measured, fleet.rates, strict=True)
        ]
        head = f"  fleet {fleet.number} ({asks}): {label_of(member.given)}: {member.reason}"
        lines.append("\n      ".join([head, *rows]))
    return lines


if __name__ == "__main__":
    raise SystemExit(judge_numbered(__doc__, "fleets", 500, judge_fleet, scores, _worst_lines))

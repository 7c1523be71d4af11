"""The disk is the cheapest within 2 % of the best one at the chosen size, whatever the target."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

import pytest

from sizer.records.answer import Answer
from sizer.records.device import DiskRates
from sizer.records.run import Demand, Run
from sizer.records.study import Deadline

Ask = Callable[..., Answer]

CLASSES = {"plain": "standard", "good": "ssd", "best": "nvme"}
RATES = {"plain": DiskRates(2000, 1e8), "good": DiskRates(9000, 4e8), "best": DiskRates(40_000, 2e9)}


@pytest.fixture
def measured(make_run: Callable[..., Run]) -> Callable[..., list[Run]]:
    """Runs on three disks; each keeps its share of a rate that stops rising at 2 vCPUs, measured three times."""

    def measured(**share: float) -> list[Run]:
        runs = [
            make_run(min(100 * c, 200) * kept, c, disk=name, rates=RATES[name], repeat=k, spread=0.002)
            for name, kept in share.items()
            for c in (1, 2, 4, 8)
            for k in range(3)
        ]
        return [_of_class(run) for run in runs]

    return measured


def _of_class(run: Run) -> Run:
    tier = replace(run.disk.tier, disk_class=CLASSES[run.disk.tier.name])
    return replace(run, disk=replace(run.disk, tier=tier))


def test_a_disk_that_costs_4_percent_is_not_taken_under_a_lax_target(
    measured: Callable[..., list[Run]], ask: Ask
) -> None:
    """90 % of the best would allow it; the 2 % do not, and that is its reason."""
    answer = ask(measured(plain=0.96, best=1.0), target=0.9)
    assert (answer.spec.vcpus, answer.spec.disk) == (2, "best")
    (why,) = [each.why for each in answer.rejected if each.spec.disk == "plain"]
    assert re.search(r"loses (3\.\d|4) % by its disk, more than the 2 % that a disk may cost", why)
    assert any(
        re.match("No measured disk is faster than disk best for this job; disk plain loses [34]", reason)
        for reason in answer.reasons
    )


@pytest.mark.parametrize("target", [0.5, 0.9, 0.95])
def test_a_disk_that_costs_one_percent_is_taken(measured: Callable[..., list[Run]], ask: Ask, target: float) -> None:
    """And what the better one would buy is a number."""
    answer = ask(measured(plain=0.99, best=1.0), target=target)
    assert answer.spec.disk == "plain"
    # The model takes a difference below the noise of a run for half of it or none.
    little = re.compile(r"Compared with disk plain, a faster disk gains (< 1|1) %")
    assert any(little.match(reason) for reason in answer.reasons)


def test_the_cheapest_of_several_that_are_within(measured: Callable[..., list[Run]], ask: Ask) -> None:
    """Not the second best: the cheapest that loses at most 2 % against the best of all."""
    answer = ask(measured(plain=0.8, good=0.995, best=1.0), target=0.85)
    assert answer.spec.disk == "good"


def test_a_faster_disk_that_buys_nothing_is_said_plainly(measured: Callable[..., list[Run]], ask: Ask) -> None:
    """Blind to its disk, a job takes the cheapest."""
    answer = ask(measured(plain=1.0, good=1.0, best=1.0))
    assert answer.spec.disk == "plain"
    assert any(re.match("Compared with disk plain, a faster disk gains (0|< 1) %", reason) for reason in answer.reasons)


def test_a_deadline_asks_nothing_of_the_disk_but_time(measured: Callable[..., list[Run]], ask: Ask) -> None:
    """A slower disk on which the job is in time and cheaper is taken: there is no best to be within 2 % of."""
    runs = measured(plain=0.96, best=1.0)
    answer = ask(runs, within=Deadline(1e6, 3 * 3600.0))
    assert answer.spec.disk == "plain"


@pytest.mark.parametrize("prefer", ["cheapest", "balanced"])
def test_no_objective_but_speed_pays_for_a_disk_that_buys_nothing(
    make_run: Callable[..., Run], ask: Callable[..., Answer], prefer: str
) -> None:
    """Of the disks within 2 % of the best one the cheapest is taken, however costs and times are weighed."""
    tiers = {"standard": DiskRates(500, 4e7), "ssd": DiskRates(20_000, 2.5e8), "nvme": DiskRates(400_000, 2e9)}
    demand = Demand(core_seconds=1 / 80, read_bytes=110_000, read_ios=1.0)
    runs = [
        make_run(
            ((80 * c) ** -6 + (rates.read_bytes_per_second / 110_000) ** -6) ** (-1 / 6),
            c,
            disk=name,
            rates=rates,
            demand=demand,
        )
        for c in (2, 4, 8, 16)
        for name, rates in tiers.items()
        if rates.read_bytes_per_second
    ]
    answer = ask(runs, prefer)
    assert answer.spec.disk == "ssd"

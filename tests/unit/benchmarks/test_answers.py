"""How answers are judged: the best of a table by looking at it, prices, and fleets whose truth is known."""

from __future__ import annotations

import pytest
from answers_jobs import (
    Machine,
    MeasuredRow,
    Sold,
    retired_machines,
    sold_machines,
    usd_per_hour,
)
from answers_truth import Given, choices, verdict
from fleet_machines import both, drawn_fleet

OLD, TWO_OLD, NEW, UNSOLD = Machine("K80", 1), Machine("K80", 2), Machine("V100", 1), Machine("Titan", 1)
PRICES = {OLD: 0.9, TWO_OLD: 1.8, NEW: 3.06}
ROWS = (
    MeasuredRow(OLD, 32, 50.0),
    MeasuredRow(OLD, 16, 30.0),
    MeasuredRow(TWO_OLD, 32, 90.0),
    MeasuredRow(NEW, 32, 160.0),
    MeasuredRow(NEW, 64, 164.0),
)
"""A million samples cost $5, $5.56 and $5.18 on them, in that order; cost x time favours the V100."""


def _sold(name: str, gpu: str | None, count: int, usd: float | None, memory: float | None = 16.0) -> Sold:
    return Sold("cloud", name, None, 8.0, 61.0, gpu, count, memory if gpu else None, usd)


TITAN, TWO_TITANS = MeasuredRow(UNSOLD, 32, 200.0), MeasuredRow(Machine("Titan", 2), 32, 300.0)
T4_SMALL, T4_LARGE = Machine("T4", 1, "g4dn.xlarge", 4.0), Machine("T4", 1, "g4dn.8xlarge", 32.0)
T4S = (MeasuredRow(T4_SMALL, 8, 50.0), MeasuredRow(T4_LARGE, 8, 90.0))
CPU_SMALL, CPU_LARGE = Machine(None, 0, "c5.2xlarge", 8.0), Machine(None, 0, "c5.18xlarge", 72.0)
CPUS = (MeasuredRow(CPU_SMALL, 1, 50.0), MeasuredRow(CPU_LARGE, 1, 200.0))
UNFIT = (*ROWS, MeasuredRow(OLD, 64, None))


@pytest.mark.parametrize(
    ("rows", "objective", "given", "right"),
    [
        # Cheapest keeps 95 % of the best of its own GPU kind and count.
        (ROWS, "cheapest", Given("K80", 1, batch_size=16), False),
        # 3.6 % more for the work is as good, 11 % more is not.
        (ROWS, "cheapest", Given("K80", 2, batch_size=32), False),
        # What is not in the table, and a refusal.
        (ROWS, "fastest", Given(vcpus=8.0), False),
        (ROWS, "fastest", Given(refused="why"), False),
        # Where nothing has a price the fastest is right, or the word that prices are unknown.
        ((TITAN, TWO_TITANS), "cheapest", Given("Titan", 1, batch_size=32), True),
        ((TITAN, TWO_TITANS), "cheapest", Given("Titan", 1, batch_size=32, priced=True), False),
        ((*ROWS, TITAN), "cheapest", Given("Titan", 1, batch_size=32), False),
        # What leaves something open means the slowest of what it leaves.
        (T4S, "fastest", Given("T4", 1), False),
        # Machines without a GPU are told apart by vCPUs or by name.
        (CPUS, "fastest", Given(vcpus=72.0), True),
        (CPUS, "fastest", Given(), False),
        # A batch size that did not fit is no choice.
        (UNFIT, "cheapest", Given("K80", 1, batch_size=64), False),
    ],
)
def test_an_answer_is_right_or_wrong(rows: tuple[MeasuredRow, ...], objective: str, given: Given, right: bool) -> None:
    """By the rows of its table."""
    assert verdict(choices(rows, PRICES.get), objective, given).right is right


def test_a_price_is_of_the_named_type_or_the_cheapest_with_that_gpu() -> None:
    """Too many GPUs are paid for, too few are no machine; memory counts where the name has it."""
    sold = (
        _sold("v.large", "V100", 8, 24.0),
        _sold("v.small", "V100", 1, 3.0),
        _sold("v.dear", "V100", 1, 4.0),
        _sold("v.free", "V100", 1, None),
        _sold("v.memory", "V100", 1, 5.0, 32.0),
        _sold("c.small", None, 0, 0.1),
    )
    assert usd_per_hour(Machine("V100", 1), sold) == 3.0
    assert usd_per_hour(Machine("V100", 1, "v.dear"), sold) == 4.0
    assert usd_per_hour(Machine("V100", 1, "v.dear", usd_per_hour=1.2), sold) == 1.2
    assert usd_per_hour(Machine("V100", 1, "v.free"), sold) == 3.0
    assert usd_per_hour(Machine("V100", 2), sold) == 24.0
    assert usd_per_hour(Machine("V100-32GB", 1), sold) == 5.0
    assert usd_per_hour(Machine("V100", 16), sold) is None
    assert usd_per_hour(Machine(None, 0, "c.small"), sold) == 0.1
    assert usd_per_hour(Machine(None, 0, "", 4.0), sold) is None


def test_the_truth_is_never_a_machine_that_nobody_can_rent() -> None:
    """Its rows are no choices; of a job that has no others the right answer is none."""
    rows = [MeasuredRow(Machine("V100", 1, name), 32, rate) for name, rate in (("p3.2xlarge", 9.0), ("gn6v", 5.0))]
    options = choices(rows, lambda _: None, retired_machines())
    assert [choice.machine.instance_type for choice in options] == ["gn6v"]
    assert not {machine.instance_type for machine in sold_machines()} & retired_machines()
    none = choices(rows[:1], lambda _: None, retired_machines())
    assert verdict(none, "cheapest", Given(refused="all_retired")).right
    assert not verdict(none, "fastest", Given("V100", 1)).right


def test_two_stations_in_a_ring() -> None:
    """As fast as each other they lose one turn in n + 1; one that is much slower than the other binds alone."""
    assert both(100.0, 100.0, 4) == pytest.approx(80.0)
    assert both(100.0, 1e6, 4) == pytest.approx(100.0)
    assert both(50.0, 100.0, 3) == both(100.0, 50.0, 3) < 50.0


def test_fleets_are_the_same_for_the_same_seed_and_can_be_answered() -> None:
    """Three to nine machines that are sold; a deadline is one that some machine meets."""
    on_offer = sold_machines()
    for number in range(24):
        fleet = drawn_fleet(number, on_offer)
        assert fleet == drawn_fleet(number, on_offer)
        assert 3 <= len(set(fleet.machines)) == len(fleet.sold) <= 9
        assert fleet.needed is None or max(fleet.rates) > fleet.needed
        assert all(rates for rates in fleet.measured)
        assert {machine.gpu is None for machine in fleet.sold} == {"gpu": {False}, "cpu": {True}}.get(
            fleet.kind, {False, True}
        )

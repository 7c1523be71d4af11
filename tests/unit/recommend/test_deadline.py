"""A job with a deadline gets the spec on which it costs least of those that surely finish it in time."""

from __future__ import annotations

import math
import random
import re
from collections.abc import Callable

import pytest

from sizer.catalog.catalog import Catalog
from sizer.model.edge import best_measured
from sizer.model.fitting import fit
from sizer.recommend.rule import table_of_sizes
from sizer.recommend.sizes import sizes_on_curve
from sizer.records.answer import Answer
from sizer.records.device import Device
from sizer.records.run import Demand, Run
from sizer.records.study import Deadline, Objective

HOUR = 3600.0
Ask = Callable[..., Answer]
MakeRun = Callable[..., Run]
Curve = Callable[..., list[Run]]
KNEE = ((1, 100), (2, 197), (4, 300), (8, 303), (16, 304))
RISING = ((1, 100), (2, 195), (4, 380))


def hours(samples: float, time: float) -> Deadline:
    return Deadline(samples, time * HOUR)


@pytest.mark.parametrize(("samples", "vcpus"), [(1.2e6, 2), (4e6, 2), (6e6, 4)])
def test_the_size_in_time_on_whose_machine_the_job_costs_least(
    curve: Curve, ask: Ask, samples: float, vcpus: float
) -> None:
    """Not the share of the best counts, but the samples per second that the job needs; no machine has one vCPU."""
    answer = ask(curve(*KNEE, spread=0.005), within=hours(samples, 6))
    assert answer.status == "recommended"
    assert answer.spec.vcpus == vcpus
    assert answer.probability >= 0.9
    rate = dict(KNEE)[vcpus]
    assert answer.job.seconds.value == pytest.approx(samples / rate, rel=0.03)
    assert answer.job.seconds.low < answer.job.seconds.value < answer.job.seconds.high <= 6 * HOUR * 1.05


def test_a_job_pays_for_the_whole_machine(curve: Curve, ask: Ask) -> None:
    """One vCPU is in time, but the smallest machine has two, and with both of them the job costs half."""
    answer = ask(curve(*KNEE, spread=0.005), within=hours(1.2e6, 6))
    assert answer.job.instance_type == "aws c6i.large"
    whys = {rejected.spec.vcpus: rejected.why for rejected in answer.rejected}
    assert re.match(r"Takes 3 h 2\d min, in time, bound by the CPU; the job costs \d\d % more", whys[1]), whys


def test_of_sizes_on_which_the_job_costs_alike_the_smallest(curve: Curve, ask: Ask) -> None:
    """Both are rented as one machine and give one rate: its last digit is no reason to reject the smaller one."""
    device = Device("emulated", gpu="P100", samples_per_second=219)
    answer = ask(curve((0.5, 150), (1, 218.4), (2, 218.6), device=device), within=hours(1e6, 6))
    assert answer.spec.vcpus == 1
    assert not any("the job costs" in rejected.why for rejected in answer.rejected)


def test_a_rate_that_is_likely_given_along_a_curve_is_provisional(make_run: MakeRun, ask: Ask) -> None:
    """Two and four vCPUs give 148 and 150, each within some percent: 148 is likely, 156 is not, and 138 is sure."""
    demand = Demand(core_seconds=0.0095)
    rates = {1: (99, 102), 2: (150, 148), 4: (151, 149)}
    runs = [
        make_run(rate, vcpus, repeat=repeat, demand=demand)
        for vcpus, both in rates.items()
        for repeat, rate in enumerate(both)
    ]
    likely, sure, out = (ask(runs, at_least=rate) for rate in (148.0, 138.0, 156.0))
    assert (likely.status, likely.provisional) == ("recommended", True)
    assert 0.5 <= likely.probability < 0.9
    assert str(likely.next_run).startswith("Repeat `train` at ")
    assert (sure.status, sure.provisional) == ("recommended", False)
    assert out.status == "refused"


def test_a_size_that_gives_the_rate_is_rejected_for_its_cost(curve: Curve, ask: Ask) -> None:
    """Not for the rate, which it gives."""
    answer = ask(curve(*KNEE, spread=0.005), at_least=50.0)
    assert answer.spec.vcpus == 2
    whys = {rejected.spec.vcpus: rejected.why for rejected in answer.rejected}
    assert re.fullmatch(r"Gives \S+ images/s; the same work costs 1.9\d times as much there.", whys[1]), whys


def test_the_job_and_its_price_are_said(curve: Curve, ask: Ask) -> None:
    """Time with its interval, the probability, the price by the cheapest instance type that holds the spec."""
    answer = ask(curve(*KNEE), within=hours(6e6, 6))
    first, second, *_ = answer.reasons
    assert first.startswith("6,000,000 images take 5 h ")
    assert "The probability of finishing within 6 h 00 min is " in first
    assert "at the steady rate, plus the time to start." in first
    assert answer.job.instance_type == "aws c6i.xlarge"
    assert answer.job.usd == pytest.approx(0.17 * answer.job.seconds.value / HOUR)
    assert second.startswith("The job costs about $0.9")
    whys = {rejected.spec.vcpus: rejected.why for rejected in answer.rejected}
    assert whys[2].startswith("Takes 8 h ")
    assert "too late, bound by the CPU" in whys[2]
    assert "of the best" not in " ".join(answer.reasons)


def test_a_rate_that_still_rises_is_no_doubt_where_the_job_is_in_time(curve: Curve, ask: Ask) -> None:
    """What more vCPUs would give is nobody's question then."""
    answer = ask(curve(*RISING), within=hours(3e6, 6))
    assert (answer.status, answer.spec and answer.spec.vcpus, answer.edge) == ("recommended", 2, "settled")
    assert answer.beyond is None
    assert answer.next_run is None
    assert "still rises" not in " ".join(answer.reasons)


def test_too_late_on_a_curve_that_rises_is_a_lower_bound(curve: Curve, ask: Ask) -> None:
    """A larger machine may do: the largest measured, its time, and what lies beyond, extrapolated."""
    answer = ask(curve(*RISING), within=hours(1.3e7, 6), host_vcpus=4)
    assert (answer.status, answer.edge) == ("at_least", "rising")
    assert answer.spec.vcpus == 4
    assert answer.job.seconds.value > 9 * HOUR
    assert answer.probability < 0.1
    assert answer.reasons[0].startswith("Nothing that was measured finishes 13,000,000 images within 6 h 00 min")
    assert any("8 vCPUs would take" in reason and "(extrapolated)" in reason for reason in answer.reasons)
    assert "on a larger host than the one that measured, which has 4 vCPUs" in answer.next_run


def test_too_late_on_a_plateau_is_refused_with_the_fastest(curve: Curve, ask: Ask) -> None:
    """No machine of these is to be bought; the answer says how long the fastest takes, and what would be enough."""
    answer = ask(curve(*KNEE), within=hours(2e7, 6))
    assert (answer.status, answer.spec) == ("refused", None)
    assert answer.job.probability < 0.01
    assert answer.job.seconds.value == pytest.approx(2e7 / 304, rel=0.02)
    stated = " ".join(answer.reasons)
    assert "takes 18 h " in stated
    assert "would be enough there" in stated
    assert "More vCPUs do not help there" in stated


def test_what_is_not_settled_is_not_said_not_to_help(curve: Curve, ask: Ask) -> None:
    """Where nobody knows whether more vCPUs pay, they are the run to make."""
    answer = ask(curve((0.5, 60), (1, 118), (2, 105), spread=0.2), within=hours(1e7, 6))
    stated = " ".join(answer.reasons)
    assert answer.status == "refused"
    assert "do not help" not in stated
    assert "It is not clear whether more than " in stated
    assert answer.next_run is not None


def test_the_cost_of_the_job_decides_and_not_that_of_an_hour(curve: Curve, ask: Ask) -> None:
    """One vCPU that starves a V100 is cheaper an hour, and the job costs more on it."""
    device = Device("emulated", gpu="V100", samples_per_second=219)
    answer = ask(curve((1, 30), (2, 60), (4, 118), (8, 216), (16, 218), device=device), within=hours(1e6, 48))
    assert answer.status == "recommended"
    assert answer.spec.vcpus == 8  # no machine with a V100 and fewer vCPUs costs less
    dearer = [rejected.why for rejected in answer.rejected if "; the job costs" in rejected.why]
    assert dearer
    assert all("% more" in why or "times as much" in why for why in dearer), dearer


def test_a_price_that_is_unknown_is_never_nothing(curve: Curve, ask: Ask) -> None:
    """Without an instance type that has a price the job's cost is unknown, in the record and in words."""
    device = Device("emulated", gpu="Z9000", samples_per_second=219)
    answer = ask(curve((1, 100), (2, 190), (4, 215), (8, 217), device=device), within=hours(1e6, 6))
    assert answer.job.usd is None
    assert answer.job.instance_type is None
    assert any(reason.startswith("The cost of the job is not known") for reason in answer.reasons)


@pytest.mark.slow
def test_a_probability_of_being_in_time_is_kept(curve: Curve, catalog: Catalog) -> None:
    """Of jobs called 70 to 97 % likely in time, as many are, on curves with a known truth and 3 % noise of a run."""
    chance = random.Random(7)
    stated, kept = [], []
    while len(stated) < 60:
        top, half = 10 ** chance.uniform(0, 4), chance.uniform(1, 6)
        truth = {c: top * c / (c + half) for c in (1, 2, 4, 8, 16)}
        runs = curve(*((c, r * math.exp(0.03 * chance.gauss(0, 1))) for c, r in truth.items()), spread=0.06)
        model = fit(runs).workloads[0]
        best = best_measured(model).configuration
        sizes = sizes_on_curve(model, catalog, best.batch_size, rented=True)
        for number, size in enumerate(sizes):
            vcpus = size.place.vcpus
            needed = truth[vcpus] * math.exp(chance.uniform(-0.12, 0.02))
            deadline = Deadline(needed * HOUR, HOUR)
            likely = table_of_sizes(model, sizes, best, Objective("cheapest", 0.95, deadline)).rows[number].probability
            if 0.7 <= likely <= 0.97:
                stated.append(likely)
                kept.append(truth[vcpus] * math.exp(0.03 * chance.gauss(0, 1)) >= needed)
    assert sum(kept) / len(kept) >= sum(stated) / len(stated) - 0.09

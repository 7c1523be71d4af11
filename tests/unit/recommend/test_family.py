"""The few shapes that serve several workloads: which, whom, what each further one buys, what is left idle."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from sizer.catalog.catalog import Catalog
from sizer.catalog.machines import InstanceType
from sizer.model.model import Model
from sizer.recommend.answer import Question, case_of
from sizer.recommend.family import choice as location
from sizer.recommend.family.choice import family_of
from sizer.recommend.family.fleet import Fleet, Work, fleet_of, refuse_unserved
from sizer.recommend.family.parts import fitted_prices
from sizer.recommend.recommendation import recommend
from sizer.records.device import Device, DiskRates
from sizer.records.family import Amounts, Family, PartPrices
from sizer.records.messages import InputError, NoAnswer
from sizer.records.run import Run
from sizer.records.study import Objective
from sizer.records.units import GIB, MIB
from sizer.words.family import family_lines

Curve = Callable[..., list[Run]]
PARTS = PartPrices(0.04, 0.005, {"v100": 2.0})
"""Prices of which nothing is sold at another."""


@pytest.fixture
def build(fitted: Callable[[Sequence[Run]], Model], catalog: Catalog) -> Callable[..., Fleet]:
    """What can be built for the workloads of these runs, by PARTS."""

    def build(runs: list[Run], ratios: tuple[float, ...] = (2.0, 4.0, 8.0), **built: object) -> Fleet:
        question = Question(Objective(), catalog, ratios=ratios)
        works = []
        for model in fitted(runs).workloads:
            own = [run for run in runs if run.spec.workload.name == model.name]
            works.append(Work(model.name, model, case_of(model, question, own)))
        return fleet_of(works, catalog, ratios, **{"prices": PARTS, **built})  # type: ignore[arg-type]

    return build


@pytest.fixture
def three(curve: Curve) -> list[Run]:
    """One that needs four vCPUs, one that needs one, and one that needs one with much memory."""
    return [
        *curve((1, 100), (2, 197), (4, 380), (8, 384), name="train", anonymous=2 * GIB, memory=32 * GIB),
        *curve((1, 50), (2, 50), (4, 50), name="lstm", anonymous=GIB // 2, memory=32 * GIB),
        *curve((1, 70), (2, 70), (4, 70), name="wide", anonymous=6 * GIB, memory=32 * GIB),
    ]


def sizes(family: Family) -> list[tuple[float, float]]:
    return [(one.shape.vcpus, one.shape.memory_bytes / GIB) for one in family.shapes]


# The search.


@pytest.mark.parametrize("seed", range(40))
def test_no_other_choice_costs_less(seed: int) -> None:
    """As trying all of them finds, and with a proof; where none serves all, there is none."""
    random = np.random.default_rng(seed)
    rows, columns, count = (int(random.integers(*bounds)) for bounds in ((1, 7), (2, 11), (1, 4)))
    costs = random.uniform(1, 3, (rows, columns))
    costs[random.random(costs.shape) < 0.3] = np.inf
    best = min(location.cost_of(costs, some) for some in combinations(range(columns), min(count, columns)))
    chosen, needed = location.least_cost(costs, count), location.fewest(np.isfinite(costs))
    assert (chosen is None) == (not np.isfinite(best)) == (needed > count)
    if chosen is not None:
        assert (chosen.cost, chosen.gap) == (pytest.approx(best), 0.0)
        without_proof = location.least_cost(costs, count, most_pairs=0)
        assert without_proof is None or without_proof.cost * (1 - without_proof.gap) <= best + 1e-9


# The family.


@pytest.mark.parametrize("count", [1, 2, 3])
def test_a_family_is_the_best_of_all(three: list[Run], build: Callable[..., Fleet], count: int) -> None:
    """Of as many shapes within the penalty, by trying all; what each workload pays adds up to what it costs."""
    fleet = build(three)
    family = family_of(fleet, count, max_penalty=9.0)
    ratios = fleet.costs / fleet.costs.min(axis=1, keepdims=True)
    tried = (ratios[:, list(some)].min(axis=1).mean() for some in combinations(range(len(fleet.shapes)), count))
    assert 1 + family.more == pytest.approx(min(tried))
    paid = sum(served.weight * served.penalty for served in family.served)
    assert family.more == pytest.approx(paid, abs=1e-9)
    steps = [step.more for step in family.curve if step.kept]
    assert steps == sorted(steps, reverse=True)


def test_memory_is_what_is_needed_not_what_there_was(three: list[Run], build: Callable[..., Fleet]) -> None:
    """All ran in 32 GiB: what could not be dropped, and a quarter more, decides, snapped to what can be built."""
    family = family_of(build(three), 3)
    needs = {served.workload: served.memory_bytes for served in family.served}
    assert needs == {"train": 2.5 * GIB, "lstm": 0.625 * GIB, "wide": 7.5 * GIB}
    assert sizes(family) == [(1, 2), (1, 8), (4, 8)]
    idle = {served.workload: served.idle for served in family.served}
    assert (idle["lstm"].vcpus, idle["lstm"].memory_bytes) == (0, 1.375 * GIB)
    small = family_of(build(three, ratios=(0.5, 1.0)), 2, 9.0)
    assert {shape.memory_bytes / shape.vcpus for shape in (one.shape for one in small.shapes)} <= {GIB / 2, GIB}


def test_a_floor_that_was_found_counts(make_run: Callable[..., Run], build: Callable[..., Fleet]) -> None:
    """A job that completed in 300 MiB needs no 4 GiB."""
    runs = [make_run(100 * vcpus, vcpus, memory=4 * GIB, anonymous=200 * MIB) for vcpus in (1, 2, 4)]
    runs += [make_run(200, 2, memory=300 * MIB, capped=True, anonymous=200 * MIB)]
    family = family_of(build([*runs, *(replace_name(run, "other") for run in runs)]))
    assert {served.memory_bytes for served in family.served} == {250 * MIB}


def replace_name(run: Run, name: str) -> Run:
    return replace(run, spec=replace(run.spec, workload=replace(run.spec.workload, name=name)))


def test_too_few_shapes_say_what_to_type(three: list[Run], build: Callable[..., Fleet]) -> None:
    """Both that is advised has an answer, and a little less of either has none."""
    fleet = build(three)
    with pytest.raises(NoAnswer) as refused:
        family_of(fleet, 1)
    words = str(refused.value).rstrip(".").split()
    needed = int(words[words.index("--shapes", 3) + 1].rstrip(","))
    penalty = int(words[words.index("--max-penalty") + 1].rstrip("%")) / 100
    assert len(family_of(fleet).shapes) == len(family_of(fleet, needed).shapes) == needed
    assert max(served.penalty for served in family_of(fleet, 1, penalty).served) <= penalty
    for asked in ((needed - 1,), (1, penalty - 0.01)):
        with pytest.raises(NoAnswer):
            family_of(fleet, *asked)


def test_what_there_is_much_of_has_its_own_best(three: list[Run], build: Callable[..., Fleet]) -> None:
    """A workload of nearly all of the bill pays nothing more; amounts in samples are weights by what one costs. What
    there is none of has its own best shape, too, where there are enough."""
    fleet = build(three)
    for name in ("train", "lstm", "wide"):
        amounts = {work.name: 1000.0 if work.name == name else 1.0 for work in fleet.works}
        family = family_of(fleet, 2, 99.0, Amounts(amounts))
        assert next(one.penalty for one in family.served if one.workload == name) == pytest.approx(0, abs=0.01)
        none = Amounts({work.name: float(work.name == name) for work in fleet.works})
        assert {one.penalty for one in family_of(fleet, 3, 99.0, none).served} == {0.0}
    samples = {work.name: 1 / own for work, own in zip(fleet.works, fleet.costs.min(axis=1), strict=True)}
    counted = family_of(fleet, 2, 99.0, Amounts(samples, samples=True))
    assert counted.more == pytest.approx(family_of(fleet, 2, 99.0).more)


def test_the_price_at_which_a_shape_is_no_longer_worth_it(three: list[Run], build: Callable[..., Fleet]) -> None:
    """At a little less the best family has it, at a little more it does as well without; so does one to be offered."""
    fleet = build(three)
    family = family_of(fleet, 2, 1.0)
    prices = [(one.shape, one.break_even) for one in family.shapes]
    if family.offer is not None:
        prices.append((family.offer.shape, family.offer.break_even))
    bill = fleet.costs.min(axis=1)

    def best(columns: Sequence[int], usd: np.ndarray, without: Sequence[int] = ()) -> float:
        costs = usd * fleet.hours
        least = np.delete(costs, without, axis=1).min(axis=1, keepdims=True)
        ratios = np.where(costs <= 2 * least, costs / bill[:, None], np.inf)[:, columns]
        return min(location.cost_of(ratios, some) for some in combinations(range(len(columns)), 2))

    for shape, price in prices:
        assert price is not None
        column = fleet.shapes.index(shape)
        others = [number for number in range(len(fleet.shapes)) if number != column]
        usd = fleet.usd.copy()
        usd[column] = price * 0.999
        assert best([*others, column], usd) <= best(others, usd, [column]) + 1e-9
    own = [fleet.shapes.index(one.shape) for one in family.shapes]
    usd = fleet.usd.copy()
    usd[own[0]] = 1.01 * (prices[0][1] or 0.0)
    others = [number for number in range(len(usd)) if number != own[0]]
    assert best(own, usd, own[:1]) > best(others, usd, own[:1])


def test_one_machine_for_all_is_only_said_where_it_is_no_dearer(
    three: list[Run], curve: Curve, build: Callable[..., Fleet], catalog: Catalog, fitted: Callable[..., Model]
) -> None:
    """Two alike share one; three that need different ones are not told to."""
    alike = [run for name in "ab" for run in curve((1, 50), (2, 50), (4, 50), name=name)]
    assert next(family_lines(family_of(build(alike)))).startswith("One machine for all: 1 vCPU, ")
    apart = recommend(fitted(three), three, Objective(), catalog).family
    assert len(apart.shapes) > 1
    assert not any("One machine" in line for line in family_lines(apart))
    dearer = list(family_lines(family_of(build(three), 1, 9.0)))
    assert dearer[0].startswith("1 shape serves 3 workloads and cost")


def test_one_disk_for_all_has_its_price(make_run: Callable[..., Run], build: Callable[..., Fleet]) -> None:
    """One job that reads much, one that reads nothing: with one tier for both the second pays for the first's."""
    tiers = {"slow": DiskRates(1000, 2e7, 1000, 2e7), "fast": DiskRates(50_000, 1e9, 50_000, 1e9)}
    reader, still = {"slow": 50, "fast": 400}, {"slow": 300, "fast": 300}
    runs = [
        make_run(min(rates[disk], 100 * vcpus), vcpus, name=name, disk=disk, rates=tiers[disk], repeat=repeat)
        for name, rates in (("reader", reader), ("still", still))
        for disk in tiers
        for vcpus in (1, 2, 4)
        for repeat in range(2)
    ]
    given = replace(PARTS, disks={"fast": 0.05, "slow": 0.001})
    family = family_of(build(runs, prices=given))
    assert {served.workload: family.shapes[served.place].shape.disk for served in family.served} == {
        "reader": "fast",
        "still": "slow",
    }
    assert family.one_disk is not None
    assert family.one_disk.disk == "fast"
    assert (family.one_disk.more or 0) > 0.05
    with pytest.raises(NoAnswer, match=r"--disks slow,fast"):
        refuse_unserved(build(runs, prices=given, disks=("slow",), ratios=(2.0,)))
    with pytest.raises(InputError, match="no disk tier `gone`; give one of slow or fast"):
        build(runs, disks=("gone",))


def test_who_is_not_served_is_named(
    three: list[Run], curve: Curve, build: Callable[..., Fleet], make_run: Callable[..., Run]
) -> None:
    """One without an answer, and one whose accelerator has no price."""
    fleet = build([*three, *curve((1, 50), name="other")])
    assert [work.name for work in fleet.not_served] == ["other"]
    refuse_unserved(fleet)
    emulated = Device("emulated", gpu="K80", samples_per_second=100.0)
    gpu = [make_run(rate, vcpus, name="gpu", device=emulated) for vcpus, rate in ((1, 50), (2, 90), (4, 95), (8, 95))]
    with pytest.raises(NoAnswer, match=r"and 1 x K80; type --prices FILE with a line gpu,K80,1.50"):
        refuse_unserved(build([*three, *gpu]))


def test_it_says_how_sure_it_is(three: list[Run], build: Callable[..., Fleet]) -> None:
    """With a shape for each there is no doubt; where a workload pays just what is allowed, it may well be more."""
    fleet = build(three)
    assert family_of(fleet, 3).within == 1.0
    worst = max(served.penalty for served in family_of(fleet, 1, 9.0).served)
    assert 0.2 < family_of(fleet, 1, worst + 1e-6).within < 0.8


# Prices.


def test_prices_of_parts_come_back_from_prices_of_machines() -> None:
    """Where they are the sum of their parts nothing is missed."""

    def sold(vcpus: float, gib: float, gpus: int) -> InstanceType:
        usd = 0.03 * vcpus + 0.004 * gib + 1.5 * gpus
        gpu = "T4" if gpus else None
        return InstanceType("p", f"{vcpus}-{gib}-{gpus}", vcpus, int(gib * GIB), None, gpu, gpus, price_per_hour=usd)

    types = tuple(sold(v, v * ratio, n) for v in (2, 4, 8, 16, 32) for ratio in (2, 4, 8) for n in (0, 1, 2))
    fit = fitted_prices(types, "p")
    assert (fit.vcpu, fit.gib, fit.gpus["t4"]) == pytest.approx((0.03, 0.004, 1.5))
    assert (fit.types, fit.residual) == (45, pytest.approx(0, abs=1e-9))


def test_a_shape_that_is_sold_has_its_own_price(three: list[Run], build: Callable[..., Fleet]) -> None:
    """Of who sells the shapes; nobody pays more for less, and a provider with few prices is refused."""
    fleet = build(three, prices="aws")
    prices = dict(zip(fleet.shapes, fleet.usd, strict=True))
    assert any(name is not None for name in fleet.sold)
    assert all(
        prices[one] <= prices[other] + 1e-9
        for one in prices
        for other in prices
        if one.vcpus <= other.vcpus and one.memory_bytes <= other.memory_bytes
    )
    with pytest.raises(InputError, match="--provider"):
        build(three, prices="nobody")

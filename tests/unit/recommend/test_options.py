"""What the cheapest, the balanced and the fastest choice would be, and what a cheaper spec would give and save."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from sizer.records.answer import Answer
from sizer.records.device import DiskRates
from sizer.records.run import Demand, Run
from sizer.records.study import Deadline

CURVE = ((1.0, 100.0), (2.0, 196.0), (4.0, 340.0), (8.0, 400.0), (16.0, 410.0), (32.0, 411.0))
MACHINES = """workload,gpu,gpu_count,throughput
job,P100,1,1800
job,P100,2,3500
job,P100,4,6900
job,V100,1,3000
job,V100,4,11500
"""


@pytest.fixture(scope="module")
def chosen(ask: Callable[..., Answer], curve: Callable[..., list[Run]]) -> Answer:
    demand = Demand(core_seconds=0.01)
    runs = [*curve(*CURVE, demand=demand), *curve(*CURVE, demand=demand, repeat=1)]
    return ask(runs, target=0.7)


def test_each_preference_has_its_own_spec(chosen: Answer) -> None:
    """Once for each spec, with all that take it; the answer is the one that was asked for."""
    named = [name for option in chosen.options for name in option.preferences]
    assert sorted(named) == ["balanced", "cheapest", "fastest"]
    assert len({option.spec for option in chosen.options}) == len(chosen.options) > 1
    cheapest, fastest = chosen.options[0], chosen.options[-1]
    assert cheapest.spec == chosen.spec
    assert cheapest.throughput == chosen.throughput
    assert fastest.throughput.value > cheapest.throughput.value
    assert fastest.usd_per_hour > cheapest.usd_per_hour


def test_the_options_are_the_same_whatever_is_preferred(
    ask: Callable[..., Answer], curve: Callable[..., list[Run]], chosen: Answer
) -> None:
    """They are what there is to choose from."""
    demand = Demand(core_seconds=0.01)
    runs = [*curve(*CURVE, demand=demand), *curve(*CURVE, demand=demand, repeat=1)]
    fastest = ask(runs, "fastest", target=0.7)
    assert fastest.options == chosen.options
    assert fastest.spec == chosen.options[-1].spec


def test_where_nothing_more_is_gained_all_three_are_one(
    ask: Callable[..., Answer], curve: Callable[..., list[Run]]
) -> None:
    """The smallest is the fastest, too."""
    level = ask(curve((1.0, 200.0), (2.0, 200.5), (4.0, 200.2), (8.0, 200.4)))
    (option,) = level.options
    assert option.preferences == ("cheapest", "balanced", "fastest")


def test_a_rate_that_is_asked_for_leaves_nothing_to_prefer(
    ask: Callable[..., Answer], curve: Callable[..., list[Run]], ask_table: Callable[..., Answer]
) -> None:
    """With a deadline what is bought is the least cost of the job."""
    assert ask(curve(*CURVE), at_least=300.0).options == ()
    assert ask(curve(*CURVE), within=Deadline(1_000_000, 3600.0)).options == ()
    assert ask_table(MACHINES, at_least=2000.0).options == ()


def test_machines_that_were_measured_are_options_too(ask_table: Callable[..., Answer]) -> None:
    """With their own rates and prices."""
    found = ask_table(MACHINES)
    assert found.options[0].spec == found.spec
    assert found.options[0].preferences[0] == "cheapest"
    assert found.options[-1].preferences[-1] == "fastest"
    assert found.options[-1].throughput.value == 11500
    assert all(option.instance_type for option in found.options)


def test_a_cheaper_spec_says_what_it_would_give_and_save(chosen: Answer) -> None:
    """As a rate, as a share of the answer's, and as money."""
    for each in chosen.rejected:
        assert each.share == pytest.approx(each.throughput.value / chosen.throughput.value)
        assert each.share < 1
    nearest = chosen.rejected[0]
    assert nearest.usd_saved_per_hour is not None
    assert 0 < nearest.saving < 1
    answer_price = chosen.options[0].usd_per_hour
    assert answer_price is not None
    assert nearest.saving == pytest.approx(nearest.usd_saved_per_hour / answer_price)


def test_a_disk_that_is_too_slow_saves_its_volume(ask: Callable[..., Answer], make_run: Callable[..., Run]) -> None:
    """The machine is the same; a fraction of a vCPU is not sold, so it saves nothing that could be named."""
    demand = Demand(core_seconds=0.01, read_bytes=100_000.0, read_ios=1.0)
    runs = []
    for disk, mbps in (("slow", 10.0), ("fast", 400.0)):
        rates = DiskRates(read_iops=1e5, read_bytes_per_second=mbps * 1e6)
        for vcpus in (0.5, 1.0, 2.0, 4.0):
            rate = min(100 * vcpus, 200.0, mbps * 10)
            runs += [make_run(rate, vcpus, disk=disk, rates=rates, demand=demand, repeat=each) for each in (0, 1)]
    found = ask(runs)
    slow = next(each for each in found.rejected if each.spec.disk == "slow" and each.spec.vcpus == found.spec.vcpus)  # type: ignore[union-attr]
    assert slow.share == pytest.approx(0.5, abs=0.05)
    assert slow.saving is not None
    fraction = [each for each in found.rejected if each.spec.vcpus == 0.5]
    assert all(each.usd_saved_per_hour is None and each.throughput is not None for each in fraction)


def test_machines_say_what_they_would_save(ask_table: Callable[..., Answer]) -> None:
    """Against the price of the machine that is the answer."""
    found = ask_table(MACHINES)
    for each in found.rejected:
        assert each.share is not None
        assert each.usd_saved_per_hour > 0

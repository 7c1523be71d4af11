"""Memory, or a disk, that makes no difference is not bought, nor decides which vCPUs are; what counts is bought."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from sizer.records.answer import Answer, Event
from sizer.records.device import DiskRates
from sizer.records.prediction import ReasonCode
from sizer.records.run import Demand, Run
from sizer.records.units import GIB
from sizer.words.answers import how_sure

Asked = Callable[..., Answer]
SIZES = (4, 8, 16, 32)


def measured(most: float, share: Callable[[int, int], float], seed: int, noise: float = 0.02, repeats: int = 5) -> str:
    """100 samples/s a vCPU up to `most` of them, times a share by vCPUs and GiB."""
    draw = random.Random(seed)
    rows = [
        f"job,{vcpus},{memory},{100 * min(vcpus, most) * share(vcpus, memory) * draw.gauss(1, noise):.1f}"
        for vcpus in (1, 2, 4, 8, 16)
        for memory in SIZES
        for _ in range(repeats)
    ]
    return "\n".join(["workload,vcpus,memory_gib,throughput", *rows])


def makes_no_difference(_: int, __: int) -> float:
    return 1.0


def size(answer: Answer) -> tuple[float | None, float]:
    return answer.spec.vcpus, (answer.spec.memory_bytes or 0) / GIB


@pytest.mark.parametrize("repeats", [1, 5])
@pytest.mark.parametrize("seed", range(3))
def test_of_sizes_that_differ_by_chance_the_smallest_is_enough(ask_table: Asked, seed: int, repeats: int) -> None:
    """Of four such sizes the fastest is so by chance."""
    answer = ask_table(measured(5.0, makes_no_difference, seed, repeats=repeats))
    assert (answer.status, size(answer)) == ("recommended", (8.0, 4.0))


@pytest.mark.parametrize("seed", range(3))
def test_a_lower_bound_of_vcpus_is_none_of_memory(ask_table: Asked, seed: int) -> None:
    """No less than 4 GiB was measured, so nothing is said of it."""
    answer = ask_table(measured(64.0, makes_no_difference, seed))
    assert (answer.status, size(answer)) == ("at_least", (16.0, 4.0))
    assert answer.probability_of is Event.FEWER_TOO_FEW
    assert (answer.probability or 0) > 0.99
    assert how_sure(answer) == "almost certain (above 0.99) that fewer vCPUs are too few"


def test_how_many_vcpus_is_not_decided_by_the_highest_of_many_rates(ask_table: Asked) -> None:
    """8 vCPUs give 95.2 % of the best; beside the highest of four sizes of 16 vCPUs each of theirs looks too slow."""
    rates = {8: (801, 800, 803, 799), 16: (833, 830, 852, 838)}
    rows = [f"job,{v},{m},{rate}" for v, four in rates.items() for m, rate in zip(SIZES, four, strict=True)]
    answer = ask_table("\n".join(["workload,vcpus,memory_gib,throughput", "job,4,4,400", *rows]))
    assert size(answer) == (8.0, 4.0)
    assert (answer.probability or 0) > 0.5
    assert answer.runner_up.vcpus == 16.0, "more memory that gives the same is no runner-up"


def slow_in_four(_: int, memory: int) -> float:
    return 0.9 if memory == 4 else 1.0


def slow_where_it_is_fast(vcpus: int, memory: int) -> float:
    return 0.85 if memory < 16 and vcpus >= 4 else 1.0


@pytest.mark.parametrize(("share", "needed"), [(slow_in_four, 8.0), (slow_where_it_is_fast, 16.0)])
@pytest.mark.parametrize("repeats", [1, 5])
def test_memory_that_counts_is_bought(
    ask_table: Asked, share: Callable[[int, int], float], needed: float, repeats: int
) -> None:
    answer = ask_table(measured(5.0, share, 1, repeats=repeats))
    assert size(answer) == (8.0, needed)


def test_a_bound_of_memory_says_so(ask_table: Asked) -> None:
    """The rate still rises at 32 GiB."""
    answer = ask_table(measured(5.0, lambda _, memory: memory**0.3, 2, noise=0.005))
    assert (answer.status, size(answer)) == ("at_least", (8.0, 32.0))
    assert ReasonCode.RISES in {reason.code for reason in answer.reasons}
    assert answer.probability_of is Event.LESS_TOO_LITTLE
    assert "fewer vCPUs or less memory is too little" in how_sure(answer)


def test_what_memory_costs_is_not_paid_for_chance(ask_table: Asked) -> None:
    rows = ["job,4,0.20,503", "job,8,0.21,506", "job,16,0.40,509"]
    answer = ask_table("\n".join(["workload,memory_gib,usd_per_hour,throughput", *rows]))
    assert size(answer) == (None, 4.0)


def test_rows_without_memory_are_compared_as_they_are(ask_table: Asked) -> None:
    """Nobody knows whether they are on the level of the others."""
    rows = ["job,4,,400", "job,4,8,402", "job,8,4,500", "job,8,8,505", "job,8,,640"]
    answer = ask_table("\n".join(["workload,vcpus,memory_gib,throughput", *rows]))
    assert size(answer) == (8.0, 0.0)
    assert answer.throughput.value == pytest.approx(640)


@pytest.mark.parametrize(("share", "disk"), [(1.0, "ssd"), (0.93, "nvme")])
@pytest.mark.parametrize("repeats", [1, 3])
@pytest.mark.parametrize("seed", range(3))
def test_a_dearer_disk_is_bought_where_it_is_faster(
    ask_table: Asked, share: float, disk: str, repeats: int, seed: int
) -> None:
    draw = random.Random(seed)
    rows = [
        f"job,{vcpus},{name},{100 * min(vcpus, 5) * (share if name == 'ssd' else 1) * draw.gauss(1, 0.02):.1f}"
        for vcpus in (1, 2, 4, 8, 16)
        for name in ("ssd", "nvme")
        for _ in range(repeats)
    ]
    answer = ask_table("\n".join(["workload,vcpus,disk,throughput", *rows]))
    assert answer.spec.disk == disk


def test_memory_that_counts_on_a_slow_disk_alone_is_bought_with_it(make_run: Callable[..., Run], ask: Asked) -> None:
    """On the fast disk 2 GiB are as good as 16; on the slow one the job is a fifth as fast without the page cache."""
    disks = {"fast": DiskRates(100e3, 2e9), "slow": DiskRates(2e3, 20e6)}
    demand = Demand(core_seconds=0.02, read_bytes=1e6, read_ios=4.0)
    runs = [
        make_run(rate, vcpus, memory=memory * GIB, disk=disk, rates=disks[disk], demand=demand, spread=0.02)
        for disk, few in (("fast", 1.0), ("slow", 0.2))
        for memory, share in ((2, few), (4, few), (16, 1.0))
        for vcpus in (1, 2, 4)
        for rate in (100 * min(vcpus, 1.1) * share, 99 * min(vcpus, 1.1) * share)
    ]
    answer = ask(runs)
    assert answer.spec.disk is not None
    assert answer.throughput is not None
    assert answer.throughput.value > 90, "what was asked for is what is bought"

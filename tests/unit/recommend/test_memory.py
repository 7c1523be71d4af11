"""Memory is recommended in sizes that exist, at or above a cap that held, and the answer says why it is that much."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import pytest

from sizer.model.memory import needed_bytes
from sizer.model.observations import measure
from sizer.records.answer import Answer
from sizer.records.device import Device, DiskRates
from sizer.records.run import DataSet, Demand, Run
from sizer.records.run_kinds import Outcome, Purpose
from sizer.records.units import GIB, MIB

Ask = Callable[..., Answer]
MakeRun = Callable[..., Run]


def capped(make_run: MakeRun, cap: int, anonymous: int, *points: tuple[float, float | None]) -> list[Run]:
    return [
        make_run(
            rate,
            vcpus,
            memory=cap,
            capped=True,
            anonymous=anonymous,
            outcome=Outcome.COMPLETED if rate else Outcome.OUT_OF_MEMORY,
        )
        for vcpus, rate in points
    ]


def memory_of(answer: Answer) -> int | None:
    return answer.spec.memory_bytes


def test_more_than_the_floor_is_explained_by_what_families_offer(make_run: MakeRun, ask: Ask) -> None:
    """A job that holds in 1 GiB gets 4 GiB with 2 vCPUs, because no family offers less."""
    runs = capped(make_run, 4 * GIB, 163 * MIB, (0.5, 50), (1, 100), (2, 190))
    runs += capped(make_run, GIB, 163 * MIB, (2, 190)) + capped(make_run, 384 * MIB, 163 * MIB, (2, None))
    answer = ask(runs)
    assert memory_of(answer) == 4 * GIB
    assert (
        "The memory floor is between 384 MiB and 1 GiB: with 384 MiB it ran out of memory, "
        "with 1 GiB and 4 GiB it completed." in answer.reasons
    )
    assert "4 GiB is the least that families offer with 2 vCPUs." in answer.reasons
    assert "The runs needed 163 MiB of memory that cannot be dropped." in answer.reasons


def test_a_floor_that_was_searched_for_is_a_reason(make_run: MakeRun, ask: Ask) -> None:
    """The answer names the bounds, not every cap tried, and the slow runs near the floor do not count as rates."""
    runs = [make_run(rate, vcpus, anonymous=163 * MIB) for vcpus, rate in ((0.5, 50), (1, 100), (2, 190))]
    alone = ask(runs)
    for cap, rate in ((155, None), (168, None), (180, 20), (190, 60)):
        runs += capped(make_run, cap * MIB, 163 * MIB, (2, rate))
    answer = ask([searching(run) if run.spec.limits.memory_bytes else run for run in runs])
    assert "The memory floor is between 168 MiB and 180 MiB." in answer.reasons
    assert memory_of(answer) == 4 * GIB
    assert answer.throughput.value == pytest.approx(alone.throughput.value, rel=0.01)


def searching(run: Run) -> Run:
    """The same as a run of a search for the memory floor."""
    return replace(run, spec=replace(run.spec, purpose=Purpose.FLOOR_SEARCH))


def searched(runs: list[Run]) -> list[Run]:
    return [searching(run) for run in runs]


def test_a_cap_of_a_search_without_margin_is_no_size_to_buy(make_run: MakeRun, ask: Ask) -> None:
    """A run that crawled at 2 GiB completed, without a measured rate: the answer is what the ordinary runs had."""
    runs = [make_run(rate, vcpus, memory=64 * GIB) for vcpus, rate in ((1, 100), (2, 101), (4, 101))]
    answer = ask(runs + searched(capped(make_run, 2 * GIB, 0, (4, 8))))
    assert memory_of(answer) is None
    assert "Between 2 GiB and 64 GiB of memory only completion was tried, not the rate." in answer.reasons
    assert "64 GiB of memory is what was measured, not what is needed: no other size was measured." in answer.reasons


def test_a_search_leaves_the_smallest_memory_with_a_rate(make_run: MakeRun, ask: Ask) -> None:
    """Of a job that cannot drop 7 GiB, 8 GiB are no margin: the next size up is taken, and the doubt is said."""
    runs = capped(make_run, 16 * GIB, 7 * GIB, (1, 100), (2, 101), (4, 101))
    runs += searched(capped(make_run, 8 * GIB, 7 * GIB, (4, 8)) + capped(make_run, 7 * GIB, 0, (4, None)))
    answer = ask(runs)
    assert (memory_of(answer) or 0) >= 1.25 * 7 * GIB
    assert "Between 8 GiB and 16 GiB of memory only completion was tried, not the rate." in answer.reasons


def test_the_run_to_make_asks_for_the_rate_that_a_search_left_open(make_run: MakeRun, ask: Ask) -> None:
    """Where it is not accounted what cannot be dropped, a cap that completes is worth an ordinary run."""
    runs = capped(make_run, 8 * GIB, 0, (1, 100), (2, 101), (4, 101)) + capped(make_run, 16 * GIB, 0, (4, 101))
    answer = ask(runs + searched(capped(make_run, GIB, 0, (4, 8))))
    assert memory_of(answer) == 8 * GIB
    assert "8 GiB rather than 2 GiB, because no rate was measured below 8 GiB." in answer.reasons
    assert answer.next_run == "Measure `train` with 2 GiB of memory. Whether 2 GiB is enough was not measured."


def test_what_the_kernel_holds_needs_its_margin_too(make_run: MakeRun) -> None:
    """Kernel memory cannot be dropped either, so the margin is above both."""
    runs = [
        replace(
            make_run(100, 1, memory=64 * GIB, anonymous=GIB),
            memory=replace(make_run(100, 1, memory=64 * GIB, anonymous=GIB).memory, peak_kernel_bytes=GIB),
        )
    ]
    runs += searched(capped(make_run, 2 * GIB, GIB, (1, 8)))
    assert needed_bytes(measure(runs), 1, 32) == 2.5 * GIB


@pytest.mark.parametrize("outcome", [Outcome.CRASHED, Outcome.TIMEOUT])
def test_why_a_search_was_given_up_is_a_reason(make_run: MakeRun, ask: Ask, outcome: Outcome) -> None:
    """The answer says it from the stored runs, not only the terminal that saw the search; no rate was asked of it."""
    runs = [make_run(rate, vcpus, memory=4 * GIB) for vcpus, rate in ((0.5, 50), (1, 100), (2, 190))]
    answer = ask(runs + searched([make_run(None, 2, memory=8 * GIB, capped=True, outcome=outcome)]))
    (reason,) = [reason for reason in answer.reasons if "given up: the run with 8 GiB" in reason]
    assert reason.startswith("The memory floor is no higher than 4 GiB; ")
    assert "gave no rate" not in " ".join(answer.reasons)


def test_the_floor_beside_an_emulated_accelerator_is_that_of_the_input(make_run: MakeRun, ask: Ask) -> None:
    """No framework runs there, so the floor is said to leave it out."""
    device = Device("emulated", gpu="P100", samples_per_second=219.0)
    runs = [make_run(r, c, capped=True, memory=4 * GIB, device=device) for c, r in ((0.5, 50), (1, 100), (2, 190))]
    runs += [make_run(None, 2, capped=True, memory=GIB, device=device, outcome=Outcome.OUT_OF_MEMORY)]
    alone = "the input pipeline alone; the framework of a real GPU needs more"
    assert alone in " ".join(ask(runs).reasons)
    alone = "for the input pipeline alone: the framework of a real GPU needs more"
    assert alone in " ".join(ask([*runs[:3], *searched(runs[3:])]).reasons)


def test_a_cap_that_held_makes_the_answer_smaller(make_run: MakeRun, ask: Ask) -> None:
    """With one vCPU, the same job gets the 2 GiB that families offer with it."""
    runs = capped(make_run, 4 * GIB, 163 * MIB, (0.5, 50), (1, 100), (2, 100), (4, 100))
    answer = ask(runs + capped(make_run, GIB, 163 * MIB, (2, 100)))
    assert (answer.spec.vcpus, answer.spec.memory_bytes) == (1, 2 * GIB)


def test_a_cap_never_tried_is_named(make_run: MakeRun, ask: Ask) -> None:
    """Where only 4 GiB is known to hold, a smaller size on offer is not recommended, and is the run to make."""
    runs = capped(make_run, 4 * GIB, 163 * MIB, (0.5, 50), (1, 100), (2, 101), (4, 101))
    answer = ask(runs + capped(make_run, 192 * MIB, 163 * MIB, (1, None)))
    assert (answer.spec.vcpus, answer.spec.memory_bytes) == (1, 4 * GIB)
    assert "4 GiB rather than 2 GiB, because no cap below 4 GiB is known to be enough" in " ".join(answer.reasons)
    assert answer.next_run == "Measure `train` with 2 GiB of memory. Whether 2 GiB is enough was not measured."


def test_memory_that_no_family_offers_is_not_chosen(make_run: MakeRun, ask: Ask) -> None:
    """A job of one vCPU that needs 20 GiB gets the fewest vCPUs that are sold with as much."""
    runs = capped(make_run, 28 * GIB, 18 * GIB, (1, 100), (2, 101), (4, 101), (8, 101))
    answer = ask(runs + capped(make_run, 24 * GIB, 18 * GIB, (2, 101)))
    assert (answer.spec.vcpus, answer.spec.memory_bytes) == (4, 32 * GIB)
    enough = "32 GiB is the least that families offer with 4 vCPUs: the least known to be enough is 24 GiB."
    assert enough in " ".join(answer.reasons)
    assert all("Families offer at most" in each.why for each in answer.rejected)


def test_less_memory_that_is_slower(make_run: MakeRun, ask: Ask) -> None:
    """Where less memory holds but costs throughput, that is the reason for more."""
    runs = [
        run
        for cap, top in ((4 * GIB, 80), (8 * GIB, 200), (16 * GIB, 200))
        for run in capped(make_run, cap, GIB, (1, min(100, top)), (2, min(200, top)), (4, min(201, top)))
    ]
    answer = ask(runs)
    assert memory_of(answer) == 8 * GIB
    assert "Less than 8 GiB is enough, but may be slower." in " ".join(answer.reasons)


def test_memory_that_holds_the_data_is_bought(make_run: MakeRun, ask: Ask) -> None:
    """Where the page cache says why more memory is faster, too: half of it makes a sixth of the rate."""
    disk, data = DiskRates(1e6, 2e7), DataSet("d", "recordio", 28 * GIB, 28 * GIB // 100_000, True)

    def miss(memory: int) -> float:
        unseen = max(0.0, 1 - (memory - GIB) / (28 * GIB))
        return unseen - unseen * math.log(unseen) if unseen > 0 else 0.0

    runs = [
        make_run(min(400 * c, 200 / max(miss(memory), 1e-3)), c, memory=memory, capped=True, cache="natural", data=data,
                 anonymous=GIB, rates=disk, disk="d",
                 demand=Demand(core_seconds=0.0025, read_bytes=1e5 * miss(memory), read_ios=1.0))
        for memory in (8 * GIB, 16 * GIB, 32 * GIB)
        for c in (1, 2, 4)
    ]  # fmt: skip
    answer = ask(runs)
    assert answer.spec is not None
    assert memory_of(answer) == 32 * GIB

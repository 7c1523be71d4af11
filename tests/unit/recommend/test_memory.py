"""Memory is recommended in sizes that exist, at or above a cap that held, and the answer says why it is that much."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest

from sizer.model.memory import memory_compared, needed_bytes
from sizer.model.model import Model
from sizer.model.observations import measure
from sizer.model.prediction import predict
from sizer.records.answer import Answer
from sizer.records.device import Device, DiskRates
from sizer.records.prediction import Bottleneck, Configuration, Refused
from sizer.records.run import DataSet, Demand, Run
from sizer.records.run_kinds import Outcome, Purpose
from sizer.records.units import GIB, MIB
from sizer.words.names import terms_of
from sizer.words.reasons.phrasing import refusal_sentences

# Memory is recommended in sizes that exist, at or above a cap that held, and the answer says why it is that much.


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
    assert all("Families offer at most" in rejection.why for rejection in answer.rejected)


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


# Two memory caps are an answer, if no curve: whether the job runs in them, how fast, and what they do not say.


Fitted = Callable[[Sequence[Run]], Model]
Rate = Callable[[float, float], float]


@pytest.fixture(scope="session")
def runs_in_caps(make_run: MakeRun) -> Callable[..., list[Run]]:
    """Two repeats of a job at these vCPUs and caps in GiB; it does not complete below `needs`."""

    def runs_in_caps(vcpus: Sequence[float], caps: Sequence[float], rate: Rate, needs: float = 0.4) -> list[Run]:
        return [
            make_run(
                rate(cores, cap) * (1 + 0.002 * repeat) if cap >= needs else None,
                cores,
                memory=round(cap * GIB),
                capped=True,
                kind="command",
                repeat=repeat,
                anonymous=round(needs * GIB),
                demand=Demand(core_seconds=1 / rate(1.0, 99.0)),
                outcome=Outcome.COMPLETED if cap >= needs else Outcome.OUT_OF_MEMORY,
            )
            for repeat in range(2)
            for cores in vcpus
            for cap in caps
        ]

    return runs_in_caps


def scales(vcpus: float, _: float) -> float:
    return 20.0 * vcpus


def stops_at_one(vcpus: float, _: float) -> float:
    return 20.0 * min(1.0, vcpus)


def slower_in_little(vcpus: float, cap: float) -> float:
    return 20.0 * vcpus * (0.8 if cap < 2 else 1.0)


def sentences_of(answer: Answer) -> str:
    return " ".join(map(str, answer.reasons))


def test_two_caps_with_the_same_rate(runs_in_caps: Callable[..., list[Run]], ask: Ask) -> None:
    """It ran in both, at rates that differ by chance; what less memory does is not known."""
    answer = ask(runs_in_caps((0.5, 1, 2), (1, 2), stops_at_one))
    assert (answer.status, answer.provisional) == ("recommended", False)
    assert (answer.spec.vcpus, answer.spec.memory_bytes) == (1, 2 * GIB)
    assert "It completed with every memory cap that was tried, the smallest 1 GiB" in sentences_of(answer)
    assert (
        "Between 1 GiB and 2 GiB of memory its rate differs by 0.0 % (20 images/s and 20 images/s with 1 vCPU). That "
        "may be chance. Two sizes are no curve: what less than 1 GiB does to the rate is not known. Runs with 513 MiB "
        "would tell more." in sentences_of(answer)
    )


def test_two_caps_with_rates_that_differ(runs_in_caps: Callable[..., list[Run]], ask: Ask, fitted: Fitted) -> None:
    """A quarter more is no chance; the rate of a size that was not measured is refused, that of others is not."""
    runs = runs_in_caps((0.5, 1, 2), (1, 2), slower_in_little)
    answer = ask(runs)
    assert answer.status == "at_least"
    assert "rises at 2 GiB of memory" not in sentences_of(answer), "in 2 GiB its vCPUs are busy"
    assert (
        "Between 1 GiB and 2 GiB of memory its rate differs by 25 % (32 images/s and 40 images/s with 2 vCPUs). That "
        "is more than chance. Two sizes are no curve: no rate between or beyond them is predicted. Runs with 4 GiB "
        "would tell more." in sentences_of(answer)
    )
    (model,) = fitted(runs).workloads
    for cap, rate in ((1.0, 24.0), (2.0, 30.0)):
        prediction = predict(model, Configuration(1.5, round(cap * GIB), "host", 32))
        assert prediction.throughput.value == pytest.approx(rate, rel=0.1)
    for cap in (0.75, 1.5, 4.0):
        with pytest.raises(Refused) as refused:
            predict(model, Configuration(1.0, round(cap * GIB), "host", 32))
        text = refusal_sentences(refused.value.refusal, terms_of(model))
        assert "three values are needed" in text


def test_one_of_two_caps_is_too_small(runs_in_caps: Callable[..., list[Run]], ask: Ask, fitted: Fitted) -> None:
    """It runs in 2 GiB and not in 1 GiB: the memory floor lies between."""
    runs = runs_in_caps((0.5, 1, 2), (1, 2), stops_at_one, needs=1.5)
    answer = ask(runs)
    assert answer.status == "recommended"
    assert "with 1 GiB it ran out of memory, with 2 GiB it completed." in sentences_of(answer)
    assert "It completed in 2 GiB alone" in sentences_of(answer)
    assert "Runs with 1.41 GiB would tell" in sentences_of(answer)
    (model,) = fitted(runs).workloads
    assert predict(model, Configuration(1.0, GIB, "host", 32)).bottleneck is Bottleneck.MEMORY


@pytest.mark.parametrize(
    ("vcpus", "rate", "status", "size", "open_"),
    [
        ((1, 2), scales, "at_least", 2, "The rate still rises at 2 vCPUs"),
        ((1, 2), stops_at_one, "recommended", 1, "With 1 vCPU it reaches 100 %"),
        ((1,), stops_at_one, "recommended", 1, "1 vCPU is what was measured, not what is needed: no other"),
        ((1,), slower_in_little, "recommended", 1, "That is more than chance"),
    ],
)
def test_too_few_vcpu_values_with_two_caps_are_a_provisional_answer(
    vcpus: Sequence[float],
    rate: Rate,
    status: str,
    size: int,
    open_: str,
    runs_in_caps: Callable[..., list[Run]],
    ask: Ask,
) -> None:
    """Among what was measured; no other number of vCPUs is predicted, and the answer says so."""
    answer = ask(runs_in_caps(vcpus, (1, 2), rate))
    assert (answer.status, answer.provisional) == (status, True)
    assert answer.spec.vcpus == size
    assert "No axis was measured at three values, so only what was measured is compared." in sentences_of(answer)
    assert open_ in sentences_of(answer)
    assert answer.next_run is not None
    assert answer.throughput.value == pytest.approx(20 * size, rel=0.03)


def test_one_cap_is_said_to_be_enough(runs_in_caps: Callable[..., list[Run]], ask: Ask) -> None:
    """With a curve along vCPUs it is a note of the answer; with nothing varied it is all that is known."""
    for vcpus, status in (((0.5, 1, 2), "recommended"), ((1,), "refused")):
        answer = ask(runs_in_caps(vcpus, (1,), stops_at_one))
        assert answer.status == status
        assert "It ran in 1 GiB, the only memory cap measured" in sentences_of(answer)


def test_caps_that_were_all_too_small(runs_in_caps: Callable[..., list[Run]], ask: Ask) -> None:
    """Nothing completed, so the floor is above them."""
    answer = ask(runs_in_caps((1, 2), (1, 2), stops_at_one, needs=4))
    assert answer.status == "refused"
    assert "It ran out of memory with every memory cap measured (1 GiB and 2 GiB)" in sentences_of(answer)


@pytest.mark.parametrize(
    ("spread", "gain", "clear"), [(0.005, 0.1, True), (0.1, 0.1, False), (0.005, 0.01, False), (0.005, -0.2, False)]
)
def test_a_difference_is_held_against_what_runs_differ_by(
    spread: float, gain: float, clear: bool, make_run: MakeRun, fitted: Fitted
) -> None:
    """Of one run each, by its interval, and no less than processes differ by; more memory makes nothing slower."""
    runs = [
        make_run(100 * (1 + gain * (size > 1)), 1, memory=size * GIB, capped=True, spread=spread) for size in (1, 2)
    ]
    (model,) = fitted(runs).workloads
    compared = memory_compared(model.measured)
    assert compared.clear is clear
    assert compared.gain == pytest.approx(gain)

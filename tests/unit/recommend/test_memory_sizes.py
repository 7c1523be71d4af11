"""Two memory caps are an answer, if no curve: whether the job runs in them, how fast, and what they do not say."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from sizer.model.memory import memory_compared
from sizer.model.model import Model
from sizer.model.prediction import predict
from sizer.records.answer import Answer
from sizer.records.configuration import Bottleneck, Configuration
from sizer.records.prediction import Refused
from sizer.records.run import Demand, Run
from sizer.records.run_kinds import Outcome
from sizer.records.units import GIB
from sizer.words.names import terms_of
from sizer.words.reasons.suggestions import refusal_sentences

Ask = Callable[..., Answer]
Fitted = Callable[[Sequence[Run]], Model]
MakeRun = Callable[..., Run]
Rate = Callable[[float, float], float]


@pytest.fixture(scope="session")
def capped(make_run: MakeRun) -> Callable[..., list[Run]]:
    """Two repeats of a job at these vCPUs and caps in GiB; it does not complete below `needs`."""

    def capped(vcpus: Sequence[float], caps: Sequence[float], rate: Rate, needs: float = 0.4) -> list[Run]:
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

    return capped


def scales(vcpus: float, _: float) -> float:
    return 20.0 * vcpus


def stops_at_one(vcpus: float, _: float) -> float:
    return 20.0 * min(1.0, vcpus)


def slower_in_little(vcpus: float, cap: float) -> float:
    return 20.0 * vcpus * (0.8 if cap < 2 else 1.0)


def said(answer: Answer) -> str:
    return " ".join(map(str, answer.reasons))


def test_two_caps_with_the_same_rate(capped: Callable[..., list[Run]], ask: Ask) -> None:
    """It ran in both, at rates that differ by chance; what less memory does is not known."""
    answer = ask(capped((0.5, 1, 2), (1, 2), stops_at_one))
    assert (answer.status, answer.provisional) == ("recommended", False)
    assert (answer.spec.vcpus, answer.spec.memory_bytes) == (1, 2 * GIB)
    assert "It completed with every memory cap that was tried, the smallest 1 GiB" in said(answer)
    assert (
        "Between 1 GiB and 2 GiB of memory its rate differs by 0.0 % (20 images/s and 20 images/s with 1 vCPU). That "
        "may be chance. Two sizes are no curve: what less than 1 GiB does to the rate is not known. Runs with 513 MiB "
        "would tell more." in said(answer)
    )


def test_two_caps_with_rates_that_differ(capped: Callable[..., list[Run]], ask: Ask, fitted: Fitted) -> None:
    """A quarter more is no chance; the rate of a size that was not measured is refused, that of others is not."""
    runs = capped((0.5, 1, 2), (1, 2), slower_in_little)
    answer = ask(runs)
    assert answer.status == "at_least"
    assert "rises at 2 GiB of memory" not in said(answer), "in 2 GiB its vCPUs are busy"
    assert (
        "Between 1 GiB and 2 GiB of memory its rate differs by 25 % (32 images/s and 40 images/s with 2 vCPUs). That "
        "is more than chance. Two sizes are no curve: no rate between or beyond them is predicted. Runs with 4 GiB "
        "would tell more." in said(answer)
    )
    (model,) = fitted(runs).workloads
    for cap, rate in ((1.0, 24.0), (2.0, 30.0)):
        found = predict(model, Configuration(1.5, round(cap * GIB), "host", 32))
        assert found.throughput.value == pytest.approx(rate, rel=0.1)
    for cap in (0.75, 1.5, 4.0):
        with pytest.raises(Refused) as refused:
            predict(model, Configuration(1.0, round(cap * GIB), "host", 32))
        text = refusal_sentences(refused.value.refusal, terms_of(model))
        assert "three values are needed" in text


def test_between_two_caps_that_make_no_difference_the_rate_is_theirs(
    capped: Callable[..., list[Run]], fitted: Fitted
) -> None:
    """Only what must be is refused."""
    (model,) = fitted(capped((0.5, 1, 2), (1, 2), stops_at_one)).workloads
    found = predict(model, Configuration(1.0, round(1.5 * GIB), "host", 32))
    assert found.throughput.value == pytest.approx(20, rel=0.03)
    assert not found.extrapolated


def test_one_of_two_caps_is_too_small(capped: Callable[..., list[Run]], ask: Ask, fitted: Fitted) -> None:
    """It runs in 2 GiB and not in 1 GiB: the memory floor lies between."""
    runs = capped((0.5, 1, 2), (1, 2), stops_at_one, needs=1.5)
    answer = ask(runs)
    assert answer.status == "recommended"
    assert "with 1 GiB it ran out of memory, with 2 GiB it completed." in said(answer)
    assert "It completed in 2 GiB alone" in said(answer)
    assert "Runs with 1.41 GiB would tell" in said(answer)
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
    vcpus: Sequence[float], rate: Rate, status: str, size: int, open_: str, capped: Callable[..., list[Run]], ask: Ask
) -> None:
    """Among what was measured; no other number of vCPUs is predicted, and the answer says so."""
    answer = ask(capped(vcpus, (1, 2), rate))
    assert (answer.status, answer.provisional) == (status, True)
    assert answer.spec.vcpus == size
    assert "No axis was measured at three values, so only what was measured is compared." in said(answer)
    assert open_ in said(answer)
    assert answer.next_run is not None
    assert answer.throughput.value == pytest.approx(20 * size, rel=0.03)


def test_one_cap_is_said_to_be_enough(capped: Callable[..., list[Run]], ask: Ask) -> None:
    """With a curve along vCPUs it is a note of the answer; with nothing varied it is all that is known."""
    for vcpus, status in (((0.5, 1, 2), "recommended"), ((1,), "refused")):
        answer = ask(capped(vcpus, (1,), stops_at_one))
        assert answer.status == status
        assert "It ran in 1 GiB, the only memory cap measured" in said(answer)


def test_caps_that_were_all_too_small(capped: Callable[..., list[Run]], ask: Ask) -> None:
    """Nothing completed, so the floor is above them."""
    answer = ask(capped((1, 2), (1, 2), stops_at_one, needs=4))
    assert answer.status == "refused"
    assert "It ran out of memory with every memory cap measured (1 GiB and 2 GiB)" in said(answer)


def test_three_caps_are_a_curve(capped: Callable[..., list[Run]], ask: Ask) -> None:
    """Nothing is said of two."""
    assert "no curve" not in said(ask(capped((0.5, 1, 2), (1, 2, 4), stops_at_one)))


def test_memory_that_was_not_capped_is_no_size_of_the_study(make_run: MakeRun, ask: Ask) -> None:
    """Hosts of a table differ in memory, and nobody asked whether it is enough."""
    runs = [make_run(20 * vcpus, vcpus, memory=size * GIB) for vcpus in (1, 2, 4) for size in (1, 2)]
    assert "no curve" not in said(ask(runs))


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

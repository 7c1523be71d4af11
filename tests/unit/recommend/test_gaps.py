"""Tables that leave out sizes: what nobody measured between two of them may be enough, and is said to be open."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from sizer.records.answer import Answer
from sizer.words.answers import reason_sentences
from sizer.words.names import Terms

Asked = Callable[..., Answer]


def table(rates: dict[int, float]) -> str:
    return "workload,vcpus,throughput\n" + "".join(f"job,{vcpus},{rate}\n" for vcpus, rate in rates.items())


def said(answer: Answer) -> str:
    return " ".join(reason_sentences(answer, Terms(answer.sample_unit)))


@pytest.mark.parametrize(
    ("rates", "after", "measure"),
    [
        ({8: 6.4, 16: 10.5, 64: 13.9}, 16, 32),
        ({2: 100, 4: 198, 8: 380, 64: 600}, 8, 24),
        ({1: 100, 2: 200, 4: 390, 16: 440}, 4, 8),
        ({1: 100, 2: 200, 8: 401}, 2, 4),
    ],
)
def test_a_rate_that_may_have_stopped_rising_in_a_gap_is_not_sure(
    ask_table: Asked, rates: dict[int, float], after: int, measure: int
) -> None:
    """The model itself says that half may be enough: so does the probability, and the next run is between."""
    answer = ask_table(table(rates))
    assert answer.provisional or answer.status == "at_least"
    assert (answer.probability or 1) < 0.7
    assert answer.next_run is not None
    assert answer.next_run.vcpus in {(measure,), (2 * max(rates),)}
    assert f"Nothing was measured between {after} and {max(rates)} vCPUs" in said(answer)


def test_in_a_gap_that_a_proportional_rate_spans_half_is_too_slow(ask_table: Asked) -> None:
    """Four vCPUs make at most twice what two do: too little, and the rate rises at the most."""
    answer = ask_table(table({1: 543, 2: 985, 8: 2350}))
    assert (answer.status, answer.edge) == ("at_least", "rising")
    assert (answer.probability or 0) > 0.9
    assert answer.next_run is not None
    assert answer.next_run.vcpus == (16, 32)


def test_a_flat_step_needs_no_size_between(ask_table: Asked) -> None:
    answer = ask_table(table({2: 100, 16: 101}))
    assert answer.spec is not None
    assert (answer.status, answer.spec.vcpus) == ("recommended", 2)
    assert "Nothing was measured between" not in said(answer)


@pytest.mark.parametrize(
    ("rates", "open_"), [({2: 100, 4: 198, 64: 600, 128: 605}, True), ({1: 100, 2: 200, 16: 1500, 32: 1510}, False)]
)
def test_a_gap_below_the_answer_makes_it_provisional(ask_table: Asked, rates: dict[int, float], open_: bool) -> None:
    """More was measured and is no faster; what is between the answer and the next smaller size may be enough, unless
    that would be more than in proportion."""
    answer = ask_table(table(rates))
    assert answer.status == "recommended"
    assert answer.provisional is open_
    assert ("Nothing was measured between" in said(answer)) is open_
    assert ((answer.probability or 0) < 0.5) is open_
    if open_:
        assert answer.next_run is not None
        assert answer.next_run.vcpus == (16,)


def test_two_sizes_far_apart_are_no_curve(ask_table: Asked) -> None:
    """The run between them is the one that a prediction asks for, too."""
    answer = ask_table(table({1: 100, 16: 420}))
    assert answer.provisional
    assert answer.next_run is not None
    assert answer.next_run.vcpus == (4,)

"""What a line tells of a batch's time is held against when lines come, and the likely reason is named."""

from __future__ import annotations

import pytest

from sizer.analysis.told_against_seen import Disagreement, Reason, ToldLine, disagreement, numbers_of


def lines(
    told: float,
    apart: float = 1.0,
    each: int | None = None,
    text: str = "",
    count: int = 20,
    start: float = 0.0,
) -> list[ToldLine]:
    """Lines so many seconds apart; `each` is what their counter grows by, `{}` in a text a number that does."""
    return [
        ToldLine(
            start + index * apart, told, index * each if each is not None else None, numbers_of(text.format(10 * index))
        )
        for index in range(count)
    ]


@pytest.mark.parametrize(
    ("told", "reason"),
    [
        (0.1, None),
        (0.119, None),
        (0.085, None),
        (0.13, Reason.UNKNOWN),
        (0.07, Reason.UNKNOWN),
        (0.4, Reason.RANKS),
        (100.0, Reason.MILLISECONDS),
        (84.0, Reason.MILLISECONDS),
        (119.0, Reason.MILLISECONDS),
        (0.0001, Reason.MILLISECONDS),
        (6.0, Reason.MINUTES),
        (0.1 / 60, Reason.MINUTES),
    ],
)
def test_each_disagreement_has_its_likely_reason(told: float, reason: Reason | None) -> None:
    """Ten batches a line and a second: a batch takes 0.1 s."""
    found = disagreement(lines(told, each=10), 1, False)
    assert (found.reason if found else None) is reason
    if found is not None:
        assert (found.told, found.seen) == (told, pytest.approx(0.1))


def test_any_number_that_grows_by_the_same_is_a_counter() -> None:
    """Neither the number of the epoch, nor a time of day, a share or a loss."""
    text = "2024-01-01 10:00:05,123 epoch 3 [{}/5005] 12% loss 4.25 took 3 s"
    assert numbers_of(text.format(20)) == (3, 20, 5005)
    found = disagreement(lines(100.0, text=text), 1, False)
    assert found == Disagreement(Reason.MILLISECONDS, 100.0, pytest.approx(0.1))
    assert disagreement(lines(0.1, text=text), 1, False) is None


@pytest.mark.parametrize(
    ("told", "reason"),
    [
        (0.1, None),
        (1.1, None),
        (4.0, Reason.RANKS),
        (2.5, Reason.UNKNOWN),
        (154.7, Reason.MILLISECONDS),
        (60.0, Reason.MINUTES),
    ],
)
def test_without_a_counter_a_line_is_one_batch_at_least(told: float, reason: Reason | None) -> None:
    """A line a second: a batch takes a second at the most."""
    found = disagreement(lines(told), 1, False)
    assert (found.reason if found else None) is reason


def test_a_rate_of_batches_for_one_of_samples() -> None:
    """10 batches/s given as 10 samples/s, of batches of 64: 6.4 s a batch were told, and that is no 60."""
    found = disagreement(lines(6.4, each=10), 64, True)
    assert found is not None
    assert found.reason is Reason.BATCHES


def test_a_rate_of_samples_is_right_where_nobody_said_how_large_a_batch_is() -> None:
    """640 samples/s and 10 batches/s are batches of 64."""
    assert disagreement(lines(1 / 640, each=10), 1, True) is None


def test_lines_that_came_out_of_a_buffer_are_one_interval() -> None:
    """Twenty at once, each 20 s: not a batch in no time."""
    burst = [ToldLine(20.0 * (index // 20), 1.0) for index in range(200)]
    assert disagreement(burst, 1, False) is None

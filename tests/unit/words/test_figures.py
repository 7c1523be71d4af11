"""Numbers as the page shows them."""

from __future__ import annotations

import pytest

from sizer.records.configuration import Estimate
from sizer.words.language import (
    brief,
    chance,
    gains,
    percent,
    rate_beside,
    rate_interval,
    sentence,
    signed_bytes,
    small_share,
    vcpus_in_words,
    volume,
)


def test_a_rate_says_its_unit_and_its_interval() -> None:
    """A throughput reads like '183 images/s (178–188)'."""
    assert rate_interval(Estimate(183.2, 177.9, 188.4), "image") == "183 images/s (178–188)"


@pytest.mark.parametrize(
    ("bytes_", "text"), [(45_200_000, "45.2 MB"), (110_000, "110 kB"), (6, "6 B"), (1.5e9, "1.5 GB"), (0, "0 B")]
)
def test_data_sizes_are_powers_of_ten(bytes_: float, text: str) -> None:
    """Data is shown in MB and not in MiB, and says so."""
    assert volume(bytes_) == text


@pytest.mark.parametrize(("share", "text"), [(0.973, "97 %"), (0.001, "< 1 %"), (0, "0 %"), (1.004, "100 %")])
def test_a_busy_share_is_a_percentage(share: float, text: str) -> None:
    """Shares are whole percent, and one that is small but not nothing does not read as nothing."""
    assert percent(share) == text


def test_vcpus_are_singular_up_to_one() -> None:
    """A half is one vCPU at most; four are several."""
    assert [vcpus_in_words(value) for value in (0.5, 1.0, 4.0)] == ["0.5 vCPU", "1 vCPU", "4 vCPUs"]


@pytest.mark.parametrize(
    ("low", "high", "text"),
    [(0.56, 0.91, "56–91 %"), (0.87, 0.87, "87 %"), (0.56, 3.2, "a factor of 1.56–4.2")],
)
def test_both_ends_of_a_gain_have_one_form(low: float, high: float, text: str) -> None:
    """A percentage and a factor do not compare."""
    assert gains(low, high) == text


@pytest.mark.parametrize(("value", "text"), [(1.0, "above 0.99"), (0.0, "below 0.01"), (0.934, "0.93")])
def test_no_probability_is_certain(value: float, text: str) -> None:
    """Finite measurements never give 1 or 0."""
    assert chance(value) == text


def test_a_clause_becomes_a_sentence() -> None:
    """Words of the model start with a capital and end with one full stop."""
    assert sentence("the CPU binds") == "The CPU binds."
    assert sentence("Already one.") == "Already one."


def test_an_interval_that_rounds_to_nothing_is_left_out() -> None:
    """'219 images/s', not '219 images/s (219–219)'."""
    assert rate_interval(Estimate(219.1, 219.0, 219.2), "image") == "219 images/s"
    assert rate_interval(Estimate(183.0, 178.0, 188.0), "image") == "183 images/s (178–188)"


@pytest.mark.parametrize(
    ("seconds", "text"), [(2.5, "2.5 s"), (0.0012, "1.2 ms"), (23.6e-9, "23.6 ns"), (0.0, "0 ms"), (4.4e-4, "440 µs")]
)
def test_a_very_short_time_keeps_its_digits(seconds: float, text: str) -> None:
    """What a sample waits may be nanoseconds."""
    assert brief(seconds) == text


@pytest.mark.parametrize(
    ("share", "text"), [(0.0034, "0.3 %"), (0.12, "12 %"), (0.0002, "< 0.1 %"), (0.0, "0.0 %"), (0.0999, "10 %")]
)
def test_a_small_share_keeps_a_digit_after_the_point(share: float, text: str) -> None:
    """An overhead of a third of a percent is not '< 1 %'."""
    assert small_share(share) == text


@pytest.mark.parametrize(("bytes_", "text"), [(1229, "+1.2 KiB"), (-300, "−300 B"), (0.2, "0 B")])
def test_a_change_of_size_has_its_sign(bytes_: float, text: str) -> None:
    """Growth and shrinkage are told apart; a fraction of a byte is none."""
    assert signed_bytes(bytes_) == text


def test_a_rate_beside_one_that_was_asked_for_shows_which_is_more() -> None:
    """Rounded like any other, unless that would make the two look alike."""
    assert rate_beside(170.966, 110.0, "image") == "171 images/s"
    assert rate_beside(105.863, 105.9, "image") == "105.863 images/s"
    assert rate_beside(105.863, 106.0, "image") == "105.863 images/s"

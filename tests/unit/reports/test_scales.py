"""Axes of charts."""

from __future__ import annotations

import pytest

from sizer.bundled.reports.charts.svg import Scale, doubling_ticks, is_wide, nice_ticks


def test_a_linear_axis_is_proportional() -> None:
    """A value half way along the axis is half way on the paper."""
    assert Scale(0, 200, 100, 0)(100) == 50


def test_a_logarithmic_axis_gives_every_doubling_the_same_room() -> None:
    """From 1 to 2 is as far as from 2 to 4."""
    scale = Scale(1, 16, 0, 100, logarithmic=True)
    assert scale(2) - scale(1) == pytest.approx(scale(4) - scale(2))


@pytest.mark.parametrize(("high", "last"), [(183, 200), (1.3, 1.5), (0.07, 0.08), (9999, 10000), (300, 300), (0, 1)])
def test_ticks_are_round_and_reach_over_the_highest_value(high: float, last: float) -> None:
    """The axis ends at the first round value at or above the highest one."""
    ticks = nice_ticks(high)
    assert ticks[0] == 0
    assert ticks[-1] == pytest.approx(last)
    assert 2 <= len(ticks) <= 7


def test_a_wide_range_is_drawn_logarithmically() -> None:
    """0.5 to 2 vCPUs is narrow, 1 to 64 wide."""
    assert not is_wide([0.5, 1, 2])
    assert is_wide([1, 64])


def test_doublings_are_thinned_where_they_are_too_many() -> None:
    """A range of 2^20 does not give twenty labels."""
    assert doubling_ticks(0.5, 8) == [0.5, 1, 2, 4, 8]
    assert len(doubling_ticks(1, 2**20)) <= 7

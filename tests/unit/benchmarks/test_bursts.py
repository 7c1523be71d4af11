"""What stamped blocks tell of a throttle, on streams whose rate and bursts are known."""

from __future__ import annotations

import numpy as np
import pytest
from throttle import Stamps, after_pause, gaps, most_within, rate

BLOCK = 1000.0


def stream(times: list[float]) -> Stamps:
    """A block of 1,000 bytes at each time."""
    return np.array([(time, BLOCK * (count + 1)) for count, time in enumerate(times)])


def bursts(count: int, each: int, period: float) -> Stamps:
    """Bursts of `each` blocks, a millisecond apart, at the beginning of each period."""
    return stream([number * period + block * 0.001 for number in range(count) for block in range(each)])


def test_an_even_stream_has_its_rate_and_no_gaps() -> None:
    """Blocks every 10 ms: 100 blocks a second, nothing waits longer than the rest."""
    even = stream([0.01 * number for number in range(500)])
    assert rate(even, 0.5) == pytest.approx(100 * BLOCK)
    assert gaps(even).share == 0
    assert most_within(even, 0.0999) == 10 * BLOCK


def test_the_rate_does_not_depend_on_where_in_a_burst_the_stream_ends() -> None:
    """10 blocks every 100 ms are 100 a second, to 1 % over 5 s, with the last burst or without it."""
    whole = bursts(50, 10, 0.1)
    for stamps in (whole, whole[:-5], whole[:-10]):
        assert rate(stamps, 0.5) == pytest.approx(100 * BLOCK, rel=0.01)


def test_bursts_show_in_short_windows_and_vanish_in_long_ones() -> None:
    """10 blocks at once every 100 ms: in 10 ms ten times what the mean allows, in 1 s what it allows."""
    bursty = bursts(50, 10, 0.1)
    assert most_within(bursty, 0.01) == 10 * BLOCK
    assert most_within(bursty, 0.9999) == 100 * BLOCK
    found = gaps(bursty)
    assert found.median == pytest.approx(0.091)
    assert found.share == pytest.approx(0.91, abs=0.01)


def test_what_comes_at_once_after_a_pause_is_counted_from_the_end_of_the_pause() -> None:
    """Five blocks right after 5 s of rest, then one every 100 ms."""
    before = [0.0, 0.1, 0.2]
    after = [5.2 + 0.001 * number for number in range(1, 6)] + [5.3 + 0.1 * number for number in range(1, 10)]
    stamps = stream(before + after)
    assert after_pause(stamps, 5.0, 0.05) == 5 * BLOCK
    assert after_pause(stamps, 5.0, 0.45) == 8 * BLOCK


def test_a_pause_that_the_throttle_lengthens_brings_nothing_at_once() -> None:
    """Blocks that come half a second late were not there in the first 100 ms."""
    assert after_pause(stream([0.0, 0.1, 5.6, 5.7]), 5.0, 0.1) == 0

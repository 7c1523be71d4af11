"""What a stream of stamped blocks tells of the throttle under it: its rate, its bursts and its gaps. Pure.

Stamps are the monotonic seconds at which a block was there, and the bytes that were there by then, both ascending.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Stamps = NDArray[np.float64]
"""One row a block: seconds, bytes so far."""

LONG = 2.0
"""A wait for a block counts as a gap from this many times the mean wait."""


@dataclass(frozen=True)
class Gaps:
    """The waits between bursts, in seconds, and their share of the time."""

    median: float
    p99: float
    share: float


def rate(stamps: Stamps, skip_seconds: float) -> float:
    """Bytes a second after the first `skip_seconds`, by least squares: a burst at either end has little weight so."""
    kept = stamps[stamps[:, 0] >= stamps[0, 0] + skip_seconds]
    assert len(kept) >= 2, f"{len(kept)} blocks after the first {skip_seconds} s are too few for a rate"
    return float(np.polyfit(kept[:, 0] - kept[0, 0], kept[:, 1], 1)[0])


def most_within(stamps: Stamps, seconds: float) -> float:
    """The most bytes that came within any `seconds`."""
    times, totals = stamps[:, 0], stamps[:, 1]
    before = np.concatenate([[0.0], totals[:-1]])
    last = np.searchsorted(times, times + seconds, side="left") - 1
    return float(np.max(totals[last] - before))


def gaps(stamps: Stamps) -> Gaps:
    """The waits that are long beside the mean one; zeros where the blocks came evenly."""
    waits = np.diff(stamps[:, 0])
    long = waits[waits > LONG * waits.mean()]
    if not len(long):
        return Gaps(0.0, 0.0, 0.0)
    return Gaps(float(np.median(long)), float(np.percentile(long, 99)), float(long.sum() / waits.sum()))


def after_pause(stamps: Stamps, pause_seconds: float, seconds: float) -> float:
    """Bytes that came within `seconds` of the end of the one wait that is as long as the pause.

    The pause ends `pause_seconds` after the last block before it; what then comes is counted from its first block on.
    """
    first = int(np.argmax(np.diff(stamps[:, 0]))) + 1
    end = stamps[first - 1, 0] + pause_seconds + seconds
    return float(stamps[stamps[:, 0] <= end][-1, 1] - stamps[first - 1, 1])

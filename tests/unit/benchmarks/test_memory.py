"""The benchmark of the page cache: what hit rates are held against."""

from __future__ import annotations

from dataclasses import replace

import pytest
from memory import SERIES, LoaderRuns, Read, last_whole, least_recently_used, right

from sizer.records.messages import HostError
from sizer.records.run import Step

STEPS = [Step(float(time), 10, 0.0, epoch) for time, epoch in [(1, 0), (2, 0), (5, 1), (6, 1), (9, 2)]]
HALF = Read(0.5, 0, before=0.0, resident=0.5, after=0.5, amplified=1.0, hits=0.15, recorded=0.2)
PLAIN, AHEAD, IN_ORDER = SERIES


@pytest.mark.parametrize(("resident", "hits"), [(0.0, 0.0), (0.5, 0.1534), (0.75, 0.4034), (1.0, 1.0), (1.2, 1.0)])
def test_the_formula_has_its_known_values(resident: float, hits: float) -> None:
    """1 - u + u ln u: nothing without memory, all when all fits, well under the resident share between."""
    assert least_recently_used(resident) == pytest.approx(hits, abs=1e-4)


def test_the_last_epoch_counts_when_it_was_whole() -> None:
    """A run may end with an epoch, or in the middle of one, which then does not count."""
    assert last_whole(STEPS[:4], 20) == 1
    assert last_whole(STEPS, 20) == 1


def test_a_run_without_a_whole_second_epoch_is_refused() -> None:
    """Nothing is known of what memory kept."""
    with pytest.raises(HostError, match="--seconds"):
        last_whole(STEPS[:3], 20)


@pytest.mark.parametrize(
    ("series", "change", "holds"),
    [
        (PLAIN, {}, True),
        (PLAIN, {"hits": 0.30}, False),
        (PLAIN, {"recorded": 0.05}, False),
        (PLAIN, {"recorded": 0.60}, False),
        (PLAIN, {"before": 0.05}, False),
        (AHEAD, {"hits": -1.0, "recorded": 0.0}, True),
        (AHEAD, {"before": 0.05}, False),
        (IN_ORDER, {"hits": 0.0, "recorded": 0.0}, True),
        (IN_ORDER, {"hits": 0.0, "recorded": 0.2}, False),
    ],
)
def test_a_row_is_right_or_it_is_not(series: LoaderRuns, change: dict[str, float], holds: bool) -> None:
    """Each aim can fail by itself; readahead excuses hits, not pages left from before."""
    read = replace(HALF, **change)
    formula = least_recently_used(read.resident) if series.shuffled else 0.0
    assert right(read, series, formula) is holds

"""What is left out of the shipped tables is told as well as the catalogue says, and better than by a plain rival."""

from __future__ import annotations

import pytest
from held_out_rates import batches_left_out, counts_left_out, covered_share, relative

from sizer.catalog.accelerator_rates import shipped_rates


def test_left_out_batch_sizes_are_told() -> None:
    """Median 2 %, 90th percentile 8 %; a line between the rates is worse in both."""
    found = batches_left_out(shipped_rates())
    median, high = relative([each.error for each in found])
    assert median <= 0.02
    assert high <= 0.08
    assert len(found) > 200


@pytest.mark.slow
def test_left_out_counts_are_told() -> None:
    """Median 5 %, and 85 to 95 % of the intervals hold; no constant was fitted to what it is judged by."""
    found = counts_left_out(shipped_rates())
    assert relative([each.error for each in found])[0] <= 0.05
    assert 0.85 <= covered_share(found) <= 0.95

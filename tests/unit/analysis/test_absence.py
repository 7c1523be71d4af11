"""When steps are taken to come from elsewhere."""

from __future__ import annotations

from sizer.analysis.absence import is_absent


def test_absence_needs_arrivals_seconds_and_a_fine_count() -> None:
    """A count in steps of 10 ms cannot tell a program that waits from one that is not there."""
    assert is_absent(0.0, 1e-6, 20, 6.0)
    assert not is_absent(0.0, 1e-6, 9, 6.0)
    assert not is_absent(0.0, 1e-6, 20, 4.0)
    assert not is_absent(0.0, 0.01, 20, 6.0)
    assert not is_absent(0.002, 1e-6, 20, 6.0)

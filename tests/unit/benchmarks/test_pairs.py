from __future__ import annotations

import math

import pytest
from pairs import ratio, shown, turns

from sizer.records.configuration import Estimate


def test_pairs_take_turns_so_that_a_drift_is_in_both() -> None:
    """A B, B A, A B: over an even number of pairs each is as often first as second."""
    assert list(turns("a", "b", 3)) == [(0, "a"), (0, "b"), (1, "b"), (1, "a"), (2, "a"), (2, "b")]


def test_a_ratio_has_students_interval_on_its_logarithms() -> None:
    """Two pairs of e and 1/e: mean 1, standard error 1 in the logarithm, and t(1) = 12.7062 from the tables."""
    found = ratio([math.e, 1 / math.e])
    assert found.value == pytest.approx(1.0)
    assert math.log(found.high) == pytest.approx(12.7062, rel=1e-4)
    assert found.low == pytest.approx(1 / found.high)


def test_one_pair_shows_nothing_of_its_interval() -> None:
    """The ratio is known, and that is all: no aim can fail by it."""
    assert ratio([0.8]) == Estimate(pytest.approx(0.8), 0.0, math.inf)


def test_a_ratio_is_printed_with_its_interval() -> None:
    """Three digits: as many as a few pairs can show."""
    assert shown(Estimate(1.0041, 0.9812, 1.0271)) == "1.004 (0.981-1.027)"

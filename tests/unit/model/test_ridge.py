"""What chance explains of coefficients is drawn to nothing."""

from __future__ import annotations

import numpy as np
import pytest

from sizer.model.ridge import drawn_to_nothing


def test_a_single_one_keeps_the_part_of_its_square_that_is_not_error() -> None:
    """James and Stein's estimator, the positive part; one below 0 is none."""
    for found, variance, left in ((0.8, 0.04, 0.75), (0.2, 0.04, 0.0), (-0.8, 0.04, 0.0)):
        values, covariance = drawn_to_nothing(np.array([found]), np.array([[variance]]))
        assert values == pytest.approx([left])
        assert covariance[0, 0] == pytest.approx(variance * left / found if left else 0.0)


def test_one_that_cannot_be_told_becomes_small_beside_one_that_can() -> None:
    """Whatever it was found to be."""
    values, covariance = drawn_to_nothing(np.array([0.8, 5.0]), np.diag([0.001, 400.0]))
    assert values[0] == pytest.approx(0.8, rel=0.01)
    assert values[1] < 0.02
    assert covariance[1, 1] < 1.0


def test_of_two_that_tell_the_same_what_they_tell_together_is_kept() -> None:
    """Though neither is known by itself, and one was found below 0."""
    alike = np.array([[1.0, -0.99], [-0.99, 1.0]])
    values, _ = drawn_to_nothing(np.array([0.9, 0.1]), 0.5 * alike)
    assert values.sum() == pytest.approx(1.0, rel=0.05)
    assert values.min() > 0.2
    values, covariance = drawn_to_nothing(np.array([1.4, -0.5]), np.array([[0.1, -0.05], [-0.05, 0.1]]))
    assert values[1] == 0.0
    assert 0.5 < values[0] < 1.4
    assert covariance[1].tolist() == [0.0, 0.0]

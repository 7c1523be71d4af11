from __future__ import annotations

import pytest
from scipy.special import chdtrc, fdtrc, stdtrit

from sizer.distributions import chi_squared_tail, f_tail, student_quantile

FREEDOMS = [1, 1.7, 2, 3, 4.25, 7, 12, 30, 61.3, 99]


@pytest.mark.parametrize("share", [0.5, 0.75, 0.9, 0.95, 0.975, 0.9995])
@pytest.mark.parametrize("freedom", FREEDOMS)
def test_a_quantile_of_students_t_is_that_of_a_library(freedom: float, share: float) -> None:
    """Also between whole degrees of freedom, which correlated samples and effective parameters leave."""
    assert student_quantile(freedom, share) == pytest.approx(float(stdtrit(freedom, share)), rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("freedom", [1000, 9876.5])
def test_of_thousands_of_degrees_it_is_nearly_as_exact(freedom: float) -> None:
    """Tables of thousands of rows are judged by it."""
    assert student_quantile(freedom, 0.95) == pytest.approx(float(stdtrit(freedom, 0.95)), rel=1e-10)


@pytest.mark.parametrize("value", [1e-3, 0.3, 1.0, 4.0, 17.0, 60.0, 400.0])
@pytest.mark.parametrize("freedom", [1, 2, 3, 4, 5, 12, 31])
def test_a_tail_of_chi_squared_is_that_of_a_library(freedom: int, value: float) -> None:
    """From next to all of it to next to none."""
    assert chi_squared_tail(freedom, value) == pytest.approx(float(chdtrc(freedom, value)), rel=1e-12)


@pytest.mark.parametrize("value", [0.0, 1e-3, 0.3, 1.0, 4.0, 60.0])
@pytest.mark.parametrize("below", [2, 3, 9, 40])
@pytest.mark.parametrize("above", [1, 2, 5, 12])
def test_a_tail_of_f_is_that_of_a_library(above: int, below: int, value: float) -> None:
    """From all of it to next to none."""
    assert f_tail(above, below, value) == pytest.approx(float(fdtrc(above, below, value)), rel=1e-12)

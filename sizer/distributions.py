"""Quantiles of Student's t, and tails of chi-squared and F: what statistics of a few runs are judged by.

To about 1e-12 of each figure up to a hundred degrees of freedom, and 1e-10 up to 10,000. The library that has all
distributions takes longer to import than numpy.
"""

from __future__ import annotations

import math
from functools import lru_cache

EXACT = 4e-16
"""Relative change of a fraction or a quantile at which it has settled."""
TINY = 1e-300
"""In the place of a 0 that would be divided by (Lentz's method)."""


@lru_cache(maxsize=1024)
def student_quantile(freedom: float, share: float) -> float:
    """What Student's t, of `freedom` > 0 degrees, falls below with the probability `share`, at least 0.5.

    Newton's method from 0: beyond it the tail is convex, so that no step goes too far.
    """
    beyond, found = 1 - share, 0.0
    scale = math.exp(math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2)) / math.sqrt(freedom * math.pi)
    for _ in range(200):
        tail = _beta(freedom / 2, 0.5, freedom, found**2) / 2
        density = scale * math.exp(-(freedom + 1) / 2 * math.log1p(found**2 / freedom))
        step = (tail - beyond) / density
        found += step
        if step <= EXACT * found:
            break
    return found


def chi_squared_tail(freedom: int, value: float) -> float:
    """The probability that chi-squared of a whole number of degrees of freedom, 1 at least, exceeds the value.

    Abramowitz and Stegun 1964, 26.4.4 and 26.4.5.
    """
    half = value / 2
    term = math.exp(-half) if freedom % 2 == 0 else math.exp(-half) * math.sqrt(half) / math.gamma(1.5)
    found, power = (0.0 if freedom % 2 == 0 else math.erfc(math.sqrt(half))), (1.0 if freedom % 2 == 0 else 1.5)
    for _ in range(freedom // 2):
        found += term
        term *= half / power
        power += 1
    return found


def f_tail(above: float, below: float, value: float) -> float:
    """The probability that F exceeds the value, with so many degrees of freedom above and below the line."""
    return _beta(below / 2, above / 2, below, above * value)


def _beta(a: float, b: float, one: float, other: float) -> float:
    """The regularised incomplete beta function at one / (one + other), which is exact near both of its ends.

    By its continued fraction (DLMF 8.17.22, https://dlmf.nist.gov/8.17) from the end at which that settles soon.
    """
    if other <= 0:
        return 1.0
    x, rest = one / (one + other), other / (one + other)
    if x > (a + 1) / (a + b + 2):
        return 1 - _beta(b, a, other, one)
    logarithm = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log(rest)
    return math.exp(logarithm) / a / _fraction(a, b, x)


def _fraction(a: float, b: float, x: float) -> float:
    """`1 + d1 / (1 + d2 / (1 + ...` by Lentz's method (Lentz 1976)."""
    found, upper, lower = 1.0, 1.0, 0.0
    for m in range(1, 10_000):
        half = m // 2
        if m % 2:
            term = -(a + half) * (a + b + half) * x / ((a + m - 1) * (a + m))
        else:
            term = half * (b - half) * x / ((a + m - 1) * (a + m))
        lower = 1 / (1 + term * lower or TINY)
        upper = 1 + term / upper or TINY
        found *= upper * lower
        if abs(upper * lower - 1) <= EXACT:
            break
    return found

"""What the equation does not say of a configuration: alike near by, and pulled to what was measured.

Ln of a measured rate is the equation's, a misfit, and the noise of the measurement. Misfits have one scale s, which
is a quantity of the posterior, and the covariance `s^2 ((1 - OWN) k + OWN)` (OWN at the same place alone) with the
kernel
`k = exp(-d^2 / 2)`: d is the distance in ln of vCPUs, batch size, accelerators and memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sizer.model.coordinates import batch_of, disk_of, gpus_of, memory_of, vcpus_of
from sizer.model.feeds import label_at
from sizer.model.model import Feed, Observation, WorkloadFacts
from sizer.records.configuration import Configuration

Array = NDArray[np.float64]

LENGTHS = (0.5, 1.0, 0.6, 0.7)
"""How far likeness reaches in ln of vCPUs, batch size, accelerators and memory. By hand."""
APART = 4.0
"""Added to d^2 for another disk, another kind of accelerator, or another input. By hand."""
OWN = 0.25
"""Part of a misfit's variance that is a configuration's own. By hand."""
FREEDOM = 5.0
"""Degrees of freedom of Student's t: now and then a configuration is far off."""


class Places:
    """Configurations as the kernel sees them (n)."""

    def __init__(self, facts: WorkloadFacts, configurations: Sequence[Configuration], feeds: Sequence[Feed]) -> None:
        values = [
            (vcpus_of(each), max(1, batch_of(each)), max(1, gpus_of(each)), max(1, memory_of(each)))
            for each in configurations
        ]
        self.at = np.log(np.array(values, dtype=float).reshape(-1, 4)) / LENGTHS
        kinds = [(disk_of(each), label_at(facts, each), feed) for each, feed in zip(configurations, feeds, strict=True)]
        self.kinds = list(zip(*kinds, strict=True)) if kinds else [(), (), ()]

    def covariance(self, other: Places) -> Array:
        """Of misfits here and there (n, m), in units of their variance."""
        squares = ((self.at[:, None] - other.at[None]) ** 2).sum(axis=2)
        for mine, theirs in zip(self.kinds, other.kinds, strict=True):
            codes = {kind: code for code, kind in enumerate(dict.fromkeys([*mine, *theirs]))}
            one, two = (np.array([codes[kind] for kind in kinds], dtype=int) for kinds in (mine, theirs))
            squares = squares + APART * (one[:, None] != two[None])
        found: Array = (1 - OWN) * np.exp(-squares / 2) + OWN * (squares < 1e-12)
        return found


@dataclass(frozen=True)
class Misfit:
    """The misfits of measured configurations, in the basis in which they, over their noise, are independent."""

    places: Places
    turned: Array
    spread: Array
    log_noise: float

    @classmethod
    def of(cls, places: Places, deviation: Array) -> Misfit:
        """`deviation` (n,) is that of each measured ln rate."""
        spread, basis = np.linalg.eigh(places.covariance(places) / np.outer(deviation, deviation))
        return cls(places, basis / deviation[:, None], np.maximum(spread, 0.0), float(np.log(deviation).sum()))

    def log_likelihood(self, residuals: Array, scale: Array) -> Array:
        """Of residuals (R, n) of ln rate with misfits of this scale (R, 1): (R,)."""
        variance = scale**2 * self.spread + 1
        squares = (residuals @ self.turned) ** 2 / variance
        found: Array = -0.5 * ((FREEDOM + 1) * np.log1p(squares / FREEDOM) + np.log(variance)).sum(axis=1)
        return found - self.log_noise

    def left_out(self, residuals: Array, scale: Array) -> tuple[Array, Array]:
        """Of each place (R, n), by the others alone: how far it lies off, and the variance of that.

        Rasmussen and Williams 2006, 5.4.2: with K the covariance of residuals r, `(K^-1 r)_i / (K^-1)_ii` and
        `1 / (K^-1)_ii`.
        """
        weight = 1 / (scale**2 * self.spread + 1)
        precision = weight @ (self.turned**2).T
        off = ((residuals @ self.turned) * weight) @ self.turned.T
        return off / precision, 1 / precision

    def known(self, residuals: Array, scale: Array, there: Places) -> tuple[Array, Array]:
        """At m other places what is known of the misfit: its mean and its variance (R, m)."""
        across = there.covariance(self.places) @ self.turned
        weight = scale**2 / (scale**2 * self.spread + 1)
        mean = (residuals @ self.turned * weight) @ across.T
        variance = scale**2 - scale**2 * (weight @ (across**2).T)
        return mean, np.maximum(variance, 0.0)


def misfit_of(facts: WorkloadFacts, seen: Sequence[Observation]) -> Misfit:
    """Of the observations that are rates and no lower bounds."""
    fed = [each for each in seen if not each.starved]
    places = Places(facts, [each.configuration for each in fed], [each.feed for each in fed])
    return Misfit.of(places, np.array([each.deviation for each in fed]))

"""What is believed after the runs: tempered particles (sequential Monte Carlo), seeded, and what the equation leaves.

Particles drawn from the beliefs are weighed by a power of the likelihood that rises from 0 to 1, by as much at a time
as leaves half of them counting; each time they are resampled and moved. Del Moral, Doucet and Jasra 2006.

Ln of a measured rate is the equation's, a misfit, and the noise of the measurement. Misfits are alike near by: they
have one scale s, which is a quantity of the posterior, and the covariance `s^2 ((1 - OWN) k + OWN)` (OWN at the same
place alone) with the kernel `k = exp(-d^2 / 2)`: d is the distance in ln of vCPUs, batch size, accelerators and memory.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from zlib import crc32

import numpy as np

from sizer.model.beliefs import Belief, beliefs
from sizer.model.equation import Array, Draws, Indices, Rows, build_rows, solve, spread
from sizer.model.model import (
    Feed,
    MeasuredRange,
    Observation,
    Posterior,
    WorkloadFacts,
    batch_of,
    disk_of,
    gpus_of,
    memory_of,
    vcpus_of,
)
from sizer.model.runs import label_at
from sizer.records.prediction import Configuration

PARTICLES = 800
KEPT = 256
MOVES = 15
"""Moves of all particles at each temperature."""
LAST = 2
"""Times as many at the last one."""
AFRESH = 3
"""Every third move draws one quantity of each particle from its belief, so that switches change."""
SEED = 20181
LENGTHS = (0.5, 1.0, 0.6, 0.7)
"""How far likeness reaches in ln of vCPUs, batch size, accelerators and memory. By hand."""
APART = 4.0
"""Added to d^2 for another disk, another kind of accelerator, or another input. By hand."""
OWN = 0.25
"""Part of a misfit's variance that is a configuration's own. By hand."""
FREEDOM = 5.0
"""Degrees of freedom of Student's t: now and then a configuration is far off."""
MOST, LEARNT = 400, 150
"""Observations that predictions are pulled to, and that quantities are learnt from; of more, as many evenly."""
TOGETHER = 8000
"""Rates that are computed together: larger arrays leave the CPU's cache, and get new memory each time."""
MANY = 40
"""Observations from which on half of the particles, and a third of their moves, must be enough."""
MORE_THAN_BUSY, LESS_THAN_BUSY = 0.05, 0.5
"""Standard deviations of ln of the CPU's stage over the core-seconds that were accounted. A sample cannot need more of
the CPU than it got, within what accounting errs; it may need less, because waiting that spins is accounted, too."""
ACCELERATOR_BUSY = 0.05
"""The same for the accelerator, whose busy time is its own."""


def posterior(
    facts: WorkloadFacts, measured: MeasuredRange, observations: Sequence[Observation], noise: float
) -> Posterior:
    """What is believed of the quantities of a workload after these observations."""
    before = beliefs(facts, measured, observations)
    means = Draws(tuple(belief.name for belief in before), np.array([[belief.mean for belief in before]]))
    rows = build_rows(facts, measured, [observation.configuration for observation in observations], seen=observations)
    finite = np.isfinite(solve(means, rows).log_rate[0])  # a replay from the page cache touches no stage
    expressible = [observation for observation, counts in zip(observations, finite, strict=True) if counts]
    seen = expressible[:: math.ceil(len(expressible) / MOST)]
    some = seen[:: math.ceil(len(seen) / LEARNT)]
    rows = build_rows(facts, measured, [run.configuration for run in some], seen=some)
    effort = (PARTICLES, MOVES) if len(some) < MANY else (PARTICLES // 2, MOVES // 3)
    after = sample(before, _log_likelihood(facts, rows, some), *effort)
    vectors = tuple(tuple(float(f"{value:.6g}") for value in vector) for vector in after.values)
    return Posterior(after.names, vectors, tuple(seen), noise)


def _log_likelihood(facts: WorkloadFacts, rows: Rows, seen: Sequence[Observation]) -> Callable[[Draws], Array]:
    """Of R vectors of the quantities ln of how likely these observations are under each (R,)."""
    target, deviation = (
        np.array([getattr(observation, name) for observation in seen]) for name in ("log_rate", "deviation")
    )
    starved, misfit = np.array([observation.starved for observation in seen]), misfit_of(facts, seen)
    vcpus = np.array([vcpus_of(observation.configuration) for observation in seen])
    accounted = (
        np.array([[observation.core_seconds, observation.accelerator_seconds] for observation in seen], dtype=float)
    ).T
    with np.errstate(divide="ignore"):
        busy, accelerator_busy = np.log(np.where(accounted > 0, accounted, np.nan)) - [np.log(vcpus), 0 * vcpus]
    on_cpu, on_accelerator = np.isfinite(busy), np.isfinite(accelerator_busy)

    def of_some(draws: Draws) -> Array:
        solution, scale = solve(draws, rows), np.exp(draws["misfit"])
        with np.errstate(invalid="ignore"):
            residuals = target - solution.log_rate
            total = misfit.log_likelihood(residuals[:, ~starved] if starved.any() else residuals, scale)
            if starved.any():  # lower bounds: how likely the true rates are above them
                from scipy.special import log_ndtr

                off = residuals[:, starved] / np.hypot(deviation[starved], scale)
                total = total + log_ndtr(-off).sum(axis=1)
        if on_cpu.any():
            cpu = solution.cpu[:, on_cpu] - busy[on_cpu]
            total = total - _squares(cpu / np.where(cpu > 0, MORE_THAN_BUSY, LESS_THAN_BUSY))
        if on_accelerator.any():
            off = solution.accelerator[:, on_accelerator] - accelerator_busy[on_accelerator]
            total = total - _squares(off / ACCELERATOR_BUSY)
        return np.asarray(total)

    def of(draws: Draws) -> Array:
        parts = math.ceil(len(draws) * len(seen) / TOGETHER)
        return np.concatenate([of_some(Draws(draws.names, some)) for some in np.array_split(draws.values, parts)])

    return of


def _squares(off: Array) -> Array:
    """Half of the sum of squares of each draw, of those that are finite (D,)."""
    return np.asarray(0.5 * (np.where(np.isfinite(off), off, 0.0) ** 2).sum(axis=1))


def sample(
    beliefs: Sequence[Belief], log_likelihood: Callable[[Draws], Array], count: int = PARTICLES, moves: int = MOVES
) -> Draws:
    """KEPT vectors from the posterior, by so many particles, each moved so often at a temperature.

    The likelihood takes R vectors and gives (R,). Of what no run can tell the belief itself is kept.
    """
    untold = [belief for belief in beliefs if belief.untold]
    beliefs = [belief for belief in beliefs if not belief.untold]
    random = np.random.default_rng(SEED)
    names = tuple(belief.name for belief in beliefs)
    mean = np.array([belief.mean for belief in beliefs])
    deviation = np.array([belief.deviation for belief in beliefs])

    def likelihood(standard: Array) -> Array:
        likelihoods = log_likelihood(Draws(names, mean + deviation * standard))
        return np.where(np.isfinite(likelihoods), likelihoods, -1e9)

    particles = random.standard_normal((count, len(names)))
    value, power = likelihood(particles), 0.0
    switches = [place for place, name in enumerate(names) if name.startswith("on:")]
    while power < 1:
        power, chosen = _resampled(value, power, random)
        particles, value = particles[chosen], value[chosen]
        lower = np.linalg.cholesky(np.atleast_2d(np.cov(particles.T)) + 1e-6 * np.eye(len(names)))
        for move in range(moves if power < 1 else LAST * moves):  # so that what they are drawn from stays (Metropolis)
            log_belief = 0.0
            if move % AFRESH == AFRESH - 1:
                tried = _afresh(particles, switches, random)
            else:
                tried = _beside(particles, lower, random)
                log_belief = -0.5 * (tried**2 - particles**2).sum(axis=1)
            there = likelihood(tried)
            taken = np.log(random.random(count)) < power * (there - value) + log_belief
            particles, value = np.where(taken[:, None], tried, particles), np.where(taken, there, value)
    kept = mean + deviation * particles[random.permutation(count)[:KEPT]]
    as_before = [belief.mean + belief.deviation * spread(KEPT, number) for number, belief in enumerate(untold, start=1)]
    return Draws((*names, *(belief.name for belief in untold)), np.column_stack([kept, *as_before]))


def believed(draws: Draws, beliefs: Sequence[Belief]) -> Draws:
    """The draws, with what is believed of the quantities that they lack: the same for each of a name."""
    lacking = [belief for belief in beliefs if belief.name not in draws]
    values = [belief.mean + belief.deviation * spread(len(draws), crc32(belief.name.encode())) for belief in lacking]
    return Draws((*draws.names, *(belief.name for belief in lacking)), np.column_stack([draws.values, *values]))


def _resampled(value: Array, power: float, random: np.random.Generator) -> tuple[float, Indices]:
    """The next power, and which particles (systematic resampling) go on with it."""

    def weights(to: float) -> Array:
        relative: Array = np.exp((to - power) * (value - value.max()))
        return relative / float(relative.sum())

    def counting(to: float) -> float:
        return 1 / float((weights(to) ** 2).sum())

    low, high = power, 1.0
    if counting(high) < 0.5 * len(value):
        for _ in range(30):
            middle = (low + high) / 2
            low, high = (low, middle) if counting(middle) < 0.5 * len(value) else (middle, high)
        high = max(low, power + 1e-6)
    ticks = (random.random() + np.arange(len(value))) / len(value)
    return high, np.searchsorted(np.cumsum(weights(high)), ticks).clip(0, len(value) - 1)


def _beside(particles: Array, lower: Array, random: np.random.Generator) -> Array:
    """Each along the covariance of all."""
    count, width = particles.shape
    scale = np.exp(random.uniform(np.log(0.1), 0.0, (count, 1))) * 2.38 / np.sqrt(width)
    return np.asarray(particles + scale * (random.standard_normal((count, width)) @ lower.T))


def _afresh(particles: Array, switches: Sequence[int], random: np.random.Generator) -> Array:
    """Of each one quantity, or one switch, from its belief."""
    count, width = particles.shape
    among = switches if switches and random.random() < 0.5 else range(width)
    proposed = particles.copy()
    chosen = np.array(among)[random.integers(0, len(among), count)]
    proposed[np.arange(count), chosen] = random.standard_normal(count)
    return proposed


class Places:
    """Configurations as the kernel sees them (n)."""

    def __init__(self, facts: WorkloadFacts, configurations: Sequence[Configuration], feeds: Sequence[Feed]) -> None:
        values = [
            (
                vcpus_of(configuration),
                max(1, batch_of(configuration)),
                max(1, gpus_of(configuration)),
                max(1, memory_of(configuration)),
            )
            for configuration in configurations
        ]
        self.at = np.log(np.array(values, dtype=float).reshape(-1, 4)) / LENGTHS
        kinds = [
            (disk_of(configuration), label_at(facts, configuration), feed)
            for configuration, feed in zip(configurations, feeds, strict=True)
        ]
        self.kinds = list(zip(*kinds, strict=True)) if kinds else [(), (), ()]

    def covariance(self, other: Places) -> Array:
        """Of misfits here and there (n, m), in units of their variance."""
        squares = ((self.at[:, None] - other.at[None]) ** 2).sum(axis=2)
        for mine, theirs in zip(self.kinds, other.kinds, strict=True):
            codes = {kind: code for code, kind in enumerate(dict.fromkeys([*mine, *theirs]))}
            one, two = (np.array([codes[kind] for kind in kinds], dtype=int) for kinds in (mine, theirs))
            squares = squares + APART * (one[:, None] != two[None])
        return np.asarray((1 - OWN) * np.exp(-squares / 2) + OWN * (squares < 1e-12))


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
        log_density: Array = -0.5 * ((FREEDOM + 1) * np.log1p(squares / FREEDOM) + np.log(variance)).sum(axis=1)
        return log_density - self.log_noise

    def left_out(self, residuals: Array, scale: Array) -> tuple[Array, Array]:
        """Of each place (R, n), by the others alone: how far it lies off, and the variance of that.

        Rasmussen and Williams 2006, 5.4.2: with K the covariance of residuals r, `(K^-1 r)_i / (K^-1)_ii` and
        `1 / (K^-1)_ii`.
        """
        weight = 1 / (scale**2 * self.spread + 1)
        precision = weight @ (self.turned**2).T
        off = ((residuals @ self.turned) * weight) @ self.turned.T
        return off / precision, 1 / precision

    def conditional(self, residuals: Array, scale: Array, there: Places) -> tuple[Array, Array]:
        """At m other places what is known of the misfit: its mean and its variance (R, m)."""
        across = there.covariance(self.places) @ self.turned
        weight = scale**2 / (scale**2 * self.spread + 1)
        mean = (residuals @ self.turned * weight) @ across.T
        variance = scale**2 - scale**2 * (weight @ (across**2).T)
        return mean, np.maximum(variance, 0.0)


def misfit_of(facts: WorkloadFacts, seen: Sequence[Observation]) -> Misfit:
    """Of the observations that are rates and no lower bounds."""
    fed = [observation for observation in seen if not observation.starved]
    places = Places(
        facts, [observation.configuration for observation in fed], [observation.feed for observation in fed]
    )
    return Misfit.of(places, np.array([observation.deviation for observation in fed]))

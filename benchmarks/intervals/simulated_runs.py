"""Runs of a child whose true rate is known: its steps are drawn, its clock is counted, nothing is started. Pure.

The runs are observed as the launcher observes them: events are taken and the run is judged every half second.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sizer.analysis.events import Start
from sizer.analysis.monitor import RunMonitor
from sizer.analysis.steady_state import SteadyState
from sizer.records.run import Step
from sizer.records.study import Limits, Measure, RunSpec, Workload
from sizer.runner.watching import TICK_SECONDS

Array = NDArray[np.float64]
Random = np.random.Generator

SAMPLES = 8
"""A step's."""

LONGEST = 2.5
"""Times its asked seconds for which a child has steps: the longest warm-up is as long as what remains."""


@dataclass(frozen=True)
class SimulatedChild:
    """Durations of its steps in seconds, and its true mean samples/s between two times after its start."""

    durations: Array
    truth: Callable[[float, float], float]


def noisy(random: Random, seconds: float, step: float, spread: float = 0.1, correlation: float = 0.0) -> SimulatedChild:
    """Steps whose log durations are AR(1): `spread` is their standard deviation, `correlation` that of neighbours."""
    durations = step * np.exp(_correlated(random, _count(seconds, step), correlation) * spread - spread**2 / 2)
    return SimulatedChild(durations, lambda _, __: SAMPLES / step)


def warming(random: Random, seconds: float, step: float) -> SimulatedChild:
    """Twice as slow at first, which fades with a twentieth of the run as its time constant; the truth is without it."""
    child = noisy(random, seconds, step)
    fading = np.exp(-np.arange(len(child.durations)) * step / (0.05 * seconds))
    return SimulatedChild(child.durations * (1 + fading), child.truth)


def drifting(random: Random, seconds: float, step: float, change: float) -> SimulatedChild:
    """The rate changes by the share `change` in `seconds`, linearly; the truth is its mean over the time measured."""
    slope = change / seconds
    # Work w at the rate 1 + slope * t is done at the time t with t + slope * t**2 / 2 = w.
    work = np.cumsum(noisy(random, seconds, step, 0.05).durations)
    times = (np.sqrt(np.maximum(1 + 2 * slope * work, 0.0)) - 1) / slope
    return SimulatedChild(
        np.diff(times, prepend=0.0), lambda start, end: SAMPLES / step * (1 + slope * (start + end) / 2)
    )


def stalling(random: Random, seconds: float, step: float, stall: float = 0.15) -> SimulatedChild:
    """A stall every 3 s of work, at random (Poisson); the truth is the long run's."""
    every, count = 3.0, int(LONGEST * seconds) + 20
    gaps = random.exponential(every, count)
    durations = noisy(random, seconds, step, 0.05).durations
    stalled = np.searchsorted(np.cumsum(durations), np.cumsum(gaps))
    np.add.at(durations, stalled[stalled < len(durations)], stall)
    return SimulatedChild(durations, lambda _, __: SAMPLES / step * every / (every + stall))


def falling(random: Random, seconds: float, step: float, at: float) -> SimulatedChild:
    """Half of the rate from the share `at` of the seconds on, as when burst credit is spent."""
    durations = noisy(random, seconds, step, 0.05).durations
    late = np.cumsum(durations) > at * seconds
    return SimulatedChild(np.where(late, 2 * durations, durations), lambda _, __: float("nan"))


def observed(child: SimulatedChild, seconds: float, precision: float = 0.02) -> RunMonitor:
    """The run of this child, from its first step to where sizer would stop it; its clock starts at 0."""
    spec = RunSpec(Workload("child", "command"), SAMPLES, Limits(), Measure(1, seconds, precision))
    seen = RunMonitor(spec, began=0.0, start=Start("sample", SAMPLES, 0, 0))
    times = np.cumsum(child.durations)
    taken, now = 0, 0.0
    while seen.stop is None:
        now += TICK_SECONDS
        until = int(np.searchsorted(times, now, side="right"))
        seen.take([Step(time, SAMPLES, 0.0, 0) for time in times[taken:until].tolist()])
        taken = until
        seen.decide(now, stop_now=False)
    return seen


def measured(child: SimulatedChild, seconds: float) -> SteadyState:
    """What the run's record would hold."""
    steady = observed(child, seconds).shown.steady
    assert steady is not None
    return steady


def _count(seconds: float, step: float) -> int:
    return int(LONGEST * seconds / step) + 20


def _correlated(random: Random, count: int, correlation: float) -> Array:
    """A stationary AR(1) series with variance 1."""
    from scipy.signal import lfilter

    shocks = random.normal(size=count) * np.sqrt(1 - correlation**2)
    shocks[0] = random.normal()
    series: Array = lfilter([1.0], [1.0, -correlation], shocks)
    return series

"""Do the 95 % intervals hold the true rate? Simulated children, replayed through the real stopping rule.

    python benchmarks/intervals/intervals.py [--runs 400] [--seed 1]

Each case must cover the truth in 92 to 98 % of its runs; where a run is too short to tell (seconds that hold only a
few correlation times of the noise, or a few stalls) none is asked. Then: how often a lasting fall of the rate is found
where there is none (at most 1 %) and where there is one (at least 95 %). Exit status 1 if one of these fails. No
process is started and no time is waited for: it measures nothing of the machine, and the same seed gives the same table
everywhere.
"""

from __future__ import annotations

import argparse
import zlib
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from simulated_runs import (
    Random,
    SimulatedChild,
    drifting,
    falling,
    measured,
    noisy,
    observed,
    stalling,
    warming,
)

from sizer.analysis.run_warnings import rate_change
from sizer.records.run import Step

COVERED = (0.92, 0.98)
FALSE_ALARMS = 0.01
POWER = 0.95


@dataclass(frozen=True)
class Case:
    """A kind of child, drawn anew for each run, and the seconds that each run is asked to measure."""

    name: str
    seconds: float
    draw: Callable[[Random, float], SimulatedChild]

    def children(self, runs: int, seed: int) -> list[SimulatedChild]:
        random = np.random.default_rng([seed, zlib.crc32(f"{self.name} {self.seconds:g}".encode())])
        return [self.draw(random, self.seconds) for _ in range(runs)]


@dataclass(frozen=True)
class Coverage:
    """What the intervals of a case's runs did; the half-width is the median, relative to the rate."""

    case: Case
    share: float
    half_width: float

    @property
    def holds(self) -> bool:
        return COVERED[0] <= self.share <= COVERED[1]


def correlated(step: float, correlation: float) -> Callable[[Random, float], SimulatedChild]:
    return lambda random, seconds: noisy(random, seconds, step, correlation=correlation)


def drift(step: float, change: float) -> Callable[[Random, float], SimulatedChild]:
    return lambda random, seconds: drifting(random, seconds, step, change)


def stalls(step: float) -> Callable[[Random, float], SimulatedChild]:
    return lambda random, seconds: stalling(random, seconds, step)


def fall(step: float, at: float) -> Callable[[Random, float], SimulatedChild]:
    return lambda random, seconds: falling(random, seconds, step, at)


def _label(step: float) -> str:
    return f"{step * 1000:g} ms"


REQUIRED = (
    *(Case("white noise, 100 ms", seconds, correlated(0.1, 0.0)) for seconds in (6, 10, 30)),
    *(Case("AR(1) 0.3, 100 ms", seconds, correlated(0.1, 0.3)) for seconds in (6, 10, 30)),
    *(Case("AR(1) 0.8, 100 ms", seconds, correlated(0.1, 0.8)) for seconds in (10, 30)),
    Case("AR(1) 0.95, 100 ms", 30, correlated(0.1, 0.95)),
    *(Case(f"AR(1) {much:g}, 5 ms", 6, correlated(0.005, much)) for much in (0.3, 0.8, 0.95)),
    *(
        Case(f"drift {much:+.0%}, 100 ms", seconds, drift(0.1, much))
        for much in (0.03, -0.1)
        for seconds in (6, 10, 30)
    ),
    *(Case(f"stalls at random, {_label(step)}", 30, stalls(step)) for step in (0.02, 0.1)),
    *(Case("warm-up, 100 ms", seconds, lambda random, seconds: warming(random, seconds, 0.1)) for seconds in (10, 30)),
    *(Case("few long steps, 2.5 s", seconds, correlated(2.5, 0.0)) for seconds in (25, 35)),
)
"""Every kind of child that the intervals must hold for."""

STEADY = (
    Case("white noise, 100 ms", 30, correlated(0.1, 0.0)),
    Case("AR(1) 0.8, 100 ms", 30, correlated(0.1, 0.8)),
    Case("drift -10%, 100 ms", 30, drift(0.1, -0.1)),
    Case("stalls at random, 100 ms", 30, stalls(0.1)),
)
"""Rates that do not fall for good."""

FALLS = tuple(Case(f"half from {at:.0%} on, 100 ms", 30, fall(0.1, at)) for at in (0.2, 0.35, 0.5, 0.65, 0.8))
"""Rates that do."""


def coverage(case: Case, runs: int, seed: int) -> Coverage:
    """How often the interval of a run holds the true rate."""
    covered, widths = 0, []
    for child in case.children(runs, seed):
        steady = measured(child, case.seconds)
        covered += steady.throughput.low <= child.truth(steady.start, steady.end) <= steady.throughput.high
        widths.append(steady.relative_half_width)
    return Coverage(case, covered / runs, float(np.median(widths)))


def falls_found(case: Case, runs: int, seed: int) -> float:
    """The share of runs, each of all of its seconds, in which a lasting fall is found."""
    return float(
        np.mean([rate_change(steps_of(child, case.seconds)) is not None for child in case.children(runs, seed)])
    )


def steps_of(child: SimulatedChild, seconds: float) -> list[Step]:
    """All steps of a run that goes on to its last second."""
    return observed(child, seconds, precision=1e-9).steps


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=400)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    failed = 0
    print("seconds  child                           coverage  half-width  aim")
    for case in REQUIRED:
        seen = coverage(case, arguments.runs, arguments.seed)
        failed += not seen.holds
        aim = "92-98 %" if seen.holds else "92-98 % MISSED"
        print(f"{case.seconds:7g}  {case.name:31} {seen.share:8.1%} {seen.half_width:11.2%}  {aim}", flush=True)
    print("\nseconds  child                           a lasting fall found  aim")
    for case in (*STEADY, *FALLS):
        share = falls_found(case, arguments.runs, arguments.seed)
        holds = share >= POWER if case in FALLS else share <= FALSE_ALARMS
        failed += not holds
        aim = f">= {POWER:.0%}" if case in FALLS else f"<= {FALSE_ALARMS:.0%}"
        print(f"{case.seconds:7g}  {case.name:31} {share:20.1%}  {aim}{'' if holds else ' MISSED'}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())

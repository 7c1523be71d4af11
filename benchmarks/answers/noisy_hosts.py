"""Hosts that others use: how slow the CPUs are through a study, in steps, ramps or spells. Pure."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

KINDS = ("steps", "ramps", "spells")
DRIFT = -math.log(0.8)
"""In ln: at the slowest, what the CPU binds makes 20 % less than at the fastest."""


@dataclass(frozen=True)
class NoisyHost:
    """Ln of how much slower the CPUs are at a time, from 0 to 1 through the study.

    `everywhere`: all workloads feel it; else the one of this number alone, as when only it needs what others take.
    `seen`: a sample costs more core-seconds, as under memory traffic; else the CPU's time goes to others, unseen.
    """

    kind: str
    everywhere: bool
    only: int
    seen: bool
    path: Callable[[float], float]

    def slower(self, workload: int, time: float) -> float:
        return self.path(time) if self.everywhere or workload == self.only else 0.0


def drawn_host(number: int, workloads: int, seed: int) -> NoisyHost:
    """The host of this number; every kind with every way of being felt in turn."""
    random = np.random.default_rng([seed, number, 7])
    kind = KINDS[number % 3]
    path = {"steps": _steps, "ramps": _ramp, "spells": _spells}[kind](random)
    return NoisyHost(kind, number // 3 % 2 == 0, int(random.integers(workloads)), number // 6 % 2 == 0, path)


def _steps(random: np.random.Generator) -> Callable[[float], float]:
    count = int(random.integers(2, 5))
    levels = random.permutation(np.linspace(0.0, DRIFT, count))
    ends = np.sort(random.uniform(0.1, 0.9, count - 1))
    return lambda time: float(levels[int(np.searchsorted(ends, time))])


def _ramp(random: np.random.Generator) -> Callable[[float], float]:
    """Up, down, or there and back."""
    turn = float(random.choice([0.0, 1.0, random.uniform(0.3, 0.7)]))
    return lambda time: DRIFT * float(np.interp(time, [0.0, turn, 1.0], [float(turn == 0), 1.0, float(turn == 1)]))


def _spells(random: np.random.Generator) -> Callable[[float], float]:
    """Three to six, together about a quarter of the time."""
    begins = random.uniform(0.0, 1.0, int(random.integers(3, 7)))
    lasts = random.uniform(0.03, 0.1, begins.size)
    return lambda time: DRIFT * float(((begins <= time) & (time < begins + lasts)).any())

"""Studies on a simulated host with neighbours: runs with their samples, steps and probes, and the truth of each."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import Any

import numpy as np

from sizer.records import (
    GIB,
    Bottleneck,
    Configuration,
    Demand,
    Estimate,
    Evidence,
    EvidenceKind,
    Limits,
    Measure,
    Outcome,
    ProbeCost,
    RoundCost,
    Run,
    RunSpec,
    Sample,
    Step,
    Workload,
)

Array = np.ndarray[Any, np.dtype[Any]]
TICK = 0.5
START_UP = 8.0
"""Seconds of a run before its steady state."""
BATCH = 32
ROUND = (0.0007, 0.0002)
"""Core-seconds of the reads and of the products of a round on the idle host as usual."""
LOOK_ERROR = (0.03, 0.06)
"""Standard deviations of ln of these by chance: measured 0.02 to 0.04 and 0.04 to 0.09 (`probe_gain.py`)."""
FEEL = np.array([[1.0, 0.5], [0.1, 1.0]])
"""How much of the noise of memory and of that of the cores each of them feels."""
BEGAN = datetime(2026, 11, 21, tzinfo=timezone.utc)


@dataclass(frozen=True)
class Host:
    """How far its memory moves in ln, slowly, over minutes, and quickly, over seconds; and its cores, likewise."""

    slow: float
    quick: float
    core_slow: float = 0.0
    core_quick: float = 0.0
    slow_seconds: float = 240.0
    quick_seconds: float = 6.0

    def paths(self, seconds: float, random: np.random.Generator) -> Array:
        """Of memory and of the cores (2, n), at each tick."""
        ticks = int(seconds / TICK) + 2
        return np.array(
            [
                _forgetting(ticks, slow, self.slow_seconds, random)
                + _forgetting(ticks, quick, self.quick_seconds, random)
                for slow, quick in ((self.slow, self.quick), (self.core_slow, self.core_quick))
            ]
        )


def _forgetting(ticks: int, deviation: float, seconds: float, random: np.random.Generator) -> Array:
    """An Ornstein-Uhlenbeck process at ticks."""
    kept = math.exp(-TICK / seconds)
    found, shocks = np.empty(ticks), random.normal(size=ticks) * math.sqrt(1 - kept**2)
    value = random.normal()
    for tick in range(ticks):
        value = kept * value + shocks[tick]
        found[tick] = value
    return deviation * found


@dataclass(frozen=True)
class Job:
    """A job that vCPUs bind: core-seconds a sample, how much of the noise of memory and of the cores it feels, and how
    much its own traffic slows the reads of a probe and itself, and its use of the cores the products, in ln, by its
    vCPUs. `ceiling`: samples a second of an accelerator that it waits for."""

    name: str
    cost: float = 0.01
    feels: float = 0.8
    feels_core: float = 0.9
    slows_probe: Callable[[float], float] = lambda _: 0.0
    slows_products: Callable[[float], float] = lambda _: 0.0
    slows_itself: Callable[[float], float] = lambda _: 0.0
    ceiling: float | None = None

    def log_rate(self, vcpus: float) -> float:
        """On the host as usual."""
        rate = vcpus / self.cost * math.exp(-self.slows_itself(vcpus))
        return math.log(rate if self.ceiling is None else min(rate, self.ceiling))


def study(
    jobs: list[Job],
    vcpus: tuple[float, ...],
    repeats: int,
    seconds: float,
    host: Host,
    random: np.random.Generator,
    own: float = 0.003,
) -> list[Run]:
    """The runs of these jobs in blocks of repeats, each block in an order of its own; `own` is the deviation of ln rate
    of a run that no host and no probe explains."""
    each = START_UP + seconds
    whole = [(job, value, repeat) for repeat in range(repeats) for job, value in _block(jobs, vcpus, random)]
    paths, ticks = host.paths(each * len(whole), random), int(each / TICK)
    return [
        _run(
            job, value, repeat, paths[:, number * ticks : (number + 1) * ticks + 1], number * each, seconds, own, random
        )
        for number, (job, value, repeat) in enumerate(whole)
    ]


def _block(jobs: list[Job], vcpus: tuple[float, ...], random: np.random.Generator) -> list[tuple[Job, float]]:
    block = [(job, value) for job in jobs for value in vcpus]
    return [block[place] for place in random.permutation(len(block))]


def _run(
    job: Job,
    vcpus: float,
    repeat: int,
    paths: Array,
    began: float,
    seconds: float,
    own: float,
    random: np.random.Generator,
) -> Run:
    first = int(START_UP / TICK)
    felt, off = (np.array([job.feels, job.feels_core]) @ paths)[first:], own * random.normal()
    cost = job.cost * np.exp(felt + job.slows_itself(vcpus) + off)
    rate = vcpus / cost
    if job.ceiling is not None:
        rate = np.minimum(rate, job.ceiling * math.exp(off))
    done = np.concatenate([[0.0], np.cumsum(rate[:-1] * TICK)])
    used = np.concatenate([[0.0], np.cumsum((rate * cost)[:-1] * TICK)])
    rounds = 2 * math.ceil(vcpus)
    slowed = FEEL @ paths + np.array([[job.slows_probe(vcpus)], [job.slows_products(vcpus)]])
    chance = random.normal(size=slowed.shape) * np.array(LOOK_ERROR)[:, None] / math.sqrt(rounds)
    looks = rounds * np.array(ROUND)[:, None] * np.exp(slowed + chance)[:, first:]
    reads, products = np.hstack([np.zeros((2, 1)), np.cumsum(looks[:, :-1], axis=1)])
    times = 1000.0 + began + START_UP + TICK * np.arange(len(felt))
    samples = tuple(
        Sample(
            float(t),
            core_seconds=float(c),
            probe_core_seconds=float(read),
            probe_rounds=rounds * number,
            product_core_seconds=float(product),
        )
        for number, (t, c, read, product) in enumerate(zip(times, used, reads, products, strict=True))
    )
    # A step a tick with as many samples as were done meanwhile, to the hundredth part of one.
    counted = np.diff(np.round(100 * done), prepend=0.0)
    steps = tuple(Step(float(t), int(n), 0.0, 0) for t, n in zip(times, counted, strict=True))
    span = float(times[-1] - times[0])
    value = 100 * float(done[-1]) / span
    within = 1.96 * float(np.std(felt)) / math.sqrt(max(1.0, len(felt) / 12))
    idle = np.array(ROUND) * np.exp(FEEL @ paths[:, 0] + 0.02 * random.normal(size=2))
    busy = min(1.0, float(used[-1]) / span / vcpus)
    bound = Bottleneck.CPU if busy > 0.85 else Bottleneck.ACCELERATOR
    return Run(
        spec=RunSpec(Workload(job.name, "imagenet_preprocessing"), BATCH, Limits(vcpus), Measure(), repeat),
        outcome=Outcome.COMPLETED,
        configuration=Configuration(vcpus, 8 * GIB, "host", BATCH),
        started_at=(BEGAN + timedelta(seconds=began)).isoformat(timespec="milliseconds"),
        wall_seconds=START_UP + seconds,
        throughput=Estimate(value, value * math.exp(-within), value * math.exp(within)),
        warm_up_seconds=0.0,
        measured_seconds=span,
        demand=Demand(core_seconds=float(used[-1]) / (100 * float(done[-1]))),
        evidence=Evidence(bound, {"cpu": busy}, EvidenceKind.BUSIEST, {"cpu": busy}),
        probe=_probe_cost(looks[:, :-1] / rounds, idle, rounds),
        overhead=0.006,
        steps=steps,
        samples=samples,
    )


def _probe_cost(costs: Array, idle: Array, rounds: int) -> ProbeCost:
    """Of what each kind cost in each look (2, n)."""
    means, errors = np.exp(np.log(costs).mean(axis=1)), np.array(LOOK_ERROR) / math.sqrt(rounds * costs.shape[1])
    reads, product = (RoundCost(*map(float, each)) for each in zip(means, errors, idle, strict=True))
    return ProbeCost(rounds * costs.shape[1], 0.005, reads.during, reads.error, reads.idle, product)

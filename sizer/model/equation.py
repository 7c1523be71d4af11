"""The bottleneck equation: service times of the stages -> throughput, over all draws of its quantities at once.

With t_j the seconds a sample takes at stage j alone, `X = (sum t_j^p)^(-1/p)`: p = 1 is one after another, large p is
perfect overlap. The share of stage j is `-d ln X / d ln t_j = t_j^p / sum t^p`, so shares sum to one. A loader's worker
that waits for the disk does nothing else meanwhile: its wait is added to its CPU time before.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, reduce
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sizer.model.stages import Rows

if TYPE_CHECKING:
    from sizer.model.beliefs import Belief

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]
Indices = NDArray[np.intp]

STAGES = ("cpu", "serial", "accelerator", "read", "write", "latency", "memory")
CPU, SERIAL, ACCELERATOR, READ, WRITE, LATENCY, MEMORY = range(len(STAGES))
NEVER = -np.inf
"""Ln seconds of a stage that a row does not have."""
NOTHING = -80.0
"""Exponent of what adds nothing to 1; numpy takes ten times as long for one whose power is none, or nearly."""
LOG_SHARPNESS = (0.0, 4.6)
"""Bounds of ln p: below 0 stages would hinder each other, above 4.6 a hard minimum is reached within 1 %."""
SUPPOSED = 0.15
"""Standard deviation of ln seconds on a disk that no run was measured on: how exactly demands
and figures predict it."""
LEAST_FREE = 0.02
"""Memory left for the page cache, at the least, over what the job holds."""


@dataclass(frozen=True)
class Draws:
    """Vectors (D, k) of the named quantities: what is believed of them before runs, or after."""

    names: tuple[str, ...]
    values: Array

    @classmethod
    def of_means(cls, beliefs: Sequence[Belief]) -> Draws:
        """One vector, of what is expected of each."""
        return cls(tuple(each.name for each in beliefs), np.array([[each.mean for each in beliefs]]))

    def __len__(self) -> int:
        return len(self.values)

    def __contains__(self, name: str) -> bool:
        return name in self._places

    def __getitem__(self, name: str) -> Array:
        """Of one quantity (D, 1); KeyError if there is none of that name."""
        return self.values[:, self._places[name], None]

    def on(self, name: str) -> NDArray[np.bool_]:
        """Where the switch of that name is on (D, 1)."""
        found: NDArray[np.bool_] = self[f"on:{name}"] > 0
        return found

    def some(self, chosen: NDArray[np.intp]) -> Draws:
        return Draws(self.names, self.values[chosen])

    @cached_property
    def _places(self) -> dict[str, int]:
        return {name: place for place, name in enumerate(self.names)}


@dataclass(frozen=True)
class Solution:
    """Of D draws at n configurations: `log_rate`, and ln seconds of the CPU and the accelerator as accounting sees
    them, each (D, n). `times` are ln seconds of the stages side by side; a worker's are its CPU's and its wait.
    `shares` (D, n, stages) are found when they are asked for."""

    log_rate: Array
    cpu: Array
    accelerator: Array
    times: Mapping[int, Array]
    draws: Draws
    rows: Rows

    @cached_property
    def sharpness(self) -> Array:
        """Of each draw (D, 1)."""
        return _sharpness(self.draws)

    @cached_property
    def side_by_side(self) -> Mapping[int, Array]:
        """The shares of the stages in `times` (D, n): they sum to one."""
        scaled = {stage: self.sharpness * (time + self.log_rate) for stage, time in self.times.items()}
        return {stage: np.exp(np.maximum(each, NOTHING)) for stage, each in scaled.items()}

    @cached_property
    def of_a_worker(self) -> Mapping[int, Array]:
        """The parts of a worker's time, one after another: they sum to one."""
        computing = np.exp(self.cpu - self.times[CPU])
        slowed = np.exp(-_pressure(self.draws, self.rows))
        relieved = _relieved(self.draws, self.rows)
        busy = computing * slowed
        return {CPU: busy * relieved, SERIAL: busy * (1 - relieved), MEMORY: computing - busy, LATENCY: 1 - computing}

    @cached_property
    def shares(self) -> Array:
        found = np.zeros((*self.log_rate.shape, len(STAGES)))
        for stage, share in self.side_by_side.items():
            if stage == CPU:
                for part, its in self.of_a_worker.items():
                    found[..., part] += share * its
            else:
                found[..., stage] += share
        return found


def without(solution: Solution, stages: Collection[str]) -> Array:
    """Ln of how many times the rate is without these stages (D, n).

    With the share s of a stage alone, `X (1 - s)^(-1/p)` is the rate without it; of a worker's time a part goes.
    """
    power = solution.sharpness
    left = np.zeros_like(solution.log_rate)
    for stage, share in solution.side_by_side.items():
        if stage == CPU:
            parts = [part for name, part in solution.of_a_worker.items() if STAGES[name] not in stages]
            left += share * np.maximum(sum(parts), 0.0) ** power
        elif STAGES[stage] not in stages:
            left += share
    found: Array = -np.log(np.maximum(left, 1e-30)) / power
    return found


def solve(draws: Draws, rows: Rows) -> Solution:
    """The throughput of each draw at each row; -inf seconds where a row has no such stage."""
    cpu = _work(draws, rows) + _pressure(draws, rows) + _of_a_core_second(draws, rows)
    missed = _missed(draws, rows)
    waits, accelerator = _waits(draws, rows, missed), _accelerator(draws, rows)
    read, write = _disk(draws, rows, missed)
    worker = cpu if waits is None else np.logaddexp(cpu, waits, out=cpu.copy(), where=waits > NEVER)
    every = {CPU: worker, SERIAL: _cap(draws, rows), ACCELERATOR: accelerator, READ: read, WRITE: write}
    times = {stage: time for stage, time in every.items() if (time > NEVER).any()}
    power = _sharpness(draws)
    scaled = [power * time for time in times.values()]
    most = reduce(np.maximum, scaled, np.full((len(draws), len(rows.vcpus)), NEVER))
    with np.errstate(divide="ignore", invalid="ignore"):
        total = sum((np.exp(np.maximum(each - most, NOTHING)) for each in scaled), np.zeros_like(most))
        log_rate = -(most + np.log(total)) / power
    return Solution(log_rate, cpu, accelerator, times, draws, rows)


def _sharpness(draws: Draws) -> Array:
    found: Array = np.exp(np.clip(draws["sharpness"], *LOG_SHARPNESS))
    return found


def _work(draws: Draws, rows: Rows) -> Array:
    """Ln core-seconds a sample on one core."""
    work = draws["work"] + rows.decode_shift
    if "step" in draws:
        work = np.logaddexp(work + _where(rows.decodes), draws["step"] + _where(rows.steps))
    else:
        work = work + _where(rows.decodes | rows.steps)
    if "launch" in draws:
        work = work + np.where(draws.on("accelerator launches"), 0.0, _launches(draws["launch"], rows))
    return work


def _of_each(values: Array, of: Callable[[Array], Array]) -> Array:
    """(D, n) of what follows from these values (n,) alone, found once for each distinct one."""
    distinct, places = np.unique(values, return_inverse=True)
    return of(distinct)[:, places]


def _launches(launch: Array, rows: Rows) -> Array:
    """Ln of how many times a sample takes as long with these batches as with the usual one."""
    cost = np.exp(launch)
    return _of_each(rows.batch_ratio, lambda ratio: np.log1p(cost * ratio) - np.log1p(cost))


def _of_a_core_second(draws: Draws, rows: Rows) -> Array:
    """Ln seconds that a core-second of work takes on the vCPUs: contention, coherence, second threads, a quota."""
    return _of_each(rows.vcpus, lambda vcpus: _on_vcpus(draws, rows.with_vcpus(vcpus)))


def _on_vcpus(draws: Draws, rows: Rows) -> Array:
    c = rows.vcpus
    if "contention" not in draws:
        seconds = np.broadcast_to(-np.log(c), (len(draws), len(c)))
    else:
        gain = np.where(draws.on("second threads"), np.clip(draws["yield"], -0.3, 1.5), 1.0)
        second = np.where(draws.on("more cores"), np.minimum(rows.second_threads, c / 2), rows.second_threads)
        cores = np.maximum(c - second + gain * second, 0.02 * c)
        coherence = np.where(draws.on("coherence"), np.exp(draws["coherence"]), 0.0)
        more = np.maximum(c - 1, 0.0)
        handover = np.where(draws.on("handover") & (c > 1), np.log1p(np.exp(draws["handover"])), 0.0)
        seconds = np.log1p((np.exp(draws["contention"]) + coherence * c) * more) + handover - np.log(cores)
    if "quota" in draws:
        seconds = seconds + np.where(c % 1 > 0, np.clip(draws["quota"], -0.1, 0.4), 0.0)
    return seconds


def _relieved(draws: Draws, rows: Rows) -> Array:
    """The part of the CPU's time that twice the vCPUs shorten (D, n), 0 to 1."""
    here, twice = _of_a_core_second(draws, rows), _of_a_core_second(draws, rows.with_vcpus(2 * rows.vcpus))
    found: Array = np.clip((here - twice) / np.log(2), 0.0, 1.0)
    return found


def _pressure(draws: Draws, rows: Rows) -> Array:
    """Ln of how much slower all work is where little memory is free beside what the job holds."""
    if "pressure" not in draws:
        return np.zeros((1, 1))
    return _of_each(rows.memory_bytes, lambda memory: _pressed(draws, memory, rows.least_memory))


def _pressed(draws: Draws, memory: Array, least_memory: float) -> Array:
    held, free = _held_and_free(draws, memory, least_memory)
    slower = np.log1p(np.exp(draws["pressure"]) * held / free)
    return np.where(draws.on("pressure"), slower, 0.0)


def _held_and_free(draws: Draws, memory: Array, least_memory: float) -> tuple[Array, Array]:
    held = 0.98 * least_memory / (1 + np.exp(-draws["held"]))
    return held, np.maximum(memory - held, LEAST_FREE * held)


def _missed(draws: Draws, rows: Rows) -> Array:
    """Ln of the reads of a sample that go to the disk: by the data set's size, or by what the rates show of it."""
    with np.errstate(divide="ignore"):
        known: Array = np.log(rows.missed)[None]
    if "data" not in draws:
        return known
    return known + _of_each(rows.memory_bytes, lambda memory: _not_kept(draws, memory, rows.least_memory))


def _not_kept(draws: Draws, memory: Array, least_memory: float) -> Array:
    _, free = _held_and_free(draws, memory, least_memory)
    data = np.exp(draws["data"])
    fits = np.clip(free / data, 1e-9, 1 - 1e-9)
    lru = fits + (1 - fits) * np.log1p(-fits)
    kept = 1 / (1 + np.exp(-draws["keep"]))
    some = np.log(1 - ((1 - kept) * lru + kept * fits))
    some = np.where(draws.on("in order"), 0.0, some)
    return np.where(free >= data, np.log(1e-12), some)


def _waits(draws: Draws, rows: Rows, missed: Array) -> Array | None:
    """Ln seconds a sample that the workers, one a whole vCPU, wait for the disk; None where none may."""
    if "on:latency" not in draws or rows.instant:
        return None
    each = np.where(rows.decodes, -np.log(np.ceil(rows.vcpus)) + rows.latency_shift, NEVER)
    found = np.full((len(draws), len(rows.vcpus)), NEVER)
    for number, name in enumerate(rows.disks):
        if f"latency:{name}" in draws:
            found = np.where(rows.disk == number, draws[f"latency:{name}"], found)
    waits: Array = np.where(draws.on("latency"), found + each + missed, NEVER)
    return waits


def _cap(draws: Draws, rows: Rows) -> Array:
    return np.where(draws.on("cap"), -draws["cap"], NEVER) + _where(rows.computes)


def _accelerator(draws: Draws, rows: Rows) -> Array:
    found = np.full((len(draws), len(rows.vcpus)), NEVER)
    launches = draws.on("accelerator launches") if "launch" in draws else np.zeros((1, 1), dtype=bool)
    for number, label in enumerate(rows.labels):
        if f"accelerator:{label}" not in draws:
            continue
        seconds = -draws[f"accelerator:{label}"]
        if f"launch:{label}" in draws:
            seconds = seconds + np.where(launches, _launches(draws[f"launch:{label}"], rows), 0.0)
        found = np.where((rows.accelerator == number) & rows.computes, seconds, found)
    together = np.log(rows.gpus)
    if "gpus" in draws:
        together = together * (1 - np.minimum(np.exp(draws["gpus"]), 1.2))
    seconds = found - np.where(rows.speed_up > 0, rows.speed_up, together) + rows.accelerator_shift
    return np.asarray(seconds)


def _disk(draws: Draws, rows: Rows, missed: Array) -> tuple[Array, Array]:
    """Ln seconds a sample of reading and of writing."""
    factor = SUPPOSED * _spread(len(draws)) if rows.supposed else np.zeros((1, len(rows.vcpus)))
    fitted = np.zeros(len(rows.vcpus), dtype=bool)
    for number, name in enumerate(rows.disks):
        if f"disk:{name}" in draws and not rows.supposed:
            factor = np.where(rows.disk == number, draws[f"disk:{name}"], factor)
            fitted |= rows.disk == number
    reads = rows.reads & (fitted | ~rows.is_free)
    return (
        np.where(reads, missed + rows.read + factor, NEVER),
        np.where(rows.is_free, NEVER, rows.write + factor),
    )


@cache
def _spread(count: int) -> Array:
    """Standard normal values (count, 1) in a mixed order, the same each time."""
    normal = NormalDist()
    values = [normal.inv_cdf((place + 0.5) / count) for place in np.random.default_rng(0).permutation(count)]
    return np.array(values)[:, None]


def _where(rows: Sequence[bool] | NDArray[np.bool_]) -> Array:
    """0 there, -inf elsewhere (1, n)."""
    return np.where(rows, 0.0, NEVER)[None]

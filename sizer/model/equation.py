"""The bottleneck equation: configurations -> service times of the stages -> throughput, over all draws at once.

With t_j the seconds a sample takes at stage j alone, `X = (sum t_j^p)^(-1/p)`: p = 1 is one after another, large p is
perfect overlap. The share of stage j is `-d ln X / d ln t_j = t_j^p / sum t^p`, so shares sum to one. A loader's worker
that waits for the disk does nothing else meanwhile: its wait is added to its CPU time before.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, reduce
from statistics import NormalDist
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from sizer.model.memory import anonymous_bytes, cached_fraction, hit_rate
from sizer.model.model import (
    CPU_LABEL,
    Feed,
    MeasuredRange,
    Observation,
    WhatIf,
    WorkloadFacts,
    batch_of,
    disk_of,
    gpus_of,
    memory_of,
    name_of_disk,
    vcpus_of,
)
from sizer.model.runs import REPLAY, label_at
from sizer.model.transfer import faster_there, processor_at, usual_second_thread
from sizer.records.device import DiskRates, Processor
from sizer.records.prediction import Configuration
from sizer.records.units import GIB

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]
Indices = NDArray[np.intp]
Name = TypeVar("Name", str, str | None)

INSTANT = DiskRates(1e12, 1e18, 1e12, 1e18)
"""A disk on which nothing waits."""
NEGLIGIBLE = 0.02
"""A disk stage that is busy for less than this share of the time at the highest rate has nothing to be fitted."""
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


def _disk_times(facts: WorkloadFacts, rates: DiskRates) -> list[float | None]:
    """Seconds a sample of bytes and requests read, then written; None where figures are missing."""
    needs = (facts.read_bytes, facts.read_ios, facts.written_bytes, facts.write_ios)
    limits = _limits(rates)
    return [need / most if need is not None and most else None for need, most in zip(needs, limits, strict=True)]


def _limits(rates: DiskRates) -> tuple[float | None, ...]:
    """Of bytes and requests read, then written; a tier's write limits equal its read limits unless given."""
    read = rates.read_bytes_per_second, rates.read_iops
    return *read, rates.write_bytes_per_second or read[0], rates.write_iops or read[1]


def read_seconds(facts: WorkloadFacts, rates: DiskRates) -> tuple[float, bool] | None:
    """Seconds of disk reading a sample and whether requests (not bytes) bind; None where figures are missing."""
    by_bytes, by_requests, *_ = _disk_times(facts, rates)
    if by_bytes is None and by_requests is None:
        return None
    return max(by_bytes or 0.0, by_requests or 0.0), (by_requests or 0.0) > (by_bytes or 0.0)


def write_seconds(facts: WorkloadFacts, rates: DiskRates) -> float | None:
    """Seconds of disk writing a sample."""
    return max((time for time in _disk_times(facts, rates)[2:] if time is not None), default=None)


def as_good(facts: WorkloadFacts, disk: DiskRates, other: DiskRates) -> bool:
    """Whether a disk is no slower than another in each figure that the job uses; not where one is not known."""
    needs = (facts.read_bytes, facts.read_ios, facts.written_bytes, facts.write_ios)
    pairs = zip(needs, _limits(disk), _limits(other), strict=True)
    used = [(rate, its) for need, rate, its in pairs if need]
    return bool(used) and all(rate is not None and its is not None and rate >= its for rate, its in used)


def fitted_disks(facts: WorkloadFacts, measured: MeasuredRange) -> tuple[str, ...]:
    """The disks that get a parameter: those busy enough to matter, and of several those without figures."""
    names = []
    for disk in measured.disks:
        read, write = read_seconds(facts, disk.rates), write_seconds(facts, disk.rates)
        if read is None and write is None:
            if len(measured.disks) > 1:
                names.append(name_of_disk(disk.name))
        elif max(read[0] if read else 0.0, write or 0.0) * facts.highest_rate > NEGLIGIBLE:
            names.append(name_of_disk(disk.name))
    return tuple(names)


def disk_is_free(facts: WorkloadFacts, measured: MeasuredRange, name: str) -> bool:
    """Whether nothing is known of this disk but the throughput on it."""
    disk = measured.disk(name)
    return disk is None or (read_seconds(facts, disk.rates) is None and write_seconds(facts, disk.rates) is None)


@dataclass(frozen=True)
class Rows:
    """What the equation needs of n configurations, each (n,) but for the names.

    `disk` indexes `disks` and `accelerator` `labels`. `read` is ln seconds that reading a whole sample takes by demand
    and rates of the disk (where nothing is known of it but rates on it, `is_free`, those of the highest rate), `write`
    likewise, `missed` the share of reads that go to the disk. `gpus` counts accelerators, `speed_up` is ln of how many
    times the samples of one they make where that is stated, else 0. `machine` indexes `machines`, None for that of the
    runs, and `faster` is ln of how many times their index is that of the runs' CPUs; `home` is the one of all runs, if
    it is one, and `usual_yield` what a second thread adds to JPEG decoding there. `decodes`, `steps` and `computes` say
    which work a row does: synthetic input decodes nothing, a replay of the files computes nothing, `steps` are on the
    CPU. Second threads of cores begin at every second vCPU where `paired`, else from `cores` on. `observed`: what was
    measured, where an emulated GPU made the rate that it was given. `supposed`: the disk is given by its figures alone;
    `instant`: nothing waits for it. The shifts are a what-if's factors on times, in ln.
    """

    vcpus: Array
    batch_ratio: Array
    memory_bytes: Array
    least_memory: float
    disks: tuple[str, ...]
    disk: Indices
    labels: tuple[str, ...]
    accelerator: Indices
    gpus: Array
    speed_up: Array
    missed: Array
    read: Array
    read_is_iops: Flags
    write: Array
    is_free: Flags
    reads: Flags
    decodes: Flags
    computes: Flags
    steps: Flags
    paired: bool
    cores: float
    machines: tuple[Processor | None, ...]
    machine: Indices
    faster: tuple[float, ...]
    home: Processor | None = None
    usual_yield: float | None = None
    observed: bool = False
    supposed: bool = False
    instant: bool = False
    decode_shift: float = 0.0
    accelerator_shift: float = 0.0
    latency_shift: float = 0.0

    @cached_property
    def distinct_vcpus(self) -> tuple[list[tuple[Processor | None, Array]], Indices]:
        """The distinct numbers of vCPUs of each machine, and (n,) which of them all each row has."""
        distinct, places, count = [], np.empty(len(self.vcpus), dtype=np.intp), 0
        for number, machine in enumerate(self.machines):
            own = self.machine == number
            vcpus, own_places = np.unique(self.vcpus[own], return_inverse=True)
            places[own] = own_places + count
            distinct.append((machine, vcpus))
            count += len(vcpus)
        return distinct, places

    @cached_property
    def distinct_memory(self) -> tuple[Array, Indices]:
        """The distinct sizes of memory, and (n,) which of them each row has."""
        return np.unique(self.memory_bytes, return_inverse=True)


def build_rows(
    facts: WorkloadFacts,
    measured: MeasuredRange,
    configurations: Sequence[Configuration],
    what_if: WhatIf = WhatIf(),
    seen: Sequence[Observation] | None = None,
) -> Rows:
    """The rows of these configurations, as the what-if would have them.

    `seen` are the observations of these rows where they were measured; without them each is of the kind that
    predictions are about.
    """
    feeds = [facts.feed] * len(configurations) if seen is None else [observation.feed for observation in seen]
    disks, disk = _numbered([disk_of(configuration) for configuration in configurations])
    labels, accelerator = _numbered([label_at(facts, configuration) for configuration in configurations])
    names, machine = _numbered([configuration.machine for configuration in configurations])
    machines = tuple(processor_at(facts, name) for name in names)
    missed = [_missed_share(facts, measured, at, feed, what_if) for at, feed in zip(configurations, feeds, strict=True)]
    for place, observation in enumerate(seen or ()):  # as it was accounted where the page cache kept some
        if observation.feed.natural and observation.read_bytes is not None and facts.read_bytes:
            missed[place] = observation.read_bytes / facts.read_bytes
    reads = np.array([feed.input != "synthetic" for feed in feeds], dtype=bool)
    gpus = [gpus_of(configuration) for configuration in configurations]
    rates = [what_if.disk_rates or (its.rates if (its := measured.disk(name)) else DiskRates()) for name in disks]
    read = [read_seconds(facts, rate) or (0.0, False) for rate in rates]
    write = [write_seconds(facts, rate) or 0.0 for rate in rates]
    free = np.array([what_if.disk_rates is None and disk_is_free(facts, measured, name) for name in disks], dtype=bool)
    replays = np.array([feed.input == REPLAY for feed in feeds], dtype=bool)
    inputs = (facts.feed.input, "disk", "cached")
    steps = [not what_if.step_elsewhere and (not facts.mixed_with_cpu or label == CPU_LABEL) for label in labels]
    instant = what_if.disk_rates is not None and what_if.disk_rates.read_iops == INSTANT.read_iops
    seconds = np.where(free, 1 / facts.highest_rate, np.array([of_disk for of_disk, _ in read], dtype=float))
    with np.errstate(divide="ignore"):
        log_read = np.log(seconds)[disk]
        log_write = np.log(np.where(replays | ~reads, 0.0, np.array(write, dtype=float)[disk]))
    return Rows(
        vcpus=np.array([vcpus_of(configuration) for configuration in configurations], dtype=float),
        batch_ratio=np.array(
            [facts.reference_batch / max(1, batch_of(configuration)) for configuration in configurations], dtype=float
        ),
        memory_bytes=np.array([memory_of(configuration) for configuration in configurations], dtype=float),
        least_memory=float(measured.memory_bytes[0]) if measured.memory_bytes else float(GIB),
        disks=disks,
        disk=disk,
        labels=labels,
        accelerator=accelerator,
        gpus=np.array([max(1, count) for count in gpus], dtype=float),
        speed_up=np.array(
            [
                math.log(facts.stated_speed_up(count, configuration.gpu) or 1.0)
                for count, configuration in zip(gpus, configurations, strict=True)
            ],
            dtype=float,
        ),
        missed=np.where(reads, np.maximum(missed, 0.0), 0.0),
        read=log_read,
        read_is_iops=np.array([iops for _, iops in read], dtype=bool)[disk] & reads,
        write=log_write,
        is_free=free[disk],
        reads=reads,
        decodes=np.array([feed.input in inputs for feed in feeds], dtype=bool),
        computes=~replays,
        steps=np.array(steps, dtype=bool)[accelerator] & ~replays,
        paired=facts.paired,
        cores=_cores_of_runs(facts, measured),
        machines=machines,
        machine=machine,
        faster=tuple(faster_there(facts, its)[0] if its is not None else 0.0 for its in machines),
        home=facts.measured_on[0] if len(facts.measured_on) == 1 else None,
        usual_yield=usual_second_thread(facts),
        observed=seen is not None,
        supposed=what_if.disk_rates is not None and not instant,
        instant=instant,
        decode_shift=math.log(what_if.decode_factor),
        accelerator_shift=-math.log(what_if.gpu_speedup),
        latency_shift=-math.log(what_if.loader_workers_factor),
    )


def _cores_of_runs(facts: WorkloadFacts, measured: MeasuredRange) -> float:
    """From where on vCPUs are second threads, if they are any: of a machine that a table names its cores."""
    named = [processor.cores for processor in facts.measured_on if processor.name and processor.cores]
    return named[0] if named else max(1.0, measured.vcpus[-1] / 2) if measured.vcpus else 1.0


def _numbered(names: Sequence[Name]) -> tuple[tuple[Name, ...], Indices]:
    """The distinct names, and (n,) which of them each is."""
    codes = {name: code for code, name in enumerate(dict.fromkeys(names))}
    return tuple(codes), np.array([codes[name] for name in names], dtype=np.intp)


def _missed_share(
    facts: WorkloadFacts, measured: MeasuredRange, configuration: Configuration, feed: Feed, what_if: WhatIf
) -> float:
    """Device bytes over the bytes of a sample, as predicted."""
    if feed.input == "cached" or feed.cache == "warm":
        return 0.0
    missed = 1 - hit_share(facts, measured, configuration, feed, what_if.data_bytes_factor)
    return missed * facts.read_amplification if feed.natural else missed


def hit_share(
    facts: WorkloadFacts, measured: MeasuredRange, configuration: Configuration, feed: Feed, data_factor: float = 1.0
) -> float:
    """The share of reads that the page cache would serve at this configuration."""
    if not feed.natural:
        return 0.0
    anonymous = anonymous_bytes(measured, configuration.vcpus, configuration.batch_size)
    cached = cached_fraction(facts, memory_of(configuration), anonymous, data_factor)
    return hit_rate(cached, facts.sequential, facts.hit_blend)


@dataclass(frozen=True)
class Draws:
    """Vectors (D, k) of the named quantities: what is believed of them before runs, or after."""

    names: tuple[str, ...]
    values: Array

    def __len__(self) -> int:
        return len(self.values)

    def __contains__(self, name: str) -> bool:
        return name in self._places

    def __getitem__(self, name: str) -> Array:
        """Of one quantity (D, 1); KeyError if there is none of that name."""
        return self.values[:, self._places[name], None]

    def on(self, name: str) -> Flags:
        """Where the switch of that name is on (D, 1)."""
        return self[f"on:{name}"] > 0

    @cached_property
    def _places(self) -> dict[str, int]:
        return {name: place for place, name in enumerate(self.names)}


@dataclass(frozen=True)
class Solution:
    """Of D draws at n configurations: `log_rate`, and ln seconds of the CPU and the accelerator as accounting sees
    them, each (D, n), or (1, n) without an accelerator. `times` are ln seconds of the stages side by side; a worker's
    are its CPU's and its wait. `core_second` are ln seconds that a core-second of work takes. `shares` (n, stages) are
    found when they are asked for."""

    log_rate: Array
    cpu: Array
    accelerator: Array
    times: Mapping[int, Array]
    core_second: Array
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
        return {stage: np.exp(np.maximum(log_seconds, NOTHING)) for stage, log_seconds in scaled.items()}

    @cached_property
    def of_a_worker(self) -> Mapping[int, Array]:
        """The parts of a worker's time, one after another: they sum to one."""
        computing = np.exp(self.cpu - self.times[CPU])
        slowed = np.exp(-_pressure(self.draws, self.rows))
        twice = _of_a_core_second(self.draws, self.rows, 2.0)
        relieved = np.clip((self.core_second - twice) / np.log(2), 0.0, 1.0)  # the part that twice the vCPUs shorten
        busy = computing * slowed
        return {CPU: busy * relieved, SERIAL: busy * (1 - relieved), MEMORY: computing - busy, LATENCY: 1 - computing}

    @cached_property
    def shares(self) -> Array:
        """The mean over the draws."""
        shares = np.zeros((self.log_rate.shape[1], len(STAGES)))
        for stage, share in self.side_by_side.items():
            if stage == CPU:
                for part, its in self.of_a_worker.items():
                    shares[:, part] += (share * its).mean(axis=0)
            else:
                shares[:, stage] += share.mean(axis=0)
        return shares


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
    return np.asarray(-np.log(np.maximum(left, 1e-30)) / power)


def solve(draws: Draws, rows: Rows) -> Solution:
    """The throughput of each draw at each row; -inf seconds where a row has no such stage."""
    core_second = _of_a_core_second(draws, rows)
    cpu = _work(draws, rows) + _pressure(draws, rows) + core_second
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
        total = sum((np.exp(np.maximum(stage - most, NOTHING)) for stage in scaled), np.zeros_like(most))
        log_rate = -(most + np.log(total)) / power
    return Solution(log_rate, cpu, accelerator, times, core_second, draws, rows)


def _sharpness(draws: Draws) -> Array:
    return np.asarray(np.exp(np.clip(draws["sharpness"], *LOG_SHARPNESS)))


def _work(draws: Draws, rows: Rows) -> Array:
    """Ln core-seconds a sample on one core."""
    work = draws["work"] + rows.decode_shift
    if "step" in draws:
        work = np.logaddexp(work + _where(rows.decodes), draws["step"] + _where(rows.steps))
    else:
        work = work + _where(rows.decodes | rows.steps)
    if "launch" in draws:
        work = work + np.where(draws.on("accelerator launches"), 0.0, _launches(draws["launch"], rows))
    return work if not any(rows.machines) else work - _faster(draws, rows, "speed")


def _faster(draws: Draws, rows: Rows, of: str) -> Array:
    """Ln of how many times as fast the CPU of each row is at this work, or at its serial part (D, n)."""
    there = [
        np.zeros((len(draws), 1)) if machine is None else faster + _beyond_index(draws, rows, machine, of)
        for machine, faster in zip(rows.machines, rows.faster, strict=True)
    ]
    return np.asarray(np.concatenate(there, axis=1)[:, rows.machine])


def _beyond_index(draws: Draws, rows: Rows, machine: Processor, of: str) -> Array:
    """Ln of what a machine's CPU does beside its index, over what that of the runs does, if they were made on one."""
    there = draws[f"{of}:{machine.cpu}"]
    return there if rows.home is None else there - draws[f"{of}:{rows.home.cpu}"]


def _launches(launch: Array, rows: Rows) -> Array:
    """Ln of how many times a sample takes as long with these batches as with the usual one."""
    cost = np.exp(launch)
    return np.asarray(np.log1p(cost * rows.batch_ratio) - np.log1p(cost))


def _of_a_core_second(draws: Draws, rows: Rows, times: float = 1.0) -> Array:
    """Ln seconds that a core-second of work takes on so many times the vCPUs (D, n): contention, coherence, second
    threads, a quota. Found once for each distinct number on a machine."""
    distinct, places = rows.distinct_vcpus
    none = np.empty((len(draws), 0))
    seconds = [_on_vcpus(draws, rows, machine, times * vcpus) for machine, vcpus in distinct]
    return np.asarray(np.concatenate([none, *seconds], axis=1)[:, places])


def _on_vcpus(draws: Draws, rows: Rows, machine: Processor | None, c: Array) -> Array:
    """The same of c (m,) vCPUs of one machine, None for that of the runs (D, m)."""
    if "contention" in draws:
        coherence = np.where(draws.on("coherence"), np.exp(draws["coherence"]), 0.0)
        more = np.maximum(c - 1, 0.0)
        handover = np.where(draws.on("handover"), np.log1p(np.exp(draws["handover"])), 0.0) * (c > 1)
        lost = (np.exp(draws["contention"]) + coherence * c) * more
        if machine is not None:
            lost = lost * np.exp(-_beyond_index(draws, rows, machine, "scaling"))
        slower = np.log1p(lost) + handover
        seconds = slower - np.log(_cores(draws, rows, machine, c))
    elif "yield" in draws:
        seconds = -np.log(_cores(draws, rows, machine, c))
        if rows.home is not None:
            seconds = np.log(_cores(draws, rows, None if rows.paired else rows.home, c) / c) + seconds
    else:
        seconds = np.broadcast_to(-np.log(c), (len(draws), len(c)))
    if "quota" in draws:
        seconds = seconds + np.where(c % 1 > 0, np.clip(draws["quota"], -0.1, 0.4), 0.0)
    return np.asarray(seconds)


def _cores(draws: Draws, rows: Rows, machine: Processor | None, c: Array) -> Array:
    """How many cores alone do as much as c vCPUs of a machine together (D, m)."""
    second = _second_threads(rows, machine, c)
    sure = machine is not None and rows.home is not None and not rows.home.name
    usual = rows.usual_yield
    own = usual if machine is None or usual is None else machine.second_thread or usual
    added = draws["yield"] + ((own or 0.0) - (usual or 0.0))
    gain = np.where(draws.on("second threads") | sure, np.clip(added, -0.3, 1.5), 1.0)
    if machine is None and "on:more cores" in draws and (second > c / 2).any():
        second = np.where(draws.on("more cores"), np.minimum(second, c / 2), second)
    return np.asarray(np.maximum(c - second + gain * second, 0.02 * c))


def _second_threads(rows: Rows, machine: Processor | None, c: Array) -> Array:
    """How many of c vCPUs (m,) are the second thread of their core."""
    if machine is not None and (machine.name or not rows.paired):
        return np.maximum(c - (machine.cores or machine.vcpus) * np.maximum(1.0, c / machine.vcpus), 0.0)
    if not rows.paired:
        return np.maximum(c - rows.cores, 0.0)
    whole = np.ceil(c)
    return np.asarray(np.floor(whole / 2) * c / whole)


def _pressure(draws: Draws, rows: Rows) -> Array:
    """Ln of how much slower all work is where little memory is free beside what the job holds."""
    if "pressure" not in draws:
        return np.zeros((1, 1))
    held, free = _held_and_free(draws, rows)
    slower = np.log1p(np.exp(draws["pressure"]) * held / free)
    return np.where(draws.on("pressure"), slower, 0.0)[:, rows.distinct_memory[1]]


def _held_and_free(draws: Draws, rows: Rows) -> tuple[Array, Array]:
    """Bytes that the job holds (D, 1), and that are left of each distinct size of memory (D, m)."""
    held = 0.98 * rows.least_memory / (1 + np.exp(-draws["held"]))
    return held, np.maximum(rows.distinct_memory[0] - held, LEAST_FREE * held)


def _missed(draws: Draws, rows: Rows) -> Array:
    """Ln of the reads of a sample that go to the disk: by the data set's size, or by what the rates show of it."""
    with np.errstate(divide="ignore"):
        missed: Array = np.log(rows.missed)[None]
    if "data" not in draws:
        return missed
    _, free = _held_and_free(draws, rows)
    data = np.exp(draws["data"])
    fits = np.clip(free / data, 1e-9, 1 - 1e-9)
    lru = fits + (1 - fits) * np.log1p(-fits)
    kept = 1 / (1 + np.exp(-draws["keep"]))
    some = np.log(1 - ((1 - kept) * lru + kept * fits))
    some = np.where(draws.on("in order"), 0.0, some)
    return np.asarray(missed + np.where(free >= data, np.log(1e-12), some)[:, rows.distinct_memory[1]])


def _waits(draws: Draws, rows: Rows, missed: Array) -> Array | None:
    """Ln seconds a sample that the workers, one a whole vCPU, wait for the disk; None where none may."""
    if "on:latency" not in draws or rows.instant:
        return None
    decoding = np.where(rows.decodes, -np.log(np.ceil(rows.vcpus)) + rows.latency_shift, NEVER)
    latency = np.where(draws.on("latency"), _of_each(draws, "latency", rows.disks, NEVER), NEVER)
    return np.asarray(latency[:, rows.disk] + (decoding + missed))


def _of_each(draws: Draws, kind: str, names: Sequence[str], absent: float) -> Array:
    """A quantity of this kind for each of the names (D, names); of what has none so much."""
    values = np.full((len(draws), len(names)), absent)
    for number, name in enumerate(names):
        if (quantity := f"{kind}:{name}") in draws:
            values[:, number] = draws[quantity][:, 0]
    return values


def _cap(draws: Draws, rows: Rows) -> Array:
    seconds = np.where(draws.on("cap"), -draws["cap"], NEVER) + _where(rows.computes)
    if any(rows.machines):
        seconds = seconds - _faster(draws, rows, "serial")
    return seconds


def _accelerator(draws: Draws, rows: Rows) -> Array:
    seconds_there = np.full((1, len(rows.vcpus)), NEVER)
    launches = draws.on("accelerator launches") if "launch" in draws else np.zeros((1, 1), dtype=bool)
    for number, label in enumerate(rows.labels):
        if f"accelerator:{label}" not in draws:
            continue
        seconds = -draws[f"accelerator:{label}"]
        if f"real:{label}" in draws and not rows.observed:
            seconds = seconds - draws[f"real:{label}"]
        if f"launch:{label}" in draws:
            seconds = seconds + np.where(launches, _launches(draws[f"launch:{label}"], rows), 0.0)
        seconds_there = np.where((rows.accelerator == number) & rows.computes, seconds, seconds_there)
    together = np.log(rows.gpus)
    if "gpus" in draws:
        together = together * (1 - np.minimum(np.exp(draws["gpus"]), 1.2))
    seconds = seconds_there - np.where(rows.speed_up > 0, rows.speed_up, together) + rows.accelerator_shift
    return np.asarray(seconds)


def _disk(draws: Draws, rows: Rows, missed: Array) -> tuple[Array, Array]:
    """Ln seconds a sample of reading and of writing."""
    factor = SUPPOSED * spread(len(draws))
    if not rows.supposed:
        factor = _of_each(draws, "disk", rows.disks, 0.0)[:, rows.disk]
    fitted = np.array([f"disk:{name}" in draws and not rows.supposed for name in rows.disks], dtype=bool)
    reads = rows.reads & (fitted[rows.disk] | ~rows.is_free)
    read, write = np.where(reads, rows.read, NEVER), np.where(rows.is_free, NEVER, rows.write)
    return missed + read + factor, write + factor


@cache
def spread(count: int, order: int = 0) -> Array:
    """Standard normal values (count, 1) in one of many mixed orders, the same each time."""
    normal = NormalDist()
    values = [normal.inv_cdf((place + 0.5) / count) for place in np.random.default_rng(order).permutation(count)]
    return np.array(values)[:, None]


def _where(rows: Sequence[bool] | NDArray[np.bool_]) -> Array:
    """0 there, -inf elsewhere (1, n)."""
    return np.where(rows, 0.0, NEVER)[None]

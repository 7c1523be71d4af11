"""Random machines and jobs, and a modest design of each: which configurations are measured, which held out. Pure."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from accuracy_machines import Cores, Memory, SimulatedJob, SimulatedMachine
from accuracy_network import Random, Variability

from sizer.model.model import memory_of, vcpus_of
from sizer.records.device import DiskRates
from sizer.records.prediction import Configuration
from sizer.records.units import GIB

LADDERS = (
    (1.0, 2.0, 4.0),
    (0.5, 1.0, 2.0, 4.0),
    (1.0, 2.0, 4.0, 8.0),
    (1.0, 4.0, 8.0),
    (2.0, 4.0, 8.0, 16.0),
    (1.0, 2.0, 4.0, 8.0, 16.0),
    (2.0, 8.0, 32.0),
    (1.0, 2.0, 4.0, 8.0, 16.0, 32.0),
)
"""vCPU values of studies; three distinct ones are what an axis needs."""
SMALL_LADDERS = ((0.5, 1.0, 2.0), (0.25, 0.5, 1.0, 2.0), (1.0, 2.0, 4.0))
"""Those of a small host."""
LEAST_MEASURED, MOST_MEASURED = 6, 24
MOST_HELD_OUT = 24


@dataclass(frozen=True)
class CrossedAxes:
    """The values that a study crosses; `gpu` where a table of rates alone names the accelerator."""

    vcpus: tuple[float, ...]
    memory: tuple[int, ...]
    disks: tuple[str, ...]
    batches: tuple[int, ...]
    gpu_counts: tuple[int, ...]
    gpu: str | None = None


@dataclass(frozen=True)
class Case:
    """A machine with what a study would measure of it, and what is held out: inside of its range, and beyond.

    `noise` is the standard deviation of ln rate from run to run. `accounted`: the runs come with demands, figures
    of disks and evidence, as sizer's own do; else with rates alone, as an imported table does.
    """

    number: int
    machine: SimulatedMachine
    axes: CrossedAxes
    measured: tuple[Configuration, ...]
    inside: tuple[Configuration, ...]
    beyond: tuple[Configuration, ...]
    repeats: int
    noise: float
    accounted: bool


def draw_case(number: int, seed: int, ladders: Sequence[tuple[float, ...]] = LADDERS) -> Case:
    """The case of this number; the same for the same seed. Designs of too few configurations are drawn again."""
    random = np.random.default_rng([seed, number])
    while True:
        case = _drawn(random, number, seed, ladders)
        if len(case.measured) >= LEAST_MEASURED and case.inside and case.beyond:
            return case


def _drawn(random: Random, number: int, seed: int, ladders: Sequence[tuple[float, ...]]) -> Case:
    vcpus = ladders[int(random.integers(len(ladders)))]
    machine = _machine(random, vcpus, seed * 100_003 + number, accounted=number % 2 == 0)
    axes = _axes(random, machine, vcpus, named=number % 4 == 1)
    measured = designed(crossed(axes), int(random.integers(LEAST_MEASURED, MOST_MEASURED + 1)))
    inside, beyond = _held_out(random, machine, axes, measured)
    repeats, noise, accounted = int(random.integers(1, 4)), _log(random, 0.005, 0.1), number % 2 == 0
    if not accounted:
        inside, beyond = ([run for run in some if seen_together(run, measured)] for some in (inside, beyond))
    return Case(number, machine, axes, measured, tuple(inside), tuple(beyond), repeats, noise, accounted)


def _log(random: Random, low: float, high: float) -> float:
    return float(math.exp(random.uniform(math.log(low), math.log(high))))


def _chance(random: Random, probability: float) -> bool:
    return bool(random.random() < probability)


def _machine(random: Random, vcpus: tuple[float, ...], seed: int, accounted: bool) -> SimulatedMachine:
    most = vcpus[-1]
    cpu = _log(random, 5e-5, 0.2)
    cores = _cores(random, most)
    top = cores.power(most) / cpu
    job = _job(random, cpu, top)
    binding = min(top, job.accelerator or math.inf)
    memory = _memory(random, vcpus, job, accounted)
    count = int(random.choice([1, 1, 2, 3])) if job.read_bytes else 1
    return SimulatedMachine(cores, job, memory, _disks(random, job, binding, count), seed)


def _cores(random: Random, most: float) -> Cores:
    threads = _chance(random, 0.3)
    law = str(random.choice(["none", "none", "contention", "bandwidth", "coherence", "remote"]))
    strength = {
        "none": 0.0,
        "contention": _log(random, 0.003, 0.15),
        "bandwidth": most * _log(random, 0.3, 1.5),
        "coherence": _log(random, 0.1, 2.5) / most**1.6,
        "remote": random.uniform(0.1, 0.5),
    }[law]
    return Cores(most / 2 if threads and most >= 4 else 4 * most, random.uniform(0.2, 0.5), law, float(strength))


def _job(random: Random, cpu: float, top: float) -> SimulatedJob:
    reads, blocking = _chance(random, 0.85), _chance(random, 0.4)
    accelerated = _chance(random, 0.6)
    writes = reads and not accelerated
    read_bytes = _log(random, 3e3, 3e6) if reads else 0.0
    read_ios = read_bytes / 131072 + 0.1 if reads else 0.0
    chunks = 1 if blocking or not accelerated else int(random.choice([1, 4, 8]))
    return SimulatedJob(
        cpu=cpu,
        lock=cpu * _log(random, 0.004, 0.3) if _chance(random, 0.35) else 0.0,
        read_bytes=read_bytes,
        read_ios=read_ios,
        written_bytes=read_bytes * random.uniform(0.5, 2) if writes and _chance(random, 0.3) else 0.0,
        latency=cpu * _log(random, 0.02, 3.0) if reads and (blocking or _chance(random, 0.5)) else 0.0,
        blocking=blocking,
        workers_a_core=int(random.choice([1, 1, 1, 2])),
        readers=int(random.choice([4, 16, 64])),
        depth=int(random.choice([1, 2, 2, 4, 8])),
        chunks=chunks,
        accelerator=top * _log(random, 0.08, 2.0) if accelerated else 0.0,
        launch_share=random.uniform(0.02, 0.4),
        all_reduce=random.uniform(0.0, 0.15),
        reference_batch=int(random.choice([16, 32, 64, 128])),
        variability=Variability(random.uniform(0, 0.6), random.uniform(0, 1), random.uniform(0, 0.1)),
    )


def _disks(random: Random, job: SimulatedJob, top: float, count: int) -> dict[str, DiskRates]:
    """Slow to fast, around what the job could use."""
    if not job.read_bytes:
        return {"host": DiskRates()}
    disks = {}
    for index, factor in enumerate(sorted(_log(random, 0.1, 5.0) for _ in range(count))):
        by_bytes, by_ios = job.read_bytes * top * factor, job.read_ios * top * factor
        requests = random.uniform(1.0, 4.0) if _chance(random, 0.5) else 1.0
        volume = random.uniform(1.0, 4.0) if requests == 1 else 1.0
        written = job.written_bytes * top * _log(random, 0.3, 5.0) if job.written_bytes else None
        disks[f"disk{index}"] = DiskRates(by_ios * requests, by_bytes * volume, None, written)
    return disks


def _memory(random: Random, vcpus: tuple[float, ...], job: SimulatedJob, accounted: bool) -> Memory:
    """Of sizer's own programs only training shuffles."""
    scale = GIB * vcpus[-1]
    fixed, worker = scale * _log(random, 0.1, 1.0), scale * _log(random, 0.01, 0.3) / vcpus[-1]
    natural = bool(job.read_bytes) and _chance(random, 0.35)
    return Memory(
        fixed=fixed,
        worker=worker,
        sample=scale * _log(random, 1e-4, 3e-3),
        data_bytes=scale * _log(random, 1.0, 6.0),
        natural=natural,
        sequential=_chance(random, 0.3) or (accounted and not job.accelerator),
        keep=random.uniform(0.0, 0.3),
    )


def _axes(random: Random, machine: SimulatedMachine, vcpus: tuple[float, ...], named: bool) -> CrossedAxes:
    memory, job = machine.memory, machine.job
    batch = job.reference_batch
    batches = (batch // 4, batch, 4 * batch) if _chance(random, 0.25) else (batch,)
    most = memory.needed(vcpus[-1], batches[-1])
    if memory.natural:
        shares = (0.15, 0.5, 0.85, 1.15)[: 4 if _chance(random, 0.5) else 3]
        sizes = tuple(_whole(most + share * memory.data_bytes) for share in shares)
    elif _chance(random, 0.2):
        sizes = tuple(_whole(most * factor) for factor in (0.7, 1.1, 2.0))
    else:
        sizes = (_whole(2 * most),)
    counts = (1, 2, 4) if job.accelerator and _chance(random, 0.15) else (0,)
    gpu = "V100" if job.accelerator and named else None
    return CrossedAxes(vcpus, tuple(dict.fromkeys(sizes)), tuple(machine.disks), batches, counts, gpu)


def _whole(size: float) -> int:
    """In steps of 64 MiB, as a person writes it."""
    return math.ceil(size / 2**26) * 2**26


def crossed(axes: CrossedAxes) -> list[Configuration]:
    """Every configuration of these axes."""
    values = itertools.product(axes.vcpus, axes.memory, axes.disks, axes.batches, axes.gpu_counts)
    return [Configuration(c, m, d, b, axes.gpu, n) for c, m, d, b, n in values]


def _held_out(
    random: Random, machine: SimulatedMachine, axes: CrossedAxes, measured: Sequence[Configuration]
) -> tuple[list[Configuration], list[Configuration]]:
    """What was crossed and not measured, with vCPUs and memory between the measured ones; and up to twice the most."""
    memory = [_whole(math.sqrt(a * b)) for a, b in itertools.pairwise(axes.memory)] if len(axes.memory) >= 3 else []
    between = _sampled(random, replace(axes, vcpus=tuple(_between(axes.vcpus))), 14)
    inside = dict.fromkeys([*crossed(axes), *between, *_sampled(random, replace(axes, memory=tuple(memory)), 6)])
    kept = [place for place in inside if machine.holds(place) and place not in measured]
    chosen = sorted(map(int, random.permutation(len(kept))[:MOST_HELD_OUT]))
    far = _sampled(random, replace(axes, vcpus=(1.5 * axes.vcpus[-1], 2 * axes.vcpus[-1])), 6)
    return [kept[i] for i in chosen], [place for place in far if machine.holds(place)]


def _sampled(random: Random, axes: CrossedAxes, most: int) -> list[Configuration]:
    places = crossed(axes)
    return [places[i] for i in sorted(map(int, random.permutation(len(places))[:most]))]


def _between(vcpus: tuple[float, ...]) -> list[float]:
    """The middle of each gap, whole from one vCPU up."""
    middles = [(a + b) / 2 if b <= 1 else float(round((a + b) / 2)) for a, b in itertools.pairwise(vcpus)]
    return [middle for middle in middles if middle not in vcpus] + ([1.5] if 1.0 in vcpus and 2.0 in vcpus else [])


def designed(configurations: Sequence[Configuration], count: int) -> tuple[Configuration, ...]:
    """So many configurations, spread by a rule that sees nothing but the axes.

    One after another, the one whose values were taken least often so far, then whose pairs of values were (a pairwise
    covering design, as in Cohen et al. 1997); among equals the one whose vCPUs are nearest to an end, then the larger.
    """
    single: Counter[object] = Counter()
    paired: Counter[object] = Counter()
    ends = sorted({vcpus_of(configuration) for configuration in configurations})

    def cost(place: Configuration) -> tuple[float, ...]:
        values, vcpus = values_of(place), vcpus_of(place)
        # Three values of the vCPUs are needed to say anything between them.
        alone = 4 * single[values[0]] + sum(single[value] for value in values[1:])
        together = sum(paired[pair] for pair in itertools.combinations(values, 2))
        return alone, together, min(vcpus - ends[0], ends[-1] - vcpus), -vcpus, -memory_of(place)

    chosen: list[Configuration] = []
    left = sorted(
        configurations, key=lambda s: (s.vcpus, s.memory_bytes, s.disk, s.batch_size, s.gpu or "", s.gpu_count)
    )
    for _ in range(min(count, len(configurations))):
        best = min(left, key=cost)
        left.remove(best)
        chosen.append(best)
        single.update(values_of(best))
        paired.update(itertools.combinations(values_of(best), 2))
    return tuple(chosen)


def values_of(place: Configuration) -> tuple[tuple[int, object], ...]:
    """By the number of their axis, vCPUs first."""
    return tuple(
        enumerate((place.vcpus, place.memory_bytes, place.disk, place.batch_size, (place.gpu, place.gpu_count)))
    )


def seen_together(configuration: Configuration, measured: Sequence[Configuration]) -> bool:
    """Whether each pair of its values beside the vCPUs was measured: rates alone cannot tell how two axes act together.

    A memory between measured ones counts as both of its neighbours.
    """
    pairs = {pair for configuration in measured for pair in itertools.combinations(values_of(configuration)[1:], 2)}
    sizes = sorted({memory_of(configuration) for configuration in measured})
    below = [size for size in sizes if size <= memory_of(configuration)][-1:]
    above = [size for size in sizes if size >= memory_of(configuration)][:1]
    places = [replace(configuration, memory_bytes=size) for size in (*below, *above)]
    return all(pair in pairs for place in places for pair in itertools.combinations(values_of(place)[1:], 2))

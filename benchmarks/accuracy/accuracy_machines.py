"""Random machines and jobs with a known truth: what each configuration makes of the closed network's stations. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from accuracy_network import Stations, Variability, hit_share, rates

from sizer.model.model import batch_of, disk_of, gpus_of, memory_of, vcpus_of
from sizer.records.device import DiskRates
from sizer.records.prediction import Configuration


@dataclass(frozen=True)
class Cores:
    """What c vCPUs compute, in whole cores.

    The vCPUs above `physical` are the second threads of cores, and yield `sibling` of one. `law` is how cores hinder
    each other: `none`; `bandwidth`, memory bandwidth that is used up at `strength` cores; `coherence`, lines that are
    fought for, so that more vCPUs are slower in the end; `remote`, cores of a second socket from half of them on,
    slower by `strength`; `contention`, a share `strength` of the work that waits for all others.
    """

    physical: float
    sibling: float
    law: str
    strength: float

    def power(self, vcpus: float) -> float:
        """Cores' worth of work a second."""
        whole = min(vcpus, self.physical) + self.sibling * max(0.0, vcpus - self.physical)
        extra = max(0.0, whole - 1)
        if self.law == "bandwidth":
            return float(whole / (1 + (whole / self.strength) ** 4) ** 0.25)
        if self.law == "coherence":
            return float(whole / (1 + self.strength * extra**1.6))
        if self.law == "remote":
            near = self.physical / 2
            return min(whole, near) + max(0.0, whole - near) * (1 - self.strength)
        if self.law == "contention":
            return whole / (1 + self.strength * extra)
        return whole


@dataclass(frozen=True)
class SimulatedJob:
    """What one sample costs, and how the loader is built. Seconds, bytes and IOs are a sample's; `launch` a batch's.

    `latency` is that of all of a sample's reads on every disk. A loader has `workers_a_core` workers (if `blocking`) or
    `readers`, and buffers `depth` batches of `chunks` tickets; the accelerator's rate is `accelerator` at
    `reference_batch` (0: none), with `launch_share` of the step for launching it; several of them lose `all_reduce` for
    each further one.
    """

    cpu: float
    lock: float
    read_bytes: float
    read_ios: float
    written_bytes: float
    latency: float
    blocking: bool
    workers_a_core: int
    readers: int
    depth: int
    chunks: int
    accelerator: float
    launch_share: float
    all_reduce: float
    reference_batch: int
    variability: Variability


@dataclass(frozen=True)
class Memory:
    """What a job holds (bytes: fixed, a worker's, a sample's) and its data set; `keep` is how the page cache chooses.

    `natural`: the page cache keeps what it can; else it is emptied and every read goes to the disk.
    """

    fixed: float
    worker: float
    sample: float
    data_bytes: float
    natural: bool
    sequential: bool
    keep: float

    def needed(self, vcpus: float, batch: int) -> float:
        """Bytes that cannot be dropped."""
        return self.fixed + self.worker * math.ceil(vcpus) + self.sample * batch

    def missed(self, configuration: Configuration) -> float:
        """Share of the reads that go to the disk."""
        if not self.natural:
            return 1.0
        free = memory_of(configuration) - self.needed(vcpus_of(configuration), batch_of(configuration))
        return 1 - hit_share(max(0.0, free) / self.data_bytes, self.sequential, self.keep)


@dataclass(frozen=True)
class Faster:
    """Each kind of station so many times as fast: what a share of the time is found by."""

    cpu: float = 1.0
    lock: float = 1.0
    disk: float = 1.0
    latency: float = 1.0
    write: float = 1.0
    accelerator: float = 1.0
    vcpus: float = 1.0


Question = tuple[Configuration, Faster]
"""What a machine is simulated for."""


@dataclass(frozen=True)
class SimulatedMachine:
    """A machine with a job on it: the true rate of any configuration; `seed` is its luck."""

    cores: Cores
    job: SimulatedJob
    memory: Memory
    disks: dict[str, DiskRates]
    seed: int

    def holds(self, configuration: Configuration) -> bool:
        """Whether the job runs in this memory at all."""
        needed = self.memory.needed(vcpus_of(configuration), batch_of(configuration))
        return memory_of(configuration) >= needed

    def truth(self, asked: Iterable[Question]) -> dict[Question, float]:
        """Samples per second of each, all in one simulation."""
        questions = list(dict.fromkeys(asked))
        true_rates = rates(
            [self.stations(*question) for question in questions], self.job.variability, np.random.default_rng(self.seed)
        )
        return dict(zip(questions, map(float, true_rates), strict=True))

    def speed(self, vcpus: float) -> float:
        """Of one busy core of this many vCPUs, where all of them are busy."""
        return self.cores.power(vcpus) / math.ceil(vcpus)

    def cpu_seconds(self, batch: int) -> float:
        """Core-seconds of a sample on a core of its own; the launch of a step counts where there is no accelerator."""
        job = self.job
        if job.accelerator:
            return job.cpu
        return job.cpu * launched(job.launch_share, job.reference_batch, batch)

    def accelerator_seconds(self, configuration: Configuration) -> float:
        """Of a sample on the accelerators together; 0 without one."""
        job = self.job
        if not job.accelerator:
            return 0.0
        count = max(1, gpus_of(configuration))
        alone = launched(job.launch_share, job.reference_batch, batch_of(configuration)) / job.accelerator
        return alone * (1 + job.all_reduce * (count - 1)) / count

    def stations(self, configuration: Configuration, faster: Faster) -> Stations:
        """The network that this configuration is."""
        job, missed = self.job, self.memory.missed(configuration)
        vcpus = vcpus_of(configuration) * faster.vcpus
        cores = math.ceil(vcpus)
        holders = cores * job.workers_a_core if job.blocking else job.readers
        samples = batch_of(configuration) / job.chunks
        disk = self.disks[disk_of(configuration)]
        by_bytes = job.read_bytes / (disk.read_bytes_per_second or math.inf)
        read = max(by_bytes, job.read_ios / (disk.read_iops or math.inf))
        return Stations(
            samples=samples,
            slots=job.depth * job.chunks + (holders if job.blocking else cores),
            holders=holders,
            cores=cores,
            chunks=job.chunks,
            blocking=job.blocking,
            disk=samples * missed * read / faster.disk,
            latency=samples * missed * job.latency / faster.latency,
            lock=samples * job.lock / self.speed(min(vcpus, 1)) / faster.lock,
            cpu=samples * self.cpu_seconds(batch_of(configuration)) / self.speed(vcpus) / faster.cpu,
            write=samples * job.written_bytes / (disk.write_bytes_per_second or math.inf) / faster.write,
            accelerator=samples * self.accelerator_seconds(configuration) / faster.accelerator,
        )


def launched(share: float, reference: int, batch: int) -> float:
    """Time of a sample over that in a batch of the reference size, where launching a batch is `share` of the latter."""
    return 1 - share + share * reference / batch


STEP = 1.15
"""By how much a kind of station is made faster to see what it holds back."""
KINDS = ("cpu", "lock", "disk", "latency", "write", "accelerator")


def share_questions(configuration: Configuration) -> dict[str, Question]:
    """What is simulated to find what binds there: each kind of station a little faster, and vCPUs to either side."""
    more, fewer = _around(vcpus_of(configuration))
    changes = {"": Faster(), **{kind: Faster(**{kind: STEP}) for kind in KINDS}}
    changes |= {"more": Faster(vcpus=more), "fewer": Faster(vcpus=fewer)}
    return {kind: (configuration, change) for kind, change in changes.items()}


def stage_shares(configuration: Configuration, truth: Mapping[Question, float]) -> dict[str, float]:
    """-d ln X / d ln t of each kind of station; `more` and `fewer` are d ln X / d ln c to either side in vCPUs."""
    questions = share_questions(configuration)
    plain = math.log(truth[questions.pop("")])
    more, fewer = _around(vcpus_of(configuration))
    steps = {"more": math.log(more), "fewer": math.log(fewer)}
    return {kind: (math.log(truth[q]) - plain) / steps.get(kind, math.log(STEP)) for kind, q in questions.items()}


def _around(vcpus: float) -> tuple[float, float]:
    """About as many more and fewer, in whole vCPUs above one, as a worker comes with each."""
    more = math.ceil(STEP * vcpus) / vcpus if vcpus >= 1 else STEP
    fewer = math.floor(vcpus / STEP) / vcpus if vcpus >= 2 else 1 / STEP
    return more, fewer

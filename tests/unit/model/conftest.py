"""Machines and jobs whose true throughput is known: closed queueing networks, not the model's own equation."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest

from sizer.records.device import Device, DiskRates
from sizer.records.run import Demand, Run


@dataclass(frozen=True)
class Job:
    """A job of `buffers` + vCPUs circulating batches: CPU with USL contention, a disk, and perhaps an accelerator."""

    cpu_seconds: float
    contention: float
    coherence: float
    read_bytes: float
    read_ios: float
    disks: dict[str, DiskRates]
    accelerator: float | None
    buffers: int

    def rate(self, vcpus: float, disk: str, slower: tuple[float, float, float] = (1, 1, 1)) -> float:
        """Samples per second by exact mean value analysis (Reiser and Lavenberg 1980)."""
        extra, cores, rates = max(0.0, vcpus - 1), max(1.0, vcpus), self.disks[disk]
        cpu = self.cpu_seconds * slower[0] * (1 + self.contention * extra + self.coherence * extra * vcpus)
        cpu = cpu / min(1.0, vcpus)
        assert rates.read_bytes_per_second
        assert rates.read_iops
        reading = max(self.read_bytes / rates.read_bytes_per_second, self.read_ios / rates.read_iops) * slower[1]
        stations = [cpu / cores, reading, *([slower[2] / self.accelerator] if self.accelerator else [])]
        demand, queue, found = np.array(stations), np.zeros(len(stations)), 0.0
        for customers in range(1, self.buffers + int(cores) + 1):
            waiting = demand * (1 + queue)
            found = customers / (cpu / cores * (cores - 1) + float(waiting.sum()))
            queue = found * waiting
        return found

    def shares(self, vcpus: float, disk: str) -> tuple[float, float, float]:
        """-d ln X / d ln t of CPU, disk and accelerator."""
        base = math.log(self.rate(vcpus, disk))
        moved = [(1.001, 1, 1), (1, 1.001, 1), (1, 1, 1.001)]
        cpu, reading, accelerator = (-(math.log(self.rate(vcpus, disk, m)) - base) / math.log(1.001) for m in moved)
        return cpu, reading, accelerator


@pytest.fixture(scope="session")
def draw_job() -> Callable[[np.random.Generator], Job]:
    """A random job whose bottleneck lies anywhere."""

    def draw(random: np.random.Generator) -> Job:
        cpu, size = 10 ** random.uniform(-3.5, -1), 10 ** random.uniform(4, 5.5)
        ios, top = size / 131072 + 0.2, 8 / cpu
        factors = sorted(10 ** random.uniform(-1.3, 0.6, 3))
        disks = {
            f"disk{index}": DiskRates(
                read_iops=ios * top * factor * random.uniform(0.7, 3),
                read_bytes_per_second=size * top * factor * random.uniform(0.7, 3),
            )
            for index, factor in enumerate(factors)
        }
        return Job(
            cpu_seconds=cpu,
            contention=10 ** random.uniform(-3, -1) if random.random() < 0.7 else 0.0,
            coherence=10 ** random.uniform(-4.5, -2.5) if random.random() < 0.3 else 0.0,
            read_bytes=size,
            read_ios=ios,
            disks=disks,
            accelerator=top * 10 ** random.uniform(-1.2, 0.5) if random.random() < 0.5 else None,
            buffers=int(random.integers(3, 24)),
        )

    return draw


@pytest.fixture(scope="session")
def measure_job(make_run: Callable[..., Run]) -> Callable[..., list[Run]]:
    """Runs of a job over vCPUs and disks with log-normal noise; `accounted` with demands and disk figures."""

    def measure(
        job: Job, vcpus: tuple[float, ...], random: np.random.Generator, noise: float, repeats: int, accounted: bool
    ) -> list[Run]:
        device = Device("emulated", gpu="P100", samples_per_second=job.accelerator) if job.accelerator else None
        demand = Demand(core_seconds=job.cpu_seconds, read_bytes=job.read_bytes, read_ios=job.read_ios)
        return [
            make_run(
                job.rate(count, disk) * math.exp(noise * random.standard_normal()),
                count,
                disk=disk,
                repeat=repeat,
                device=device,
                spread=1.96 * noise,
                rates=job.disks[disk] if accounted else None,
                demand=demand if accounted else None,
            )
            for count in vcpus
            for disk in job.disks
            for repeat in range(repeats)
        ]

    return measure

"""Tables of jobs, as large as is asked for, with noise that is the same each time."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from random import Random

NOISE = 0.02
"""Standard deviation of ln rate."""
VCPUS = (1, 2, 4, 8, 12, 16, 24, 32)
MEMORY_GIB = (4, 8, 16, 32)
DISKS = {"ssd": 20.0, "standard": 4.0}
"""The rate that each allows, over that of one vCPU."""


def over_disks(path: Path, rows: int, jobs: int) -> Path:
    """A table of jobs over as many vCPU values as it takes, on two disks."""
    random, rows_per_job = Random(5), rows // jobs
    table = ["workload,vcpus,disk,throughput"]
    for job in range(jobs):
        for row in range(rows_per_job):
            vcpus, disk = 1 + row // 2, ("ssd", "standard")[row % 2]
            rate = _together(_rate(job, vcpus), _one_vcpu(job) * DISKS[disk]) * _noise(random)
            table.append(f"job-{job},{vcpus},{disk},{rate:.4g}")
    return _written(path, table)


def over_memory(path: Path, jobs: int, vcpus: Sequence[int] = VCPUS, repeats: int = 1) -> Path:
    """A table of jobs, every vCPU value with every memory, each of which is slower below a size of its own."""
    random = Random(6)
    table = ["workload,vcpus,memory_gib,throughput"]
    for job in range(jobs):
        for cpus, gib, _ in product(vcpus, MEMORY_GIB, range(repeats)):
            enough = 8 * (1 + job % 3)
            slower = 1.0 if gib >= enough else 0.6 + 0.4 * gib / enough
            table.append(f"job-{job},{cpus},{gib},{_rate(job, cpus) * slower * _noise(random):.4g}")
    return _written(path, table)


def _one_vcpu(job: int) -> float:
    return 60.0 + 15 * job


def _rate(job: int, vcpus: float) -> float:
    """By Amdahl's law, up to what is no CPU's."""
    scaled = vcpus / (1 + 0.02 * (1 + job % 3) * (vcpus - 1))
    return _together(_one_vcpu(job) * scaled, _one_vcpu(job) * (10 + 3 * job))


def _together(one: float, other: float) -> float:
    return float((one**-6 + other**-6) ** (-1 / 6))


def _noise(random: Random) -> float:
    return math.exp(random.gauss(0, NOISE))


def _written(path: Path, table: list[str]) -> Path:
    path.write_text("\n".join(table) + "\n", encoding="utf-8")
    return path

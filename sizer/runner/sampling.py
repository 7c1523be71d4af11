"""Counters over time: what a run has used at each moment, and what else uses this host before a study starts."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Protocol

import psutil

from sizer.analysis.accounting import CONTENDED_CORES, other_cores, stolen_cores
from sizer.analysis.run_warnings import STOLEN_CORES
from sizer.host.findings import BusyBy
from sizer.limits.interface import LimitsBackend
from sizer.records.device import GpuSample
from sizer.records.run import Sample
from sizer.records.study import Limits


class Countable(Protocol):
    """A group whose counters can be read."""

    def sample(self, time: float) -> Sample:
        """The counters, stamped with `time`."""


class Sampler:
    """Collects a sample at each tick; whoever runs the loop decides when.

    `clock` is monotonic. `gpus` gives what the driver told last of each GPU that the run uses, none where it uses none.
    `used` gives the core-seconds of sizer's own process so far.
    """

    def __init__(
        self,
        group: Countable,
        clock: Callable[[], float],
        gpus: Callable[[], tuple[GpuSample, ...]] = tuple,
        used: Callable[[], float] = time.process_time,
    ) -> None:
        self.samples: list[Sample] = []
        self._group = group
        self._clock = clock
        self._gpus = gpus
        self._used = used
        self._used_before = used()

    def tick(self) -> Sample:
        """Take a sample now and keep it."""
        sample = replace(self._group.sample(self._clock()), sizer_core_seconds=self._used() - self._used_before)
        gpus = self._gpus()
        if gpus:
            busy = [gpu.busy for gpu in gpus if gpu.busy is not None]
            together = sum(busy) if len(busy) == len(gpus) else None
            sample = replace(sample, gpus=gpus, accelerator_busy=together)
        self.samples.append(sample)
        return sample


SAMPLED_SECONDS = 1.0

NAMED_CORES = 0.02
"""Cores from which a program is named: below, it is one of the many that make up an idle host."""

MOST_PROGRAMS_NAMED = 3


def host_load(backend: LimitsBackend) -> BusyBy | None:
    """What others use of this host, watched for a second while sizer does nothing; None for a quiet one. Raises
    HostError."""
    before = _core_seconds()
    with backend.open("load", Limits()) as group:
        sampler = Sampler(group, time.monotonic)
        first = sampler.tick()
        time.sleep(SAMPLED_SECONDS)
        last = sampler.tick()
        accounted = group.accounted
    span = first.time, last.time
    stolen = stolen_cores(sampler.samples, *span) if "steal_core_seconds" in accounted else None
    return busy_by(
        other_cores(sampler.samples, *span), stolen, busiest(before, _core_seconds(), last.time - first.time)
    )


def busy_by(other: float | None, stolen: float | None, programs: tuple[tuple[str, float], ...]) -> BusyBy | None:
    """Pure: what of these cores is so much that runs are marked; those of None are not accounted."""
    contended, is_stolen = (other or 0.0) > CONTENDED_CORES, (stolen or 0.0) > STOLEN_CORES
    if not (contended or is_stolen):
        return None
    return BusyBy(other if contended else None, stolen if is_stolen else None, programs if contended else ())


def busiest(
    before: Mapping[int, tuple[str, float]], after: Mapping[int, tuple[str, float]], seconds: float
) -> tuple[tuple[str, float], ...]:
    """Pure: the names and cores of the programs that used most between two listings of core-seconds by pid.

    Processes of one name are one program: a browser is many.
    """
    used: dict[str, float] = {}
    for pid, (name, total) in after.items():
        grown = total - before.get(pid, (name, 0.0))[1]
        used[name] = used.get(name, 0.0) + grown / seconds
    ranked = sorted(((cores, name) for name, cores in used.items() if cores >= NAMED_CORES), reverse=True)
    return tuple((name, cores) for cores, name in ranked[:MOST_PROGRAMS_NAMED])


def _core_seconds() -> dict[int, tuple[str, float]]:
    """The name and the core-seconds of every process but this one."""
    listed = {}
    for process in psutil.process_iter(["pid", "name", "cpu_times"]):
        used = process.info["cpu_times"]
        if used is not None and process.pid != os.getpid():
            name = "".join(character if character.isprintable() else "?" for character in process.info["name"] or "")
            listed[process.pid] = (name, used.user + used.system)
    return listed

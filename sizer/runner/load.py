"""What else uses this host before a study starts: a busy host is said before an hour is measured on it."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping

import psutil

from sizer.analysis.accounting import CONTENDED_CORES, other_cores, stolen_cores
from sizer.analysis.run_warnings import STOLEN_CORES
from sizer.host.findings import BusyBy
from sizer.limits.interface import LimitsBackend
from sizer.records.study import Limits
from sizer.runner.sampler import Sampler

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

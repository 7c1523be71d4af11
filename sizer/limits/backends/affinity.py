"""Limits for ordinary users: whole vCPUs by CPU affinity, and nothing else."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import psutil

from sizer.limits.backends.control_group import limited_by
from sizer.limits.interface import Capability, Control, Group, LimitsBackend, Remedy, Throttle, require
from sizer.limits.process_tree import MARK, ProcessTree, end_all, end_left, kill, owned_name
from sizer.limits.supervised import join_command
from sizer.limits.topology import Machine, beyond, named, threads_of
from sizer.limits.tree import below_quota
from sizer.records.messages import Message
from sizer.records.run import LimitedBy, Sample
from sizer.records.study import Limits

ACCOUNTED = frozenset(
    {
        "core_seconds",
        "memory_bytes",
        "anonymous_bytes",
        "read_bytes",
        "written_bytes",
        "host_core_seconds",
        "steal_core_seconds",
        "threads",
    }
)


class AffinityBackend(LimitsBackend):
    """`why` says what keeps the kernel's groups from us, `fixes` the command that would give each control.

    `quota` is that of the group which this process and its runs stay in, in vCPUs.
    """

    name = "affinity"

    def __init__(
        self, machine: Machine, why: Message, fixes: Mapping[Control, Remedy], quota: float | None = None
    ) -> None:
        self.topology, self.allowed, self.memory_bytes = machine.topology, machine.allowed, machine.memory_bytes
        self._why = why
        self._fixes = fixes
        self._quota = quota

    def capabilities(self) -> tuple[Capability, ...]:
        lacking = (Control.FRACTIONAL_VCPUS, Control.MEMORY, Control.DISK)
        return (
            Capability(Control.VCPUS, True, below_quota("CPU affinity", self._quota)),
            *(Capability(control, False, self._why, self._fixes.get(control)) for control in lacking),
        )

    def open(
        self, run_id: str, limits: Limits, throttle: Throttle | None = None, processes: int | None = None
    ) -> Group:
        del processes  # The kernel limits those of a user (RLIMIT_NPROC), among which others are.
        require(self, limits, throttle)
        cpus = self.cpus_for(limits)
        record = limited_by(self.name, limits, cpus, self.topology, None, by_cpuset=False)
        return AffinityGroup(owned_name(run_id), cpus, record)

    def remove_leftovers(self) -> tuple[str, ...]:
        return end_left()


class AffinityGroup(Group):
    """A run whose processes carry its mark. /proc counts CPU time in steps of 10 ms (USER_HZ)."""

    cpu_resolution = 0.01

    def __init__(self, name: str, cpus: tuple[int, ...], limited_by: LimitedBy) -> None:
        self.limited_by, self.cpus, self.accounted = limited_by, cpus, ACCOUNTED
        self._mark = f"{MARK}={name}"
        self._processes = ProcessTree(name)
        self._core_seconds = 0.0

    def command(self, argv: Sequence[str], report: int | None = None) -> list[str]:
        return ["/usr/bin/env", self._mark, *join_command(argv, affinity=self.cpus, report=report)]

    def sample(self, time: float) -> Sample:
        used = self._processes.usage()
        # A process that ignores SIGCHLD loses its children's time; a counter never goes back all the same.
        self._core_seconds = max(self._core_seconds, used["core_seconds"])
        resident, anonymous = self._processes.memory()
        host = psutil.cpu_times()
        return Sample(
            time=time,
            memory_bytes=resident,
            anonymous_bytes=anonymous,
            **{**used, "core_seconds": self._core_seconds},
            host_core_seconds=host.user + host.nice + host.system + host.irq + host.softirq,
            steal_core_seconds=host.steal,
            threads=self._processes.threads(),
        )

    def escaped(self, processes: Collection[int]) -> str | None:
        threads = threads_of(processes)
        return named({threads[thread] for thread in beyond(self.cpus, threads)})

    def kill(self) -> None:
        end_all(lambda: [process.pid for process in self._processes.members()], kill)

    def close(self) -> None:
        self.kill()

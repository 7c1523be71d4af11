"""The interface of limits: what can be controlled, a group that one run lives in, and the backend that opens groups."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from enum import Enum
from math import ceil
from types import TracebackType

from sizer.limits.topology import Topology, choose_cpus
from sizer.records.device import HOST_DISK, DiskRates
from sizer.records.messages import HostError, Message
from sizer.records.run import LimitedBy, Sample
from sizer.records.study import Limits


class Control(str, Enum):
    """What a limit can be set on."""

    VCPUS = "vcpus"
    FRACTIONAL_VCPUS = "fractional_vcpus"
    MEMORY = "memory"
    DISK = "disk"


@dataclass(frozen=True)
class Rerun:
    """sizer once more, with more rights: what is typed before its own arguments."""

    prefix: str

    def command(self, arguments: str) -> str:
        """The whole command line."""
        return f"{self.prefix} {arguments}"


Remedy = str | Rerun
"""A command that lets sizer control more of this host."""


@dataclass(frozen=True)
class Capability:
    """Whether this host lets us control something, `how`, and the command that would fix it if not.

    `how` is the name of a file or of a way that is never translated, or a sentence.
    """

    control: Control
    available: bool
    how: Message | str
    remedy: Remedy | None = None

    @property
    def fix(self) -> str | None:
        """The command that would fix it, for a study."""
        return self.fix_for("run STUDY.yaml")

    def fix_for(self, arguments: str) -> str | None:
        """The same for another command of sizer."""
        return self.remedy.command(arguments) if isinstance(self.remedy, Rerun) else self.remedy


@dataclass(frozen=True)
class Throttle:
    """The rates that a whole block device (`major:minor`) is held to; a rate of None is not limited.

    With every rate None nothing is limited and the run's disk counters are those of this device alone.
    """

    device: str
    rates: DiskRates


class Group(ABC):
    """A fresh group for one run. A context manager: it kills what is left in it and removes itself, whatever happened.

    `limited_by` is for the run's record, `cpus` are those it may use. `accounted` names the fields of `Sample` that
    are really counted here; the others stay at 0 and mean nothing. CPU time is counted in steps of `cpu_resolution`.
    """

    limited_by: LimitedBy
    cpus: tuple[int, ...]
    accounted: frozenset[str]
    cpu_resolution: float = 1e-6

    @abstractmethod
    def command(self, argv: Sequence[str], report: int | None = None) -> list[str]:
        """A command line that joins the group and becomes `argv` under the same pid.

        If it cannot, its exit status is 125, which a program may have, too, and it writes into our descriptor `report`,
        which no program inherits.
        """

    @abstractmethod
    def sample(self, time: float) -> Sample:
        """The counters of everything that ran in the group so far."""

    @abstractmethod
    def escaped(self, processes: Collection[int]) -> str | None:
        """Which of these living processes is no longer under the limits, by a thread at least, or which limit no
        longer reads as it was set; None where all is as it should be."""

    @property
    def ran_out_of_processes(self) -> bool:
        """Whether the run was refused a process or thread for its limit of them."""
        return False

    @abstractmethod
    def kill(self) -> None:
        """Kill every process in the group, daemons too, and return when it is empty; HostError if one will not die."""

    @abstractmethod
    def close(self) -> None:
        """Kill, then remove the group; a second call does nothing."""

    def __enter__(self) -> Group:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()


class LimitsBackend(ABC):
    """One way of limiting runs on this host. `tells_pressure`: its groups account what they wait for (PSI).

    `throttles_buffered_writes`: a throttle also holds what the kernel writes back later, which no program waits for.
    """

    name: str
    topology: Topology
    allowed: frozenset[int]
    memory_bytes: int | None = None
    tells_pressure: bool = False
    throttles_buffered_writes: bool = False

    @abstractmethod
    def capabilities(self) -> tuple[Capability, ...]:
        """What this host lets us control, one entry for each Control."""

    @abstractmethod
    def open(
        self, run_id: str, limits: Limits, throttle: Throttle | None = None, processes: int | None = None
    ) -> Group:
        """A fresh group with each limit set and read back; HostError if one of them does not hold.

        `processes` is how many processes and threads it may have; where this cannot be limited, `limited_by` says so.
        """

    @abstractmethod
    def remove_leftovers(self) -> tuple[str, ...]:
        """Kill and remove the groups of dead sizers and name them; those of a living one are left alone."""

    def missing(self, limits: Limits, *, throttled: bool = True) -> tuple[Capability, ...]:
        """What these limits need and this host lacks. `throttled` is False for a disk tier that is a real mount."""
        needed = needed_controls(limits, throttled=throttled)
        lacking = [
            capability
            for capability in self.capabilities()
            if capability.control in needed and not capability.available
        ]
        return (*lacking, *self._beyond_this_host(limits))

    def cpus_for(self, limits: Limits) -> tuple[int, ...]:
        """The CPUs of a run with these limits; HostError if this host allows fewer."""
        if limits.vcpus is None:
            return tuple(sorted(self.allowed))
        return choose_cpus(self.topology, limits.vcpus, self.allowed)

    def _beyond_this_host(self, limits: Limits) -> list[Capability]:
        beyond = []
        if limits.vcpus is not None and ceil(limits.vcpus) > len(self.allowed):
            how = Message(
                "{asked} vCPUs were asked for and this host allows {allowed}",
                asked=f"{limits.vcpus:g}",
                allowed=len(self.allowed),
            )
            beyond.append(Capability(Control.VCPUS, False, how))
        if (
            limits.memory_bytes is not None
            and self.memory_bytes is not None
            and limits.memory_bytes > self.memory_bytes
        ):
            how = Message(
                "{asked} were asked for and this host has {present}",
                asked=mebibytes(limits.memory_bytes),
                present=mebibytes(self.memory_bytes),
            )
            beyond.append(Capability(Control.MEMORY, False, how))
        return beyond


def needed_controls(limits: Limits, *, throttled: bool = True) -> frozenset[Control]:
    """The controls that these limits cannot do without."""
    needed = set()
    if limits.vcpus is not None:
        needed.add(Control.VCPUS)
        if not float(limits.vcpus).is_integer():
            needed.add(Control.FRACTIONAL_VCPUS)
    if limits.memory_bytes is not None:
        needed.add(Control.MEMORY)
    if limits.disk not in (None, HOST_DISK) and throttled:
        needed.add(Control.DISK)
    return frozenset(needed)


def require(backend: LimitsBackend, limits: Limits, throttle: Throttle | None) -> None:
    """HostError, with the command that would fix it, if these limits cannot be set: nothing is silently unlimited."""
    for capability in backend.missing(limits, throttled=throttle is not None and throttle.rates != DiskRates()):
        if capability.fix:
            raise HostError(
                "The limit on {control} cannot be set here ({reason}); type: {fix}",
                control=capability.control.value,
                reason=capability.how,
                fix=capability.fix,
            )
        raise HostError(
            "The limit on {control} cannot be set here ({reason}); leave it out of the study or use a larger host.",
            control=capability.control.value,
            reason=capability.how,
        )


def mebibytes(count: int) -> str:
    """A number of bytes as a person reads it in a record: `256 MiB`."""
    return f"{count / 2**20:,.0f} MiB"

"""What the checks of `sizer doctor` find: records, which `sizer.words` puts into sentences."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from sizer.records.messages import Lines, Message


class FindingKind(str, Enum):
    """What a check found."""

    CONTROL = "control"
    """By what a limit is set, or why it cannot be: `text`."""
    CPUS = "cpus"
    """So many CPUs of this host are usable: `count` of `whole`."""
    NO_SWAP = "no_swap"
    SWAP_KEPT = "swap_kept"
    """The group of a run keeps it from the swap of `bytes`."""
    SWAP_USED = "swap_used"
    """Runs may use the swap of `bytes`."""
    PRESSURE = "pressure"
    """What runs wait for is accounted."""
    NO_PRESSURE = "no_pressure"
    VERSION = "version"
    """What a program says of itself: `text`."""
    FRAMEWORK = "framework"
    """The version of a framework, `text`, in the interpreter `path`, and the names of the GPUs that it sees: `gpus`."""
    PACKAGE = "package"
    """The version of a package that is not imported, `text`, in the interpreter `path`."""
    NOT_INSTALLED = "not_installed"
    """A program is not there, or a package in the interpreter `path`."""
    MISSING = "missing"
    """`path` is not there."""
    ROOT_ONLY = "root_only"
    PRESENT = "present"
    """`path` is there."""
    NO_IMPORT = "no_import"
    """A framework cannot be imported: `text`, in the interpreter `path`."""
    QUIET = "quiet"
    """Nothing else uses this host."""
    BUSY = "busy"
    """Something else does: `load`."""
    SPEED = "speed"
    """How fast one busy thread is: `index`, by compressor from `low` to `high`; by the CPU's name it would be
    `by_name`. Each of `count` busy vCPUs does `per_vcpu` of it."""
    SPEED_UNKNOWN = "speed_unknown"
    """Not probed beside a sizer that measures."""
    OTHER = "other"
    """`text`, as it is."""


@dataclass(frozen=True)
class BusyBy:
    """Cores that other programs use, and that the hypervisor gives to others; None where that disturbs no run.

    `programs` are the names and cores of those that use most, the busiest first.
    """

    other_cores: float | None = None
    stolen_cores: float | None = None
    programs: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True)
class Finding:
    """What a check found, with what its kind needs."""

    kind: FindingKind
    text: str | Message | Lines = ""
    path: str = ""
    count: int = 0
    whole: int = 0
    bytes: int = 0
    load: BusyBy = BusyBy()
    gpus: tuple[str, ...] = ()
    index: float = 0.0
    low: float = 0.0
    high: float = 0.0
    per_vcpu: float = 0.0
    by_name: float | None = None


@dataclass(frozen=True)
class Check:
    """One thing a study may need: whether it is there, what was found, and the command that would fix it."""

    name: str
    ok: bool
    finding: Finding
    fix: str | None = None

"""The demo: a small real study of all four workloads, with the axes that this host lets us limit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from importlib.resources import files

from sizer.api.studies import MeasuringHost
from sizer.catalog.catalog import Catalog
from sizer.limits.delegation import AS_ROOT
from sizer.limits.interface import Control, LimitsBackend
from sizer.records.messages import HostError
from sizer.records.notes import Note, NoteKind
from sizer.records.study import Limits, Study, WorkloadPlan
from sizer.records.units import MIB
from sizer.storage.disk_check import Fio
from sizer.storage.disks import missing_for_emulation
from sizer.study.parse import parse_study
from sizer.study.presets import HostSize

DEMO_FIO = Fio(seconds=1.0, figures=("read_bytes_per_second", "read_iops", "write_bytes_per_second"))

WHOLE_VCPUS = (1.0, 2.0, 4.0, 8.0)
"""The vCPU axis where fractions cannot be had."""


Lacking = Mapping[Control, str | None]
"""Controls that this host does not give us, each with the command that would fix it for the demo."""

ARGUMENTS = "demo"
"""What is typed after sizer."""


def demo_study(host: MeasuringHost) -> tuple[Study, tuple[Note, ...]]:
    """The study of the demo as far as this host lets us limit its axes, and what was left out.

    Raises HostError where not even whole vCPUs can be limited.
    """
    lacking = what_is_lacking(host.backend)
    text = files("sizer.api").joinpath("demo.yaml").read_text()
    study = parse_study(text, "demo.yaml", None, host.size, Catalog.load())
    return within_reach(study, lacking, host.size), notes(lacking)


def what_is_lacking(backend: LimitsBackend) -> Lacking:
    """Raises HostError where not even whole vCPUs can be limited: nothing would be left to show."""
    lacking = {each.control: each.fix_for(ARGUMENTS) for each in backend.capabilities() if not each.available}
    if missing_for_emulation():
        lacking.setdefault(Control.DISK, AS_ROOT.command(ARGUMENTS))
    if Control.VCPUS in lacking:
        raise HostError("This host cannot limit vCPUs, which the demo varies; type: {fix}", fix=lacking[Control.VCPUS])
    return lacking


def within_reach(study: Study, lacking: Lacking, host: HostSize) -> Study:
    """Pure: the study without the axes that cannot be limited, and with no more vCPUs and memory than the host has."""
    around = study.around or Limits()
    most = (host.memory_bytes * 3 // 4) // MIB * MIB
    point = replace(
        around,
        vcpus=float(min(around.vcpus or host.vcpus, host.vcpus)),
        memory_bytes=None if Control.MEMORY in lacking else min(around.memory_bytes or most, most),
        disk=None if Control.DISK in lacking else around.disk,
    )
    workloads = tuple(_within_reach(planned, lacking, host.vcpus, most) for planned in study.workloads)
    return replace(study, workloads=workloads, around=point, disks=() if Control.DISK in lacking else study.disks)


def _within_reach(planned: WorkloadPlan, lacking: Lacking, host_vcpus: int, most_memory: int) -> WorkloadPlan:
    vcpus = WHOLE_VCPUS if Control.FRACTIONAL_VCPUS in lacking else planned.vcpus
    return replace(
        planned,
        vcpus=tuple(value for value in vcpus if value <= host_vcpus),
        memory_bytes=()
        if Control.MEMORY in lacking
        else tuple(dict.fromkeys(min(value, most_memory) for value in planned.memory_bytes)),
        disk=() if Control.DISK in lacking else planned.disk,
    )


LEFT_OUT = {
    Control.FRACTIONAL_VCPUS: NoteKind.NO_FRACTIONAL_VCPUS,
    Control.MEMORY: NoteKind.NO_MEMORY_AXIS,
    Control.DISK: NoteKind.NO_DISK_AXIS,
}


def notes(lacking: Lacking) -> tuple[Note, ...]:
    """Which axes were left out, for the report."""
    return tuple(
        Note(kind, fix=lacking[control] or AS_ROOT.command(ARGUMENTS))
        for control, kind in LEFT_OUT.items()
        if control in lacking
    )

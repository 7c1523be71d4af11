"""The demo: a small real study of all four workloads, with the axes that this host lets us limit."""

from __future__ import annotations

from dataclasses import replace
from importlib.resources import files

from sizer.api.preconditions import Lacking, lacking_controls, notes_on
from sizer.api.studies import MeasuringHost
from sizer.catalog.catalog import Catalog
from sizer.limits.backends.delegation import AS_ROOT
from sizer.limits.interface import Control
from sizer.records.messages import HostError
from sizer.records.notes import Note
from sizer.records.study import Limits, Study, WorkloadPlan
from sizer.records.units import MIB
from sizer.storage.disk_check import Fio
from sizer.storage.disks import missing_for_emulation
from sizer.study.parse import parse_study
from sizer.study.presets import HostSize

DEMO_FIO = Fio(seconds=1.0, figures=("read_bytes_per_second", "read_iops", "write_bytes_per_second"))

WHOLE_VCPUS = (1.0, 2.0, 4.0, 8.0)
"""The vCPU axis where fractions cannot be had."""

ARGUMENTS = "demo"
"""What is typed after sizer."""


def demo_study(host: MeasuringHost) -> tuple[Study, tuple[Note, ...]]:
    """The study of the demo as far as this host lets us limit its axes, and what was left out.

    Raises HostError where not even whole vCPUs can be limited: nothing would be left to show.
    """
    lacking = lacking_controls(host.backend, ARGUMENTS)
    if missing_for_emulation():
        lacking.setdefault(Control.DISK, AS_ROOT.command(ARGUMENTS))
    if Control.VCPUS in lacking:
        raise HostError("This host cannot limit vCPUs, which the demo varies; type: {fix}", fix=lacking[Control.VCPUS])
    text = files("sizer.api").joinpath("demo.yaml").read_text()
    study = parse_study(text, "demo.yaml", None, host.size, Catalog.load())
    return within_reach(study, lacking, host.size), notes_on(lacking)


def within_reach(study: Study, lacking: Lacking, host: HostSize) -> Study:
    """Pure: the study without the axes that cannot be limited, and with no more vCPUs and memory than the host has."""
    most = (host.memory_bytes * 3 // 4) // MIB * MIB

    def plan_within_reach(planned: WorkloadPlan) -> WorkloadPlan:
        vcpus = WHOLE_VCPUS if Control.FRACTIONAL_VCPUS in lacking else planned.vcpus
        caps = () if Control.MEMORY in lacking else (min(value, most) for value in planned.memory_bytes)
        return replace(
            planned,
            vcpus=tuple(value for value in vcpus if value <= host.vcpus),
            memory_bytes=tuple(dict.fromkeys(caps)),
            disk=() if Control.DISK in lacking else planned.disk,
        )

    around = study.around or Limits()
    point = Limits(
        vcpus=float(min(around.vcpus or host.vcpus, host.vcpus)),
        memory_bytes=None if Control.MEMORY in lacking else min(around.memory_bytes or most, most),
        disk=None if Control.DISK in lacking else around.disk,
    )
    disks = () if Control.DISK in lacking else study.disks
    return replace(study, workloads=tuple(map(plan_within_reach, study.workloads)), around=point, disks=disks)

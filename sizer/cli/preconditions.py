"""What must be true before anything is run, so that a study does not end in its middle for something known before."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from sizer import data_sets, disks
from sizer.errors import HostError, InputError
from sizer.interpreters import interpreter
from sizer.limits import Control, LimitsBackend
from sizer.records import RunSpec, Study

IN_WORDS = {
    Control.VCPUS: "vCPUs",
    Control.FRACTIONAL_VCPUS: "fractions of a vCPU",
    Control.MEMORY: "memory",
    Control.DISK: "disks",
}


def check(specs: Sequence[RunSpec], study: Study, backend: LimitsBackend) -> None:
    """Raises InputError for data or a mount that is not there, HostError for what this host cannot limit or emulate."""
    for workload in dict.fromkeys(spec.workload for spec in specs):
        data_sets.check(workload)
        if workload.kind != "command":
            interpreter(workload.framework)
    _check_mounts(specs, study)
    lacking = _lacking(specs, study, backend)
    if lacking:
        raise HostError("\n".join(lacking))


def _check_mounts(specs: Sequence[RunSpec], study: Study) -> None:
    for name in dict.fromkeys(spec.limits.disk for spec in specs if spec.limits.disk is not None):
        path = study.disk(name).path
        if path is not None and not Path(path).is_dir():
            raise InputError(f"disk `{name}`: {path} is not a folder; give the folder where the disk is mounted")
        if path is not None and not os.access(path, os.W_OK):
            raise InputError(f"disk `{name}`: {path} may not be written; give a folder that you may write to")


def _lacking(specs: Sequence[RunSpec], study: Study, backend: LimitsBackend) -> list[str]:
    """Each thing that is missing, with the command that would fix it."""
    found: dict[tuple[Control, str], str] = {}
    for spec in specs:
        emulated = spec.limits.disk is not None and study.disk(spec.limits.disk).emulated is not None
        for each in backend.missing(spec.limits, throttled=emulated):
            fix = f"; type: {each.fix}" if each.fix else "; ask for less, or measure on a larger host"
            found[each.control, each.how] = f"this host cannot limit {IN_WORDS[each.control]} ({each.how}){fix}"
        reason = disks.missing_for_emulation() if emulated else None
        if reason:
            found[Control.DISK, reason] = f"this host cannot emulate disks: {reason}"
    return list(found.values())

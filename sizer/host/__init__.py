"""Facts about this machine, and what it lets us control."""

from __future__ import annotations

from sizer.host.lock import is_host_measured, measuring_alone
from sizer.host.machine import (
    PACKAGES,
    BusyBy,
    Check,
    Finding,
    FindingKind,
    Host,
    Virtualization,
    checks,
    facts,
    interpreter,
)
from sizer.host.nvml import busy_share, gpus

__all__ = [
    "PACKAGES",
    "BusyBy",
    "Check",
    "Finding",
    "FindingKind",
    "Host",
    "Virtualization",
    "busy_share",
    "checks",
    "facts",
    "gpus",
    "interpreter",
    "is_host_measured",
    "measuring_alone",
]

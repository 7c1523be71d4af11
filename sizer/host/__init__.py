"""Facts about this machine, and what it lets us control."""

from __future__ import annotations

from sizer.host.cuda_devices import BUS_ORDER, visible_gpus
from sizer.host.gpu_watch import GpuWatch, watched
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
from sizer.host.nvml import Gpu, gpus, has_driver

__all__ = [
    "BUS_ORDER",
    "PACKAGES",
    "BusyBy",
    "Check",
    "Finding",
    "FindingKind",
    "Gpu",
    "GpuWatch",
    "Host",
    "Virtualization",
    "checks",
    "facts",
    "gpus",
    "has_driver",
    "interpreter",
    "is_host_measured",
    "measuring_alone",
    "visible_gpus",
    "watched",
]

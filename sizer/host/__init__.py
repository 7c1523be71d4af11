"""Facts about this machine, and what it lets us control."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sizer.lazily import exports

if TYPE_CHECKING:
    from sizer.host.cuda_devices import BUS_ORDER, visible_gpus
    from sizer.host.cuda_library import cuda_gpus
    from sizer.host.findings import BusyBy, Check, Finding, FindingKind
    from sizer.host.frameworks import gpus_seen
    from sizer.host.gpu_watch import GpuWatch, watched
    from sizer.host.interpreters import NEEDED, examined, interpreter, what_it_lacks, wrong_interpreter
    from sizer.host.lock import MeasuringProcess, is_host_measured, measuring_alone
    from sizer.host.machine import (
        PACKAGES,
        Host,
        checks,
        facts,
        with_frameworks,
    )
    from sizer.host.nvml import Gpu, gpus, has_driver
    from sizer.host.stored_host import Installed, Virtualization, installed_of
else:
    __getattr__ = exports(__name__, __file__)

__all__ = [
    "BUS_ORDER",
    "NEEDED",
    "PACKAGES",
    "BusyBy",
    "Check",
    "Finding",
    "FindingKind",
    "Gpu",
    "GpuWatch",
    "Host",
    "Installed",
    "MeasuringProcess",
    "Virtualization",
    "checks",
    "cuda_gpus",
    "examined",
    "facts",
    "gpus",
    "gpus_seen",
    "has_driver",
    "installed_of",
    "interpreter",
    "is_host_measured",
    "measuring_alone",
    "visible_gpus",
    "watched",
    "what_it_lacks",
    "with_frameworks",
    "wrong_interpreter",
]

"""Facts about this machine, and what it lets us control."""

from __future__ import annotations

from sizer.host.findings import BusyBy, Check, Finding, FindingKind
from sizer.host.interpreters import NEEDED, examined, interpreter, what_it_lacks, wrong_interpreter
from sizer.host.lock import is_host_measured, measuring_alone
from sizer.host.machine import PACKAGES, Host, Installed, Virtualization, checks, facts, installed_of, with_frameworks
from sizer.host.nvml import busy_share, gpus

__all__ = [
    "NEEDED",
    "PACKAGES",
    "BusyBy",
    "Check",
    "Finding",
    "FindingKind",
    "Host",
    "Installed",
    "Virtualization",
    "busy_share",
    "checks",
    "examined",
    "facts",
    "gpus",
    "installed_of",
    "interpreter",
    "is_host_measured",
    "measuring_alone",
    "what_it_lacks",
    "with_frameworks",
    "wrong_interpreter",
]

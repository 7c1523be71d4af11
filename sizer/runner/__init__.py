"""One RunSpec, one child under its limits, one Run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sizer.lazily import exports

if TYPE_CHECKING:
    from sizer.runner.commands import RunPaths, gpu_environment, withheld
    from sizer.runner.launcher import RunContext, launch, refused
    from sizer.runner.load import host_load
    from sizer.runner.preparatory import set_up
    from sizer.runner.time_limit import TimeLimit, at_most
    from sizer.runner.watching import Hooks
else:
    __getattr__ = exports(__name__, __file__)

__all__ = [
    "Hooks",
    "RunContext",
    "RunPaths",
    "TimeLimit",
    "at_most",
    "gpu_environment",
    "host_load",
    "launch",
    "refused",
    "set_up",
    "withheld",
]

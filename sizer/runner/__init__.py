"""One RunSpec, one child under its limits, one Run."""

from __future__ import annotations

from sizer.runner.commands import RunPaths, withheld
from sizer.runner.launcher import RunContext, launch, refused
from sizer.runner.load import host_load
from sizer.runner.preparatory import set_up
from sizer.runner.watching import Hooks

__all__ = ["Hooks", "RunContext", "RunPaths", "host_load", "launch", "refused", "set_up", "withheld"]

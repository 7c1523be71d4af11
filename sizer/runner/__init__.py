"""One RunSpec, one child under its limits, one Run."""

from __future__ import annotations

from sizer.runner.commands import Place
from sizer.runner.launcher import Setting, launch, refused
from sizer.runner.load import Load, host_load
from sizer.runner.watching import Hooks

__all__ = ["Hooks", "Load", "Place", "Setting", "host_load", "launch", "refused"]

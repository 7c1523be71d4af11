"""Which Python runs a framework's workloads: a framework, and its numpy, may live in an environment of its own."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from sizer.errors import HostError


def interpreter(framework: str) -> Path:
    """SIZER_MXNET_PYTHON and the like, or our own. Raises HostError when that is not a program."""
    variable = f"SIZER_{framework.upper()}_PYTHON"
    chosen = os.environ.get(variable)
    if chosen is None:
        return Path(sys.executable)
    if not os.access(chosen, os.X_OK) or Path(chosen).is_dir():
        raise HostError(f"{variable} is {chosen}, which is not a program; give the path of a Python interpreter")
    return Path(chosen)

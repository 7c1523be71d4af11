"""Which Python runs a framework's workloads: a framework, and its numpy, may live in an environment of its own."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from sizer.errors import HostError

INSTALLED_WITH = {"opencv": "mxnet"}
"""A framework that has no interpreter of its own is looked for where this one is."""


def interpreter(framework: str) -> Path:
    """SIZER_MXNET_PYTHON and the like, or our own. Raises HostError when that is not a program."""
    names = [framework, *filter(None, [INSTALLED_WITH.get(framework)])]
    variables = [f"SIZER_{name.upper()}_PYTHON" for name in names]
    variable = next((each for each in variables if each in os.environ), None)
    if variable is None:
        return Path(sys.executable)
    chosen = os.environ[variable]
    if not os.access(chosen, os.X_OK) or Path(chosen).is_dir():
        raise HostError(f"{variable} is {chosen}, which is not a program; give the path of a Python interpreter")
    return Path(chosen)

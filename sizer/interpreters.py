"""Which Python runs a framework's workloads: a framework, and its numpy, may live in an environment of its own."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

from sizer.errors import HostError

INSTALLED_WITH = {"opencv": "mxnet"}
"""A framework that has no interpreter of its own is looked for where this one is."""


def interpreter(framework: str) -> Path:
    """SIZER_MXNET_PYTHON and the like, or our own, as an absolute path, because programs start in other folders.

    Raises HostError when that is not a program.
    """
    names = [framework, *filter(None, [INSTALLED_WITH.get(framework)])]
    variables = [f"SIZER_{name.upper()}_PYTHON" for name in names]
    variable = next((each for each in variables if each in os.environ), None)
    if variable is None:
        return Path(sys.executable)
    chosen = os.environ[variable]
    # A bare name is looked for as a shell does, and never in this folder, which may be somebody else's.
    found = chosen if "/" in chosen else shutil.which(chosen)
    if not found or not os.access(found, os.X_OK) or Path(found).is_dir():
        raise HostError(f"{variable} is {chosen}, which is not a program; give the path of a Python interpreter")
    return Path(os.path.abspath(found))

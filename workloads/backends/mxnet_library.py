"""The import of MXNet 1.9.1 under a numpy of today."""

from __future__ import annotations

import importlib
import sys
from typing import Any

from ..faults import Unavailable


def load() -> Any:
    """The module `mxnet`. Raises Unavailable if it is not installed or a library of it is missing."""
    import numpy

    # MXNet 1.9.1 reads numpy.bool when imported, which numpy 1.24 to 1.26 do not have (`hasattr` would warn).
    if "bool" not in numpy.__dict__:
        numpy.bool = numpy.bool_  # type: ignore[misc,attr-defined,unused-ignore]
    try:
        return importlib.import_module("mxnet")
    except OSError as error:
        raise Unavailable(
            f"MXNet is installed but does not load ({error}): on Debian type `apt-get install libgomp1 libquadmath0`"
        ) from None
    except ModuleNotFoundError:
        raise Unavailable(
            f"{sys.executable} has no MXNet: type `{sys.executable} -m pip install mxnet==1.9.1 'numpy<2'`"
        ) from None

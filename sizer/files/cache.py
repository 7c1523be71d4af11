"""Where what sizer makes once and can make again lies."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from sizer.records.messages import HostError

SYSTEM_CACHE = Path("/var/cache")


def cache_folder(environment: Mapping[str, str]) -> Path:
    """SIZER_CACHE, or the user's cache folder (XDG base directories), without links.

    Root's is the system's (FHS 3.0, 5.5): nobody else can look into root's home, and runs are made by others, too.
    Raises HostError for a user without a home folder, such as a service's.
    """
    try:
        if environment.get("SIZER_CACHE"):
            return Path(environment["SIZER_CACHE"]).expanduser().resolve()
        base = Path(environment.get("XDG_CACHE_HOME", ""))
        # A relative one is to be ignored: it would be a folder of whoever made the one that we are in.
        if not base.is_absolute():
            base = Path.home() / ".cache" if os.geteuid() else SYSTEM_CACHE
    except RuntimeError as error:
        raise HostError(
            "This user has no home folder for data sets; set SIZER_CACHE to a folder that you may write to."
        ) from error
    return (base / "sizer").resolve()

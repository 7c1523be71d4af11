"""This machine, set up to measure."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from sizer.host.machine import Host, facts
from sizer.limits.detection import detect
from sizer.limits.interface import LimitsBackend
from sizer.storage.data_cache import cache_folder
from sizer.storage.disk_check import Fio
from sizer.study.presets import HostSize


@dataclass(frozen=True)
class MeasuringHost:
    """What is known of the machine, how it limits runs, and how its disks are checked; data sets and emulated volumes
    lie in `cache`."""

    host: Host
    backend: LimitsBackend
    cache: Path
    fio: Fio = Fio()

    @property
    def size(self) -> HostSize:
        """What a study and its plan need to know of it."""
        return HostSize(self.host.cpus, self.host.memory_bytes)


def this_host(fio: Fio = Fio()) -> MeasuringHost:
    """The machine that this runs on; to ask it takes about a second."""
    backend = detect()
    return MeasuringHost(facts(backend), backend, cache_folder(os.environ), fio)

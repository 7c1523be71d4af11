"""Study files, read for the machine that is to measure them."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from sizer.catalog.catalog import Catalog
from sizer.files.own_folder import cache_folder
from sizer.host.machine import Host, facts
from sizer.limits.detection import detect
from sizer.limits.interface import LimitsBackend
from sizer.records.study import Study
from sizer.storage.disk_check import Fio
from sizer.study import parse
from sizer.study.presets import HostSize


def read_study(path: str | Path, preset: str | None = None, host: HostSize | None = None) -> Study:
    """The study in a file, with every default filled in: `preset` (quick, standard or full) and the size of the host,
    by default this one, fill what the file leaves out. Raises InputError: one sentence with the line."""
    return parse.read_study(path, preset, this_host().size if host is None else host, Catalog.load())


def parse_study(text: str, name: str = "study", preset: str | None = None, host: HostSize | None = None) -> Study:
    """The same of a text in the form of a study file; it is called `name` unless it says another name."""
    size = this_host().size if host is None else host
    return parse.parse_study(text, f"{name}.yaml", preset, size, Catalog.load())


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

"""Study files, read for the machine that is to measure them."""

from __future__ import annotations

from pathlib import Path

from sizer.api.measuring_host import this_host
from sizer.catalog.catalog import Catalog
from sizer.records.study import Study
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

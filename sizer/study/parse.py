"""A study file becomes a Study with every default filled in."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sizer.files.given_files import read_given
from sizer.records.messages import AnyOf, InputError, Message, typed_path
from sizer.records.study import FrameworkPython, Measure, Study
from sizer.study.axes import read_around, read_axes
from sizer.study.document import Document, read_document
from sizer.study.emulated import read_disks
from sizer.study.json_schema import check
from sizer.study.objective import read_adaptive, read_objective
from sizer.study.presets import ISOLATED, MEASURE, SECONDS_OF_MODES, HostSize, Preset, vcpus_axis
from sizer.study.workloads import WorkloadDefaults, read_workloads

if TYPE_CHECKING:
    from sizer.catalog.catalog import Catalog


PLAIN = {name: getattr(Study, name) for name in ("embedded_images", "run_as", "max_processes")}
"""Keys of the file whose values are those of the study, with their defaults."""


def read_study(path: str | Path, preset: str | None, facts: HostSize, catalog: Catalog | None) -> Study:
    """The study in the file at `path`; arguments and errors as `parse_study`."""
    return parse_study(_text(path), str(path), preset, facts, catalog)


def read_stored_study(path: str | Path) -> Study:
    """The study that sizer wrote to `path`, which leaves nothing to a host or a catalogue. Raises InputError: one
    sentence with the line."""
    return _study(read_document(_text(path), str(path)), None, HostSize(1, 1), None)


def _text(path: str | Path) -> str:
    return read_given(
        Path(path),
        Message("a study file"),
        Message("`sizer init {path}` writes one to start from", path=typed_path(path)),
    )


def parse_study(text: str, where: str, preset: str | None, facts: HostSize, catalog: Catalog | None) -> Study:
    """The study that `text` describes; `where` is its path, for messages, its default name and paths in it.

    A preset fills what the file leaves out: how to measure, and a vCPU axis from the host's own downwards. Without
    one, `standard` says how to measure, and only a workload that names no axis gets a vCPU axis. `catalog` is asked
    for the GPUs and disk tiers that the file names; None has none. Raises InputError: one sentence with the line.
    """
    return _study(read_document(text, where), _preset(preset), facts, catalog)


def _study(document: Document, level: Preset | None, facts: HostSize, catalog: Catalog | None) -> Study:
    check(document)
    disks = read_disks(document, catalog)
    names = tuple(tier.name for tier in disks)
    around = read_around(document, names)
    defaults = WorkloadDefaults(
        axes=read_axes(document.entry("axes"), names),
        around=around,
        disks=names,
        figures=catalog,
        vcpus=vcpus_axis(level or Preset.STANDARD, facts.vcpus),
        preset_asked=level is not None,
        isolate=document.data.get("isolate", level in ISOLATED and not document.resolved),
    )
    return Study(
        name=_name(document),
        workloads=read_workloads(document, defaults),
        disks=disks,
        around=around,
        measure=_measure(document, level),
        objective=read_objective(document, catalog),
        frameworks=_frameworks(document),
        adaptive=read_adaptive(document),
        **{name: type(usual)(document.data.get(name, usual)) for name, usual in PLAIN.items()},
    )


def _preset(preset: str | None) -> Preset | None:
    if preset is None:
        return None
    try:
        return Preset(preset)
    except ValueError:
        presets = AnyOf(*(level.value for level in Preset))
        raise InputError("`{preset}` is not a preset; choose {known}.", preset=preset, known=presets) from None


def _name(document: Document) -> str:
    """The name given, or the file's own without its ending."""
    stem = "".join(character if character.isprintable() else "-" for character in Path(document.where).stem)
    name = re.sub("[\x00-,/:-@[-^`{-\x7f-\xa0]+", "-", stem).lstrip("._-")
    return unicodedata.normalize("NFC", document.data.get("name", name[:100] or "study"))


def _measure(document: Document, level: Preset | None) -> Measure:
    """What the file says; what it leaves out is the preset's, and without one `standard`, but longer for modes."""
    default = MEASURE[level or Preset.STANDARD]
    if level is None and any("mode" in entry for entry in document.data["workloads"]):
        default = replace(default, seconds=SECONDS_OF_MODES)
    given = document.data.get("measure", {})
    read: dict[str, Any] = {key: int(given[key]) for key in ("repeats", "seed", "steps") if key in given}
    read |= {key: float(given[key]) for key in ("seconds", "precision", "timeout") if key in given}
    return replace(default, **read)


def _frameworks(document: Document) -> tuple[FrameworkPython, ...]:
    """Each framework of the file with its interpreter: a path from the file's folder, or a name to be found in PATH."""
    given = document.entry("frameworks")
    pythons = {framework: given.text(framework, "python") for framework in given.data}
    return tuple(
        FrameworkPython(
            framework,
            document.locate(python) if "/" in python or python.startswith("~") else python,
            document.where,
            document.lines["frameworks", framework, "python"],
        )
        for framework, python in pythons.items()
    )

"""A program of the user's own, as it is typed behind `sizer profile`, and the study file that measures it."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sizer.records.domains import LONGEST_NAME
from sizer.records.frameworks import Variable
from sizer.records.units import MB, NamedTier, spell_bytes
from sizer.study.resolved import dumped, number

SCRIPT = re.compile(r"\.(py|pyc|sh|bash|lua|jl|r|pl|js)$", re.IGNORECASE)
"""Words of a command that name a script by their ending."""


@dataclass(frozen=True)
class OwnJob:
    """What is to be profiled, and how.

    `cwd` is the folder that it starts in, and `disks` are the folders, and the tiers as TIER or TIER:SIZE, that it is
    measured on beside the present disk. A variable of `env` without a value is taken from the environment.
    """

    command: tuple[str, ...]
    cwd: str = "."
    disks: tuple[str, ...] = ()
    data: str | None = None
    batch_sizes: tuple[int, ...] = ()
    samples_per_step: int | None = None
    sample_unit: str | None = None
    pattern: str | None = None
    meter: str = "auto"
    env: tuple[Variable, ...] = ()
    pass_env: tuple[str, ...] = ()
    setup: tuple[str, ...] = ()
    before: tuple[str, ...] = ()
    memory_floor: bool = True
    seconds: float = 10.0
    repeats: int = 2

    @property
    def name(self) -> str:
        """What its workload is called: the name of its script or module, or else of its program."""
        program, *others = self.command
        script = next((word for word in self.command if SCRIPT.search(word)), None)
        module = others[others.index("-m") + 1] if "-m" in others[:-1] else None
        if script is not None:
            script_name = SCRIPT.sub("", Path(script).name)
        else:
            script_name = (
                module.removesuffix(".__main__").rpartition(".")[2] if module is not None else Path(program).name
            )
        return _name(script_name) or "job"


@dataclass(frozen=True)
class Axes:
    """The values of the axes of the file, and its disks: a folder, or a tier of the catalogue with its size."""

    vcpus: Sequence[float] = ()
    memory_bytes: Sequence[int] = ()
    memory_floor: bool = False
    disks: Mapping[str, str | NamedTier] = field(default_factory=dict)


HINTS = (
    "The run without limits is the point from which one axis at a time is varied. There may be more of them:",
    "  axes: {memory: [1GiB, 2GiB], disk: [fast, cloud]}",
    "  disks: {fast: /mnt/fast, cloud: {emulate: alibaba/cloud_ssd, size: 500GiB}}",
)
"""What a person may change in the file."""


def own_job_text(job: OwnJob, name: str, axes: Axes, comments: Sequence[str] = ()) -> str:
    """The study file of a job: its run without limits is the point around which each axis is varied by itself.

    Values of variables that are secret are not in it.
    """
    own = {key: value for key, value in _workload(job, axes).items() if value not in (None, [], {})}
    data: dict[str, Any] = {"name": _name(name) or "profile", "workloads": [{**own, "axes": _axes(axes)}]}
    if axes.disks:
        data["disks"] = {name: _disk(disk) for name, disk in axes.disks.items()}
    data |= {"around": {}, "measure": {"repeats": job.repeats, "seconds": number(job.seconds)}}
    lines = [f"# {line}".rstrip() for line in (*comments, *([""] if comments else []), *HINTS)]
    return "\n".join([*lines, "", dumped(data)])


def _name(text: str) -> str:
    """The text as a study's name may be."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", text, flags=re.ASCII).strip("._-")[:LONGEST_NAME]


def _workload(job: OwnJob, axes: Axes) -> dict[str, Any]:
    """Folders are whole paths: the file may lie anywhere."""
    sizes, folder = list(job.batch_sizes), os.path.abspath(os.path.expanduser(job.cwd))
    return {
        "name": job.name,
        "kind": "command",
        "command": _located(job.command, job.cwd),
        "cwd": folder,
        "data": None if job.data is None else os.path.abspath(os.path.expanduser(job.data)),
        "cache": "cold" if job.data is not None else None,
        "batch_size": sizes[0] if len(sizes) == 1 else sizes,
        "samples_per_step": job.samples_per_step,
        "sample_unit": job.sample_unit,
        "pattern": job.pattern,
        "meter": None if job.meter == "auto" else job.meter,
        "env": {variable.name: variable.value for variable in job.env},
        "pass_env": list(job.pass_env),
        "setup": _located(job.setup, job.cwd),
        "before": _located(job.before, job.cwd),
        "memory_floor": axes.memory_floor or None,
    }


def _located(words: Sequence[str], cwd: str) -> list[str]:
    """A program by its path lies where it was typed; one by its name alone is looked for in PATH."""
    if not words:
        return []
    program, *others = words
    if "/" in program and program[0] not in "/{":
        program = os.path.abspath(os.path.join(cwd, os.path.expanduser(program)))
    return [program, *others]


def _axes(axes: Axes) -> dict[str, Any]:
    """An axis without values is written, too: left out, it would be filled."""
    values: dict[str, Any] = {"vcpus": [number(value) for value in axes.vcpus]}
    if axes.memory_bytes:
        values["memory"] = [spell_bytes(value) for value in axes.memory_bytes]
    if axes.disks:
        values["disk"] = list(axes.disks)
    return values


def _disk(disk: str | NamedTier) -> Any:
    if isinstance(disk, str):
        return disk
    size, rate = disk.size_bytes, disk.bytes_per_second
    amounts = {
        "size": None if size is None else spell_bytes(size),
        "iops": None if disk.iops is None else number(disk.iops),
        "mbps": None if rate is None else number(rate / MB),
    }
    return {"emulate": disk.name, **{name: amount for name, amount in amounts.items() if amount is not None}}

"""A program of the user's own, as it is typed behind `sizer profile`, and the study file that measures it."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from sizer.records.domains import LONGEST_NAME
from sizer.records.own_programs import Variable
from sizer.records.units import spell_bytes

SCRIPT = re.compile(r"\.(py|pyc|sh|bash|lua|jl|r|pl|js)$", re.IGNORECASE)
"""Words of a command that name a script by their ending."""

PLAIN = re.compile(r"[A-Za-z/.][A-Za-z0-9_./-]*")
"""Words that stand in YAML without quotes, unless they are ones like `yes`."""


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
            found = SCRIPT.sub("", Path(script).name)
        else:
            found = module.removesuffix(".__main__").rpartition(".")[2] if module is not None else Path(program).name
        return _name(found) or "job"


@dataclass(frozen=True)
class Axes:
    """The values of the axes of the file, and its disks: a folder, or a tier of the catalogue with its size."""

    vcpus: Sequence[float] = ()
    memory_bytes: Sequence[int] = ()
    memory_floor: bool = False
    disks: Mapping[str, str | tuple[str, int]] = field(default_factory=dict)


def own_job_text(job: OwnJob, name: str, axes: Axes, comments: Sequence[str] = ()) -> str:
    """The study file of a job: its run without limits is the point around which each axis is varied by itself.

    Values of variables that are secret are not in it.
    """
    lines = [*(f"# {line}".rstrip() for line in comments), ""] if comments else []
    lines += [_line("name", _name(name) or "profile"), "workloads:"]
    own = [each for each in _workload(job, axes).items() if each[1] not in (None, (), [], {})]
    lines += [f"  {'-' if number == 0 else ' '} {_line(key, value)}" for number, (key, value) in enumerate(own)]
    lines += [f"    {_line('axes', _axes(axes))}  # more of them: memory: [1GiB, 2GiB], disk: [fast]"]
    measure = {"repeats": job.repeats, "seconds": _number(job.seconds)}
    if axes.disks:
        lines += ["disks:", *(f"  {_line(name, _disk(disk))}" for name, disk in axes.disks.items())]
    else:
        lines += ["# disks: {fast: /mnt/fast, cloud: {emulate: alibaba/cloud_ssd, size: 500GiB}}"]
    lines += [
        f"{_line('around', {})}  # the run without limits is the point from which one axis at a time is varied",
        f"{_line('measure', measure)}  # fresh processes for each; seconds at the most after warm-up",
    ]
    return "\n".join(lines) + "\n"


def _name(text: str) -> str:
    """The text as a study's name may be."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", text, flags=re.ASCII).strip("._-")[:LONGEST_NAME]


def _workload(job: OwnJob, axes: Axes) -> dict[str, Any]:
    """Folders are whole paths: the file may lie anywhere."""
    sizes = list(job.batch_sizes)
    return {
        "name": job.name,
        "kind": "command",
        "command": _located(job.command, job.cwd),
        "cwd": os.path.abspath(os.path.expanduser(job.cwd)),
        "data": None if job.data is None else os.path.abspath(os.path.expanduser(job.data)),
        "cache": "cold" if job.data is not None else None,
        "batch_size": sizes[0] if len(sizes) == 1 else sizes,
        "samples_per_step": job.samples_per_step,
        "sample_unit": job.sample_unit,
        "pattern": job.pattern,
        "meter": None if job.meter == "auto" else job.meter,
        "env": {each.name: each.value for each in job.env},
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
    found: dict[str, Any] = {"vcpus": [_number(value) for value in axes.vcpus]}
    if axes.memory_bytes:
        found["memory"] = [spell_bytes(value) for value in axes.memory_bytes]
    if axes.disks:
        found["disk"] = list(axes.disks)
    return found


def _disk(disk: str | tuple[str, int]) -> Any:
    return disk if isinstance(disk, str) else {"emulate": disk[0], "size": spell_bytes(disk[1])}


def _line(key: str, value: Any) -> str:
    return f"{_flow(key)}: {_flow(value)}"


def _flow(value: Any) -> str:
    """A value on one line: JSON, which YAML reads, with plain words as a person would write them."""
    if isinstance(value, str):
        return (
            value
            if PLAIN.fullmatch(value) and yaml.safe_load(value) == value
            else json.dumps(value, ensure_ascii=False)
        )
    if isinstance(value, list):
        return f"[{', '.join(map(_flow, value))}]"
    if isinstance(value, dict):
        return f"{{{', '.join(_line(key, each) for key, each in value.items())}}}"
    return json.dumps(value)


def _number(value: float) -> float:
    """Whole numbers without their point, as a person would write them."""
    return int(value) if float(value).is_integer() else value

"""The workloads of a study file: lists of frameworks, networks and modes become one workload each, and defaults are
filled in."""

from __future__ import annotations

import os
import re
import shlex
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING, Any

from sizer.records.domains import LONGEST_NAME
from sizer.records.frameworks import (
    FRAMEWORKS,
    PLACEHOLDERS,
    RUNNABLE,
    WITHOUT,
    FrameworkOptions,
    Variable,
    compiled,
    format_called,
    placeholders_in,
)
from sizer.records.kinds import BATCH_SIZES, COMMAND, FORWARD, KINDS, OTHER, PREPROCESSING
from sizer.records.study import Limits, Workload, WorkloadPlan
from sizer.study.axes import Axes, check_together, distinct, read_axes
from sizer.study.document import Document, Entry
from sizer.study.emulated import read_devices

if TYPE_CHECKING:
    from sizer.catalog.catalog import Catalog

PLAIN = ("input", "pattern", "sample_unit", "meter", "samples_per_step")
"""Keys of an entry whose values are those of the workload."""
LARGEST_TRIED = 16384
"""Of a search for the largest batch that names none: the largest that is in use for training at all."""


@dataclass(frozen=True)
class WorkloadDefaults:
    """What a workload takes from the rest of the study, from a catalogue and from the host: `vcpus` is the axis of a
    workload that names no axis, and with `preset_asked` also of one that names others alone."""

    axes: Axes
    around: Limits | None
    disks: tuple[str, ...]
    figures: Catalog | None
    vcpus: tuple[float, ...]
    preset_asked: bool
    isolate: bool = False


def read_workloads(document: Document, defaults: WorkloadDefaults) -> tuple[WorkloadPlan, ...]:
    """Every workload of the file; raises InputError where two have one name or a value makes no sense."""
    plans: dict[str, WorkloadPlan] = {}
    for index in range(len(document.data["workloads"])):
        entry = document.entry("workloads", index)
        for plan in _expand(entry, defaults):
            name = plan.workload.name
            if name in plans:
                raise entry.input_error("", "two workloads are named `{name}`; give each its own `name`.", name=name)
            if len(name) > LONGEST_NAME:
                raise entry.input_error(
                    "",
                    "the name `{name}` is longer than {longest} characters; shorten it.",
                    name=name,
                    longest=LONGEST_NAME,
                )
            plans[name] = plan
    return tuple(plans.values())


def _expand(entry: Entry, defaults: WorkloadDefaults) -> Iterator[WorkloadPlan]:
    """One plan for each framework, network and mode of an entry."""
    named = {**defaults.axes, **read_axes(entry.at("axes"), defaults.disks)}
    axes = {**named, **read_axes(entry, ())}
    if not named or defaults.preset_asked:
        axes.setdefault("vcpus", defaults.vcpus)
    kind = KINDS[entry["kind"]]
    written = _written(entry, _cache(entry, axes, defaults.around))
    choices = {
        "framework": _listed(entry.get("framework", kind.framework)),
        "network": _listed(entry.get("network", kind.network)),
        "mode": _listed(entry.get("mode")),
    }
    for values in product(*choices.values()):
        chosen = dict(zip(choices, values, strict=True))
        several = [name for name in choices if len(choices[name]) > 1]
        workload = replace(written, name=_name(entry, chosen, several), **chosen)
        # The forward pass of a network that is trained is its inference.
        if workload.kind == "image_training" and workload.mode == FORWARD:
            workload = replace(workload, kind="image_inference")
        batch_sizes = axes.get("batch_size") or (_batch_size(entry["kind"], workload.network),)
        devices = read_devices(entry, workload, batch_sizes, axes.get("gpu_count", ()), defaults.figures)
        gpu_counts = axes.get("gpu_count", ()) if any(device.kind != "cpu" for device in devices) else ()
        workload = replace(workload, device=devices[0], options=_options(entry, workload.framework))
        for device in devices:
            check_together(entry, replace(workload, device=device), gpu_counts)
        if workload.kind == COMMAND and not entry.document.resolved:
            _check_placeholders(entry, workload, batch_sizes, axes.get("gpu_count", ()))
        yield WorkloadPlan(
            workload,
            batch_sizes,
            axes.get("vcpus", ()),
            axes.get("memory_bytes", ()),
            axes.get("disk", ()),
            entry.get("memory_floor", False),
            entry.get("isolate", defaults.isolate) and workload.kind != COMMAND,
            gpu_counts,
            _largest_batch(entry, max(batch_sizes)),
            devices if len(devices) > 1 else (),
        )


def _largest_batch(entry: Entry, measured: int) -> int:
    """The largest batch that is tried: `true` is one that nothing but memory or time ends before; 0 is no search."""
    asked = entry.get("largest_batch", False)
    if not isinstance(asked, bool) and asked < measured:
        raise entry.input_error(
            "largest_batch",
            "`largest_batch` is below the batch size {size}, which is measured anyway; write a larger one, or true.",
            size=measured,
        )
    return LARGEST_TRIED if asked is True else int(asked)


def _batch_size(kind: str, network: str | None) -> int:
    """Where the study file says nothing; a program of the user's own may call its network as ours are called."""
    usual = KINDS[kind].batch_size
    return usual if KINDS[kind].framework == OTHER else BATCH_SIZES.get(network or "", usual)


def _written(entry: Entry, cache: str) -> Workload:
    """The workload without what depends on its framework, network and mode. Raises InputError for a pattern that is
    neither a regular expression nor the name of a known log."""
    pattern = entry.get("pattern")
    if pattern is not None and format_called(pattern) is None:
        with entry.errors_at("pattern"):
            compiled(pattern)
    data, cwd = (entry.document.locate(entry[name]) if name in entry else None for name in ("data", "cwd"))
    return Workload(
        name="",
        kind=entry["kind"],
        data=data,
        cwd=cwd,
        format=entry.get("format", _format_of(entry["kind"], data)),
        cache=cache,
        precision=entry.get("options", {}).get("precision"),
        command=_words(entry, "command"),
        setup=_words(entry, "setup"),
        before=_words(entry, "before"),
        env=tuple(
            Variable(name, None if value is None else entry.text("env", name))
            for name, value in entry.get("env", {}).items()
        ),
        pass_env=_listed(entry.get("pass_env", [])),
        **{name: entry[name] for name in PLAIN if name in entry},
    )


def _cache(entry: Entry, axes: Axes, around: Limits | None) -> str:
    """Cached input is in memory, so it is warm; a memory axis is measured natural; all else is cold.

    A command that names no data is cold, too: nothing is known that its page cache could hold.
    """
    if "cache" in entry:
        return str(entry["cache"])
    if entry.get("input") == "cached":
        return "warm"
    caps = set(axes.get("memory_bytes", ()))
    if caps and around is not None:
        caps.add(around.memory_bytes)
    return "natural" if len(caps) > 1 and (entry["kind"] != COMMAND or "data" in entry) else "cold"


def _name(entry: Entry, chosen: dict[str, str | None], several: list[str]) -> str:
    """The name given, with what distinguishes its variants; without one, from kind, framework and network, and the mode
    where there are several."""
    if "name" in entry:
        first, parts = unicodedata.normalize("NFC", entry["name"]), several
    else:
        other = KINDS[entry["kind"]].framework == OTHER and "framework" not in entry
        unnamed = entry["kind"] == PREPROCESSING or other
        first = entry["kind"]
        parts = [*([] if unnamed else ["framework"]), "network", *({"mode"} & {*several})]
    named = (chosen[part] for part in parts)
    return "-".join([first, *(re.sub(r"[^A-Za-z0-9._-]+", "-", part).strip("-") for part in named if part)])


def _listed(value: Any) -> tuple[Any, ...]:
    return distinct(value) if isinstance(value, list) else (value,)


def _format_of(kind: str, data: str | None) -> str | None:
    """The form that data of this kind most likely has, by its name and by what lies there."""
    default = KINDS[kind].format
    if data is None or kind not in ("image_training", "image_inference"):
        return default
    if data.endswith((".rec", ".lmdb", ".mdb")):
        return "recordio" if data.endswith(".rec") else "lmdb"
    if not os.path.isdir(data):
        return default
    entries = os.listdir(data)
    if "data.mdb" in entries:
        return "lmdb"
    return "recordio" if any(entry.endswith(".rec") for entry in entries) else "folder"


def _options(entry: Entry, framework: str | None) -> FrameworkOptions:
    """The options of the entry, but for its precision, for one framework. One that the framework lacks is left out
    where it asks for what the framework does anyway; raises InputError where it asks for something else."""
    given = entry.at("options")
    has = FRAMEWORKS[framework].options if framework in RUNNABLE else frozenset(given.data)
    for name, value in given.data.items():
        if name not in has and WITHOUT.get(name) != value:
            raise given.input_error(
                name,
                "{framework} has no option `{name}`; remove this line, or give {framework} a workload of its own.",
                framework=framework,
                name=name,
            )
    return FrameworkOptions(**{name: given[name] for name in given.data if name in has and name != "precision"})


def _words(entry: Entry, name: str) -> tuple[str, ...]:
    """The words of a command: of a list as they are spelled in the file, of a line as a shell splits it.

    Its program lies where the file says if it is a path, and is looked for in PATH, as ever, by its name alone. Raises
    InputError for a command without a program.
    """
    if name not in entry:
        return ()
    given = entry[name]
    if isinstance(given, list):
        words = [entry.text(name, index) for index in range(len(given))]
    else:
        try:
            words = shlex.split(given)
        except ValueError as error:
            raise entry.input_error(
                name, "`{name}` cannot be split into words ({error}); write it as a list.", name=name, error=error
            ) from None
    program, *others = words or [""]
    if not program or program.startswith("-"):  # a shell's `exec` takes it for an option of its own
        raise entry.input_error(
            name,
            "`{name}` begins with `{program}`, which is not a program; begin with one.",
            name=name,
            program=program,
        )
    by_path = "/" in program and program[0] not in "/{"
    return entry.document.locate(program) if by_path else program, *others


def _check_placeholders(
    entry: Entry, workload: Workload, batch_sizes: tuple[int, ...], gpu_counts: tuple[int, ...]
) -> None:
    """Raise InputError for one that cannot be filled in, and for a batch size or count that the command is never told.

    A study that sizer wrote is not asked: it may be of a time without placeholders.
    """
    used = placeholders_in(workload.run_words)
    if "data" in used and workload.data is None:
        raise entry.input_error(
            "", "{placeholder} is used, and the workload has no `data`; write where it lies.", placeholder="{data}"
        )
    untold = {
        "batch_size": ("batch_size", len(batch_sizes) > 1),
        "axes": ("gpu_count", len(gpu_counts) > 1),
        "largest_batch": ("batch_size", entry.get("largest_batch")),
    }
    for key, (name, varies) in untold.items():
        if varies and name not in used:
            raise entry.input_error(
                key,
                "the command is not told which `{name}` to use; write {placeholder} among its words or in `env`, or "
                "ask for one alone.",
                name=name,
                placeholder=f"{{{name}}}",
            )
    early = placeholders_in(workload.setup)
    if early:
        raise entry.input_error(
            "setup",
            "`setup` is run once for all runs, so it has no {placeholder}; use it in `before`, or remove it.",
            placeholder=f"{{{min(early)}}}",
        )
    for word in workload.run_words:
        for name in re.findall(r"(?<![{$])\{([A-Za-z_ -]+)\}", word):
            placeholder = name.strip().lower().replace("-", "_")
            if name not in PLACEHOLDERS and placeholder in PLACEHOLDERS:
                raise entry.input_error(
                    "", "`{name}` is not a placeholder; write {known}.", name=f"{{{name}}}", known=f"{{{placeholder}}}"
                )

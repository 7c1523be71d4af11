"""The workloads of a study file: lists become one workload each, and defaults are filled in."""

from __future__ import annotations

import re
import shlex
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

from sizer.records import (
    BATCH_SIZES,
    COMMAND,
    IMPORTED,
    KINDS,
    LONGEST_NAME,
    ONLY_IN,
    OPENCV,
    OTHER,
    PLACEHOLDERS,
    PREPROCESSING,
    TAKES_VECTORS,
    AnyOf,
    Device,
    InputError,
    Limits,
    Variable,
    Workload,
    WorkloadPlan,
    compiled,
    known_log,
    placeholders_in,
)
from sizer.study.axes import Axes, distinct, read_axes, read_batch_sizes
from sizer.study.devices import read_device, with_scaling
from sizer.study.document import Document, Key
from sizer.study.framework_options import read_options
from sizer.study.kinds import format_of
from sizer.study.modes import kind_of_mode, read_modes
from sizer.study.tiers import Figures

LARGEST_TRIED = 16384
"""Of a search for the largest batch that names none: the largest that is in use for training at all."""


@dataclass(frozen=True)
class WorkloadDefaults:
    """What a workload takes from the rest of the study, from a catalogue and from the host."""

    axes: Axes
    around: Limits | None
    disks: tuple[str, ...]
    figures: Figures | None
    vcpus: tuple[float, ...]
    """The vCPU axis of a workload that names no axis."""
    preset_asked: bool
    """Whether these vCPUs are also used beside other axes: a preset that was asked for fills what is left out."""
    isolate: bool = False
    """Whether stages are isolated of a workload that does not say."""


def read_workloads(document: Document, defaults: WorkloadDefaults) -> tuple[WorkloadPlan, ...]:
    """Every workload of the file; raises InputError where two have one name or a value makes no sense."""
    plans: dict[str, WorkloadPlan] = {}
    for index in range(len(document.data["workloads"])):
        key: Key = ("workloads", index)
        for plan in _expand(document, key, defaults):
            name = plan.workload.name
            if name in plans:
                raise document.input_error(
                    key, "two workloads are named `{name}`; give each its own `name`.", name=name
                )
            if len(name) > LONGEST_NAME:
                raise document.input_error(
                    key,
                    "the name `{name}` is longer than {longest} characters; shorten it.",
                    name=name,
                    longest=LONGEST_NAME,
                )
            plans[name] = plan
    return tuple(plans.values())


def _expand(document: Document, key: Key, defaults: WorkloadDefaults) -> list[WorkloadPlan]:
    """One plan for each framework, network and mode of the entry at `key`."""
    entry = _at(document, key)
    kind = KINDS[entry["kind"]]
    _check_framework(document, (*key, "framework"), entry)
    frameworks = _listed(entry.get("framework", kind.framework))
    networks = _listed(entry.get("network", kind.network))
    modes = read_modes(document, key, entry)
    axes, asked_sizes = _axes(document, key, entry, defaults)
    plans = []
    for framework, network, mode in product(frameworks, networks, modes):
        _check_network(document, (*key, "network"), entry["kind"], framework, network)
        if network in TAKES_VECTORS and entry.get("input") != "synthetic" and entry["kind"] not in (COMMAND, IMPORTED):
            raise document.input_error(
                (*key, "network"), "{network} takes vectors, not images; write `input: synthetic`.", network=network
            )
        batch_sizes = asked_sizes or (_batch_size(entry["kind"], network),)
        several = {
            each: value
            for each, value, values in (
                ("framework", framework, frameworks),
                ("network", network, networks),
                ("mode", mode, modes),
            )
            if len(values) > 1
        }
        workload = replace(
            _workload(document, key, entry, _name(entry, framework, network, several)),
            kind=kind_of_mode(entry["kind"], mode),
            mode=mode,
            framework=framework,
            network=network,
            cache=_cache(entry, axes, defaults.around),
            precision=entry.get("options", {}).get("precision"),
        )
        _check_placeholders(document, key, workload, batch_sizes, axes.gpu_count or ())
        device = read_device(
            document, (*key, "device"), entry.get("device", "cpu"), workload, batch_sizes, defaults.figures
        )
        counts = _gpu_counts(document, key, entry, axes, device)
        device = with_scaling(document, (*key, "device"), device, counts, workload.kind, network, defaults.figures)
        options = read_options(document, (*key, "options"), entry, framework, device)
        plans.append(
            WorkloadPlan(
                replace(workload, options=options, device=device),
                batch_sizes,
                axes.vcpus or (),
                axes.memory_bytes or (),
                axes.disk or (),
                entry.get("memory_floor", False),
                entry.get("isolate", defaults.isolate) and entry["kind"] != COMMAND,
                counts,
                _largest_batch(document, key, entry.get("largest_batch", False), batch_sizes),
            )
        )
    return plans


def _gpu_counts(document: Document, key: Key, entry: dict[str, Any], axes: Axes, device: Device) -> tuple[int, ...]:
    """How many accelerators; an axis of the whole study is none of a workload that the CPU computes.

    Raises InputError for a workload's own axis without an accelerator.
    """
    own = "gpu_count" in entry.get("axes", {})
    if device.kind == "cpu":
        if own and axes.gpu_count:
            raise document.input_error(
                (*key, "axes", "gpu_count"),
                "`gpu_count` counts accelerators, and this workload computes on the CPU; write a `device` such as "
                "{example}, or remove this line.",
                example="{emulate: {gpu: V100}}",
            )
        return ()
    return axes.gpu_count or ()


def _largest_batch(document: Document, key: Key, asked: bool | int, batch_sizes: Sequence[int]) -> int:
    """The largest batch that is tried: `true` is one that nothing but memory or time ends before; 0 is no search.

    Raises InputError for one below a batch size that is measured anyway.
    """
    if asked is not False and asked is not True and asked < max(batch_sizes):
        raise document.input_error(
            (*key, "largest_batch"),
            "`largest_batch` is below the batch size {size}, which is measured anyway; write a larger one, or true.",
            size=max(batch_sizes),
        )
    return LARGEST_TRIED if asked is True else int(asked)


def _check_framework(document: Document, key: Key, entry: dict[str, Any]) -> None:
    """Preprocessing is OpenCV's; a file that sizer wrote may call it mxnet, as the first study folders do, and have
    runs of a framework that no program of sizer's runs on."""
    of_networks = KINDS[entry["kind"]].framework not in (OTHER, OPENCV)
    if of_networks and "tensorflow" in _listed(entry.get("framework")) and not document.resolved:
        raise document.input_error(
            key,
            "no program of sizer's runs on TensorFlow; measure your own with `kind: command`, such as with "
            "`pattern: keras`.",
        )
    known = {OPENCV, "mxnet"} if document.resolved else {OPENCV}
    if entry["kind"] == PREPROCESSING and entry.get("framework", OPENCV) not in known:
        raise document.input_error(
            key,
            "`framework` of {preprocessing} can only be {opencv}; remove this line.",
            preprocessing=PREPROCESSING,
            opencv=OPENCV,
        )


def _check_network(document: Document, key: Key, kind: str, framework: str | None, network: str | None) -> None:
    """Raise InputError for a network that sizer's programs do not have in a framework."""
    having = ONLY_IN.get(network or "", ())
    if having and framework not in having and KINDS[kind].framework != OTHER:
        raise document.input_error(
            key,
            "{framework} has no {network}, which is in {having} alone; ask for it in a workload of its own with "
            "`framework: {first}`.",
            framework=framework,
            network=network,
            having=AnyOf(*having),
            first=having[0],
        )


def _batch_size(kind: str, network: str | None) -> int:
    """Where the study file says nothing; a program of the user's own may call its network as ours are called."""
    usual = KINDS[kind].batch_size
    return usual if KINDS[kind].framework == OTHER else BATCH_SIZES.get(network or "", usual)


def _axes(
    document: Document, key: Key, entry: dict[str, Any], defaults: WorkloadDefaults
) -> tuple[Axes, tuple[int, ...]]:
    """The workload's axes over the study's, and its batch sizes, () where nothing is said."""
    own = read_axes(document, (*key, "axes"), entry.get("axes"), defaults.disks)
    sizes = read_batch_sizes(document, key, entry)
    if sizes is not None and own.batch_size is not None:
        raise document.input_error(
            (*key, "axes"), "`batch_size` is set both in the workload and in its axes; remove one of them."
        )
    axes = Axes(batch_size=sizes).over(own).over(defaults.axes)
    no_axes = own.empty and defaults.axes.empty
    if axes.vcpus is None and (no_axes or defaults.preset_asked):
        axes = replace(axes, vcpus=defaults.vcpus)
    return axes, axes.batch_size or ()


def _workload(document: Document, key: Key, entry: dict[str, Any], name: str) -> Workload:
    """The workload without what depends on framework, network and axes."""
    data = document.locate(entry["data"]) if "data" in entry else None
    if entry["kind"] == COMMAND:
        _check_cache(document, key, entry)
        if entry.get("isolate"):
            raise document.input_error(
                (*key, "isolate"),
                "`isolate: true` does not work with a command: sizer cannot leave out a stage of it; remove this line.",
            )
    if "pattern" in entry:
        _check_pattern(document, (*key, "pattern"), entry["pattern"])
    return Workload(
        name=name,
        kind=entry["kind"],
        data=data,
        format=entry.get("format", format_of(entry["kind"], data)),
        input=entry.get("input", "disk"),
        command=_command(document, (*key, "command"), entry.get("command")),
        env=_variables(document, (*key, "env"), entry.get("env", {})),
        pass_env=_listed(entry.get("pass_env", [])),
        cwd=document.locate(entry["cwd"]) if "cwd" in entry else None,
        setup=_command(document, (*key, "setup"), entry.get("setup")),
        before=_command(document, (*key, "before"), entry.get("before")),
        pattern=entry.get("pattern"),
        sample_unit=entry.get("sample_unit"),
        meter=entry.get("meter", "auto"),
    )


def _check_cache(document: Document, key: Key, entry: dict[str, Any]) -> None:
    """Nobody but a command itself knows how to read its data into memory."""
    for name, value in (("input", "cached"), ("cache", "warm")):
        if entry.get(name) == value and not document.resolved:
            raise document.input_error(
                (*key, name),
                "`{name}: {value}` does not work with a command; remove this line, and let the command read its data "
                "once before its first step.",
                name=name,
                value=value,
            )


def _check_pattern(document: Document, key: Key, pattern: str) -> None:
    if known_log(pattern) is not None:
        return
    try:
        compiled(pattern)
    except InputError as error:
        raise document.input_error(key, error) from None
    except (OverflowError, RecursionError):
        raise document.input_error(
            key, "`pattern` is too large for a regular expression; write a simpler one."
        ) from None


def _variables(document: Document, key: Key, values: dict[str, Any]) -> tuple[Variable, ...]:
    """The variables as they are spelled in the file."""
    places: dict[str, Key] = {name: (*key, name) for name in values}
    return tuple(
        Variable(name, None if value is None else document.texts[places[name]]) for name, value in values.items()
    )


def _check_placeholders(
    document: Document, key: Key, workload: Workload, batch_sizes: tuple[int, ...], gpu_counts: tuple[int, ...]
) -> None:
    """Raise InputError for one that cannot be filled in, and for a batch size or count that the command is never told.

    A study that sizer wrote may be of a time without placeholders.
    """
    if workload.kind != COMMAND or document.resolved:
        return
    used = placeholders_in(workload.run_words)
    if "data" in used and workload.data is None:
        raise document.input_error(
            key, "{placeholder} is used, and the workload has no `data`; write where it lies.", placeholder="{data}"
        )
    if len(batch_sizes) > 1 and "batch_size" not in used:
        raise document.input_error(
            (*key, "batch_size"),
            "the command is not told which of the batch sizes to use; write {placeholder} among its words or in `env`, "
            "or give one batch size.",
            placeholder="{batch_size}",
        )
    if len(gpu_counts) > 1 and "gpu_count" not in used:
        raise document.input_error(
            (*key, "axes"),
            "the command is not told how many accelerators to use; write {placeholder} among its words or in `env`, "
            "or give one `gpu_count`.",
            placeholder="{gpu_count}",
        )
    if _at(document, key).get("largest_batch") and "batch_size" not in used:
        raise document.input_error(
            (*key, "largest_batch"),
            "the command is not told which batch size to try; write {placeholder} among its words or in `env`.",
            placeholder="{batch_size}",
        )
    early = placeholders_in(workload.setup)
    if early:
        raise document.input_error(
            (*key, "setup"),
            "`setup` is run once for all runs, so it has no {placeholder}; use it in `before`, or remove it.",
            placeholder=f"{{{min(early)}}}",
        )
    for word in workload.run_words:
        for name in re.findall(r"(?<![{$])\{([A-Za-z_ -]+)\}", word):
            known = name.strip().lower().replace("-", "_")
            if name not in PLACEHOLDERS and known in PLACEHOLDERS:
                raise document.input_error(
                    key, "`{name}` is not a placeholder; write {known}.", name=f"{{{name}}}", known=f"{{{known}}}"
                )


def _command(document: Document, key: Key, command: str | list[Any] | None) -> tuple[str, ...]:
    """The words of a command: of a list as they are spelled in the file, of a line as a shell splits it."""
    if command is None:
        return ()
    if isinstance(command, list):
        places: list[Key] = [(*key, index) for index in range(len(command))]
        program, *others = (document.texts[place] for place in places)
        return _located(document, key, program), *others
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise document.input_error(
            key, "`{name}` cannot be split into words ({error}); write it as a list.", name=key[-1], error=error
        ) from None
    if not words:
        raise document.input_error(key, "`{name}` has no words; write the program and its arguments.", name=key[-1])
    return _located(document, key, words[0]), *words[1:]


def _located(document: Document, key: Key, program: str) -> str:
    """A program by its path lies where the study file says; one by its name alone is looked for in PATH, as ever."""
    if not program or program.startswith("-"):
        # A shell's `exec` takes it for an option of its own.
        raise document.input_error(
            key,
            "`{name}` begins with `{program}`, which is not a program; begin with one.",
            name=key[-1],
            program=program,
        )
    return document.locate(program) if "/" in program and program[0] not in "/{" else program


def _cache(entry: dict[str, Any], axes: Axes, around: Limits | None) -> str:
    """A memory axis is measured natural; cached input is in memory, so it is warm; all else is cold.

    A command that names no data is cold, too: nothing is known that its page cache could hold.
    """
    if "cache" in entry:
        return str(entry["cache"])
    if entry["kind"] == "command" and "data" not in entry:
        return "cold"
    measured = set(axes.memory_bytes or ())
    if measured and around is not None:
        measured.add(around.memory_bytes or 0)
    if len(measured) > 1:
        return "natural"
    return "warm" if entry.get("input") == "cached" else "cold"


def _name(entry: dict[str, Any], framework: str | None, network: str | None, several: Mapping[str, str | None]) -> str:
    """The name given, with what distinguishes its variants, each in `several`; without one, from kind, framework and
    network, and the mode where there are several."""
    if "name" in entry:
        first = unicodedata.normalize("NFC", entry["name"])
        parts = list(several.values())
    else:
        first = entry["kind"]
        unnamed = entry["kind"] == PREPROCESSING or (
            KINDS[entry["kind"]].framework == OTHER and "framework" not in entry
        )
        parts = [None if unnamed else framework, network, several.get("mode")]
    return "-".join([first, *(re.sub(r"[^A-Za-z0-9._-]+", "-", part) for part in parts if part)])


def _listed(value: Any) -> tuple[Any, ...]:
    return distinct(value) if isinstance(value, list) else (value,)


def _at(document: Document, key: Key) -> dict[str, Any]:
    value = document.data
    for part in key:
        value = value[part]
    found: dict[str, Any] = value
    return found

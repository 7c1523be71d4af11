"""The workloads of a study file: lists become one workload each, and defaults are filled in."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

from sizer.records.domains import LONGEST_NAME
from sizer.records.kinds import COMMAND, IMPORTED, KINDS, OPENCV, OTHER, PREPROCESSING
from sizer.records.messages import AnyOf
from sizer.records.networks import BATCH_SIZES, ONLY_IN, TAKES_VECTORS
from sizer.records.study import Limits, Workload, WorkloadPlan
from sizer.study.axes import Axes, distinct, read_axes, read_batch_sizes
from sizer.study.commands import check_cache, check_pattern, check_placeholders, read_command, read_variables
from sizer.study.devices import read_device, with_scaling
from sizer.study.document import Document, Key
from sizer.study.framework_options import read_options
from sizer.study.gpu_counts import check_used, read_gpu_counts
from sizer.study.kinds import format_of
from sizer.study.modes import kind_of_mode, read_modes
from sizer.study.tiers import Figures
from sizer.study.without_effect import check_input

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
    for index, entry in enumerate(document.data["workloads"]):
        key: Key = ("workloads", index)
        for plan in _expand(document, key, entry, defaults):
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
    check_used(document, tuple(plans.values()))
    return tuple(plans.values())


def _expand(document: Document, key: Key, entry: dict[str, Any], defaults: WorkloadDefaults) -> list[WorkloadPlan]:
    """One plan for each framework, network and mode of the entry at `key`."""
    kind = KINDS[entry["kind"]]
    _check_framework(document, (*key, "framework"), entry)
    frameworks = _listed(entry.get("framework", kind.framework))
    networks = _listed(entry.get("network", kind.network))
    modes = read_modes(document, key, entry)
    axes, asked_sizes = _axes(document, key, entry, defaults)
    check_input(document, key, entry)
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
        check_placeholders(document, key, entry, workload, batch_sizes, axes.gpu_count or ())
        device = read_device(
            document, (*key, "device"), entry.get("device", "cpu"), workload, batch_sizes, defaults.figures
        )
        counts = read_gpu_counts(document, key, entry, axes, workload, device)
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
        check_cache(document, key, entry)
        if entry.get("isolate"):
            raise document.input_error(
                (*key, "isolate"),
                "`isolate: true` does not work with a command: sizer cannot leave out a stage of it; remove this line.",
            )
    if "pattern" in entry:
        check_pattern(document, (*key, "pattern"), entry["pattern"])
    return Workload(
        name=name,
        kind=entry["kind"],
        data=data,
        format=entry.get("format", format_of(entry["kind"], data)),
        input=entry.get("input", "disk"),
        command=read_command(document, (*key, "command"), entry.get("command")),
        env=read_variables(document, (*key, "env"), entry.get("env", {})),
        pass_env=_listed(entry.get("pass_env", [])),
        cwd=document.locate(entry["cwd"]) if "cwd" in entry else None,
        setup=read_command(document, (*key, "setup"), entry.get("setup")),
        before=read_command(document, (*key, "before"), entry.get("before")),
        pattern=entry.get("pattern"),
        sample_unit=entry.get("sample_unit"),
        meter=entry.get("meter", "auto"),
        samples_per_step=entry.get("samples_per_step"),
    )


def _cache(entry: dict[str, Any], axes: Axes, around: Limits | None) -> str:
    """Cached input is in memory, so it is warm; a memory axis is measured natural; all else is cold.

    A command that names no data is cold, too: nothing is known that its page cache could hold.
    """
    if "cache" in entry:
        return str(entry["cache"])
    if entry["kind"] == "command" and "data" not in entry:
        return "cold"
    if entry.get("input") == "cached":
        return "warm"
    measured = set(axes.memory_bytes or ())
    if measured and around is not None:
        measured.add(around.memory_bytes or 0)
    return "natural" if len(measured) > 1 else "cold"


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

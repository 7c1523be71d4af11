"""What a study would do, told without doing it: its runs, and every program, file and device that they touch.

A study may come from anybody. So each command stands here word for word as it would be executed, and nothing in a
study can make up a line of this list.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from sizer.analysis import measured_from_epoch
from sizer.api import StudyPlan
from sizer.cli.progress import AGAIN
from sizer.cli.wording import emulated_disks
from sizer.host import PACKAGES, interpreter
from sizer.plan import MOST_RUNS, TYPICAL_RUNS, Search, estimate_seconds
from sizer.records import (
    HostError,
    Purpose,
    Run,
    Workload,
    format_seconds,
    typed_line,
    typed_path,
)
from sizer.storage import cache_folder
from sizer.words import run_in_words, stages_in_words


def lines(plan: StudyPlan, environment: Mapping[str, str]) -> Iterator[str]:
    """The whole list, line by line."""
    yield from _plan(plan)
    yield from _each_once("runs", _programs(plan, environment))
    yield from _each_once("reads", _read(plan))
    yield from _each_once("writes", _written(plan, environment))
    yield from _each_once("uses", _devices(plan))
    needs = sorted(_needs_root(plan))
    yield f"needs root or a delegated cgroup: {', '.join(needs) if needs else 'nothing'}"


def _each_once(heading: str, found: Iterator[str]) -> Iterator[str]:
    """A workload stands here once, although runs that isolate a stage are fed otherwise."""
    yield from (f"{heading}: {line}" for line in dict.fromkeys(found))


def _plan(plan: StudyPlan) -> Iterator[str]:
    specs, finished, todo = plan.specs, plan.finished, plan.todo
    for spec in todo:
        command = f": {typed_line(spec.workload.command)}" if spec.workload.command else ""
        again = AGAIN if spec.purpose is Purpose.REFERENCE else ""
        yield f"{spec.id}  {run_in_words(spec, emulated_disks(plan.study))}, repeat {spec.repeat + 1}{again}{command}"
    for stage in dict.fromkeys(spec.stage for spec in todo if spec.stage is not None):
        yield stages_in_words(stage)
    time = format_seconds(estimate_seconds(todo, finished))
    beside = "not counting making data and checking disks"
    yield f"{len(todo)} runs, about {time}, {beside}; {len(specs) - len(todo)} finished"
    if any(measured_from_epoch(spec.workload) for spec in todo) and not finished:
        yield "runs with cache natural last two epochs of their data at least, which is not in this time"
    for each in plan.passes_to_come:
        yield (
            f"then 1 run of two epochs of `{each.base.workload.name}` under a memory cap that holds half of its data, "
            "for what the page cache serves, unless that would take long"
        )
    for search in plan.searches:
        yield from _search(search, plan.kept)


def _search(search: Search, finished: Sequence[Run]) -> Iterator[str]:
    """How many runs more a search for a memory floor may take, and how long each."""
    spec, workload = search.next_run(finished), search.base.workload
    if spec is not None:
        time = format_seconds(estimate_seconds([spec], finished))
        most = f"then up to {MOST_RUNS} runs of about {time} to find the memory floor of `{workload.name}`"
        yield f"{most}, mostly {TYPICAL_RUNS}{f': {typed_line(workload.command)}' if workload.command else ''}"


def _programs(plan: StudyPlan, environment: Mapping[str, str]) -> Iterator[str]:
    for workload in plan.workloads:
        if workload.command:
            found = shutil.which(workload.command[0], path=environment.get("PATH"))
            program = typed_path(found) if found and os.path.isabs(found) else "not found here"
            yield f"`{workload.name}`, the command above ({program}), in an empty temporary folder"
        else:
            yield f"`{workload.name}`, {_module(workload, workload.kind)}, which comes with sizer"
    making = list(dict.fromkeys(line for workload in plan.workloads for line in _making(workload)))
    yield from (f"{module}, which comes with sizer, to make data" for module in making)
    if making:
        yield "sync --file-system, to have that data on its disk"
    if plan.workloads:
        yield "sh and taskset, to put each run into its limits"
    if plan.disks:
        yield "fio, to check disks"
    if any(tier.emulated is not None for tier in plan.disks):
        yield "mkfs.ext4, losetup, mount and umount, for the emulated disks"
    yield from _asking(plan)


def _asking(plan: StudyPlan) -> Iterator[str]:
    """What is started only to ask something: before any run, and whether one is left to be made or not."""
    yield "lscpu and fio --version, to describe this host"
    for python in _interpreters():
        yield f"{typed_path(python)} -c, to ask for its versions"
    if os.geteuid() != 0:
        yield "systemctl --user show, to ask whether control groups are this user's"
    for name in dict.fromkeys(spec.limits.disk for spec in plan.all_specs if spec.limits.disk is not None):
        mount = plan.study.disk(name).path
        if mount is not None:
            yield f"test -d {typed_path(mount)}, to see whether the disk `{name}` answers"


def _interpreters() -> list[Path]:
    """Each Python that is asked for the versions of a framework's packages, once."""
    found: dict[Path, None] = {}
    for framework in PACKAGES:
        with suppress(HostError):
            found[interpreter(framework)] = None
    return list(found)


def _making(workload: Workload) -> Iterator[str]:
    """What may make, pack or index the data of a workload."""
    if workload.command or workload.input == "synthetic":
        return
    if workload.data is None:
        yield _module(workload, "embedded_data")
    if workload.kind in ("image_training", "image_inference"):
        yield _module(workload, "imagenet_preprocessing")
        if workload.data is not None:
            yield _module(workload, "record_index")


def _module(workload: Workload, module: str) -> str:
    return f"{typed_path(interpreter(workload.framework))} -m workloads.{module}"


def _read(plan: StudyPlan) -> Iterator[str]:
    for workload in plan.workloads:
        if workload.data is not None:
            yield f"{typed_path(workload.data)}, the data of `{workload.name}`"


def _written(plan: StudyPlan, environment: Mapping[str, str]) -> Iterator[str]:
    state = f"with {len(plan.finished)} runs" if plan.finished else "new" if not plan.folder.exists() else "empty"
    yield f"{typed_path(plan.folder.absolute())}, the study folder ({state})"
    yield f"{typed_path(cache_folder(environment))}, the cache of data sets and emulated disks"
    yield f"{typed_path(tempfile.gettempdir())}, in fresh folders that are removed after each run"
    for tier in plan.disks:
        if tier.path is not None:
            yield f"{typed_path(tier.path)}, the disk `{tier.name}`, in a fresh folder that is removed at the end"


def _devices(plan: StudyPlan) -> Iterator[str]:
    for workload in plan.workloads:
        if workload.computes_on.kind == "cuda":
            yield f"GPU {workload.computes_on.index}, by `{workload.name}`"


def _needs_root(plan: StudyPlan) -> set[str]:
    """Everything but whole vCPUs and real mounts."""
    needs = set()
    for spec in plan.left:
        limits = spec.limits
        if limits.vcpus is not None and not float(limits.vcpus).is_integer():
            needs.add("fractions of a vCPU")
        if limits.memory_bytes is not None:
            needs.add("memory caps")
        if limits.disk is not None and plan.study.disk(limits.disk).emulated is not None:
            needs.add("emulated disks")
    return needs

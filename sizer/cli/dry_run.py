"""What a study would do, listed without doing it: its runs, and every program, file and device that they touch.

A study may come from anybody. So each command is listed word for word as it would be executed, and nothing in a study
can make up a line of this list.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from sizer.analysis.epochs import measured_from_epoch
from sizer.api import MeasuringHost, StudyPlan
from sizer.host.interpreters import interpreter
from sizer.limits.interface import Control
from sizer.limits.users import run_user
from sizer.plan.batch_search import BatchSearch
from sizer.plan.chooser import Chooser
from sizer.plan.chosen import NextRun, PlanEnd
from sizer.plan.floor_search import Search
from sizer.plan.run_order import estimate_seconds, guessed_workloads
from sizer.records.frameworks import FRAMEWORKS
from sizer.records.kinds import KINDS, OPENCV
from sizer.records.messages import HostError, typed_line, typed_path
from sizer.records.own_programs import placeholders_in
from sizer.records.run_kinds import Purpose
from sizer.records.study import RunSpec, Workload
from sizer.storage.data_cache import cache_folder
from sizer.words.planning import (
    Touch,
    batch_search_to_come,
    emulated_line,
    epochs_take_longer,
    limits_available,
    pass_to_come,
    plan_ended,
    plan_total,
    planned_run,
    privileges_needed,
    program_not_found,
    search_to_come,
    start_to_come,
    time_guessed,
    touch_line,
)
from sizer.words.runs import run_in_words, stages_in_words
from sizer.words.terminal import doubt_in_words, warning_said


def show(plan: StudyPlan, host: MeasuringHost, further: Sequence[str] = ()) -> int:
    """List everything, and what else is known of it, then end as the run itself would where this host cannot do it."""
    for line in (*lines(plan, os.environ), *further):
        print(line)
    plan.check(host)
    print(limits_available())
    for doubt in plan.doubts:
        print(warning_said(doubt_in_words(doubt)))
    return 0


def lines(plan: StudyPlan, environment: Mapping[str, str]) -> Iterator[str]:
    """The whole list, line by line; a workload is listed once, although runs that isolate a stage are fed otherwise."""
    yield from _plan(plan)
    yield from dict.fromkeys(_programs(plan, environment))
    yield from dict.fromkeys(_read(plan))
    yield from dict.fromkeys(_written(plan, environment))
    yield from dict.fromkeys(_devices(plan))
    yield privileges_needed(tuple(_needs_root(plan)))


def _plan(plan: StudyPlan) -> Iterator[str]:
    specs, finished, todo = plan.specs, plan.finished, plan.todo
    if plan.chooser is not None:
        todo, chosen = _next_chosen(plan, plan.chooser)
    emulated = plan.study.emulated_disks
    for spec in todo:
        reference = spec.purpose is Purpose.REFERENCE
        run, command = run_in_words(spec, emulated), typed_line(spec.workload.command)
        yield planned_run(spec.id, run, spec.repeat + 1, command, reference=reference)
    for stage in dict.fromkeys(spec.stage for spec in todo if spec.stage is not None):
        yield stages_in_words(stage)
    if plan.chooser is None:
        yield plan_total(len(todo), estimate_seconds(todo, finished), len(specs) - len(todo))
    elif isinstance(chosen, PlanEnd):
        yield plan_ended(chosen, emulated)
    else:
        others = bool(plan.next_runs(plan.kept) or plan.passes_to_come)
        yield start_to_come(*plan.at_most(plan.kept), len(plan.kept), others=others)
    guessed = guessed_workloads(todo, finished)
    if guessed:
        yield time_guessed(guessed)
    if any(measured_from_epoch(spec.workload) for spec in todo) and not finished:
        yield epochs_take_longer()
    for coming in plan.passes_to_come:
        yield pass_to_come(coming.base.workload.name)
    bounded = [each.following for each in plan.unfinished_following(plan.kept) if each.bound is not None]
    for each, spec in plan.next_runs(plan.kept):
        if each in bounded:
            continue
        if isinstance(each, Search):
            seconds, command = estimate_seconds([spec], plan.kept), typed_line(spec.workload.command)
            yield search_to_come(each.most_runs, seconds, spec.workload.name, each.usual_runs, command)
        if isinstance(each, BatchSearch):
            yield _batch_search(each, spec, plan)


def _next_chosen(plan: StudyPlan, chooser: Chooser) -> tuple[tuple[RunSpec, ...], NextRun | PlanEnd]:
    """Of an adaptive plan the first runs that are left, else the next one, as far as its bound has room; and what it
    does next."""
    chosen, made = chooser.next_run(plan.kept), {run.id for run in plan.kept}
    if isinstance(chosen, PlanEnd):
        return (), chosen
    most, _ = plan.at_most(plan.kept)
    first = tuple(spec for spec in chooser.start() if spec.id not in made)
    return (first or (chosen.spec,))[:most], chosen


def _batch_search(each: BatchSearch, spec: RunSpec, plan: StudyPlan) -> str:
    """The first run is the shortest of a search for the largest batch: each time-out bounds one."""
    seconds = estimate_seconds([spec], plan.kept)
    command = typed_line(spec.workload.command)
    asked = each.most_runs, spec.workload.name, each.most, each.usual_runs
    return batch_search_to_come(*asked, seconds, spec.measure.timeout or 0.0, command)


def _programs(plan: StudyPlan, environment: Mapping[str, str]) -> Iterator[str]:
    for workload in plan.workloads:
        if workload.command:
            place = Touch.COMMAND if workload.cwd is None else Touch.COMMAND_IN_FOLDER
            yield touch_line(place, _program(workload, workload.command[0], environment), workload.name)
            yield from _around_command(workload, environment)
        else:
            yield touch_line(Touch.MODULE, _module(plan, workload.framework, workload.kind), workload.name)
    making = list(dict.fromkeys(line for workload in plan.workloads for line in _making(plan, workload)))
    yield from (touch_line(Touch.DATA_MODULE, module) for module in making)
    if making:
        yield touch_line(Touch.SYNC)
    if plan.workloads:
        yield touch_line(Touch.LIMITER)
        yield touch_line(Touch.RUN_AS, _user(plan))
    if plan.disks:
        yield touch_line(Touch.FIO)
    if any(tier.emulated is not None for tier in plan.disks):
        yield touch_line(Touch.EMULATION)
    yield from _asking(plan)


def _user(plan: StudyPlan) -> str:
    """The name of the user by whom runs are made, as it was asked for where this host has none or does not let us."""
    with suppress(HostError):
        return run_user(plan.study.run_as).name
    return plan.study.run_as


def _program(workload: Workload, word: str, environment: Mapping[str, str]) -> str:
    """The file that a word would be executed as."""
    if placeholders_in([word]):
        return typed_path(word)
    found = shutil.which(word, path=workload.search_path(environment))
    return typed_path(found) if found and os.path.isabs(found) else program_not_found()


def _around_command(workload: Workload, environment: Mapping[str, str]) -> Iterator[str]:
    """What is run beside a command, and the variables that it gets, without the values that nobody is shown."""
    for touch, words in ((Touch.SETUP, workload.setup), (Touch.BEFORE, workload.before)):
        if words:
            yield touch_line(touch, typed_line(words), workload.name, _program(workload, words[0], environment))
    for each in workload.env:
        if each.value is None:
            yield touch_line(Touch.HIDDEN_VARIABLE, each.name, workload.name)
        else:
            yield touch_line(Touch.VARIABLE, typed_line([f"{each.name}={each.value}"]), workload.name)
    if workload.pass_env:
        yield touch_line(Touch.PASSED_VARIABLES, ", ".join(workload.pass_env), workload.name)


def _asking(plan: StudyPlan) -> Iterator[str]:
    """What is started only to ask something: before any run, and whether one is left to be made or not."""
    yield touch_line(Touch.HOST_FACTS)
    for python in _interpreters(plan):
        yield touch_line(Touch.VERSIONS, typed_path(python))
    if os.geteuid() != 0:
        yield touch_line(Touch.DELEGATION)
    for name in dict.fromkeys(spec.limits.disk for spec in plan.all_specs if spec.limits.disk is not None):
        mount = plan.study.disk(name).path
        if mount is not None:
            yield touch_line(Touch.MOUNT, typed_path(mount), name)


def _interpreters(plan: StudyPlan) -> list[Path]:
    """Each Python that is asked for the versions of a framework's packages, once."""
    found: dict[Path, None] = {}
    for framework in FRAMEWORKS:
        with suppress(HostError):
            found[interpreter(framework)] = None
    for each in plan.chosen_interpreters:
        found[interpreter(each.framework, each)] = None
    return list(found)


def _making(plan: StudyPlan, workload: Workload) -> Iterator[str]:
    """What may make, pack or index the data of a workload."""
    formats = KINDS[workload.kind].data_formats
    if not formats or workload.input == "synthetic":
        return
    if workload.data is None:
        yield _module(plan, OPENCV, "embedded_data")
    if "recordio" in formats:
        yield _module(plan, OPENCV, "imagenet_preprocessing")
        if workload.data is not None:
            yield _module(plan, OPENCV, "record_index")


def _module(plan: StudyPlan, framework: str | None, module: str) -> str:
    return f"{typed_path(interpreter(framework, plan.study.python(framework)))} -m workloads.{module}"


def _read(plan: StudyPlan) -> Iterator[str]:
    for workload in plan.workloads:
        if workload.data is not None:
            yield touch_line(Touch.DATA, typed_path(workload.data), workload.name)


def _written(plan: StudyPlan, environment: Mapping[str, str]) -> Iterator[str]:
    folder = typed_path(plan.folder.absolute())
    if plan.finished:
        yield touch_line(Touch.STUDY_FOLDER_WITH_RUNS, folder, len(plan.finished))
    else:
        yield touch_line(Touch.STUDY_FOLDER_EMPTY if plan.folder.exists() else Touch.STUDY_FOLDER_NEW, folder)
    yield touch_line(Touch.CACHE, typed_path(cache_folder(environment)))
    yield touch_line(Touch.TEMPORARY, typed_path(tempfile.gettempdir()))
    for workload in plan.workloads:
        if workload.cwd is not None:
            yield touch_line(Touch.WORKING_FOLDER, typed_path(workload.cwd), workload.name)
    for tier in plan.disks:
        if tier.path is not None:
            yield touch_line(Touch.DISK, typed_path(tier.path), tier.name)


def _devices(plan: StudyPlan) -> Iterator[str]:
    asked = {(spec.workload.name, spec.batch_size): spec for spec in plan.all_specs}
    for (name, batch_size), spec in sorted(asked.items()):
        if spec.device.kind == "emulated":
            yield emulated_line(name, spec.device, batch_size)
    for workload in plan.workloads:
        if workload.computes_on.kind == "cuda":
            yield touch_line(Touch.GPU, workload.computes_on.index, workload.name)


def _needs_root(plan: StudyPlan) -> set[Control]:
    """Everything but whole vCPUs and real mounts."""
    needs = set()
    for spec in plan.left:
        limits = spec.limits
        if limits.vcpus is not None and not float(limits.vcpus).is_integer():
            needs.add(Control.FRACTIONAL_VCPUS)
        if limits.memory_bytes is not None:
            needs.add(Control.MEMORY)
        if limits.disk is not None and plan.study.disk(limits.disk).emulated is not None:
            needs.add(Control.DISK)
    return needs

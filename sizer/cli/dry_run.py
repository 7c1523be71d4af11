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

from sizer.analysis.steady_state import measured_from_epoch
from sizer.api import MeasuringHost, StudyPlan
from sizer.files.own_folder import cache_folder
from sizer.host.interpreters import interpreter
from sizer.limits.interface import Control, needed_controls
from sizer.limits.users import run_user
from sizer.plan.chooser import NextRun, PlanEnd
from sizer.plan.following import BatchSearch, Search
from sizer.plan.run_order import estimate_seconds, guessed_workloads
from sizer.records.frameworks import FRAMEWORKS, placeholders_in
from sizer.records.kinds import KINDS, OPENCV
from sizer.records.messages import HostError, typed_line, typed_path
from sizer.records.run_kinds import Purpose
from sizer.records.study import RunSpec, Workload
from sizer.words.runs import run_in_words, stages_in_words
from sizer.words.studies import planning as words
from sizer.words.studies.planning import Touch, touch_line
from sizer.words.terminal import doubt_in_words, warning_said


def show(plan: StudyPlan, host: MeasuringHost, further: Sequence[str] = ()) -> int:
    """List everything, and what else is known of it, then end as the run itself would where this host cannot do it."""
    for line in (*lines(plan, os.environ), *further):
        print(line)
    plan.check(host)
    print(words.limits_available())
    for doubt in plan.doubts:
        print(warning_said(doubt_in_words(doubt)))
    return 0


def lines(plan: StudyPlan, environment: Mapping[str, str]) -> Iterator[str]:
    """The whole list, line by line; a workload is listed once, although runs that isolate a stage are fed otherwise."""
    yield from _runs(plan)
    yield from dict.fromkeys(_touched(plan, environment))
    yield words.privileges_needed(tuple(_needs_root(plan)))


def _runs(plan: StudyPlan) -> Iterator[str]:
    """The runs, how long they take, and those that follow from them."""
    emulated, (todo, chosen) = plan.study.emulated_disks, _next(plan)
    for spec in todo:
        run, command = run_in_words(spec, emulated), typed_line(spec.workload.command)
        reference = spec.purpose is Purpose.REFERENCE
        yield words.planned_run(spec.id, run, spec.repeat + 1, command, reference=reference)
    yield from map(stages_in_words, dict.fromkeys(spec.stage for spec in todo if spec.stage is not None))
    if chosen is None:
        yield words.plan_total(len(todo), estimate_seconds(todo, plan.finished), len(plan.specs) - len(todo))
    elif isinstance(chosen, PlanEnd):
        yield words.plan_ended(chosen, emulated)
    else:
        others = bool(plan.next_runs(plan.kept) or plan.passes_to_come)
        yield words.start_to_come(*plan.at_most(plan.kept), len(plan.kept), others=others)
    guessed = guessed_workloads(todo, plan.finished)
    if guessed:
        yield words.time_guessed(guessed)
    if any(measured_from_epoch(spec.workload) for spec in todo) and not plan.finished:
        yield words.epochs_take_longer()
    for coming in plan.passes_to_come:
        yield words.pass_to_come(coming.base.workload.name)
    bounded = [left.following for left in plan.unfinished_following(plan.kept) if left.bound is not None]
    for search, spec in plan.next_runs(plan.kept):
        seconds, workload = estimate_seconds([spec], plan.kept), spec.workload
        command, name = typed_line(workload.command), workload.name
        if isinstance(search, Search) and search not in bounded:
            yield words.search_to_come(search.most_runs, seconds, name, search.usual_runs, command)
        if isinstance(search, BatchSearch) and search not in bounded:
            # The first run is the shortest of a search for the largest batch: each time-out bounds one.
            timeout = spec.measure.timeout or 0.0
            asked = search.most_runs, name, search.most, search.usual_runs
            yield words.batch_search_to_come(*asked, seconds, timeout, command)


def _next(plan: StudyPlan) -> tuple[Sequence[RunSpec], NextRun | PlanEnd | None]:
    """The runs that are left; of an adaptive plan the first ones that are, else the next one, as far as its bound has
    room, and what it does next."""
    if plan.chooser is None:
        return plan.todo, None
    chosen, made = plan.chooser.next_run(plan.kept), {run.id for run in plan.kept}
    if isinstance(chosen, PlanEnd):
        return (), chosen
    most, _ = plan.at_most(plan.kept)
    first = tuple(spec for spec in plan.chooser.start() if spec.id not in made)
    return (first or (chosen.spec,))[:most], chosen


def _touched(plan: StudyPlan, environment: Mapping[str, str]) -> Iterator[str]:
    """What is run, read, written and used."""
    for workload in plan.workloads:
        if workload.command:
            place = Touch.COMMAND if workload.cwd is None else Touch.COMMAND_IN_FOLDER
            yield touch_line(place, _program(workload, workload.command[0], environment), workload.name)
            yield from _around_command(workload, environment)
        else:
            yield touch_line(Touch.MODULE, _module(plan, workload.framework, workload.kind), workload.name)
    making = dict.fromkeys(line for workload in plan.workloads for line in _making(plan, workload))
    yield from (touch_line(Touch.DATA_MODULE, module) for module in making)
    if making:
        yield touch_line(Touch.SYNC)
    if plan.workloads:
        yield touch_line(Touch.LIMITER)
        user = plan.study.run_as  # as it was asked for, where this host has none or does not let us
        with suppress(HostError):
            user = run_user(user).name
        yield touch_line(Touch.RUN_AS, user)
    if plan.disks:
        yield touch_line(Touch.FIO)
    if any(tier.emulated is not None for tier in plan.disks):
        yield touch_line(Touch.EMULATION)
    yield from _asking(plan)
    for workload in plan.workloads:
        if workload.data is not None:
            yield touch_line(Touch.DATA, typed_path(workload.data), workload.name)
    yield from _written(plan, environment)
    asked = {(spec.workload.name, spec.batch_size, spec.device.label): spec for spec in plan.all_specs}
    for (name, batch_size, _), spec in sorted(asked.items()):
        if spec.device.kind == "emulated":
            yield words.emulated_line(name, spec.device, batch_size)
    for workload in plan.workloads:
        if workload.computes_on.kind == "cuda":
            yield touch_line(Touch.GPU, workload.computes_on.index, workload.name)


def _program(workload: Workload, word: str, environment: Mapping[str, str]) -> str:
    """The file that a word would be executed as."""
    if placeholders_in([word]):
        return typed_path(word)
    located = shutil.which(word, path=workload.search_path(environment))
    return typed_path(located) if located and os.path.isabs(located) else words.program_not_found()


def _around_command(workload: Workload, environment: Mapping[str, str]) -> Iterator[str]:
    """What is run beside a command, and the variables that it gets, without the values that nobody is shown."""
    for touch, line in ((Touch.SETUP, workload.setup), (Touch.BEFORE, workload.before)):
        if line:
            yield touch_line(touch, typed_line(line), workload.name, _program(workload, line[0], environment))
    for variable in workload.env:
        if variable.value is None:
            yield touch_line(Touch.HIDDEN_VARIABLE, variable.name, workload.name)
        else:
            yield touch_line(Touch.VARIABLE, typed_line([f"{variable.name}={variable.value}"]), workload.name)
    if workload.pass_env:
        yield touch_line(Touch.PASSED_VARIABLES, ", ".join(workload.pass_env), workload.name)


def _asking(plan: StudyPlan) -> Iterator[str]:
    """What is started only to ask something: before any run, and whether one is left to be made or not."""
    yield touch_line(Touch.HOST_FACTS)
    pythons: list[Path] = []
    for framework in FRAMEWORKS:
        with suppress(HostError):
            pythons.append(interpreter(framework))
    pythons += [interpreter(chosen.framework, chosen) for chosen in plan.chosen_interpreters]
    yield from (touch_line(Touch.VERSIONS, typed_path(python)) for python in pythons)
    if os.geteuid() != 0:
        yield touch_line(Touch.DELEGATION)
    for name in dict.fromkeys(spec.limits.disk for spec in plan.all_specs if spec.limits.disk is not None):
        mount = plan.study.disk(name).path
        if mount is not None:
            yield touch_line(Touch.MOUNT, typed_path(mount), name)


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


def _needs_root(plan: StudyPlan) -> Iterator[Control]:
    """Everything but whole vCPUs and real mounts."""
    needed = set().union(*(needed_controls(spec.limits, throttled=False) for spec in plan.left))
    yield from (control for control in (Control.FRACTIONAL_VCPUS, Control.MEMORY) if control in needed)
    if any(tier.emulated is not None for tier in plan.disks):
        yield Control.DISK

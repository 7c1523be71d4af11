"""What a study would do, why an adaptive plan makes a run or no further one, and what a search still has to make."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from enum import Enum

from sizer.limits.interface import Control
from sizer.plan.chooser import NextRun, PlanEnd, Unfinished
from sizer.plan.following import BatchSearch, Search
from sizer.records.device import Device
from sizer.records.run import Run
from sizer.records.study import PlanEndKind, RunReason, RunReasonKind
from sizer.words.language import N_, Sentence, Templates, _, clauses, either, listed
from sizer.words.names import disk_name, emulated_rate_in_words, floor_in_words, largest_in_words
from sizer.words.runs import run_in_words


class Touch(Enum):
    """A program that a study would start, or a file or device that it would use, each as a line of a dry run.

    `what` is the path, program, command or number, `name` whose it is, `program` the command's file.
    """

    COMMAND = N_("runs: `{name}`, the command above ({what}), in an empty temporary folder")
    COMMAND_IN_FOLDER = N_("runs: `{name}`, the command above ({what}), in a folder of yours")
    SETUP = N_("runs: {what} ({program}), once before the runs of `{name}`, without limits")
    BEFORE = N_("runs: {what} ({program}), before each run of `{name}`, without limits")
    VARIABLE = N_("sets: {what}, for `{name}`")
    HIDDEN_VARIABLE = N_("sets: {what}, whose value is not shown, for `{name}`")
    PASSED_VARIABLES = N_("passes on: {what} of your environment, to `{name}`")
    MODULE = N_("runs: `{name}`, {what}, which comes with sizer")
    DATA_MODULE = N_("runs: {what}, which comes with sizer, to make data")
    SYNC = N_("runs: sync --file-system, to have that data on its disk")
    LIMITER = N_("runs: python, unshare, sh, taskset and setpriv, to put each run into its limits")
    RUN_AS = N_("runs as: {what}, all programs of the study")
    FIO = N_("runs: fio, to check disks")
    EMULATION = N_("runs: mkfs.ext4, losetup, mount and umount, for the emulated disks")
    HOST_FACTS = N_("runs: lscpu and fio --version, to describe this host")
    VERSIONS = N_("runs: {what} -c, to ask for its versions")
    DELEGATION = N_("runs: systemctl --user show, to ask whether control groups are this user's")
    MOUNT = N_("runs: test -d {what}, to see whether the disk `{name}` answers")
    DATA = N_("reads: {what}, the data of `{name}`")
    STUDY_FOLDER_NEW = N_("writes: {what}, the study folder (new)")
    STUDY_FOLDER_EMPTY = N_("writes: {what}, the study folder (empty)")
    STUDY_FOLDER_WITH_RUNS = N_("writes: {what}, the study folder (with {name:runs})")
    STUDY_FILE = N_("writes: {what}, the study file of these runs")
    CACHE = N_("writes: {what}, the cache of data sets and emulated disks")
    TEMPORARY = N_("writes: {what}, in fresh folders that are removed after each run")
    WORKING_FOLDER = N_("writes: {what}, if `{name}` does, which is started there")
    DISK = N_("writes: {what}, the disk `{name}`, in a fresh folder that is removed at the end")
    GPU = N_("uses: GPU {what}, by `{name}`")


def touch_line(touch: Touch, what: object = "", name: object = "", program: object = "") -> str:
    """One line of a dry run."""
    return _(touch.value, what=what, name=name, program=program)


def emulated_line(workload: str, device: Device, batch_size: int) -> str:
    """How fast an emulated GPU is with a batch, how sure that is, and where it comes from."""
    rate = _(
        "{device.samples_per_second:rate/unit}[[ ({device.rate_low:number} to {device.rate_high:number})]]",
        device=device,
        unit="sample",
    )
    return _(
        "emulates: {accelerator} for `{workload}`, with a batch of {size}: {rate}",
        accelerator=device.gpu or _("an accelerator"),
        workload=workload,
        size=batch_size,
        rate=emulated_rate_in_words(rate, device.rate_basis, device.source or ""),
    )


planned_run = Sentence("{id}  {run}, repeat {repeat}[[reference?, the reference again]][[: {command}]]")
"""One run of the plan; `command` is '' for a workload of sizer."""
plan_total = Sentence(
    "{left:runs}, about {time:time}, not counting making data and checking disks; {finished} finished"
)
time_guessed = Sentence(
    "no run of {workloads:coded} has been seen yet, so this time is a guess of start-up and steps; it "
    "is corrected after each run"
)
epochs_take_longer = Sentence(
    "runs with cache natural last at least two epochs of their data, which this time does not include"
)
pass_to_come = Sentence(
    "then 1 run of two epochs of `{workload}` under a memory cap that holds half of its data, to see "
    "what the page cache serves, unless that would take too long"
)
search_to_come = Sentence(
    "then up to {most} runs of about {time:time} to find the memory floor of `{workload}`, usually "
    "{usual}[[: {command}]]"
)
batch_search_to_come = Sentence(
    "then up to {most} runs to find the largest batch of `{workload}` that fits, up to {largest}, "
    "usually {usual}: the first of about {time:time}, those of larger batches longer, none above "
    "{timeout:time}[[: {command}]]"
)
start_to_come = Sentence(
    "then one run after another, each chosen by what it would tell, until every answer is "
    "settled[[others?, and what is searched for after that]]: {most:runs} "
    "[[finished?more]][[!finished?in all]] at the most, about {time:time}[[; {finished} finished]]"
)
"""Of a dry run, after the next runs of an adaptive plan; `others` where searches or passes are among them."""
program_not_found = Sentence("not found here")
limits_available = Sentence("this host can set every limit that these runs ask for")
_CONTROLS: Templates[Control, str] = {
    Control.FRACTIONAL_VCPUS: "fractions of a vCPU",
    Control.MEMORY: "memory caps",
    Control.DISK: "emulated disks",
}


def privileges_needed(controls: Sequence[Control]) -> str:
    """What needs root or a delegated cgroup."""
    what = listed(sorted(_(_CONTROLS[control]) for control in controls)) or _("nothing")
    return _("needs root or a delegated cgroup: {what}", what=what)


# Runs that are chosen one after another.
_K = RunReasonKind
_REASONS: Templates[RunReasonKind | str, str] = {
    _K.START: "the first runs show the most, the least and the middle",
    _K.ONLY_ONE: "it is the only configuration",
    _K.BETWEEN_VCPUS: "between {low:g} and {high:vcpus} the answer is open",
    _K.BETWEEN_MEMORY: "between {low:bytes} and {high:bytes} of memory the answer is open",
    _K.BETWEEN_DISKS: "whether the answer is disk {disks} is open",
    _K.OWN_RUN: "the answer itself was not measured yet",
    _K.NOT_SURE: "[[vcpus?that {vcpus:vcpus} are enough]][[!vcpus?the answer]] is not sure enough: {probability:share}",
    _K.NOT_COMPARED: "the answer is the best of what was measured, and this was not yet",
    _K.NOT_FITTED: "the runs so far do not carry an answer",
    _K.HOST_AGAIN: "to see whether the host has changed in {runs:g} runs",
    _K.HOST_OPEN: "how slow the host was meanwhile leaves the answer of {names:coded} open",
    # What no run had yet.
    "vcpus": "no run with these vCPUs completed yet",
    "memory": "no run had this memory yet",
    "disk": "no run was on this disk yet",
    "batch_size": "no run had this batch size yet",
    "gpu_count": "no run had so many accelerators yet",
    "device": "no run on this device completed yet",
}


def reason_in_words(why: RunReason) -> str:
    """What was open when the run was chosen."""
    message = _REASONS[why.names[0] if why.kind is RunReasonKind.NOT_SEEN else why.kind]
    disks = either([disk_name(name) for name in why.names])
    return _(message, **{**why.figures, "names": why.names, "disks": disks})


def chosen_in_words(run: str, why: RunReason) -> str:
    """A run with why it is made: `train, 4 vCPUs: between 2 and 8 vCPUs the answer is open`."""
    return _("{run}[[again?, again]]: {reason}", run=run, again=why.again, reason=reason_in_words(why))


_ENDS: Templates[PlanEndKind, str] = {
    PlanEndKind.SETTLED: "every answer is settled after {made}",
    PlanEndKind.NOTHING_LEFT: "no single run that is left would tell much after {made}",
    PlanEndKind.RUNS: "as many runs are made as were allowed: {runs}",
    PlanEndKind.BUDGET: "the budget has no room for [[runs?another run after {made}]][[!runs?a first run]]",
}


def plan_ended(end: PlanEnd, emulated: Collection[str] = ()) -> str:
    """Why an adaptive plan makes no further run, which answers are still open, what failed in every run, and which run
    a larger bound would have room for."""
    made = _("{runs:runs} of {time:time}[[several? together]]", runs=end.runs, time=end.seconds, several=end.runs > 1)
    left = [name for name in end.open if name not in end.failed]
    return clauses(
        [
            _(_ENDS[end.kind], made=made, runs=end.runs),
            _("[[still open: {left:coded}]]", left=left),
            _("[[no run of {names:coded} completed]]", names=end.failed),
            _("[[the next would be {run}]]", run="" if end.then is None else _next_in_words(end.then, emulated)),
        ]
    )


def chosen_runs(end: PlanEnd, emulated: Collection[str] = (), to_go_on: bool = False) -> str:
    """The same as a sentence about a study; `to_go_on` before the command that does."""
    how = plan_ended(end, emulated)
    return _("Its runs were chosen one after another: {how}.[[more? To go on:]]", how=how, more=to_go_on)


def plan_goes_on(chosen: NextRun, emulated: Collection[str]) -> str:
    """Of an adaptive plan that has not ended, before the command that goes on with it."""
    run = _next_in_words(chosen, emulated)
    return _("Not finished: runs are chosen one after another, and the next is {run}. To go on:", run=run)


def _next_in_words(chosen: NextRun, emulated: Collection[str]) -> str:
    run = run_in_words(chosen.spec, emulated)
    return run if chosen.why is None else chosen_in_words(run, chosen.why)


# Searches and two-epoch passes whose next run is still to be made.


def unfinished_said(left: Sequence[Unfinished], runs: Sequence[Run]) -> str:
    """Before the command that goes on with them: what each has found so far, and why it made no further run."""
    return _(
        "Not finished: {what}. To go on:", what=clauses([unfinished_in_words(unfinished, runs) for unfinished in left])
    )


_TO_GO_ON = Sentence("{what}; to go on, type: {command}")


def unfinished_ended(left: Unfinished, runs: Sequence[Run], folder: str) -> str:
    """The same of one as a line of the progress, with the command; `folder` is the study's, as one types it."""
    return _TO_GO_ON(unfinished_in_words(left, runs), going_on_with([left], folder))


def plan_ended_line(end: PlanEnd, left: Sequence[Unfinished], folder: str, emulated: Collection[str]) -> str:
    """How an adaptive plan ended as a line of the progress, with the command where a larger bound would go on: with
    room for the searches that are `left`, too."""
    how = plan_ended(end, emulated)
    return how if end.then is None else _TO_GO_ON(how, going_on_with(left, folder, end))


def going_on_with(left: Sequence[Unfinished], folder: str, ended: PlanEnd | None = None) -> str:
    """The command that makes the runs that are left: with a bound that has room for them, where one was in the way of
    searches, or of the plan that `ended`."""
    bounded = [unfinished for unfinished in left if unfinished.enough is not None]
    if bounded:
        bound, enough = bounded[-1].bound, bounded[-1].enough
    elif ended is not None and ended.enough is not None:
        bound, enough = ended.kind, ended.enough
    else:
        return f"sizer resume {folder}"
    more = math.ceil(enough or 0.0)
    option = f"--runs {more}" if bound is PlanEndKind.RUNS else f"--budget {math.ceil(more / 60)}m"
    return f"sizer run {folder}/study.yaml --out {folder} {option}"


_BOUNDS: Templates[PlanEndKind | None, str] = {
    PlanEndKind.BUDGET: "the budget has no room for its next run",
    PlanEndKind.RUNS: "as many runs are made as were allowed",
}


def unfinished_in_words(left: Unfinished, runs: Sequence[Run]) -> str:
    """`` `job`: the memory floor is no higher than 2 GiB; the search is not finished; the budget has no room for its
    next run``."""
    following, name = left.following, left.following.base.workload.name
    bound = _(_BOUNDS[left.bound]) if left.bound in _BOUNDS else ""
    if isinstance(following, Search):
        return clauses([f"`{name}`: {floor_in_words(following.result(runs), unfinished=True)}", bound])
    if isinstance(following, BatchSearch):
        largest = largest_in_words(following.result(runs), unfinished=True)
        return clauses([f"`{name}`: {largest}", bound])
    epochs = _("two epochs of `{workload}` with half of its data in memory are not measured yet", workload=name)
    return clauses([epochs, bound])

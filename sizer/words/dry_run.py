"""The lines of a dry run: what each run of a study would execute, read, write and need."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import Enum

from sizer.limits.interface import Control
from sizer.records.device import Device
from sizer.records.units import format_number, format_seconds
from sizer.words.figures import with_interval
from sizer.words.language import _, _n
from sizer.words.names import emulated_rate_in_words, listed
from sizer.words.units import rate_in_words


class Touch(Enum):
    """A program that a study would start, or a file or device that it would use."""

    COMMAND = "command"
    COMMAND_IN_FOLDER = "command_in_folder"
    SETUP = "setup"
    BEFORE = "before"
    VARIABLE = "variable"
    HIDDEN_VARIABLE = "hidden_variable"
    PASSED_VARIABLES = "passed_variables"
    MODULE = "module"
    DATA_MODULE = "data_module"
    SYNC = "sync"
    LIMITER = "limiter"
    RUN_AS = "run_as"
    FIO = "fio"
    EMULATION = "emulation"
    HOST_FACTS = "host_facts"
    VERSIONS = "versions"
    DELEGATION = "delegation"
    MOUNT = "mount"
    DATA = "data"
    STUDY_FOLDER_WITH_RUNS = "study_folder_with_runs"
    STUDY_FOLDER_NEW = "study_folder_new"
    STUDY_FOLDER_EMPTY = "study_folder_empty"
    STUDY_FILE = "study_file"
    CACHE = "cache"
    TEMPORARY = "temporary"
    WORKING_FOLDER = "working_folder"
    DISK = "disk"
    GPU = "gpu"


_TOUCHES: Mapping[Touch, Callable[[Mapping[str, object]], str]] = {
    Touch.COMMAND: lambda k: _("runs: `{name}`, the command above ({what}), in an empty temporary folder", **k),
    Touch.COMMAND_IN_FOLDER: lambda k: _("runs: `{name}`, the command above ({what}), in a folder of yours", **k),
    Touch.SETUP: lambda k: _("runs: {what} ({program}), once before the runs of `{name}`, without limits", **k),
    Touch.BEFORE: lambda k: _("runs: {what} ({program}), before each run of `{name}`, without limits", **k),
    Touch.VARIABLE: lambda k: _("sets: {what}, for `{name}`", **k),
    Touch.HIDDEN_VARIABLE: lambda k: _("sets: {what}, whose value is not shown, for `{name}`", **k),
    Touch.PASSED_VARIABLES: lambda k: _("passes on: {what} of your environment, to `{name}`", **k),
    Touch.MODULE: lambda k: _("runs: `{name}`, {what}, which comes with sizer", **k),
    Touch.DATA_MODULE: lambda k: _("runs: {what}, which comes with sizer, to make data", **k),
    Touch.SYNC: lambda k: _("runs: sync --file-system, to have that data on its disk"),
    Touch.LIMITER: lambda k: _("runs: python, unshare, sh, taskset and setpriv, to put each run into its limits"),
    Touch.RUN_AS: lambda k: _("runs as: {what}, all programs of the study", **k),
    Touch.FIO: lambda k: _("runs: fio, to check disks"),
    Touch.EMULATION: lambda k: _("runs: mkfs.ext4, losetup, mount and umount, for the emulated disks"),
    Touch.HOST_FACTS: lambda k: _("runs: lscpu and fio --version, to describe this host"),
    Touch.VERSIONS: lambda k: _("runs: {what} -c, to ask for its versions", **k),
    Touch.DELEGATION: lambda k: _("runs: systemctl --user show, to ask whether control groups are this user's"),
    Touch.MOUNT: lambda k: _("runs: test -d {what}, to see whether the disk `{name}` answers", **k),
    Touch.DATA: lambda k: _("reads: {what}, the data of `{name}`", **k),
    Touch.STUDY_FOLDER_NEW: lambda k: _("writes: {what}, the study folder (new)", **k),
    Touch.STUDY_FOLDER_EMPTY: lambda k: _("writes: {what}, the study folder (empty)", **k),
    Touch.STUDY_FOLDER_WITH_RUNS: lambda k: _n(
        "writes: {what}, the study folder (with {count} run)",
        "writes: {what}, the study folder (with {count} runs)",
        int(str(k["name"])),
        what=k["what"],
    ),
    Touch.STUDY_FILE: lambda k: _("writes: {what}, the study file of these runs", **k),
    Touch.CACHE: lambda k: _("writes: {what}, the cache of data sets and emulated disks", **k),
    Touch.TEMPORARY: lambda k: _("writes: {what}, in fresh folders that are removed after each run", **k),
    Touch.WORKING_FOLDER: lambda k: _("writes: {what}, if `{name}` does, which is started there", **k),
    Touch.DISK: lambda k: _("writes: {what}, the disk `{name}`, in a fresh folder that is removed at the end", **k),
    Touch.GPU: lambda k: _("uses: GPU {what}, by `{name}`", **k),
}


def touch_line(touch: Touch, what: object = "", name: object = "", program: object = "") -> str:
    """One line: `what` is the path, program, command or number, `name` whose it is, `program` the command's file."""
    return _TOUCHES[touch]({"what": what, "name": name, "program": program})


def emulated_line(workload: str, device: Device, batch_size: int) -> str:
    """How fast an emulated GPU is with a batch, how sure that is, and where it comes from."""
    rate = rate_in_words(device.samples_per_second or 0.0, "sample")
    if device.rate_low is not None and device.rate_high is not None:
        rate = with_interval(rate, format_number(device.rate_low), format_number(device.rate_high))
    return _(
        "emulates: {accelerator} for `{workload}`, with a batch of {size}: {rate}",
        accelerator=device.gpu or _("an accelerator"),
        workload=workload,
        size=batch_size,
        rate=emulated_rate_in_words(rate, device.rate_basis, device.source or ""),
    )


def planned_run(run_id: str, run: str, repeat: int, command: str, reference: bool) -> str:
    """One run of the plan; `command` is '' for a workload of sizer."""
    known = {"id": run_id, "run": run, "repeat": repeat, "command": command}
    if reference and command:
        return _("{id}  {run}, repeat {repeat}, the reference again: {command}", **known)
    if reference:
        return _("{id}  {run}, repeat {repeat}, the reference again", **known)
    return (
        _("{id}  {run}, repeat {repeat}: {command}", **known) if command else _("{id}  {run}, repeat {repeat}", **known)
    )


def plan_total(left: int, seconds: float, finished: int) -> str:
    """How many runs are left and how long they take."""
    return _n(
        "{count} run, about {time}, not counting making data and checking disks; {finished} finished",
        "{count} runs, about {time}, not counting making data and checking disks; {finished} finished",
        left,
        time=format_seconds(seconds),
        finished=finished,
    )


def time_guessed(workloads: Sequence[str]) -> str:
    """Workloads of which nothing has been seen."""
    return _(
        "no run of {workloads} has been seen yet, so this time is a guess of start-up and steps; it is corrected after "
        "each run",
        workloads=listed([f"`{name}`" for name in workloads]),
    )


def epochs_take_longer() -> str:
    """Runs whose length is that of their data."""
    return _("runs with cache natural last at least two epochs of their data, which this time does not include")


def pass_to_come(workload: str) -> str:
    """A pass of two epochs that may follow."""
    return _(
        "then 1 run of two epochs of `{workload}` under a memory cap that holds half of its data, to see what the page "
        "cache serves, unless that would take too long",
        workload=workload,
    )


def search_to_come(workload: str, most: int, usual: int, seconds: float, command: str) -> str:
    """How many more runs a search for a memory floor may take, and how long each; `command` is '' for sizer's own."""
    known = {"workload": workload, "most": most, "usual": usual, "time": format_seconds(seconds), "command": command}
    if command:
        return _(
            "then up to {most} runs of about {time} to find the memory floor of `{workload}`, usually {usual}: "
            "{command}",
            **known,
        )
    return _(
        "then up to {most} runs of about {time} to find the memory floor of `{workload}`, usually {usual}", **known
    )


def batch_search_to_come(
    workload: str, asked: tuple[int, int, int], seconds: float, timeout: float, command: str
) -> str:
    """What a search for the largest batch may take: the largest to try, how many runs at most and usually."""
    largest, most, usual = asked
    known = {
        "workload": workload,
        "largest": largest,
        "most": most,
        "usual": usual,
        "time": format_seconds(seconds),
        "timeout": format_seconds(timeout),
        "command": command,
    }
    if command:
        return _(
            "then up to {most} runs to find the largest batch of `{workload}` that fits, up to {largest}, usually "
            "{usual}: the first of about {time}, those of larger batches longer, none above {timeout}: {command}",
            **known,
        )
    return _(
        "then up to {most} runs to find the largest batch of `{workload}` that fits, up to {largest}, usually {usual}: "
        "the first of about {time}, those of larger batches longer, none above {timeout}",
        **known,
    )


def privileges_needed(controls: Sequence[Control]) -> str:
    """What needs root or a delegated cgroup."""
    names = {
        Control.FRACTIONAL_VCPUS: _("fractions of a vCPU"),
        Control.MEMORY: _("memory caps"),
        Control.DISK: _("emulated disks"),
    }
    if not controls:
        return _("needs root or a delegated cgroup: nothing")
    return _("needs root or a delegated cgroup: {what}", what=listed(sorted(names[each] for each in controls)))


def program_not_found() -> str:
    """In place of the path of a program."""
    return _("not found here")


def limits_available() -> str:
    """Everything can be measured here."""
    return _("this host can set every limit that these runs ask for")

"""Why a run gave no rate."""

from __future__ import annotations

import signal
from collections.abc import Callable
from dataclasses import replace

from sizer.records.plain_text import typed_path
from sizer.records.run import Cause, CauseKind, Run, WarningKind
from sizer.records.run_kinds import Outcome
from sizer.records.study import RunSpec
from sizer.records.units import format_bytes, format_seconds
from sizer.words.figures import clause
from sizer.words.language import _, _n
from sizer.words.names import clauses

OF_A_SHELL = 128
"""A shell whose program was ended by a signal ends with this and the signal's number."""

UNSEEN = frozenset({CauseKind.NO_EVENT, CauseKind.NO_MATCH, CauseKind.NO_STEP})
"""That no steps were seen, and how to have them counted."""


FOREIGN = frozenset({CauseKind.OTHER, CauseKind.NO_RATE, CauseKind.BROKEN_EVENTS})
"""Causes whose text is somebody else's, and of any length."""


def failure_in_words(run: Run, longest: int | None = None) -> str:
    """Why a run did not complete, in a line, without its last words; `longest` is of what is not sizer's own."""
    if run.error is not None:
        option = next((each.text for each in run.warnings if each.kind is WarningKind.NOT_HOOKED), None)
        causes = [run.error.cause, *run.error.reasons]
        if any(cause.kind is CauseKind.ASKED_FOR_INPUT for cause in causes):
            # It waited, or gave up: how to count steps that it did not make is beside the point.
            causes = [cause for cause in causes if cause.kind not in UNSEEN]
        return clauses(_clause(_shortened(cause, longest), run.spec, option) for cause in causes)
    cap = run.configuration.memory_bytes
    if run.outcome is Outcome.OUT_OF_MEMORY and cap is not None:
        return _("killed at its memory cap of {size}", size=format_bytes(cap))
    return _("no reason was recorded")


def failure_line(run: Run, longest: int | None = None) -> str:
    """The same with the last line that the run printed: `exit status 1; its last words: KeyError: 'x'`.

    Of the line so many characters are shown, its beginning and its end. One that was ended while it read its data says
    how far it was, which its last words say again, or that it made no step.
    """
    last = run.error.last_lines.strip().rpartition("\n")[2].strip() if run.error is not None else ""
    why = failure_in_words(run, longest)
    if run.outcome is Outcome.TIMEOUT and run.error is not None:
        last = "" if any(cause.kind is CauseKind.STILL_READING for cause in run.error.reasons) else last
    return _("{why}; its last words: {line}", why=why, line=_in_part(last, longest)) if last else why


def _shortened(cause: Cause, longest: int | None) -> Cause:
    return replace(cause, text=_in_part(cause.text, longest)) if cause.text and cause.kind in FOREIGN else cause


def _in_part(text: str, longest: int | None) -> str:
    """The beginning and the end of a long text."""
    if longest is None or len(text) <= longest:
        return text
    return f"{text[: longest // 2].rstrip()} … {text[len(text) - longest // 2 :].lstrip()}"


def _clause(cause: Cause, spec: RunSpec, option: str | None) -> str:
    """One cause, with the `option` of Python by which the hook was not loaded where that is why nothing was seen."""
    if option is None or cause.kind not in (CauseKind.NO_EVENT, CauseKind.NO_OUTPUT):
        return cause_in_words(cause, spec)
    if cause.kind is CauseKind.NO_OUTPUT:
        return _(
            "it printed nothing, and Python was started with {option}, so sizer's hook could not count its steps: "
            "leave the option out",
            option=option,
        )
    return _(
        "Python was started with {option}, so sizer's hook could not count its steps, and no line of its log is of a "
        "known format: leave the option out, or give a `pattern`, and try it with `sizer pattern`",
        option=option,
    )


def data_not_prepared(why: str) -> str:
    """The data of a workload cannot be found, made or packed."""
    return _("its data cannot be prepared: {why}", why=why)


def cause_in_words(cause: Cause, spec: RunSpec) -> str:
    """One cause of a failure, or what explains it."""
    figures, text = cause.figures, cause.text or ""
    if cause.kind in (CauseKind.OTHER, CauseKind.REFUSED):
        return clause(text)
    if cause.kind in (CauseKind.STEPPED, CauseKind.HUNG):
        return _stepped(cause)
    if cause.kind is CauseKind.SIGNAL:
        return _("the workload was killed by signal {signal}", signal=_signal(int(figures["signal"])))
    if cause.kind is CauseKind.EXIT_STATUS:
        return _("the workload ended with exit status {status}", status=_status(figures.get("status")))
    if cause.kind in (CauseKind.SETUP_FAILED, CauseKind.BEFORE_FAILED):
        return not_made_ready(cause)
    disk = _("disk `{name}`", name=spec.limits.disk) if spec.limits.disk is not None else _("the disk")
    messages: dict[CauseKind, Callable[[], str]] = {
        CauseKind.NOT_LIMITED: lambda: _("the process could not be put under its limits"),
        CauseKind.CONTAINER: lambda: _(
            "it runs in a container ({client}), which is started by a service outside of the limits of the run: give "
            "the command that the container runs",
            client=text,
        ),
        CauseKind.ESCAPED: lambda: _(
            "part of it was not under the limits of the run ({what}), so its rate says nothing of them; take that out "
            "of the program, or name a user without that right as `run_as`",
            what=text,
        ),
        CauseKind.PROCESSES: lambda: _(
            "it was refused a process or thread: it may have {most} (`max_processes` of the study)",
            most=f"{figures['most']:g}",
        ),
        CauseKind.ABSENT: lambda: _(
            "its steps are made outside of the limits of the run, by a service or in a container: they came while it "
            "used no CPU time; give the program itself as the command"
        ),
        CauseKind.STOOD_STILL: lambda: _(
            "sizer itself stood still for {seconds} s while it measured, twice: it was stopped or suspended, or the "
            "host had no CPU time for it, and nothing is measured over such a gap",
            seconds=f"{figures['seconds']:.1f}",
        ),
        CauseKind.MEMORY_CAP: lambda: _("killed by the kernel: the memory cap is below what the workload needs"),
        CauseKind.HOST_MEMORY: lambda: _("killed by the kernel: the host's memory is below what the workload needs"),
        CauseKind.GPU_MEMORY: lambda: _("the memory of the GPU is below what the workload needs"),
        CauseKind.NOT_ALLOCATED: lambda: _(
            "the system refused the memory that it asked for at once: it is more than this host has"
        ),
        CauseKind.SLOW_PATTERN: lambda: _(
            "the pattern cannot be matched with the log: it took more than {seconds} s of CPU time for one read; "
            "avoid nested repetition",
            seconds=f"{figures['seconds']:g}",
        ),
        CauseKind.TOLD_MILLISECONDS: lambda: _wrong_unit(cause),
        CauseKind.TOLD_MINUTES: lambda: _(
            "by the pattern a batch takes {told}, and by when its lines come {seen}: the log's figure is most likely "
            "one of minutes; correct the pattern",
            **_told_and_seen(cause),
        ),
        CauseKind.BROKEN_EVENTS: lambda: _("invalid events: {text}", text=text),
        CauseKind.INTERRUPTED: lambda: _("stopped by Ctrl-C or a signal before it was measured"),
        CauseKind.UNSUPPORTED: lambda: _("the framework or device is not available here"),
        CauseKind.NOT_FOUND: lambda: _not_found(spec),
        CauseKind.NOT_IN_FOLDER: lambda: _(
            "it starts in an empty temporary folder, where {path} is not: give `cwd`, the folder to start it in (`.` "
            "is that of the study file)",
            path=text,
        ),
        CauseKind.DEADLINE: lambda: _(
            "not enough steps before the deadline of {seconds} s", seconds=f"{figures['seconds']:.0f}"
        ),
        CauseKind.NO_DATA: lambda: data_not_prepared(clause(text)),
        CauseKind.TOO_FEW_STEPS: lambda: _("the workload ended without enough steps to measure a rate"),
        CauseKind.IMPORTED: lambda: _("line {line} of {table} says so", line=f"{figures['line']:.0f}", table=text),
        CauseKind.NO_MATCH: lambda: _("no line of its log matched the pattern"),
        CauseKind.NO_RATE: lambda: _(
            "lines of its log matched the pattern, but what they say is no rate: {line}", line=text
        ),
        CauseKind.NO_OUTPUT: lambda: _("it printed nothing and wrote no event"),
        CauseKind.NO_EVENT: lambda: _(
            "it wrote no event, and no line of its log is of a known format; give a `pattern`, and try it with "
            "`sizer pattern`"
        ),
        CauseKind.NO_STEP: lambda: _("it wrote its start and no step"),
        CauseKind.STILL_READING: lambda: _(
            "it was still reading its data into memory, {read} of {whole}",
            read=format_bytes(figures["bytes"]),
            whole=format_bytes(figures["whole"]),
        ),
        CauseKind.NOT_BEGUN: lambda: _("it had not begun its first step"),
        CauseKind.HOOK_KEPT_OUT: lambda: _(
            "it uses PyTorch or MXNet where sizer's hook, which would count its steps, was not loaded: leave out "
            "Python's options -I, -E and -S, and pass PYTHONPATH on to what it starts"
        ),
        CauseKind.STILL_BUSY: lambda: _(
            "it was still busy: if it only needs longer, give a longer `timeout` under `measure`"
        ),
        CauseKind.STOPPED: lambda: _("its process is stopped (SIGSTOP)"),
        CauseKind.PIPE_CLOSED: lambda: _("it had closed its event pipe"),
        CauseKind.LEFT_RUNNING: lambda: _(
            "its own process ended while others that it had started still held its output: let the command wait for "
            "them"
        ),
        CauseKind.OUTPUT_CLOSED: lambda: _("it had closed its stdout and stderr"),
        CauseKind.ASKED_FOR_INPUT: lambda: _(
            "it asked for input, and its standard input is empty: give what it asks for on its command line"
        ),
        CauseKind.DATA_GONE: lambda: _("its data set {path} is no longer there: put it back", path=text),
        CauseKind.DATA_PARTLY_GONE: lambda: _(
            "of its data set {path} only {size} of {whole} are still there: put the rest back",
            path=text,
            size=format_bytes(figures["bytes"]),
            whole=format_bytes(figures["whole"]),
        ),
        CauseKind.SCRATCH_AND_OUTPUT_FULL: lambda: _(
            "{disk} under its scratch folder (TMPDIR) and its output ({mount}) was full: make room there, or measure "
            "on a larger one",
            disk=disk,
            mount=text,
        ),
        CauseKind.OUTPUT_FULL: lambda: _(
            "{disk} under its output ({mount}) was full: make room there, or measure on a larger one",
            disk=disk,
            mount=text,
        ),
        CauseKind.SCRATCH_FULL: lambda: _(
            "the disk under its scratch folder (TMPDIR) ({mount}) was full: make room there", mount=text
        ),
        CauseKind.SHARED_MEMORY_FULL: lambda: _("shared memory ({mount}) was full: make room there", mount=text),
        CauseKind.DISK_FULL: lambda: _("a disk that it wrote to was full: make room there"),
    }
    return messages[cause.kind]()


def _not_found(spec: RunSpec) -> str:
    """A shell says the same of a program that a script of the user's names."""
    if not spec.workload.command:
        return _("the program was not found or may not be executed")
    return _(
        "the program {program}, or one that it starts, was not found or may not be executed",
        program=typed_path(spec.workload.command[0]),
    )


def not_made_ready(cause: Cause) -> str:
    """Why the command that makes something ready, `setup` or `before`, did not."""
    command = "setup" if cause.kind is CauseKind.SETUP_FAILED else "before"
    figures = cause.figures
    if "status" in figures:
        return _("its `{command}` ended with exit status {status}", command=command, status=_status(figures["status"]))
    if "signal" in figures:
        return _(
            "its `{command}` was killed by signal {signal}", command=command, signal=_signal(int(figures["signal"]))
        )
    if "seconds" in figures:
        return _("its `{command}` was stopped after {seconds} s", command=command, seconds=f"{figures['seconds']:.0f}")
    return _("its `{command}` could not be started ({reason})", command=command, reason=cause.text or "")


def _wrong_unit(cause: Cause) -> str:
    if cause.figures["told"] > cause.figures["seen"]:
        return _(
            "by the pattern a batch takes {told}, and by when its lines come {seen}: the log's figure is most likely "
            "one of milliseconds; name the group `milliseconds`",
            **_told_and_seen(cause),
        )
    return _(
        "by the pattern a batch takes {told}, and by when its lines come {seen}: the log's figure is most likely one "
        "of seconds; name the group `seconds`",
        **_told_and_seen(cause),
    )


def _told_and_seen(cause: Cause) -> dict[str, str]:
    return {name: format_seconds(cause.figures[name]) for name in ("told", "seen")}


def _stepped(cause: Cause) -> str:
    steps, silent = int(cause.figures["steps"]), f"{cause.figures['silent_seconds']:.1f}"
    if cause.kind is CauseKind.STEPPED:
        return _n(
            "{count} step, the last one {seconds} s before its end",
            "{count} steps, the last one {seconds} s before its end",
            steps,
            seconds=silent,
        )
    return _n(
        "hung: {count} step, then none for the last {seconds} s of its {limit} s",
        "hung: {count} steps, then none for the last {seconds} s of its {limit} s",
        steps,
        seconds=silent,
        limit=f"{cause.figures['seconds']:.0f}",
    )


def _signal(number: int) -> str:
    """`9 (SIGKILL)`."""
    name = _name_of_signal(number)
    return f"{number} ({name})" if name else str(number)


def _name_of_signal(number: int) -> str | None:
    try:
        return signal.Signals(number).name
    except ValueError:
        return None


def _status(status: float | None) -> str:
    """`1`, and of a shell whose program was ended by a signal `137 (SIGKILL)`."""
    if status is None:
        return _("unknown")
    name = _name_of_signal(int(status) - OF_A_SHELL) if status > OF_A_SHELL else None
    return f"{status:.0f} ({name})" if name else f"{status:.0f}"

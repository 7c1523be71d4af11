"""Why a run gave no rate, and what to do about it."""

from __future__ import annotations

import signal
from dataclasses import replace

from sizer.records.run import Cause, CauseKind, Run, WarningKind
from sizer.records.run_kinds import MemoryPlace, Outcome, Purpose
from sizer.records.study import RunSpec
from sizer.words.language import N_, Sentence, Templates, _, clause, clauses

OF_A_SHELL = 128
"""A shell whose program was ended by a signal ends with this and the signal's number."""
_K = CauseKind
UNSEEN = frozenset({_K.NO_EVENT, _K.NO_MATCH, _K.NO_STEP})
"""That no steps were seen, and how to have them counted."""
FOREIGN = frozenset({_K.OTHER, _K.NO_RATE, _K.BROKEN_EVENTS})
"""Causes whose text is somebody else's, and of any length."""

data_not_prepared = Sentence("its data cannot be prepared: {why}")
_WRONG_UNIT = N_(
    "by the pattern a batch takes {told:time}, and by when its lines come {seen:time}: the log's "
    "figure is most likely one of {unit}; name the group `{unit}`"
)
_READY = N_(
    "its `{command}` [[text?could not be started ({text})]][[status?ended with exit status "
    "{ended}]][[signal?was killed by signal {name}]][[seconds?was stopped after {seconds:.0f} s]]"
)
_CAUSES: Templates[CauseKind, str] = {
    _K.OTHER: "{clause}",
    _K.REFUSED: "{clause}",
    _K.SIGNAL: "the workload was killed by signal {name}",
    _K.EXIT_STATUS: "the workload ended with exit status {ended}",
    # Its limits.
    _K.NOT_LIMITED: "the process could not be put under its limits",
    _K.CONTAINER: "it runs in a container ({text}), which is started by a service outside of the limits "
    "of the run: give the command that the container runs",
    _K.ESCAPED: "part of it was not under the limits of the run ({text}), so its rate says nothing of "
    "them; take that out of the program, or name a user without that right as `run_as`",
    _K.PROCESSES: "it was refused a process or thread: it may have {most:g} (`max_processes` of the study)",
    _K.ABSENT: "its steps are made outside of the limits of the run, by a service or in a container: "
    "they came while it used no CPU time; give the program itself as the command",
    _K.STOOD_STILL: "sizer itself stood still for {seconds:.1f} s while it measured, twice: it was "
    "stopped or suspended, or the host had no CPU time for it, and nothing is measured over such a gap",
    # Memory and disks.
    _K.MEMORY_CAP: "killed by the kernel: the memory cap is below what the workload needs",
    _K.HOST_MEMORY: "killed by the kernel: the host's memory is below what the workload needs",
    _K.GPU_MEMORY: "the memory of the GPU is below what the workload needs",
    _K.NOT_ALLOCATED: "the system refused the memory that it asked for at once: it is more than this host has",
    **dict.fromkeys(
        (_K.SCRATCH_AND_OUTPUT_FULL, _K.OUTPUT_FULL, _K.SCRATCH_FULL),
        "{disk} under [[scratch?its scratch folder (TMPDIR)]][[both? and ]][[output?its output]] ({text}) "
        "was full: make room there, or measure on a larger one",
    ),
    _K.SHARED_MEMORY_FULL: "shared memory ({text}) was full: make room there",
    _K.DISK_FULL: "a disk that it wrote to was full: make room there",
    _K.NO_DATA: data_not_prepared.message,
    _K.DATA_GONE: "its data set {text} is no longer there: put it back",
    _K.DATA_PARTLY_GONE: "of its data set {text} only {bytes:bytes} of {whole:bytes} are still there: "
    "put the rest back",
    # How its program was started and how it ended.
    _K.INTERRUPTED: "stopped by Ctrl-C or a signal before it was measured",
    _K.UNSUPPORTED: "the framework or device is not available here",
    _K.NOT_FOUND: "the program [[{program:path}, or one that it starts, ]]was not found or may not be executed",
    _K.NOT_IN_FOLDER: "it starts in an empty temporary folder, where {text} is not: give `cwd`, the "
    "folder to start it in (`.` is that of the study file)",
    _K.ASKED_FOR_INPUT: "it asked for input, and its standard input is empty: give what it asks for on "
    "its command line",
    _K.LEFT_RUNNING: "its own process ended while others that it had started still held its output: let "
    "the command wait for them",
    _K.STOPPED: "its process is stopped (SIGSTOP)",
    _K.STILL_BUSY: "it was still busy: if it only needs longer, give a longer `timeout` under `measure`",
    _K.STILL_READING: "it was still reading its data into memory, {bytes:bytes} of {whole:bytes}",
    _K.NOT_BEGUN: "it had not begun its first step",
    _K.DEADLINE: "not enough steps before the deadline of {seconds:.0f} s",
    _K.TOO_FEW_STEPS: "the workload ended without enough steps to measure a rate",
    # What its log and its events told.
    _K.SLOW_PATTERN: "the pattern cannot be matched with the log: it took more than {seconds:g} s of "
    "CPU time for one read; avoid nested repetition",
    _K.TOLD_MILLISECONDS: _WRONG_UNIT,
    _K.TOLD_MINUTES: "by the pattern a batch takes {told:time}, and by when its lines come {seen:time}: "
    "the log's figure is most likely one of minutes; correct the pattern",
    _K.BROKEN_EVENTS: "invalid events: {text}",
    _K.IMPORTED: "line {line:.0f} of {text} says so",
    _K.NO_MATCH: "no line of its log matched the pattern",
    _K.NO_RATE: "lines of its log matched the pattern, but what they say is no rate: {text}",
    _K.NO_OUTPUT: "it printed nothing and wrote no event[[; Python was started with {option}, so "
    "sizer's hook could not count its steps: leave the option out]]",
    _K.NO_EVENT: "it wrote no event, and no line of its log is of a known format; give a `pattern`, and "
    "try it with `sizer pattern`[[, or leave out {option}, with which sizer's hook cannot count its "
    "steps]]",
    _K.NO_STEP: "it wrote its start and no step",
    _K.HOOK_KEPT_OUT: "it uses PyTorch or MXNet where sizer's hook, which would count its steps, was "
    "not loaded: leave out Python's options -I, -E and -S, and pass PYTHONPATH on to what it starts",
    _K.STEPPED: "{steps:steps}, the last one {silent_seconds:.1f} s before its end",
    _K.HUNG: "hung: {steps:steps}, then none for the last {silent_seconds:.1f} s of its {seconds:.0f} s",
    _K.PIPE_CLOSED: "it had closed its event pipe",
    _K.OUTPUT_CLOSED: "it had closed its stdout and stderr",
}


def failure_in_words(run: Run, longest: int | None = None) -> str:
    """Why a run did not complete, in a line, without its last words; `longest` is of what is not sizer's own."""
    if run.error is not None:
        option = next((warning.text for warning in run.warnings if warning.kind is WarningKind.NOT_HOOKED), None)
        causes = [run.error.cause, *run.error.reasons]
        if any(cause.kind is CauseKind.ASKED_FOR_INPUT for cause in causes):
            # It waited, or gave up: how to count steps that it did not make is beside the point.
            causes = [cause for cause in causes if cause.kind not in UNSEEN]
        return clauses(cause_in_words(_shortened(cause, longest), run.spec, option) for cause in causes)
    cap = run.configuration.memory_bytes
    if run.outcome is Outcome.OUT_OF_MEMORY and cap is not None:
        return _("killed at its memory cap of {size:bytes}", size=cap)
    return _("no reason was recorded")


def failure_line(run: Run, longest: int | None = None) -> str:
    """The same with the last line that the run printed: `exit status 1; its last words: KeyError: 'x'`.

    Of the line so many characters are shown, its beginning and its end. One that was ended while it read its data says
    how far it was, which its last words say again, or that it made no step.
    """
    last = last_line(run.error.last_lines) if run.error is not None else ""
    why = failure_in_words(run, longest)
    if run.outcome is Outcome.TIMEOUT and run.error is not None:
        last = "" if any(cause.kind is CauseKind.STILL_READING for cause in run.error.reasons) else last
    return _("{why}[[; its last words: {line}]]", why=why, line=_in_part(last, longest))


def last_line(text: str) -> str:
    """The last words of a log."""
    return text.strip().rpartition("\n")[2].strip()


def _shortened(cause: Cause, longest: int | None) -> Cause:
    return replace(cause, text=_in_part(cause.text, longest)) if cause.text and cause.kind in FOREIGN else cause


def _in_part(text: str, longest: int | None) -> str:
    """The beginning and the end of a long text."""
    if longest is None or len(text) <= longest:
        return text
    return f"{text[: longest // 2].rstrip()} … {text[len(text) - longest // 2 :].lstrip()}"


def cause_in_words(cause: Cause, spec: RunSpec, option: str | None = None) -> str:
    """One cause of a failure, or what explains it; an `option` of Python may be why nothing was seen."""
    figures = cause.figures
    if cause.kind in _READY_MADE:
        return not_made_ready(cause)
    disk = spec.limits.disk
    milliseconds = figures.get("told", 0.0) > figures.get("seen", 0.0)
    values = {
        "text": cause.text or "",
        "clause": clause(cause.text or ""),
        "why": clause(cause.text or ""),
        "disk": _("disk `{name}`", name=disk) if disk is not None else _("the disk"),
        "program": next(iter(spec.workload.command), ""),
        "unit": "milliseconds" if milliseconds else "seconds",
        "option": option,
        "steps": round(figures.get("steps", 0)),
        "scratch": cause.kind is not CauseKind.OUTPUT_FULL,
        "output": cause.kind is not CauseKind.SCRATCH_FULL,
        "both": cause.kind is CauseKind.SCRATCH_AND_OUTPUT_FULL,
    }
    return _(_CAUSES[cause.kind], **{**figures, **values, **_ending(cause)})


def not_made_ready(cause: Cause) -> str:
    """Why the command that makes something ready, `setup` or `before`, did not."""
    return _(_READY, **({"text": None if cause.figures else cause.text, **cause.figures} | _ending(cause)))


def _ending(cause: Cause) -> dict[str, str]:
    """`1`, `137 (SIGKILL)` of a status, `9 (SIGKILL)` of a signal, and of which command."""
    number, status = int(cause.figures.get("signal", 0)), cause.figures.get("status")
    of_status = _name_of_signal(int(status) - OF_A_SHELL) if status is not None and status > OF_A_SHELL else None
    return {
        "command": "setup" if cause.kind is CauseKind.SETUP_FAILED else "before",
        "name": _("{number}[[ ({name})]]", number=number, name=_name_of_signal(number)),
        "ended": _("unknown") if status is None else _("{number:.0f}[[ ({name})]]", number=status, name=of_status),
    }


def _name_of_signal(number: int) -> str | None:
    try:
        return signal.Signals(number).name
    except ValueError:
        return None


LONGER = 2.0
"""By what the time that a run had is multiplied in a suggestion."""
_PATTERN = {_K.NO_MATCH, _K.NO_RATE, _K.SLOW_PATTERN, _K.NO_EVENT}
_UNITS = {_K.TOLD_MILLISECONDS, _K.TOLD_MINUTES}
_ROOM = {_K.SCRATCH_FULL, _K.OUTPUT_FULL, _K.SCRATCH_AND_OUTPUT_FULL, _K.SHARED_MEMORY_FULL, _K.DISK_FULL}
_READY_MADE = {_K.SETUP_FAILED, _K.BEFORE_FAILED}
_DATA = {_K.DATA_GONE, _K.DATA_PARTLY_GONE, _K.NO_DATA}
_COMMAND = {
    *(_K.NOT_FOUND, _K.NOT_IN_FOLDER, _K.CONTAINER, _K.ABSENT, _K.ESCAPED, _K.HOOK_KEPT_OUT, _K.LEFT_RUNNING),
    _K.ASKED_FOR_INPUT,
}
"""What is mended in the workload's command, so that its runs become others, which need no `--retry`."""
_TRY_PATTERN = N_(
    "Try an expression on its log with `sizer pattern 'EXPR' DIR/logs/{id}.log`, give it as `pattern` "
    "in DIR/study.yaml, then type `sizer resume DIR`."
)
_CORRECT_COMMAND = N_("Correct the `command` in DIR/study.yaml, then type `sizer resume DIR`.")
_REMEDIES: Templates[Outcome, tuple[tuple[set[CauseKind], str], ...]] = {
    Outcome.TIMEOUT: (
        (_PATTERN, _TRY_PATTERN),
        (
            {_K.ASKED_FOR_INPUT},
            "Give what it asks for on its command line in DIR/study.yaml, then type `sizer resume DIR`.",
        ),
        (
            {_K.HUNG, _K.STOPPED},
            "Find out from its log why it stood still, mend that, then type `sizer resume DIR --retry`.",
        ),
        (
            set(_K),
            "Give it more time, [[seconds?as `timeout: {seconds:.0f}`]][[!seconds?`timeout`]] under `measure` "
            "in DIR/study.yaml, then type `sizer resume DIR`. Every run is then measured anew.",
        ),
    ),
    Outcome.CRASHED: (
        (_ROOM, "Make room there, then type `sizer resume DIR --retry`."),
        (_READY_MADE, "Mend what that command needs, then type `sizer resume DIR --retry`."),
        (_PATTERN, _TRY_PATTERN),
        (_UNITS, "Correct the `pattern` in DIR/study.yaml, then type `sizer resume DIR`."),
        (_DATA, "Put its data back, then type `sizer resume DIR --retry`."),
        (_COMMAND, _CORRECT_COMMAND),
        ({_K.TOO_FEW_STEPS}, "Let it make more steps (epochs, samples), then type `sizer resume DIR --retry`."),
        (
            set(_K),
            "[[log?Mend what its log tells]][[!log?Find out why it ended, mend that]], then type `sizer resume "
            "DIR --retry`.",
        ),
    ),
    Outcome.REFUSED: (
        (_DATA, "Put its data where the study looks for it, then type `sizer resume DIR`."),
        (_READY_MADE, "Mend what that command needs, then type `sizer resume DIR`."),
        (_COMMAND, _CORRECT_COMMAND),
        (
            {_K.STOOD_STILL},
            "Type `sizer resume DIR`, and let it run: no Ctrl-Z, no suspending, nothing that takes all CPUs.",
        ),
        (set(_K), "`sizer doctor` says how to allow it on this host; then type `sizer resume DIR`."),
    ),
    Outcome.INTERRUPTED: ((set(_K), "To measure it, type `sizer resume DIR`."),),
    Outcome.UNSUPPORTED: (
        (
            set(_K),
            "Install its framework or choose another `framework` or `device` in DIR/study.yaml, then type "
            "`sizer resume DIR`.",
        ),
    ),
    Outcome.COMPLETED: (),
}
"""By how a run ended: the first whose causes it has is said."""


def remedy_of_failure(run: Run) -> str:
    """What to do about a run that did not complete, with the command to type; DIR is the study's folder."""
    if run.outcome is Outcome.OUT_OF_MEMORY:
        return _of_memory(run)
    if run.imported:
        return _("Measure it again where the table comes from, and import the table into a new folder.")
    causes = () if run.error is None else (run.error.cause, *run.error.reasons)
    kinds = {cause.kind for cause in causes} or {CauseKind.OTHER}
    had = next((cause.figures["seconds"] for cause in causes if "seconds" in cause.figures), 0.0)
    log = run.error is not None and run.error.last_lines.strip()
    remedy = next((message for of, message in _REMEDIES[run.outcome] if of & kinds), None)
    return "" if remedy is None else _(remedy, id=run.id, seconds=had * LONGER, log=log)


def _of_memory(run: Run) -> str:
    if run.spec.purpose is Purpose.BATCH_SEARCH:
        return _("Nothing: it shows which batch is too large.")
    capped = run.configuration.memory_bytes is not None and run.spec.limits.memory_bytes is not None
    if run.imported or (run.ran_out_of is not MemoryPlace.GPU and capped):
        return _("Nothing: it shows how much memory is too little.")
    where = _("a GPU") if run.ran_out_of is MemoryPlace.GPU else _("a host")
    return _("Measure it with a smaller `batch_size`, or on {where} with more memory.", where=where)

"""Sentences about runs: what was run, how it ended and why, what must be known of its figures.

What was emulated is never named without saying so.
"""

from __future__ import annotations

import signal
from collections.abc import Callable, Collection, Sequence
from pathlib import Path

from sizer.plan import Obstacle, ObstacleKind, PassResult, Search, Spread, TwoEpochs
from sizer.records import (
    Bottleneck,
    Cause,
    CauseKind,
    Estimate,
    Evidence,
    EvidenceKind,
    Failure,
    Outcome,
    Purpose,
    Run,
    RunSpec,
    RunWarning,
    WarningKind,
    format_bytes,
    format_number,
    format_rate,
    format_seconds,
    format_share,
    format_vcpus,
    plural,
    printable,
    typed_path,
)
from sizer.runner import Load
from sizer.words.floors import floor_in_words
from sizer.words.language import _, _n
from sizer.words.names import bound_in_words, disk_in_words, outcome_in_words

LONGEST_CAUSE = 160
"""Characters of why a run failed that a line shows; its log has the rest."""

WIDEST_SHARE = 0.5
"""Half of an interval over its value up to which `±` says something; beyond it, the interval itself is shown."""

OF_A_SHELL = 128
"""A shell whose program was ended by a signal ends with this and the signal's number."""


def evidence_in_words(evidence: Evidence) -> str:
    """What the bottleneck was named by: `the disk's IOPS 97 % busy`."""
    figures = evidence.figures
    shares = ", ".join(_busy_resource(name, share) for name, share in figures.items()) or _("no accounting")
    if evidence.kind is EvidenceKind.SERIAL:
        cores, vcpus = f"{figures['cores']:.2f}", f"{figures['vcpus']:g}"
        return _("{cores} of {vcpus} vCPU busy, and nothing else is", cores=cores, vcpus=vcpus)
    if evidence.kind is EvidenceKind.IMPORTED:
        return _("given by {table}, not accounted by sizer", table=evidence.text)
    if evidence.kind is EvidenceKind.OTHER:
        return evidence.text or ""
    return {
        EvidenceKind.BUSIEST: _("{shares} busy", shares=shares),
        EvidenceKind.REREADS: _("{shares} busy reading what the page cache could not keep", shares=shares),
        EvidenceKind.SEVERAL: _("several are busy: {shares}", shares=shares),
        EvidenceKind.NONE_FULL: _("nothing is fully busy: {shares}", shares=shares),
    }[evidence.kind]


def _busy_resource(name: str, share: float) -> str:
    """`the vCPUs 97 %`."""
    resource = {
        Bottleneck.CPU.value: _("the vCPUs"),
        Bottleneck.SERIAL.value: _("one core"),
        Bottleneck.DISK_BANDWIDTH.value: _("the disk's read bandwidth"),
        Bottleneck.DISK_IOPS.value: _("the disk's IOPS"),
        Bottleneck.DISK_WRITE.value: _("the disk's writes"),
        Bottleneck.ACCELERATOR.value: _("the accelerator"),
    }.get(name, name)
    return f"{resource} {format_share(share)}"


def warning_name(kind: WarningKind) -> str:
    """`contended`, `page cache warm`."""
    return {
        WarningKind.CONTENDED: _("contended"),
        WarningKind.STOLEN: _("stolen"),
        WarningKind.OVERHEAD: _("overhead"),
        WarningKind.THROTTLED: _("throttled"),
        WarningKind.PAGE_CACHE_WARM: _("page cache warm"),
        WarningKind.SWAPPED: _("swapped"),
        WarningKind.MEMORY_RISING: _("memory rising"),
        WarningKind.READ_AMPLIFIED: _("read amplified"),
        WarningKind.WRITES_UNLIMITED: _("writes unlimited"),
        WarningKind.TWO_RATES: _("two rates"),
        WarningKind.IMPRECISE: _("imprecise"),
        WarningKind.SHORT: _("short"),
        WarningKind.UNSETTLED: _("unsettled"),
        WarningKind.STEPS_JOINED: _("steps joined"),
        WarningKind.FIRST_EPOCH: _("first epoch only"),
        WarningKind.NO_EPOCHS: _("no epochs"),
        WarningKind.PART_OF_EPOCH: _("part of an epoch"),
        WarningKind.DRIFTING: _("drifting"),
        WarningKind.DATA_GONE: _("data set changed"),
        WarningKind.DATA_PARTLY_GONE: _("data set changed"),
        WarningKind.MEMORY_LEFT: _("left behind"),
        WarningKind.LEFT_BEHIND: _("left behind"),
        WarningKind.LOG_INCOMPLETE: _("log incomplete"),
        WarningKind.OTHER: _("other"),
    }[kind]


def warning_names(run: Run) -> list[str]:
    """The names of a run's warnings, each once: `contended`, `short`."""
    return list(dict.fromkeys(warning_name(warning.kind) for warning in run.warnings))


def warning_line(warning: RunWarning, unit: str) -> str:
    """`contended: something else on this host used 0.31 cores meanwhile`; of somebody else's, the text alone."""
    said = warning_in_words([warning], unit)
    if warning.kind is WarningKind.OTHER or not said or _is_foreign(warning):
        return said or warning_name(warning.kind)
    return _("{name}: {sentence}", name=warning_name(warning.kind), sentence=said)


def warning_in_words(alike: Sequence[RunWarning], unit: str) -> str:
    """What warnings of one kind, figures and text say, with the range of each figure; '' where none were kept."""
    first = alike[0]
    if _is_foreign(first):
        return first.text or ""
    if not first.figures:
        return _without_figures(first)
    spans = {name: _span([warning.figures[name] for warning in alike], FORMATS[name]) for name in first.figures}
    if first.kind is WarningKind.DRIFTING:
        return _drifting(spans, first.text or unit)
    return _with_figures(first, spans, unit)


def _is_foreign(warning: RunWarning) -> bool:
    """Whether its text is a whole sentence of somebody else's."""
    own = (WarningKind.DATA_GONE, WarningKind.LEFT_BEHIND, WarningKind.LOG_INCOMPLETE)
    return warning.text is not None and not warning.figures and warning.kind not in own


FORMATS: dict[str, Callable[[float], str]] = {
    "cores": lambda value: f"{value:.2f}",
    "ratio": lambda value: f"{value:.2f}",
    "share": lambda value: format_share(value, 1 if value < 0.1 else 0),
    "half_width": lambda value: format_share(value, 1),
    "asked": lambda value: format_share(value, 1),
    "vcpus": lambda value: f"{value:g}",
    "bytes": format_bytes,
    "whole": format_bytes,
    "seconds": lambda value: f"{value:.0f} s",
    "steps": lambda value: f"{value:,.0f}",
    "more": lambda value: f"{value:,.0f}",
    "before": lambda value: f"{value:.4g}",
    "after": lambda value: f"{value:.4g}",
    "rate": format_number,
    "level": format_number,
    "low": format_number,
    "high": format_number,
}
"""How each figure of a warning is shown."""


def _span(values: Sequence[float], form: Callable[[float], str]) -> str:
    """`0.31`, `0.06–1.21`, `4–9 s`."""
    low, high = form(min(values)), form(max(values))
    if low == high:
        return low
    figure, _space, tail = low.partition(" ")
    return f"{figure}–{high}" if tail and high.endswith(f" {tail}") else f"{low}–{high}"


def _without_figures(warning: RunWarning) -> str:
    text = warning.text
    return {
        WarningKind.UNSETTLED: _(
            "the rate moved too slowly, or stalled too seldom, to say how far this run may be off; "
            "measure for more seconds"
        ),
        WarningKind.FIRST_EPOCH: _("no later epoch was reached before the run ended, so the cache was not in use yet"),
        WarningKind.NO_EPOCHS: _("the program does not say when an epoch ends, so this may be the rate of its first"),
        WarningKind.PART_OF_EPOCH: _(
            "the run ended inside its second epoch; the cache serves more at the start of one"
        ),
        WarningKind.DATA_GONE: _("its data set {path} is no longer there: put it back", path=text) if text else "",
        WarningKind.LEFT_BEHIND: text or "",
        WarningKind.LOG_INCOMPLETE: _("{path} could not be written; make room there", path=text) if text else "",
    }.get(warning.kind, "")


def _with_figures(warning: RunWarning, spans: dict[str, str], unit: str) -> str:
    kind, figures = warning.kind, warning.figures
    if kind is WarningKind.THROTTLED and figures.get("vcpus", 0) > 1:
        return _(
            "{share} of CPU periods used up the quota of {vcpus} vCPU, so it ran in slices: latencies are not those of "
            "a slower CPU, and threads that wait for each other lose more than that",
            **spans,
        )
    if kind is WarningKind.IMPRECISE and "half_width" not in figures:
        return _("no half-width is known after {seconds}, where ±{asked} was asked for", **spans)
    if kind is WarningKind.MEMORY_LEFT:
        more = int(figures.get("more", 0))
        names = warning.text
        if not more:
            return _("{names}, {bytes} of memory; remove what no other program uses", names=names, **spans)
        return _n(
            "{names} and {count} more, {bytes} of memory; remove what no other program uses",
            "{names} and {count} more, {bytes} of memory; remove what no other program uses",
            more,
            names=names,
            bytes=spans["bytes"],
        )
    messages: dict[WarningKind, Callable[[], str]] = {
        WarningKind.CONTENDED: lambda: _("something else on this host used {cores} cores meanwhile", **spans),
        WarningKind.STOLEN: lambda: _("the hypervisor gave {cores} cores to others meanwhile", **spans),
        WarningKind.OVERHEAD: lambda: _("sizer itself used {share} of the workload's core-seconds", **spans),
        WarningKind.THROTTLED: lambda: _(
            "{share} of CPU periods used up the quota of {vcpus} vCPU, so it ran in slices: "
            "latencies are not those of a slower CPU",
            **spans,
        ),
        WarningKind.PAGE_CACHE_WARM: lambda: _("{share} of the data was in memory before the run", **spans),
        WarningKind.SWAPPED: lambda: _("up to {bytes} of its memory was in swap", **spans),
        WarningKind.MEMORY_RISING: lambda: _(
            "anonymous memory still rose at the end, by {bytes} in 1,000 steps; a longer run needs more", **spans
        ),
        WarningKind.READ_AMPLIFIED: lambda: _("the device gave {ratio} bytes for each byte asked for", **spans),
        WarningKind.WRITES_UNLIMITED: lambda: _(
            "up to {bytes} waited in the page cache, where this kernel's throttle does not see them; "
            "let the program sync while it writes",
            **spans,
        ),
        WarningKind.TWO_RATES: lambda: _(
            "{before} {units}/s for {seconds}, then {after}; the later rate counts", units=plural(unit), **spans
        ),
        WarningKind.IMPRECISE: lambda: _("±{half_width} after {seconds}, where ±{asked} was asked for", **spans),
        WarningKind.SHORT: lambda: _("stopped at the deadline after {seconds} of steady state", **spans),
        WarningKind.STEPS_JOINED: lambda: _(
            "the program made so many steps that each stored one represents {steps}; writing an event costs up to "
            "0.1 ms, so write one event for several steps",
            **spans,
        ),
        WarningKind.DATA_PARTLY_GONE: lambda: _(
            "of its data set {path} only {bytes} of {whole} are still there: put the rest back",
            path=warning.text,
            **spans,
        ),
    }
    return messages[kind]() if kind in messages else ""


def _drifting(spans: dict[str, str], unit: str) -> str:
    units = plural(unit)
    if "before" in spans:
        return _(
            "the reference configuration went from {before} to {after} {units}/s around this run", units=units, **spans
        )
    if "level" in spans:
        return _(
            "the reference configuration made {level} {units}/s around this run, outside the {low} to {high} {units}/s "
            "of most of its measurements",
            units=units,
            **spans,
        )
    return _(
        "the reference configuration made {rate} {units}/s here, outside the {low} to {high} {units}/s of most of its "
        "measurements",
        units=units,
        **spans,
    )


def failure_in_words(run: Run) -> str:
    """Why a run did not complete, in a line, without its last words."""
    if run.error is not None:
        return _failure(run.error, run.spec)
    cap = run.configuration.memory_bytes
    if run.outcome is Outcome.OUT_OF_MEMORY and cap is not None:
        return _("killed at its memory cap of {size}", size=format_bytes(cap))
    return _("no reason was recorded")


def failure_line(run: Run, longest: int | None = None) -> str:
    """The same with the last line that the run printed, of which so many characters are shown:
    `exit status 1; its last words: KeyError: 'x'`."""
    last = run.error.last_lines.strip().rpartition("\n")[2].strip() if run.error is not None else ""
    if longest is not None and len(last) > longest:
        last = f"{last[:longest].rstrip()}…"
    why = failure_in_words(run)
    return _("{why}; its last words: {line}", why=why, line=last) if last else why


def _failure(failure: Failure, spec: RunSpec) -> str:
    return "; ".join(cause_in_words(cause, spec) for cause in (failure.cause, *failure.reasons))


def cause_in_words(cause: Cause, spec: RunSpec) -> str:
    """One cause of a failure, or what explains it."""
    figures, text = cause.figures, cause.text or ""
    if cause.kind in (CauseKind.OTHER, CauseKind.REFUSED):
        return text.removesuffix(".")
    if cause.kind in (CauseKind.STEPPED, CauseKind.HUNG):
        return _stepped(cause)
    if cause.kind is CauseKind.SIGNAL:
        return _("the workload was killed by signal {signal}", signal=_signal(int(figures["signal"])))
    if cause.kind is CauseKind.EXIT_STATUS:
        return _("the workload ended with exit status {status}", status=_status(figures.get("status")))
    disk = _("disk `{name}`", name=spec.limits.disk) if spec.limits.disk is not None else _("the disk")
    messages: dict[CauseKind, Callable[[], str]] = {
        CauseKind.NOT_LIMITED: lambda: _("the process could not be put under its limits"),
        CauseKind.MEMORY_CAP: lambda: _("killed by the kernel: the memory cap is below what the workload needs"),
        CauseKind.HOST_MEMORY: lambda: _("killed by the kernel: the host's memory is below what the workload needs"),
        CauseKind.SLOW_PATTERN: lambda: _(
            "the pattern cannot be matched with the log: it took more than {seconds} s of CPU time for one read; "
            "avoid nested repetition",
            seconds=f"{figures['seconds']:g}",
        ),
        CauseKind.BROKEN_EVENTS: lambda: _("invalid data on the event pipe: {text}", text=text),
        CauseKind.INTERRUPTED: lambda: _("stopped by Ctrl-C or a signal before it was measured"),
        CauseKind.UNSUPPORTED: lambda: _("the framework or device is not available here"),
        CauseKind.NOT_FOUND: lambda: _("the program was not found or may not be executed"),
        CauseKind.DEADLINE: lambda: _(
            "not enough steps before the deadline of {seconds} s", seconds=f"{figures['seconds']:.0f}"
        ),
        CauseKind.TOO_FEW_STEPS: lambda: _("the workload ended without enough steps to measure a rate"),
        CauseKind.IMPORTED: lambda: _("line {line} of {table} says so", line=f"{figures['line']:.0f}", table=text),
        CauseKind.NO_MATCH: lambda: _("no line of its log matched the pattern"),
        CauseKind.NO_EVENT: lambda: _(
            "it wrote no event; one that writes none can be measured by a `pattern` on its log"
        ),
        CauseKind.NO_STEP: lambda: _("it wrote its start and no step"),
        CauseKind.STOPPED: lambda: _("its process is stopped (SIGSTOP)"),
        CauseKind.PIPE_CLOSED: lambda: _("it had closed its event pipe"),
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
    try:
        return f"{number} ({signal.Signals(number).name})"
    except ValueError:
        return str(number)


def _status(status: float | None) -> str:
    """`1`, and of a shell whose program was ended by a signal `137 (SIGKILL)`."""
    if status is None:
        return _("unknown")
    name = _signal(int(status) - OF_A_SHELL).partition(" ")[2] if status > OF_A_SHELL else ""
    return f"{status:.0f} {name}".rstrip()


def stage_in_words(stage: str) -> str:
    """`the step`, as in `isolating the step`."""
    return {
        "step": _("the step"),
        "pipeline": _("the input pipeline"),
        "disk": _("the disk"),
        "cache": _("the page cache"),
    }[stage]


def remark_in_words(spec: RunSpec) -> str:
    """`isolating the disk`, `search for the memory floor`; '' of a run of the workload as asked for."""
    if spec.purpose is Purpose.FLOOR_SEARCH:
        return _("search for the memory floor")
    return _("isolating {stage}", stage=stage_in_words(spec.stage)) if spec.stage is not None else ""


def stage_shown(stage: str) -> str:
    """What a run that isolates this stage shows."""
    return {
        "step": _("the step alone: nothing is read or decoded"),
        "pipeline": _("the input pipeline without the disk: the data is in memory"),
        "disk": _("the disk alone: the data is read as the loader does, and nothing is made of it"),
        "cache": _("what the page cache serves where memory holds half of the data"),
    }[stage]


def stage_learnt(stage: str) -> str:
    """What the model learns from such a run."""
    return {
        "step": _("how fast the step can be, and what a batch costs beside its samples"),
        "pipeline": _("how the input scales with vCPUs"),
        "disk": _("what this disk gives for this way of reading"),
        "cache": _("how many reads of a later epoch memory saves"),
    }[stage]


def stages_in_words(stage: str) -> str:
    """A line of a dry run: what its runs that isolate a stage are for."""
    return _("runs isolating {stage} show {what}", stage=stage_in_words(stage), what=stage_shown(stage))


def following_in_words(following: Search | TwoEpochs, runs: Sequence[Run]) -> str:
    """What a search for a memory floor found, or a two-epoch pass showed, or why it did not."""
    name = following.base.workload.name
    if isinstance(following, Search):
        return floor_in_words(following.found(runs), _("the memory floor of `{workload}`", workload=name))
    return _pass_in_words(following.result(runs), name)


def _pass_in_words(result: PassResult, workload: str) -> str:
    if result.obstacle is not None:
        return _(
            "two epochs of `{workload}` with half of its data in memory were not measured: {why}",
            workload=workload,
            why=_obstacle(result.obstacle),
        )
    if result.outcome is None:
        return _(
            "two epochs of `{workload}` with half of its data in memory: another run shows the same", workload=workload
        )
    ended = outcome_in_words(result.outcome)
    if result.hit_rate is None:
        return _("two epochs of `{workload}` with half of its data in memory: {ended}", workload=workload, ended=ended)
    return _(
        "two epochs of `{workload}` with half of its data in memory: {ended}, {share} of its reads were served from "
        "memory",
        workload=workload,
        ended=ended,
        share=format_share(result.hit_rate),
    )


def _obstacle(obstacle: Obstacle) -> str:
    figure = obstacle.figure
    return {
        ObstacleKind.MEMORY_UNKNOWN: _("no run shows how much memory it needs"),
        ObstacleKind.SMALL_DATA: _("its data set of {size} is too small", size=format_bytes(figure)),
        ObstacleKind.SMALL_HOST: _("this host has too little memory for half of {size}", size=format_bytes(figure)),
        ObstacleKind.LONG: _("they would take {time}", time=format_seconds(figure)),
        ObstacleKind.NOT_MADE: _("the run was not made"),
    }[obstacle.kind]


def spread_in_words(spread: Spread) -> str:
    """`the reference configuration was measured 4 times: 655 to 742 images/s, a spread of 13.3 %`."""
    return _n(
        "the reference configuration was measured {count} time: {low} to {high}, a spread of {spread}",
        "the reference configuration was measured {count} times: {low} to {high}, a spread of {spread}",
        spread.count,
        low=format_rate(spread.low, spread.unit),
        high=format_rate(spread.high, spread.unit),
        spread=format_share(spread.share, 1),
    )


def busy_host_in_words(load: Load) -> str | None:
    """That this host is busy, by what, and what becomes of it; None for a quiet host."""
    found = []
    if load.is_contended:
        programs = ", ".join(f"{name} {cores:.2f}" for name, cores in load.programs)
        cores = f"{load.other_cores or 0.0:.2f}"
        found.append(
            _("other programs use {cores} cores ({programs})", cores=cores, programs=programs)
            if programs
            else _("other programs use {cores} cores", cores=cores)
        )
    if load.is_stolen:
        found.append(_("the hypervisor gives {cores} cores to others", cores=f"{load.stolen_cores or 0.0:.2f}"))
    if not found:
        return None
    return _(
        "this host is busy: {what}; runs that it disturbs are marked `contended` or `stolen`, and a quiet host "
        "measures better",
        what=_("{first} and {second}", first=found[0], second=found[1]) if len(found) > 1 else found[0],
    )


def run_in_words(spec: RunSpec, emulated: Collection[str] = ()) -> str:
    """`train 2 vCPUs, 8 GiB, disk nvme, batch 32`, with only what is limited; `emulated` names such disks."""
    limits = spec.limits
    parts = [format_vcpus(limits.vcpus)] if limits.vcpus is not None else []
    parts += [format_bytes(limits.memory_bytes)] if limits.memory_bytes is not None else []
    parts += [disk_in_words(limits.disk, limits.disk in emulated)] if limits.disk is not None else []
    parts += [_("batch {size}", size=spec.batch_size)]
    parts += [_("isolating {stage}", stage=stage_in_words(spec.stage))] if spec.stage is not None else []
    return f"{spec.workload.name} {', '.join(parts)}"


def imported_run_in_words(run: Run) -> str:
    """The same of a run that was measured elsewhere, with its accelerators, and without what its table does not say."""
    limits, had = run.spec.limits, run.configuration
    parts = [format_vcpus(limits.vcpus)] if limits.vcpus is not None else []
    parts += [f"{max(1, had.gpu_count or 0)} × {had.gpu or 'GPU'}"] if had.gpu or had.gpu_count else []
    parts += [format_bytes(limits.memory_bytes)] if limits.memory_bytes is not None else []
    parts += [disk_in_words(limits.disk, _is_emulated(run))] if limits.disk is not None else []
    parts += [_("batch {size}", size=had.batch_size)] if had.batch_size is not None else []
    return " ".join([run.spec.workload.name, ", ".join(parts)]).strip()


def _is_emulated(run: Run) -> bool:
    return run.disk is not None and run.disk.tier.emulated is not None


def result_in_words(run: Run, log: Path | None = None) -> str:
    """The outcome of a run and, if it has one, its rate; `log` is named where a cause is too long to be shown."""
    if run.outcome is not Outcome.COMPLETED or run.throughput is None:
        return f"{outcome_in_words(run.outcome)} ({_cause(run, log)})"
    bound = f", {bound_in_words(run.evidence.bottleneck, run.spec.workload.computes_on)}" if run.evidence else ""
    rate = format_rate(run.throughput.value, printable(run.sample_unit))
    interval = f" {_interval(run.throughput)}" if run.throughput.has_interval else ""
    return f"{rate}{interval}{bound}"


def _interval(rate: Estimate) -> str:
    """`±1.9 %`, or `(0 to 103)` where the rate is hardly known."""
    if not rate.value:
        return _("±unknown")
    if rate.relative_half_width > WIDEST_SHARE:
        return _("({low} to {high})", low=format_number(max(0.0, rate.low)), high=format_number(rate.high))
    return f"±{format_share(rate.relative_half_width, 1)}"


def _cause(run: Run, log: Path | None) -> str:
    """What happened and, if the log says more, its last line."""
    cause = printable(failure_line(run))
    if len(cause) <= LONGEST_CAUSE:
        return cause
    return f"{cause[:LONGEST_CAUSE]}..." + (f"; log: {typed_path(log)}" if log is not None else "")

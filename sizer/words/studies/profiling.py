"""What a profile says: what a program needs, which axes follow, what to type without a rate; what a log holds."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median

from sizer.analysis.log_lines.recognising import LogContent, ReadLine
from sizer.plan.axes_of_first_run import Needs
from sizer.records.messages import printable
from sizer.records.run import CauseKind, MeterKind, Run
from sizer.records.run_kinds import Outcome
from sizer.records.study import Study
from sizer.records.units import format_bytes, format_number, format_seconds
from sizer.words import language
from sizer.words.language import N_, Counted, Sentence, Templates, _, _n, clauses, listed, row
from sizer.words.runs import meter_in_words

# What a profile says: what a program needs, which axes follow from it, and what to type where there is no rate.


_NEEDS = (
    N_("what `{workload}` used without limits:"),
    N_(
        "  vCPUs: [[{busy_vcpus:.2f} of {vcpus:number} busy]][[!busy_vcpus?how many of {vcpus:number} "
        "were busy was not accounted]][[, while other programs took {taken_cores:.2f}]]"
    ),
    N_("  threads: [[up to {threads}]][[!threads?not counted]]; OMP_NUM_THREADS was {vcpus:.0f}"),
    N_("[[  memory: {memory} at its peak that cannot be dropped, and {cached} of page cache]]"),
    N_("[[  disk: {read} read and {written} written for each {sample}]]"),
    N_("[[  start: {first_step_seconds:time} to its first step]]"),
    N_(
        "  rate: {rate}[[, {batch:number} {units} a step]], [[counted {counted}]][[!counted?told by the "
        "program itself]][[unseen?; how many samples a step has was not seen: to count them, add "
        "--samples-per-step N]]"
    ),
)


def needs_lines(needs: Needs, workload: str) -> Iterator[str]:
    """What a program used in its run without limits, a line for each resource."""
    amounts = {
        "memory": needs.own_memory_bytes,
        "cached": needs.page_cache_bytes,
        "read": needs.read_bytes,
        "written": needs.written_bytes,
    }
    unit, own = printable(needs.unit), needs.meter is None or needs.meter.kind is MeterKind.EVENTS
    values = {
        **vars(needs),
        **{name: "" if value is None else language.amount(value) for name, value in amounts.items()},
        "workload": workload,
        "sample": printable(language.one_of(needs.unit)),
        "rate": language.rate_interval(needs.rate, unit),
        "batch": needs.batch_samples if needs.samples_seen and needs.batch_samples != 1 else None,
        "units": printable(language.several_of(needs.unit)),
        "counted": "" if own or needs.meter is None else meter_in_words(needs.meter),
        "unseen": not needs.samples_seen,
    }
    yield from filter(None, (_(line, **values) for line in _NEEDS))


def axes_lines(study: Study, path: Path, runs: int, seconds: float) -> Iterator[str]:
    """Which axes were chosen, how long their runs take, and where that stands."""
    planned = study.workloads[0]
    disks = (_("the present disk"), *(_("disk `{name}`", name=name) for name in planned.disk))
    axes = (
        language.vcpus_listed(planned.vcpus),
        _("[[batch sizes {values:and}]]", values=planned.batch_size if len(planned.batch_size) > 1 else ()),
        listed(disks) if planned.disk else "",
        _("[[memory caps of {values:and}]]", values=[*map(format_bytes, planned.memory_bytes)]),
        _("the smallest memory in which it runs") if planned.memory_floor else "",
    )
    yield _("chosen from this: {axes}", axes=clauses(axes))
    if runs:
        yield _("{runs:runs} to come, about {time:time}", runs=runs, time=seconds)
    yield _("the study file of these runs: {path:path}", path=path)


def profile_comments(workload: str, path: str, folder: str, needs: Needs | None) -> list[str]:
    """What stands at the head of the study file of a profile; `path` and `folder` as they are typed."""
    return [
        _(
            "What `sizer profile` measures of `{workload}`. To go on from here, change what you like and type:",
            workload=workload,
        ),
        f"  sizer run {path} --out {folder}",
        _("Runs that are there are kept; docs/study.md says what else may stand in this file."),
        *([] if needs is None else ["", *needs_lines(needs, workload)]),
    ]


follows_from_first_run = Sentence(
    "this is what is known before the first run, which has no limits; which vCPUs and memory caps are "
    "measured follows from what it uses"
)
"""Said of a profile that was not begun, after the list of what it would do."""
profile_interrupted = Sentence("interrupted before the run without limits was done; to go on, type the same again")
MISSING_MODULE = re.compile(r"ModuleNotFoundError: No module named '(?P<module>[\w.]+)'")
"""What Python says of an import that it does not find."""
UNCOUNTED = frozenset(
    {
        *(CauseKind.NO_EVENT, CauseKind.NO_OUTPUT, CauseKind.NO_MATCH, CauseKind.NO_RATE, CauseKind.TOO_FEW_STEPS),
        *(CauseKind.TOLD_MILLISECONDS, CauseKind.TOLD_MINUTES, CauseKind.DEADLINE, CauseKind.NO_STEP),
    }
)
"""Causes by which a program may run well and its steps are not known."""
THREE_LINES = (
    "  from sizer.meter import Meter  # or, beside a copy of sizer/meter.py: from meter import Meter",
    '  with Meter(unit="image", batch_size=32) as meter:',
    "      for batch in loader: ...; meter.step()",
)


_WHAT_TO_DO: Templates[str, str] = {
    "nothing": "without a rate of the run without limits nothing else is measured",
    "withheld": "its last words name {withheld:and}, set in this shell and not passed on to it; to do "
    "so, add: --pass-env {typed}",
    "module": "{python:path} has no `{module:plain}`; to run it in the environment that has it, give "
    "that one's interpreter: sizer profile -- /path/to/environment/bin/python ...",
    "small": "this host has too little memory for it: measure on a larger one, or make the batch smaller",
    "read": "if it prints its progress, look what sizer reads from that: sizer pattern {log:path}; then "
    "give an expression: sizer profile --pattern 'step (?P<step>\\d+)' -- ...",
    "uncounted": "or let it tell its steps, in three lines that do nothing outside of sizer:",
    "log": "what it printed: {log:path}",
    "fix": "fix it, then run the same command",
}


def first_run_failed(run: Run, log: Path | None, withheld: Sequence[str]) -> Iterator[str]:
    """What to type next where a run without limits gave no rate."""
    missing = MISSING_MODULE.search(run.error.last_lines) if run.error is not None else None
    causes = set() if run.error is None else {cause.kind for cause in (run.error.cause, *run.error.reasons)}
    command = run.spec.workload.command
    small = run.outcome is Outcome.OUT_OF_MEMORY
    # Where its steps are what is missing; a crash may have come before there were any.
    uncounted = not small and causes & UNCOUNTED and not causes & {CauseKind.EXIT_STATUS, CauseKind.SIGNAL}
    values = {
        "nothing": True,
        "withheld": withheld,
        "typed": ",".join(withheld),
        "module": missing["module"] if missing is not None and command else "",
        "python": next(iter(command), ""),
        "small": small,
        "read": uncounted and log is not None and CauseKind.NO_OUTPUT not in causes,
        "uncounted": uncounted,
        "log": log,
        "fix": True,
    }
    for condition, line in _WHAT_TO_DO.items():
        if values[condition]:
            yield _(line, **values)
            yield from THREE_LINES if condition == "uncounted" else ()


# What was read from a log, for whoever tries a pattern.
log_format = Sentence("format: [[{name}]][[!name?your own expression]]")
log_lines_more = Counted("and {count} more line", "and {count} more lines")
log_no_number = Sentence("the pattern also matches what is no number, and passes it over: {text:plain}")
log_cut = Sentence("only the first {size:bytes} were read")


def log_line(line: ReadLine) -> str:
    """`line 12: epoch 1, batch 200 of 1,444, 155 ms a batch`."""
    reading = line.reading
    step = None if reading.samples is not None else reading.step
    parts = (
        _("[[epoch {epoch}]]", epoch=None if reading.epoch is None else str(reading.epoch)),
        _("[[sample {count}]]", count=None if reading.samples is None else f"{reading.samples:,}"),
        _(
            "[[batch {count}]][[ of {total:,}]]",
            count=None if step is None else f"{step:,}",
            total=step and reading.total,
        ),
        "" if reading.rate is None else language.rate_in_words(reading.rate, "sample"),
        _("[[{time:time} a batch]]", time=reading.seconds),
        _("[[{rate:number} batches/s]]", rate=reading.batches),
        _("[[{time:time} since its epoch began]]", time=reading.elapsed),
    )
    return _("line {number:,}: {numbers}", number=line.number, numbers=row(parts))


def log_summary(content: LogContent) -> str:
    """How much was read: of so many lines, what they count, and what was passed over."""
    read, grown = f"{len(content.read):,}", content.grown
    counted = _("none has a counter, so the rate that is told counts")
    if content.counts and content.counts_samples:
        counted = _n("{count} sample counted", "{count} samples counted", grown)
    elif content.counts:
        counted = _n("{count} batch counted", "{count} batches counted", grown)
    return row(
        [
            _n(
                "{read} of {count} line is one of the training",
                "{read} of {count} lines are of the training",
                content.lines,
                read=read,
            ),
            counted,
            _n("{count} epoch", "{count} epochs", content.epochs + 1) if content.epochs else "",
            _("[[{count:,} of evaluations passed over]]", count=content.evaluations),
        ]
    )


def log_times(content: LogContent) -> str:
    """What the lines tell of a batch's time, or of the rate: the least, the most and the middle; '' where nothing."""
    readings = [line.reading for line in content.read]
    times = [seconds for reading in readings if (seconds := reading.seconds_a_batch) is not None]
    rates = [reading.rate for reading in readings if reading.rate is not None]
    written, figures = (format_seconds, times) if times else (format_number, rates)
    if not figures:
        return ""
    return _(
        "the log reports {span}[[times? a batch]][[!times? samples/s]] (median {median}); in a run, its "
        "lines must come as fast as that",
        times=times,
        span=language.from_to(written(min(figures)), written(max(figures))),
        median=written(median(figures)),
    )

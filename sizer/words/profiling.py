"""What a profile says: what a program needs, which axes follow from it, and what to type where there is no rate."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

from sizer.plan.axes_of_first_run import Needs
from sizer.records.plain_text import printable, typed_path
from sizer.records.run import CauseKind, MeterKind, Run
from sizer.records.run_kinds import Outcome
from sizer.records.study import Study
from sizer.records.units import format_bytes, format_number, format_seconds
from sizer.words.figures import amount, rate_interval, vcpus_listed
from sizer.words.language import _, _n
from sizer.words.names import clauses, listed
from sizer.words.runs import meter_in_words
from sizer.words.units import one_of, several_of


def needs_lines(needs: Needs, workload: str) -> Iterator[str]:
    """What a program used in its run without limits, a line for each resource."""
    yield _("what `{workload}` used without limits:", workload=workload)
    for line in _needs(needs):
        yield _("  {line}", line=line)


def _needs(needs: Needs) -> Iterator[str]:
    yield _vcpus(needs)
    yield _threads(needs)
    if needs.own_memory_bytes is not None:
        yield _(
            "memory: {own} at its peak that cannot be dropped, and {cache} of page cache",
            own=format_bytes(needs.own_memory_bytes),
            cache=amount(needs.page_cache_bytes or 0),
        )
    if needs.read_bytes is not None and needs.written_bytes is not None:
        yield _(
            "disk: {read} read and {written} written for each {sample}",
            read=amount(needs.read_bytes),
            written=amount(needs.written_bytes),
            sample=printable(one_of(needs.unit)),
        )
    if needs.first_step_seconds is not None:
        yield _("start: {time} to its first step", time=format_seconds(needs.first_step_seconds))
    yield _("rate: {rate}", rate=_rate(needs))


def _vcpus(needs: Needs) -> str:
    every = format_number(needs.vcpus)
    if needs.busy_vcpus is None:
        return _("vCPUs: how many of {all} were busy was not accounted", all=every)
    busy = f"{needs.busy_vcpus:.2f}"
    if needs.taken_cores:
        taken = f"{needs.taken_cores:.2f}"
        return _("vCPUs: {busy} of {all} busy, while other programs took {taken}", busy=busy, all=every, taken=taken)
    return _("vCPUs: {busy} of {all} busy", busy=busy, all=every)


def _threads(needs: Needs) -> str:
    given = round(needs.vcpus)
    if needs.threads is None:
        return _("threads: not counted; OMP_NUM_THREADS was {count}", count=given)
    return _("threads: up to {threads}; OMP_NUM_THREADS was {count}", threads=needs.threads, count=given)


def _rate(needs: Needs) -> str:
    rate, unit = rate_interval(needs.rate, printable(needs.unit)), printable(several_of(needs.unit))
    if needs.meter is None or needs.meter.kind is MeterKind.EVENTS:
        counted = _("told by the program itself")
    else:
        counted = _("counted {meter}", meter=meter_in_words(needs.meter))
    if not needs.samples_seen:
        return _(
            "{rate}, {counted}; how many samples a step has was not seen: to count them, add --samples-per-step N",
            rate=rate,
            counted=counted,
        )
    if needs.batch_samples is None or needs.batch_samples == 1:
        return _("{rate}, {counted}", rate=rate, counted=counted)
    return _(
        "{rate}, {size} {unit} a step, {counted}",
        rate=rate,
        size=format_number(needs.batch_samples),
        unit=unit,
        counted=counted,
    )


def axes_lines(study: Study, path: Path, runs: int, seconds: float) -> Iterator[str]:
    """Which axes were chosen, how long their runs take, and where that stands."""
    yield _("chosen from this: {axes}", axes=clauses(_axes(study)))
    if runs:
        yield _n(
            "{count} run to come, about {time}",
            "{count} runs to come, about {time}",
            runs,
            time=format_seconds(seconds),
        )
    yield _("the study file of these runs: {path}", path=typed_path(path))


def _axes(study: Study) -> Iterator[str]:
    planned = study.workloads[0]
    yield vcpus_listed(planned.vcpus)
    if len(planned.batch_size) > 1:
        yield _("batch sizes {values}", values=listed([str(size) for size in planned.batch_size]))
    if planned.disk:
        yield listed([_("the present disk"), *(_("disk `{name}`", name=name) for name in planned.disk)])
    if planned.memory_bytes:
        yield _("memory caps of {values}", values=listed([format_bytes(size) for size in planned.memory_bytes]))
    if planned.memory_floor:
        yield _("the smallest memory in which it runs")


def profile_comments(workload: str, path: str, folder: str, needs: Needs | None) -> list[str]:
    """What stands at the head of the study file of a profile; `path` and `folder` as they are typed."""
    seen = [] if needs is None else ["", *needs_lines(needs, workload)]
    return [
        _(
            "What `sizer profile` measures of `{workload}`. To go on from here, change what you like and type:",
            workload=workload,
        ),
        _("  sizer run {path} --out {folder}", path=path, folder=folder),
        _("Runs that are there are kept; docs/study.md says what else may stand in this file."),
        *seen,
    ]


def follows_from_first_run() -> str:
    """Said of a profile that was not begun, after the list of what it would do."""
    return _(
        "this is what is known before the first run, which has no limits; which vCPUs and memory caps are measured "
        "follows from what it uses"
    )


def first_run_failed(run: Run, log: Path | None, withheld: Sequence[str]) -> Iterator[str]:
    """What to type next where a run without limits gave no rate."""
    yield _("without a rate of the run without limits nothing else is measured")
    if withheld:
        yield _(
            "its last words name {names}, set in this shell and not passed on to it; to do so, add: --pass-env {typed}",
            names=listed(list(withheld)),
            typed=",".join(withheld),
        )
    missing = MISSING_MODULE.search(run.error.last_lines) if run.error is not None else None
    if missing is not None and run.spec.workload.command:
        yield _(
            "{python} has no `{module}`; to run it in the environment that has it, give that one's interpreter: sizer "
            "profile -- /path/to/environment/bin/python ...",
            python=typed_path(run.spec.workload.command[0]),
            module=printable(missing["module"]),
        )
    if run.outcome is Outcome.OUT_OF_MEMORY:
        yield _("this host has too little memory for it: measure on a larger one, or make the batch smaller")
    elif _not_counted(run):
        yield from _how_to_count(log if not _caused(run, {CauseKind.NO_OUTPUT}) else None)
    if log is not None:
        yield _("what it printed: {log}", log=typed_path(log))
    yield _("once that is mended, type the same again")


MISSING_MODULE = re.compile(r"ModuleNotFoundError: No module named '(?P<module>[\w.]+)'")
"""What Python says of an import that it does not find."""

UNCOUNTED = frozenset(
    {
        CauseKind.NO_EVENT,
        CauseKind.NO_OUTPUT,
        CauseKind.NO_MATCH,
        CauseKind.NO_RATE,
        CauseKind.TOO_FEW_STEPS,
        CauseKind.TOLD_MILLISECONDS,
        CauseKind.TOLD_MINUTES,
        CauseKind.DEADLINE,
        CauseKind.NO_STEP,
    }
)
"""Causes by which a program may run well and its steps are not known."""


THREE_LINES = (
    "from sizer.meter import Meter  # or, beside a copy of sizer/meter.py: from meter import Meter",
    'with Meter(unit="image", batch_size=32) as meter:',
    "    for batch in loader: ...; meter.step()",
)


def _not_counted(run: Run) -> bool:
    """Whether its steps are what is missing; it may have crashed before there were any."""
    return _caused(run, UNCOUNTED) and not _caused(run, {CauseKind.EXIT_STATUS, CauseKind.SIGNAL})


def _caused(run: Run, kinds: Collection[CauseKind]) -> bool:
    return run.error is not None and any(each.kind in kinds for each in (run.error.cause, *run.error.reasons))


def _how_to_count(log: Path | None) -> Iterator[str]:
    """`log` is None where it printed nothing."""
    if log is not None:
        yield _(
            "if it prints its progress, look what sizer reads from that: sizer pattern {log}; then give an expression: "
            "sizer profile --pattern 'step (?P<step>\\d+)' -- ...",
            log=typed_path(log),
        )
    yield _("or let it tell its steps, in three lines that do nothing outside of sizer:")
    yield from (f"  {line}" for line in THREE_LINES)


def variables_withheld(names: Sequence[str]) -> str:
    """That a program does not get these variables."""
    return _(
        "{names} of this shell not passed on to the program; if it reads them: --pass-env {typed}",
        names=listed(list(names)),
        typed=",".join(names),
    )


def disks_not_read(disks: Sequence[str], has_data: bool) -> str:
    """That the runs on these disks show nothing of them."""
    known = {"disks": listed(list(disks)), "data": "{data}", "scratch": "{scratch}"}
    if has_data:
        return _(
            "the command reads nothing from {disks}: write {data} in it in the place of the path of its data, or "
            "{scratch} where it writes",
            **known,
        )
    return _(
        "the command reads nothing from {disks} but what it writes to TMPDIR: give --data PATH and write {data} in the "
        "command where that path stands, or {scratch} where it writes",
        **known,
    )


def profile_interrupted() -> str:
    """How to go on where the first run was interrupted."""
    return _("interrupted before the run without limits was done; to go on, type the same again")

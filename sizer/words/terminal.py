"""What the terminal says while sizer works: events, interrupts, warnings, how a command ended."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from sizer.records.doubts import Doubt, DoubtKind
from sizer.records.messages import Lines, Message
from sizer.records.plain_text import printable, typed_path
from sizer.records.run import Failure
from sizer.records.run_kinds import Outcome
from sizer.records.units import format_bytes, format_seconds
from sizer.words.errors import in_words
from sizer.words.failures import data_not_prepared, not_made_ready
from sizer.words.figures import transfer
from sizer.words.language import _, _n
from sizer.words.names import clauses, listed, outcomes_counted
from sizer.words.units import percent


def warning_said(sentence: str) -> str:
    """A line that warns."""
    return _("warning: {sentence}", sentence=sentence)


def note_said(sentence: str) -> str:
    """A line that only informs."""
    return _("note: {sentence}", sentence=sentence)


def problem_said(problem: Message | Lines) -> str:
    """What cannot be read among the runs of a study."""
    return _("left out: {problem}", problem=printable(in_words(problem)))


def doubt_in_words(doubt: Doubt) -> str:
    """Why the runs of a workload may fail although every limit can be set."""
    names, count = listed([f"`{name}`" for name in doubt.workloads]), len(doubt.workloads)
    known = {"workload": doubt.workloads[0], "workloads": names, "what": doubt.what}
    if doubt.kind is DoubtKind.FRAMEWORK:
        return _n(
            "workload {workloads} will not run: sizer has no program on {what}; measure your own with `kind: "
            "command`, which reads its log",
            "workloads {workloads} will not run: sizer has no program on {what}; measure your own with `kind: "
            "command`, which reads its log",
            count,
            **known,
        )
    if doubt.kind in (DoubtKind.USER, DoubtKind.INTERPRETER) and doubt.problem is not None:
        problem = in_words(doubt.problem)
        return _n(
            "workload {workloads} will not run: {problem}",
            "workloads {workloads} will not run: {problem}",
            count,
            **known,
            problem=problem,
        )
    if doubt.kind is DoubtKind.GPU:
        return _("workload `{workload}`: this host has no GPU {what}; use cpu or an emulated one", **known)
    if doubt.kind is DoubtKind.NO_DRIVER:
        return _(
            "workload `{workload}`: this host has no GPU {what}, since NVIDIA's driver is not installed or does not "
            "answer; type `nvidia-smi` to see why, or use cpu or an emulated one",
            **known,
        )
    if doubt.kind is DoubtKind.NO_NVML:
        return _(
            "workload `{workload}`: NVML, by which NVIDIA's driver tells of its GPUs, is not here; it runs, and of its "
            "GPU's use, memory, power and clocks, and of who else is on it, nothing will be known. A container has "
            "NVML with NVIDIA_DRIVER_CAPABILITIES=compute,utility",
            **known,
        )
    if doubt.kind is DoubtKind.HIDDEN_GPU:
        return _(
            "workload `{workload}`: CUDA_VISIBLE_DEVICES={where} leaves it no GPU {what}; change or unset it, or use "
            "cpu or an emulated one",
            **known,
            where=doubt.where,
        )
    if doubt.kind is DoubtKind.UNSEEN_GPU:
        return _(
            "workload `{workload}`: its framework does not see the GPU {what}, which the driver has; install a build "
            "of it for GPUs into {where} (docs/accelerators.md), or use cpu or an emulated one",
            **known,
            where=doubt.where,
        )
    if doubt.kind is DoubtKind.SETUP:
        return _("workload `{workload}`: {what}, the program of its `setup`, was not found; give its path", **known)
    if doubt.kind is DoubtKind.BEFORE:
        return _("workload `{workload}`: {what}, the program of its `before`, was not found; give its path", **known)
    if doubt.kind is DoubtKind.NO_FOLDER:
        return _(
            "workload `{workload}`: its command starts in an empty temporary folder, where {what} is not; give "
            "`cwd: {where}`",
            **known,
            where=doubt.where,
        )
    if doubt.kind is DoubtKind.NOT_PASSED:
        return _("workload `{workload}`: {what} of its `pass_env` is not set here; set it, or leave it out", **known)
    return _("workload `{workload}`: the program {what} was not found; give its path", **known)


def runs_taken_back(count: int, source: Path, folder: Path) -> str:
    """Runs that could not be stored when they were measured are stored now."""
    return _n(
        "{count} run of this study was measured before and could not be stored then; moved from {source} into {folder}",
        "{count} runs of this study were measured before and could not be stored then; moved from {source} into "
        "{folder}",
        count,
        source=source,
        folder=folder,
    )


def nothing_left(count: int) -> str:
    """Nothing of a study has to be measured."""
    return _n(
        "the only run is finished already; to measure again, choose another folder with --out",
        "all {count} runs are finished already; to measure again, choose another folder with --out",
        count,
    )


def runs_left(left: int, planned: int) -> str:
    """The conclusion is drawn before all runs are made."""
    return _n(
        "{count} of {planned} runs is not finished; the answer is based on the others",
        "{count} of {planned} runs are not finished; the answer is based on the others",
        left,
        planned=planned,
    )


def report_written(path: Path) -> str:
    """Where the report is."""
    return _("report: {path}", path=path)


def answer_not_written(error: object) -> str:
    """The conclusion could not be written."""
    return _("the answer could not be written: {error}", error=error)


def page_not_written(error: object) -> str:
    """The page could not be written for whoever looks at it while the study is measured."""
    return _("the page that is being served could not be written: {error}", error=error)


def unknown_columns(table: Path, columns: str) -> str:
    """An imported table has columns that sizer has no use for."""
    return _(
        "warning: {table}: sizer does not use {columns}; kept in each run and by export", table=table, columns=columns
    )


def unknown_columns_ignored(table: str, columns: str, count: int) -> str:
    """A table of configurations has columns that sizer has no use for, so many."""
    return _n(
        "warning: {table}: {columns} is unknown and ignored",
        "warning: {table}: {columns} are unknown and ignored",
        count,
        table=table,
        columns=columns,
    )


def table_imported(runs: int, workloads: int, folder: Path) -> str:
    """How much was imported."""
    return _(
        "{runs} of {workloads} imported into {folder}",
        runs=_n("{count} run", "{count} runs", runs),
        workloads=_n("{count} workload", "{count} workloads", workloads),
        folder=folder,
    )


def step_in_words(stage: str, share: float, seconds: float, workload: str, number: int, of: int) -> str:
    """How far an import is: what it does, about how much is done, and since when."""
    known = {"share": percent(share), "time": format_seconds(round(seconds))}
    if stage == "reading":
        return _("reading the table, {time} so far", **known)
    if stage == "storing":
        return _("storing the runs, about {share} done, {time} so far", **known)
    if stage == "fitting":
        return _(
            "fitting `{workload}`, {number} of {of} workloads, about {share} done, {time} so far",
            workload=workload,
            number=number,
            of=of,
            **known,
        )
    if stage == "recommending":
        return _("choosing machines, about {share} done, {time} so far", **known)
    return _("writing the report, about {share} done, {time} so far", **known)


def data_lacking(workload: str, why: str) -> str:
    """The data of a workload cannot be had, so its runs are refused."""
    return _("  workload `{workload}`: {why}", workload=workload, why=data_not_prepared(why))


def setting_up(workload: str) -> str:
    """Its `setup` is run, which may take long."""
    return _("setting up workload `{workload}`", workload=workload)


def setup_failed(workload: str, failure: Failure) -> str:
    """Why its runs are refused, with the last words of the command."""
    last = failure.last_lines.strip().rpartition("\n")[2].strip()
    why = not_made_ready(failure.cause)
    if not last:
        return _("  workload `{workload}`: {why}", workload=workload, why=why)
    return _("  workload `{workload}`: {why}; its last words: {line}", workload=workload, why=why, line=last)


def waiting_for_run(seconds: float | None) -> str:
    """After the first Ctrl-C: a run goes on for so many seconds, 0 or less where it takes longer than expected; None
    between two runs."""
    if seconds is None:
        return _("finishing the current step; Ctrl-C again stops it now")
    if seconds <= 0:
        return _("finishing the current run (longer than expected); Ctrl-C again stops it now")
    return _("finishing the current run (about {time}); Ctrl-C again stops it now", time=format_seconds(seconds))


def interrupted(folder: Path) -> str:
    """How to go on after Ctrl-C."""
    return _("interrupted; continue with: sizer resume {folder}", folder=typed_path(folder))


def runs_failed(folder: Path) -> str:
    """How to measure again what failed."""
    return _(
        "some runs failed; after fixing the cause, measure them again with: sizer resume {folder} --retry",
        folder=typed_path(folder),
    )


def progress_begun(number: int, total: int, run: str, seconds_left: float) -> str:
    """A run begins, as a plain line."""
    return _(
        "[{number}/{total}] {run}, {time} left", number=number, total=total, run=run, time=format_seconds(seconds_left)
    )


def progress_chosen(number: int, total: int, run_and_reason: str) -> str:
    """A run of an adaptive plan begins, as a plain line; it may take `total` runs at the most."""
    return _("[{number}, {total} at most] {run}", number=number, total=total, run=run_and_reason)


def stood_still(seconds: float) -> str:
    """A run is made again because sizer did not watch all of it."""
    return _(
        "  sizer itself stood still for {seconds} s (stopped, suspended, or without CPU time); the run is made again",
        seconds=f"{seconds:.1f}",
    )


def no_step_yet(seconds: float, given_up_seconds: float) -> str:
    """Said once of a run in which nothing was counted for so long."""
    return _(
        "  no step seen after {time}; it is given up after {end} if none comes, or earlier if it does nothing",
        time=format_seconds(seconds),
        end=format_seconds(given_up_seconds),
    )


def reading_yet(seconds: float, read: float, whole: float, given_up_seconds: float) -> str:
    """Said of a run that still reads its data after so long."""
    return _(
        "  after {time} it still reads its data into memory, {read} of {whole}; it is given up after {end} if no step "
        "comes",
        time=format_seconds(seconds),
        read=format_bytes(read),
        whole=format_bytes(whole),
        end=format_seconds(given_up_seconds),
    )


def reading_now(read: float, whole: float) -> str:
    """In the place of a rate."""
    return _("reading {read} of {whole}", read=format_bytes(read), whole=format_bytes(whole))


def progress_line(
    bar: str,
    finished: int,
    total: int,
    seconds_left: float,
    rate: str | None,
    run: str,
    used: tuple[float, float, float],
) -> str:
    """The bar; `rate` is None before it is known, `used` are the cores and the bytes read and written a second."""
    cores, read, written = used
    return _(
        "[{bar}] {finished}/{total}, {time} left | {rate} | {run} | {cores} cores | {read} read, {written} written",
        bar=bar,
        finished=finished,
        total=total,
        time=format_seconds(seconds_left),
        rate=_("warming up") if rate is None else rate,
        run=run,
        cores=f"{cores:.2f}",
        read=transfer(read),
        written=transfer(written),
    )


def reference_again(run: str) -> str:
    """A run beyond the repeats, which shows whether the host has drifted."""
    return _("{run}, the reference again", run=run)


def being_measured(run: str) -> str:
    """A run of a study that goes on."""
    return _("{run}: being measured now", run=run)


def to_be_run(run: str) -> str:
    """A run of a study that was not made yet."""
    return _("{run}: not run yet", run=run)


def being_measured_again(result: str) -> str:
    """A stored run that is being replaced."""
    return _("{result}; being measured again now", result=result)


def to_be_run_again(result: str) -> str:
    """A stored run that will be replaced."""
    return _("{result}; will be run again", result=result)


def study_summary(
    finished: int,
    planned: int,
    followed: int,
    older: int,
    outcomes: Mapping[Outcome, int],
    warned: int,
    left: int,
    seconds: float,
    held: bool,
) -> str:
    """The last line of status; `followed` are the runs of searches and passes, which nobody plans."""
    counted = outcomes_counted([outcome.value for outcome in outcomes], list(outcomes.values()))
    known = {"finished": finished, "planned": planned, "followed": followed}
    done = (
        _("{finished} of {planned} runs finished, and {followed} of searches", **known)
        if followed
        else _("{finished} of {planned} runs finished", **known)
    )
    parts = [
        _("{done} ({outcomes})", done=done, outcomes=counted) if outcomes else done,
        _("{count} with a warning", count=warned) if warned else _("none with a warning"),
    ]
    if older:
        parts.append(
            _n(
                "{count} stored run of an older form of the study",
                "{count} stored runs of an older form of the study",
                older,
            )
        )
    if left:
        parts.append(_("{count} to go, about {time}", count=left, time=format_seconds(seconds)))
    if held:
        parts.append(_("being measured now"))
    return clauses(parts)

"""What to do about runs that failed, what warnings mean for the answer, and whether the host drifted."""

from __future__ import annotations

from collections.abc import Callable

from sizer.records.run import Cause, CauseKind, Run, WarningKind
from sizer.records.run_kinds import MemoryPlace, Outcome, Purpose
from sizer.words.figures import apart, small_share, span
from sizer.words.language import _, _n
from sizer.words.units import rate_in_words, units_a_second

LONGER = 2.0
"""By what the time that a run had is multiplied in a suggestion."""

_PATTERN = frozenset({CauseKind.NO_MATCH, CauseKind.NO_RATE, CauseKind.SLOW_PATTERN, CauseKind.NO_EVENT})
_UNITS = frozenset({CauseKind.TOLD_MILLISECONDS, CauseKind.TOLD_MINUTES})
_ROOM = frozenset(
    {
        CauseKind.SCRATCH_FULL,
        CauseKind.OUTPUT_FULL,
        CauseKind.SCRATCH_AND_OUTPUT_FULL,
        CauseKind.SHARED_MEMORY_FULL,
        CauseKind.DISK_FULL,
    }
)
_COMMAND = frozenset(
    {
        CauseKind.NOT_FOUND,
        CauseKind.NOT_IN_FOLDER,
        CauseKind.CONTAINER,
        CauseKind.ABSENT,
        CauseKind.ESCAPED,
        CauseKind.HOOK_KEPT_OUT,
        CauseKind.LEFT_RUNNING,
        CauseKind.ASKED_FOR_INPUT,
    }
)
"""What is mended in the workload's command, so that its runs become others, which need no `--retry`."""


def remedy_of_failure(run: Run) -> str:
    """What to do about a run that did not complete, with the command to type; DIR is the study's folder."""
    if run.imported:
        return _of_imported(run)
    causes = () if run.error is None else (run.error.cause, *run.error.reasons)
    kinds = {cause.kind for cause in causes}
    by_outcome: dict[Outcome, Callable[[], str]] = {
        Outcome.COMPLETED: lambda: "",
        Outcome.OUT_OF_MEMORY: lambda: _of_memory(run),
        Outcome.TIMEOUT: lambda: _of_time(run, causes, kinds),
        Outcome.CRASHED: lambda: _of_crash(run, kinds),
        Outcome.INTERRUPTED: lambda: _("To measure it, type `sizer resume DIR`."),
        Outcome.UNSUPPORTED: lambda: _(
            "Install its framework or choose another `framework` or `device` in DIR/study.yaml, then type "
            "`sizer resume DIR`."
        ),
        Outcome.REFUSED: lambda: _of_refusal(kinds),
    }
    return by_outcome[run.outcome]()


def _of_imported(run: Run) -> str:
    if run.outcome is Outcome.OUT_OF_MEMORY:
        return _("Nothing: it shows what is too little.")
    return _("Measure it again where the table comes from, and import the table into a new folder.")


def _of_memory(run: Run) -> str:
    if run.spec.purpose is Purpose.BATCH_SEARCH:
        return _("Nothing: it shows which batch is too large.")
    if run.ran_out_of is MemoryPlace.GPU:
        return _("Measure it with a smaller `batch_size`, or on a GPU with more memory.")
    if run.configuration.memory_bytes is not None and run.spec.limits.memory_bytes is not None:
        return _("Nothing: that it was killed shows how much memory is too little.")
    return _("Measure it with a smaller `batch_size`, or on a host with more memory.")


def _of_time(run: Run, causes: tuple[Cause, ...], kinds: set[CauseKind]) -> str:
    if kinds & _PATTERN:
        return _of_pattern(run)
    if CauseKind.ASKED_FOR_INPUT in kinds:
        return _("Give what it asks for on its command line in DIR/study.yaml, then type `sizer resume DIR`.")
    if CauseKind.HUNG in kinds or CauseKind.STOPPED in kinds:
        return _("Find out from its log why it stood still, mend that, then type `sizer resume DIR --retry`.")
    had = next((cause.figures["seconds"] for cause in causes if "seconds" in cause.figures), None)
    if had is None:
        return _(
            "Give it more time, `timeout` under `measure` in DIR/study.yaml, then type `sizer resume DIR`. Every run "
            "is then measured anew."
        )
    return _(
        "Give it more time, as `timeout: {seconds}` under `measure` in DIR/study.yaml, then type `sizer resume DIR`. "
        "Every run is then measured anew.",
        seconds=f"{had * LONGER:.0f}",
    )


def _of_crash(run: Run, kinds: set[CauseKind]) -> str:
    if kinds & _ROOM:
        return _("Make room there, then type `sizer resume DIR --retry`.")
    if CauseKind.SETUP_FAILED in kinds or CauseKind.BEFORE_FAILED in kinds:
        return _("Mend what that command needs, then type `sizer resume DIR --retry`.")
    if kinds & _PATTERN:
        return _of_pattern(run)
    if kinds & _UNITS:
        return _("Correct the `pattern` in DIR/study.yaml, then type `sizer resume DIR`.")
    if kinds & {CauseKind.DATA_GONE, CauseKind.DATA_PARTLY_GONE, CauseKind.NO_DATA}:
        return _("Put its data back, then type `sizer resume DIR --retry`.")
    if kinds & _COMMAND:
        return _("Correct the `command` in DIR/study.yaml, then type `sizer resume DIR`.")
    if CauseKind.TOO_FEW_STEPS in kinds:
        return _("Let it make more steps (epochs, samples), then type `sizer resume DIR --retry`.")
    if run.error is None or not run.error.last_lines.strip():
        return _("Find out why it ended, mend that, then type `sizer resume DIR --retry`.")
    return _("Mend what its log tells, then type `sizer resume DIR --retry`.")


def _of_pattern(run: Run) -> str:
    return _(
        "Try an expression on its log with `sizer pattern 'EXPR' DIR/logs/{id}.log`, give it as `pattern` in "
        "DIR/study.yaml, then type `sizer resume DIR`.",
        id=run.id,
    )


def _of_refusal(kinds: set[CauseKind]) -> str:
    if kinds & {CauseKind.DATA_GONE, CauseKind.DATA_PARTLY_GONE, CauseKind.NO_DATA}:
        return _("Put its data where the study looks for it, then type `sizer resume DIR`.")
    if kinds & {CauseKind.SETUP_FAILED, CauseKind.BEFORE_FAILED}:
        return _("Mend what that command needs, then type `sizer resume DIR`.")
    if kinds & _COMMAND:
        return _("Correct the `command` in DIR/study.yaml, then type `sizer resume DIR`.")
    if CauseKind.STOOD_STILL in kinds:
        return _("Type `sizer resume DIR`, and let it run: no Ctrl-Z, no suspending, nothing that takes all CPUs.")
    return _("`sizer doctor` says how to allow it on this host; then type `sizer resume DIR`.")


def meaning_of_warning(kind: WarningKind) -> str:
    """What a warning means for the answer, and what to do; '' where the warning itself says all of it."""
    return {
        WarningKind.CONTENDED: _("Their rates may be too low. Stop what else runs here, and measure again."),
        WarningKind.STOLEN: _(
            "Their rates may be too low. Measure again at another time, or on a host that is not shared."
        ),
        WarningKind.OVERHEAD: _("Their rates may be too low by as much."),
        WarningKind.THROTTLED: _("The rates count. For latencies measure whole vCPUs."),
        WarningKind.GPU_THROTTLED: _(
            "The rates hold for this card as it is cooled and powered here; one with another power limit, or a cooler "
            "one, gives others."
        ),
        WarningKind.GPU_SHARED: _("Their rates may be too low. Stop what else uses the GPU, and measure again."),
        WarningKind.GPU_MEMORY_FULL: _("A larger batch may run out of it."),
        WarningKind.PAGE_CACHE_WARM: _(
            "Less was read from the disk, so their rates may be too high. Stop what else reads the data, and measure "
            "again."
        ),
        WarningKind.SWAPPED: _(
            "Swap slows a run, and rented instances seldom have any. Type `sudo swapoff -a`, and measure again."
        ),
        WarningKind.MEMORY_RISING: _("Take more memory than the answer says, or measure for more `seconds`."),
        WarningKind.READ_AMPLIFIED: _("A loader that reads larger pieces at a time would need less of the disk."),
        WarningKind.TWO_RATES: _("A disk whose burst credit was spent does this."),
        WarningKind.IMPRECISE: _("Differences smaller than that say nothing. Measure for more `seconds`."),
        WarningKind.SHORT: _("Their rates are less certain. Give a longer `timeout` under `measure`."),
        WarningKind.FIRST_EPOCH: _("Later epochs may be faster. Measure for more `seconds`, until two are over."),
        WarningKind.NO_EPOCHS: _("Later epochs may be faster. Write the number of the epoch with each step."),
        WarningKind.PART_OF_EPOCH: _("A whole epoch may be slower. Measure for more `seconds`."),
        WarningKind.DRIFTING: _(
            "The host became slower or faster meanwhile, and part of a difference between these runs may be that."
        ),
        WarningKind.FILES_CHANGED: _(
            "A run that goes on from them is another run. Let the command under `before` remove them."
        ),
    }.get(kind, "")


MEASURED_AGAIN = frozenset(
    {
        WarningKind.CONTENDED,
        WarningKind.STOLEN,
        WarningKind.GPU_SHARED,
        WarningKind.DRIFTING,
        WarningKind.PAGE_CACHE_WARM,
        WarningKind.SWAPPED,
    }
)
"""Warnings that another measurement of the same study removes."""


def how_to_measure_again() -> str:
    """The command for runs that completed and are doubtful, which `sizer resume` keeps."""
    return _(
        "To measure again, type `sizer run DIR/study.yaml --out AGAIN`, where DIR is this study's folder and AGAIN a "
        "new one: `sizer resume` keeps what completed."
    )


def drift_of_reference(drifted: bool, count: int, low: float, high: float, unit: str) -> str:
    """What the configuration that was measured again tells of the host; rates are in samples/s."""
    known = {"rates": f"{span(low, high)} {units_a_second(unit)}", "spread": apart(high / low - 1)}
    if drifted:
        return _n(
            "The host drifted: one configuration, measured {count} time, gave {rates}, which lie {spread} apart. "
            "A smaller difference between two others may be the host's.",
            "The host drifted: one configuration, measured {count} times, gave {rates}, which lie {spread} apart. "
            "A smaller difference between two others may be the host's.",
            count,
            **known,
        )
    if low == high:
        return _("The host did not drift: one configuration gave {rate} each time.", rate=rate_in_words(low, unit))
    return _n(
        "The host did not drift: one configuration, measured {count} time, gave {rates}, which lie {spread} apart.",
        "The host did not drift: one configuration, measured {count} times, gave {rates}, which lie {spread} apart.",
        count,
        **known,
    )


def drift_of_repeats(count: int, middle: float, most: float) -> str:
    """What repeats tell of the host where nothing was measured beside them."""
    return _n(
        "Repeats of {count} configuration lie {middle} apart. Were they lower and lower over time, it would be the "
        "host.",
        "Repeats of {count} configurations lie {middle} apart in the median, and {most} at most. Were they lower and "
        "lower over time, it would be the host.",
        count,
        middle=small_share(middle),
        most=apart(most),
    )

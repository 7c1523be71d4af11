"""Warnings of runs: their names, and what must be known of the figures."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sizer.records.gpu import ClockReason
from sizer.records.run import Run, RunWarning, WarningKind
from sizer.records.units import bytes_and_unit, format_number, share_and_unit
from sizer.words.language import _, _n
from sizer.words.units import several_of, units_a_second


def warning_name(kind: WarningKind) -> str:
    """`contended`, `page cache warm`."""
    return {
        WarningKind.CONTENDED: _("contended"),
        WarningKind.STOLEN: _("stolen"),
        WarningKind.OVERHEAD: _("overhead"),
        WarningKind.THROTTLED: _("throttled"),
        WarningKind.GPU_THROTTLED: _("GPU throttled"),
        WarningKind.GPU_SHARED: _("GPU shared"),
        WarningKind.GPU_MEMORY_FULL: _("GPU memory full"),
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
        WarningKind.FILES_CHANGED: _("files changed"),
        WarningKind.LOG_INCOMPLETE: _("log incomplete"),
        WarningKind.TOLD_UNLIKE_SEEN: _("told unlike seen"),
        WarningKind.LINES_OF_RANKS: _("told unlike seen"),
        WarningKind.BATCHES_FOR_SAMPLES: _("told unlike seen"),
        WarningKind.TOLD_NOT_USED: _("told unlike seen"),
        WarningKind.OTHER_BATCH_SIZE: _("other batch size"),
        WarningKind.ONE_READING: _("one reading"),
        WarningKind.MAY_BE_ANOTHER_JOB: _("perhaps another job"),
        WarningKind.NOT_HOOKED: _("hook not loaded"),
        WarningKind.HOOK_KEPT_OUT: _("hook not loaded"),
        WarningKind.SAMPLES_NOT_SEEN: _("samples not seen"),
        WarningKind.SEVERAL_LOADERS: _("several loaders"),
        WarningKind.OTHER: _("other"),
    }[kind]


def warning_names(run: Run) -> list[str]:
    """The names of a run's warnings, each once: `contended`, `short`."""
    return [warning_name(kind) for kind in dict.fromkeys(warning.kind.group for warning in run.warnings)]


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
    own = (WarningKind.DATA_GONE, WarningKind.LEFT_BEHIND, WarningKind.LOG_INCOMPLETE, WarningKind.NOT_HOOKED)
    return warning.text is not None and not warning.figures and warning.kind not in own


FORMATS: dict[str, Callable[[float], tuple[str, str]]] = {
    "cores": lambda value: (f"{value:.2f}", ""),
    "ratio": lambda value: (f"{value:.2f}", ""),
    "share": lambda value: share_and_unit(value, 1 if value < 0.1 else 0),
    "half_width": lambda value: share_and_unit(value, 1),
    "asked": lambda value: share_and_unit(value, 1),
    "vcpus": lambda value: (f"{value:g}", ""),
    "bytes": bytes_and_unit,
    "whole": bytes_and_unit,
    "seconds": lambda value: (f"{value:.0f}", "s"),
    "steps": lambda value: (f"{value:,.0f}", ""),
    "files": lambda value: (f"{value:,.0f}", ""),
    "more": lambda value: (f"{value:,.0f}", ""),
    "before": lambda value: (f"{value:.4g}", ""),
    "after": lambda value: (f"{value:.4g}", ""),
    "rate": lambda value: (format_number(value), ""),
    "level": lambda value: (format_number(value), ""),
    "low": lambda value: (format_number(value), ""),
    "high": lambda value: (format_number(value), ""),
    "told": lambda value: (format_number(value), ""),
    "seen": lambda value: (format_number(value), ""),
    "factor": lambda value: (f"{value:.2f}", ""),
    "given": lambda value: (format_number(value), ""),
}
"""How each figure of a warning is shown: the number and its unit."""


def _span(values: Sequence[float], form: Callable[[float], tuple[str, str]]) -> str:
    """`0.31`, `0.06–1.21`, `4–9 s`."""
    (low, unit), (high, unit_of_high) = form(min(values)), form(max(values))
    if unit != unit_of_high:
        return f"{low} {unit}–{high} {unit_of_high}"
    number = low if low == high else f"{low}–{high}"
    if unit == "%":
        return _("{number} %", number=number)
    return f"{number} {unit}" if unit else number


def _without_figures(warning: RunWarning) -> str:
    text = warning.text
    return {
        WarningKind.UNSETTLED: _(
            "the rate moved too slowly, or stalled too seldom, to say how far this run may be off; "
            "measure for more seconds"
        ),
        WarningKind.ONE_READING: _(
            "every line of its log told the same rate, so this is one reading, and how far it may be off is not known; "
            "let the pattern read a counter (`step`), too"
        ),
        WarningKind.FIRST_EPOCH: _("no later epoch was reached before the run ended, so the cache was not in use yet"),
        WarningKind.NO_EPOCHS: _("the program does not say when an epoch ends, so this may be the rate of its first"),
        WarningKind.PART_OF_EPOCH: _(
            "the run ended inside its second epoch; the cache serves more at the start of one"
        ),
        WarningKind.DATA_GONE: _("its data set {path} is no longer there: put it back", path=text) if text else "",
        WarningKind.LEFT_BEHIND: text or "",
        WarningKind.LOG_INCOMPLETE: _("{path} could not be written; make room there", path=text) if text else "",
        WarningKind.NOT_HOOKED: _(
            "Python was started with {option}, so sizer's hook could not count its steps and only its log was read; "
            "leave the option out",
            option=text,
        ),
        WarningKind.HOOK_KEPT_OUT: _(
            "it uses PyTorch or MXNet where sizer's hook was not loaded, so its steps could not be counted and only "
            "its log was read; leave out Python's options -I, -E and -S, and pass PYTHONPATH on"
        ),
        WarningKind.SAMPLES_NOT_SEEN: _(
            "how many samples a step has was not seen, so the rate is in steps; to count samples, write "
            "`samples_per_step: N` in the study, or add --samples-per-step N to `sizer profile`"
        ),
        WarningKind.SEVERAL_LOADERS: _(
            "it reads several loaders side by side: a step, with its samples, is a batch of the one that is asked "
            "first, and what the others give adds no samples"
        ),
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
        return _("the interval is not known after {seconds}, where ±{asked} was asked for", **spans)
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
    if kind is WarningKind.FILES_CHANGED:
        more = int(figures.get("more", 0))
        known = {"names": warning.text or ""}
        if not more:
            return _("it made or changed {names} in its working folder, where the next run finds them", **known)
        return _n(
            "it made or changed {names} and {count} more file in its working folder, where the next run finds them",
            "it made or changed {names} and {count} more files in its working folder, where the next run finds them",
            more,
            **known,
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
        WarningKind.GPU_THROTTLED: lambda: _(
            "the clocks of the GPU were lowered for {share} of the time: {reason}",
            reason=clock_reason_in_words(warning.text or ""),
            **spans,
        ),
        WarningKind.MAY_BE_ANOTHER_JOB: lambda: _(
            "rows taken as its repeats differ by a factor of {factor}, and in {columns}",
            columns=warning.text or "",
            **spans,
        ),
        WarningKind.GPU_SHARED: lambda: _(
            "others were on its GPU for {share} of the time: {names}", names=warning.text or "", **spans
        ),
        WarningKind.GPU_MEMORY_FULL: lambda: _(
            "up to {bytes} of the {whole} of its GPU's memory were in use; part of it may be memory that the framework "
            "keeps without need",
            **spans,
        ),
        WarningKind.PAGE_CACHE_WARM: lambda: _("{share} of the data was in memory before the run", **spans),
        WarningKind.SWAPPED: lambda: _("up to {bytes} of its memory was in swap", **spans),
        WarningKind.MEMORY_RISING: lambda: _(
            "anonymous memory still rose at the end, by {bytes} in 1,000 steps; a longer run needs more", **spans
        ),
        WarningKind.READ_AMPLIFIED: lambda: _(
            "the device read {ratio} bytes for each byte that the program asked for", **spans
        ),
        WarningKind.WRITES_UNLIMITED: lambda: _(
            "up to {bytes} waited in the page cache, where this kernel's throttle does not see them; "
            "let the program sync while it writes",
            **spans,
        ),
        WarningKind.TWO_RATES: lambda: _(
            "{before} {unit} for {seconds}, then {after}; the later rate counts", unit=units_a_second(unit), **spans
        ),
        WarningKind.IMPRECISE: lambda: _("±{half_width} after {seconds}, where ±{asked} was asked for", **spans),
        WarningKind.TOLD_UNLIKE_SEEN: lambda: _(
            "its log tells {told} s a batch, and its lines come as if a batch took {seen} s; check the unit of the "
            "pattern's groups",
            **spans,
        ),
        WarningKind.LINES_OF_RANKS: lambda: _(
            "its log tells {told} s a batch, and its lines come as if a batch took {seen} s: most likely each of "
            "several processes prints the line; let one of them print, or let the pattern read a counter (`step`), too",
            **spans,
        ),
        WarningKind.BATCHES_FOR_SAMPLES: lambda: _(
            "its log tells {told} s a batch, and its lines come as if a batch took {seen} s: most likely its rate is "
            "one of batches; name the group `batches`",
            **spans,
        ),
        WarningKind.TOLD_NOT_USED: lambda: _(
            "its log tells {told} s a batch, and its lines come as if a batch took {seen} s; its rate is that of its "
            "counter, and does not rest on what is told",
            **spans,
        ),
        WarningKind.OTHER_BATCH_SIZE: lambda: _(
            "a batch has {told} {units}, where the study says {given}; what was seen is used",
            units=several_of(unit),
            **spans,
        ),
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


def clock_reason_in_words(reason: str) -> str:
    """Why the clocks of a GPU were lowered, by the value of its `ClockReason`."""
    return {
        ClockReason.POWER_CAP.value: _("it reached its power limit"),
        ClockReason.THERMAL.value: _("it was too hot"),
        ClockReason.POWER_BRAKE.value: _("the power supply asked for less"),
        ClockReason.HARDWARE.value: _("the hardware protected itself from heat or a power peak"),
        ClockReason.BOARD_LIMIT.value: _("a limit of the board"),
        ClockReason.RELIABILITY.value: _("a limit for its reliability"),
    }.get(reason, reason)


def _drifting(spans: dict[str, str], unit: str) -> str:
    known = {**spans, "unit": units_a_second(unit)}
    if "before" in spans:
        return _("the reference configuration went from {before} to {after} {unit} around this run", **known)
    if "level" in spans:
        return _(
            "the reference configuration made {level} {unit} around this run, outside the {low} to {high} {unit} of "
            "most of its measurements",
            **known,
        )
    return _(
        "the reference configuration made {rate} {unit} here, outside the {low} to {high} {unit} of most of its "
        "measurements",
        **known,
    )

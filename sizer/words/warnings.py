"""Warnings of runs: their names, what must be known of the figures, what that means, and whether the host drifted."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from sizer.records.device import ClockReason
from sizer.records.run import Run, RunWarning, WarningKind
from sizer.records.units import bytes_and_unit, format_number, share_and_unit
from sizer.words.language import Sentence, Templates, _, fields_of, several_of, span, units_a_second

_K = WarningKind
_NAMES: Templates[WarningKind, str] = {
    _K.CONTENDED: "contended",
    _K.STOLEN: "stolen",
    _K.OVERHEAD: "overhead",
    _K.THROTTLED: "throttled",
    _K.GPU_THROTTLED: "GPU throttled",
    _K.GPU_SHARED: "GPU shared",
    _K.GPU_MEMORY_FULL: "GPU memory full",
    _K.PAGE_CACHE_WARM: "page cache warm",
    _K.SWAPPED: "swapped",
    _K.MEMORY_RISING: "memory rising",
    _K.READ_AMPLIFIED: "read amplified",
    _K.WRITES_UNLIMITED: "writes unlimited",
    _K.TWO_RATES: "two rates",
    _K.IMPRECISE: "imprecise",
    _K.SHORT: "short",
    _K.UNSETTLED: "unsettled",
    _K.STEPS_JOINED: "steps joined",
    _K.FIRST_EPOCH: "first epoch only",
    _K.NO_EPOCHS: "no epochs",
    _K.PART_OF_EPOCH: "part of an epoch",
    _K.DRIFTING: "drifting",
    _K.DATA_GONE: "data set changed",
    _K.LEFT_BEHIND: "left behind",
    _K.FILES_CHANGED: "files changed",
    _K.LOG_INCOMPLETE: "log incomplete",
    _K.TOLD_UNLIKE_SEEN: "told unlike seen",
    _K.OTHER_BATCH_SIZE: "other batch size",
    _K.ONE_READING: "one reading",
    _K.MAY_BE_ANOTHER_JOB: "perhaps another job",
    _K.NOT_HOOKED: "hook not loaded",
    _K.SAMPLES_NOT_SEEN: "samples not seen",
    _K.SEVERAL_LOADERS: "several loaders",
    _K.OTHER: "other",
}
"""Of each group of kinds."""
_SENTENCES: Templates[WarningKind, str] = {
    # Other programs and the host.
    _K.CONTENDED: "something else on this host used {cores} cores meanwhile",
    _K.STOLEN: "the hypervisor gave {cores} cores to others meanwhile",
    _K.OVERHEAD: "sizer itself used {share} of the workload's core-seconds",
    _K.THROTTLED: "{share} of CPU periods used up the quota of {vcpus} vCPU, so it ran in slices: "
    "latencies are not those of a slower CPU[[several?, and threads that wait for each other lose more "
    "than that]]",
    _K.GPU_THROTTLED: "the clocks of the GPU were lowered for {share} of the time: {reason}",
    _K.GPU_SHARED: "others were on its GPU for {share} of the time: {text}",
    _K.DRIFTING: "the reference configuration [[before?went from {before} to {after} {unit} around this "
    "run]][[level?made {level} {unit} around this run]][[rate?made {rate} {unit} here]][[low?, outside "
    "the {low} to {high} {unit} of most of its measurements]]",
    # Memory and disks.
    _K.GPU_MEMORY_FULL: "up to {bytes} of the {whole} of its GPU's memory were in use; part of it may "
    "be memory that the framework keeps without need",
    _K.PAGE_CACHE_WARM: "{share} of the data was in memory before the run",
    _K.SWAPPED: "up to {bytes} of its memory was in swap",
    _K.MEMORY_RISING: "anonymous memory still rose at the end, by {bytes} in 1,000 steps; a longer run needs more",
    _K.READ_AMPLIFIED: "the device read {ratio} bytes for each byte that the program asked for",
    _K.WRITES_UNLIMITED: "up to {bytes} waited in the page cache, where this kernel's throttle does not "
    "see them; let the program sync while it writes",
    _K.DATA_GONE: "its data set {text} is no longer there: put it back",
    _K.DATA_PARTLY_GONE: "of its data set {text} only {bytes} of {whole} are still there: put the rest back",
    _K.MEMORY_LEFT: "{text}[[ and {more} more]], {bytes} of memory; remove what no other program uses",
    _K.LEFT_BEHIND: "{text}",
    _K.FILES_CHANGED: "it made or changed {text}[[ and {more} more]] in its working folder, where the "
    "next run finds them",
    _K.LOG_INCOMPLETE: "{text} could not be written; make room there",
    # How sure its rate is.
    _K.TWO_RATES: "{before} {unit} for {seconds}, then {after}; the later rate counts",
    _K.IMPRECISE: "[[±{half_width}]][[!half_width?the interval is not known]] after {seconds}, where "
    "±{asked} was asked for",
    _K.SHORT: "stopped at the deadline after {seconds} of steady state",
    _K.UNSETTLED: "the rate moved too slowly, or stalled too seldom, to say how far this run may be "
    "off; measure for more seconds",
    _K.STEPS_JOINED: "the program made so many steps that each stored one represents {steps}; writing "
    "an event costs up to 0.1 ms, so write one event for several steps",
    _K.FIRST_EPOCH: "no later epoch was reached before the run ended, so the cache was not in use yet",
    _K.NO_EPOCHS: "the program does not say when an epoch ends, so this may be the rate of its first",
    _K.PART_OF_EPOCH: "the run ended inside its second epoch; the cache serves more at the start of one",
    _K.MAY_BE_ANOTHER_JOB: "rows taken as its repeats differ by a factor of {factor}, and in {text}",
    # What its log told, and what was counted.
    _K.TOLD_UNLIKE_SEEN: "its log tells {told} s a batch, and its lines come as if a batch took {seen} "
    "s; check the unit of the pattern's groups",
    _K.LINES_OF_RANKS: "its log tells {told} s a batch, and its lines come as if a batch took {seen} s: "
    "most likely each of several processes prints the line; let one of them print, or let the pattern "
    "read a counter (`step`), too",
    _K.BATCHES_FOR_SAMPLES: "its log tells {told} s a batch, and its lines come as if a batch took "
    "{seen} s: most likely its rate is one of batches; name the group `batches`",
    _K.TOLD_NOT_USED: "its log tells {told} s a batch, and its lines come as if a batch took {seen} s; "
    "its rate is that of its counter, and does not rest on what is told",
    _K.OTHER_BATCH_SIZE: "a batch has {told} {units}, where the study says {given}; what was seen is used",
    _K.ONE_READING: "every line of its log told the same rate, so this is one reading, and how far it "
    "may be off is not known; let the pattern read a counter (`step`), too",
    _K.NOT_HOOKED: "Python was started with {text}, so sizer's hook could not count its steps and only "
    "its log was read; leave the option out",
    _K.HOOK_KEPT_OUT: "it uses PyTorch or MXNet where sizer's hook was not loaded, so its steps could "
    "not be counted and only its log was read; leave out Python's options -I, -E and -S, and pass "
    "PYTHONPATH on",
    _K.SAMPLES_NOT_SEEN: "how many samples a step has was not seen, so the rate is in steps; to count "
    "samples, write `samples_per_step: N` in the study, or add --samples-per-step N to `sizer profile`",
    _K.SEVERAL_LOADERS: "it reads several loaders side by side: a step, with its samples, is a batch of "
    "the one that is asked first, and what the others give adds no samples",
}
_OWN_TEXT = frozenset({_K.DATA_GONE, _K.LEFT_BEHIND, _K.LOG_INCOMPLETE, _K.NOT_HOOKED})
"""Without figures, and yet their text is a path or an option, and no whole sentence of somebody else's."""
_MEANINGS: Templates[WarningKind, str] = {
    _K.CONTENDED: "Their rates may be too low. Stop what else runs here, and measure again.",
    _K.STOLEN: "Their rates may be too low. Measure again at another time, or on a host that is not shared.",
    _K.OVERHEAD: "Their rates may be too low by as much.",
    _K.THROTTLED: "The rates count. For latencies measure whole vCPUs.",
    _K.GPU_THROTTLED: "The rates hold for this card as it is cooled and powered here; one with another "
    "power limit, or a cooler one, gives others.",
    _K.GPU_SHARED: "Their rates may be too low. Stop what else uses the GPU, and measure again.",
    _K.GPU_MEMORY_FULL: "A larger batch may run out of it.",
    _K.PAGE_CACHE_WARM: "Less was read from the disk, so their rates may be too high. Stop what else "
    "reads the data, and measure again.",
    _K.SWAPPED: "Swap slows a run, and rented instances seldom have any. Type `sudo swapoff -a`, and measure again.",
    _K.MEMORY_RISING: "Take more memory than the answer says, or measure for more `seconds`.",
    _K.READ_AMPLIFIED: "A loader that reads larger pieces at a time would need less of the disk.",
    _K.TWO_RATES: "A disk whose burst credit was spent does this.",
    _K.IMPRECISE: "Differences smaller than that say nothing. Measure for more `seconds`.",
    _K.SHORT: "Their rates are less certain. Give a longer `timeout` under `measure`.",
    _K.FIRST_EPOCH: "Later epochs may be faster. Measure for more `seconds`, until two are over.",
    _K.NO_EPOCHS: "Later epochs may be faster. Write the number of the epoch with each step.",
    _K.PART_OF_EPOCH: "A whole epoch may be slower. Measure for more `seconds`.",
    _K.DRIFTING: "The host became slower or faster meanwhile, and part of a difference between these runs may be that.",
    _K.FILES_CHANGED: "A run that goes on from them is another run. Let the command under `before` remove them.",
}
MEASURED_AGAIN = frozenset({_K.CONTENDED, _K.STOLEN, _K.GPU_SHARED, _K.DRIFTING, _K.PAGE_CACHE_WARM, _K.SWAPPED})
"""Warnings that another measurement of the same study removes."""
how_to_measure_again = Sentence(
    "To measure again, type `sizer run DIR/study.yaml --out AGAIN`, where DIR is this study's folder "
    "and AGAIN a new one: `sizer resume` keeps what completed."
)
"""The command for runs that completed and are doubtful, which `sizer resume` keeps."""


def warning_name(kind: WarningKind) -> str:
    """`contended`, `page cache warm`."""
    return _(_NAMES[kind.group])


def warning_names(run: Run) -> list[str]:
    """The names of a run's warnings, each once: `contended`, `short`."""
    return [warning_name(kind) for kind in dict.fromkeys(warning.kind.group for warning in run.warnings)]


def meaning_of_warning(kind: WarningKind) -> str:
    """What a warning means for the answer, and what to do; '' where the warning itself says all of it."""
    return _(_MEANINGS[kind]) if kind in _MEANINGS else ""


def warning_line(warning: RunWarning, unit: str) -> str:
    """`contended: something else on this host used 0.31 cores meanwhile`; of somebody else's, the text alone."""
    text = warning_in_words([warning], unit)
    if warning.kind is WarningKind.OTHER or not text or _is_foreign(warning):
        return text or warning_name(warning.kind)
    return _("{name}: {sentence}", name=warning_name(warning.kind), sentence=text)


def warning_in_words(alike: Sequence[RunWarning], unit: str) -> str:
    """What warnings of one kind, figures and text say, with the range of each figure; '' where none were kept."""
    first = alike[0]
    if _is_foreign(first):
        return first.text or ""
    message = _SENTENCES.get(first.kind, "")
    needs_text = first.kind in _OWN_TEXT and not first.text
    needs_figures = not first.figures and not FORMATS.keys().isdisjoint(fields_of(message))
    if not message or needs_text or needs_figures:
        return ""
    spans = {name: _span([warning.figures[name] for warning in alike], FORMATS[name]) for name in first.figures}
    values = {
        "text": first.text,
        "reason": clock_reason_in_words(first.text or ""),
        "several": first.figures.get("vcpus", 0.0) > 1,
        "unit": units_a_second(first.text if first.kind is WarningKind.DRIFTING and first.text else unit),
        "units": several_of(unit),
    }
    return _(message, **(values | spans))


def _is_foreign(warning: RunWarning) -> bool:
    """Whether its text is a whole sentence of somebody else's."""
    return warning.text is not None and not warning.figures and warning.kind not in _OWN_TEXT


Form = Callable[[float], tuple[str, str]]
"""How a figure is shown: the number and its unit."""


def _plain(form: str) -> Form:
    return lambda value: (format(value, form), "")


def _number(value: float) -> tuple[str, str]:
    return format_number(value), ""


FORMATS: Mapping[str, Form] = {
    **dict.fromkeys(("cores", "ratio", "factor"), _plain(".2f")),
    **dict.fromkeys(("steps", "files"), _plain(",.0f")),
    "more": lambda value: (f"{value:,.0f}" if value else "", ""),
    **dict.fromkeys(("before", "after"), _plain(".4g")),
    **dict.fromkeys(("rate", "level", "low", "high", "told", "seen", "given"), _number),
    **dict.fromkeys(("half_width", "asked"), lambda value: share_and_unit(value, 1)),
    **dict.fromkeys(("bytes", "whole"), bytes_and_unit),
    "share": lambda value: share_and_unit(value, 1 if value < 0.1 else 0),
    "vcpus": _plain("g"),
    "seconds": lambda value: (f"{value:.0f}", "s"),
}


def _span(values: Sequence[float], form: Form) -> str:
    """`0.31`, `0.06–1.21`, `4–9 s`; nothing of none more."""
    (low, unit), (high, unit_of_high) = form(min(values)), form(max(values))
    if unit != unit_of_high:
        return f"{low} {unit}–{high} {unit_of_high}"
    number = low if low == high else f"{low}–{high}"
    if unit == "%":
        return _("{number} %", number=number)
    return f"{number} {unit}" if unit else number


_CLOCK_REASONS: Templates[str, str] = {
    ClockReason.POWER_CAP.value: "it reached its power limit",
    ClockReason.THERMAL.value: "it was too hot",
    ClockReason.POWER_BRAKE.value: "the power supply asked for less",
    ClockReason.HARDWARE.value: "the hardware protected itself from heat or a power peak",
    ClockReason.BOARD_LIMIT.value: "a limit of the board",
    ClockReason.RELIABILITY.value: "a limit for its reliability",
}


def clock_reason_in_words(reason: str) -> str:
    """Why the clocks of a GPU were lowered, by the value of its `ClockReason`."""
    return _(_CLOCK_REASONS[reason]) if reason in _CLOCK_REASONS else reason


_DRIFT = Sentence(
    "The host [[drifted?drifted]][[!drifted?did not drift]]: one configuration, measured "
    "{count:often}, gave {rates}[[, which lie {apart:apart} apart]].[[drifted? A smaller difference "
    "between two others may be the host's.]]"
)


def drift_of_reference(drifted: bool, count: int, low: float, high: float, unit: str) -> str:
    """What the configuration that was measured again tells of the host; rates are in samples/s."""
    rates = f"{span(low, high)} {units_a_second(unit)}"
    return _DRIFT(count=count, drifted=drifted, rates=rates, apart=high / low - 1)


drift_of_repeats = Sentence(
    "Repeats of {count:configurations} lie {middle:small} apart in the median, and {most:apart} at "
    "most. Were they lower and lower over time, it would be the host."
)
"""What repeats tell of the host where nothing was measured beside them."""

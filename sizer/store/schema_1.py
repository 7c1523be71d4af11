"""How runs that schema 1 stored are read: its sentences become kinds. Frozen: nothing writes schema 1 any more."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from sizer.records.errors import InputError
from sizer.records.run import CauseKind, EvidenceKind, LimitedByKind, RunWarning, WarningKind
from sizer.records.run_kinds import ISOLATED_STAGES, SEARCHES, Purpose
from sizer.records.study import Note, NoteKind
from sizer.records.units import parse_bytes

Kind = TypeVar("Kind", WarningKind, CauseKind)
Found = tuple[Kind, dict[str, float], str | None]
"""Kind, figures and text of one sentence."""

FLOOR_SEARCH = "memory floor: measured for a few seconds to see whether this cap holds, so the rate counts for nothing"
"""What marked a run of a search for the memory floor."""

LAST_WORDS = "; its last words:\n"
BUSY = 0.85
"""Busy share from which schema 1's reason listed a resource as busy."""

BYTES = r"[\d,.]+ [KMGTP]?i?B"
NUMBER = r"[-+\d,.e]+|inf|nan|unknown"
BAND = rf"outside the (?P<low>{NUMBER}) (?P<text>.+)/s to (?P<high>{NUMBER}) (?P=text)/s of most of its measurements"

WARNINGS = {
    rf"contended: something else on this host used (?P<cores>{NUMBER}) cores meanwhile": WarningKind.CONTENDED,
    rf"stolen: the hypervisor gave (?P<cores>{NUMBER}) cores to others meanwhile": WarningKind.STOLEN,
    rf"overhead: sizer itself used (?P<share>{NUMBER}) % of the workload's core-seconds": WarningKind.OVERHEAD,
    rf"throttled: (?P<share>{NUMBER}) % of CPU periods used up the quota of (?P<vcpus>{NUMBER}) vCPU, so it ran in "
    r"slices: latencies are not those of a slower CPU(, and threads that wait for each other lose more than that)?": (
        WarningKind.THROTTLED
    ),
    rf"page cache warm: (?P<share>{NUMBER}) % of the data was resident before": WarningKind.PAGE_CACHE_WARM,
    rf"swapped: up to (?P<bytes>{BYTES}) of its memory was in swap": WarningKind.SWAPPED,
    rf"memory rising: anonymous memory still rose at the end, by (?P<bytes>{BYTES}) in 1,000 steps; "
    r"a longer run needs more": WarningKind.MEMORY_RISING,
    rf"read amplified: the device gave (?P<ratio>{NUMBER}) bytes for each byte asked for": WarningKind.READ_AMPLIFIED,
    rf"writes unlimited: up to (?P<bytes>{BYTES}) waited in the page cache, where this kernel's throttle does not see "
    r"them; let the program sync as it writes": WarningKind.WRITES_UNLIMITED,
    rf"two rates: (?P<before>{NUMBER}) .+s/s for (?P<seconds>{NUMBER}) s, then (?P<after>{NUMBER}); "
    r"the later rate counts": WarningKind.TWO_RATES,
    rf"imprecise: ±(?P<half_width>{NUMBER}) % after (?P<seconds>{NUMBER}) s, where ±(?P<asked>{NUMBER}) % "
    r"was asked for": WarningKind.IMPRECISE,
    rf"short: stopped at the deadline after (?P<seconds>{NUMBER}) s of steady state": WarningKind.SHORT,
    r"unsettled: the rate moved too slowly, or stalled too seldom, for this run to tell how far it may be off; "
    r"measure for more seconds": WarningKind.UNSETTLED,
    rf"steps joined: the program made so many steps that each one kept stands for (?P<steps>{NUMBER}) of them; "
    r"writing an event costs it up to 0\.1 ms, so let one event stand for several steps": WarningKind.STEPS_JOINED,
    r"first epoch only: no later epoch was reached before the run ended, so the cache was not in use yet": (
        WarningKind.FIRST_EPOCH
    ),
    r"no epochs told: the program does not say when an epoch ends, so this may be the rate of its first": (
        WarningKind.NO_EPOCHS
    ),
    r"part of an epoch: the run ended inside its second epoch; the cache serves more at the start of one": (
        WarningKind.PART_OF_EPOCH
    ),
    rf"drifting: the reference configuration made (?P<rate>{NUMBER}) .+/s here, {BAND}": WarningKind.DRIFTING,
    rf"drifting: the reference configuration went from (?P<before>{NUMBER}) (?P<text>.+)/s to (?P<after>{NUMBER}) "
    rf"(?P=text)/s \((?:{NUMBER}) %\) while this run was measured between": WarningKind.DRIFTING,
    rf"drifting: around this run the reference configuration made (?P<level>{NUMBER}) .+/s, {BAND}": (
        WarningKind.DRIFTING
    ),
    r"data set changed: its data set (?P<text>.+) is no longer there: put it back": WarningKind.DATA_GONE,
    rf"data set changed: of its data set (?P<text>.+) only (?P<bytes>{BYTES}) of (?P<whole>{BYTES}) are still there: "
    r"put the rest back": WarningKind.DATA_PARTLY_GONE,
    rf"left behind: (?P<text>/dev/shm/.+?)( and (?P<more>\d+) more)?, (?P<bytes>{BYTES}) of memory; "
    r"remove what no other program uses": WarningKind.MEMORY_LEFT,
    r"left behind: (?P<text>(?!/dev/shm/).+)": WarningKind.LEFT_BEHIND,
    r"log incomplete: (?P<path>.+) could not be written (?P<why>\(.+\)); make room there": WarningKind.LOG_INCOMPLETE,
}
"""Every warning that schema 1's code wrote, with its figures."""

BEGINNINGS = {
    **{kind.value.replace("_", " "): kind for kind in WarningKind if kind is not WarningKind.OTHER},
    "first epoch only": WarningKind.FIRST_EPOCH,
    "no epochs told": WarningKind.NO_EPOCHS,
    "part of an epoch": WarningKind.PART_OF_EPOCH,
    "data set changed": WarningKind.DATA_GONE,
}
"""What schema 1 told kinds by: the words before the colon. A sentence of a sizer before it is kept as its text."""

CAUSES = {
    r"the process could not be put under its limits": CauseKind.NOT_LIMITED,
    r"killed by the kernel: the memory cap is below what the workload needs": CauseKind.MEMORY_CAP,
    r"killed by the kernel: the host's memory is below what the workload needs": CauseKind.HOST_MEMORY,
    rf"the pattern cannot be matched with the log: it took more than (?P<seconds>{NUMBER}) s of CPU time for one read; "
    r"avoid nested repetition": CauseKind.SLOW_PATTERN,
    r"the event pipe broke its form: (?P<text>(.|\n)+)": CauseKind.BROKEN_EVENTS,
    r"stopped by Ctrl-C or a signal before it was measured": CauseKind.INTERRUPTED,
    r"the framework or device is not available here": CauseKind.UNSUPPORTED,
    r"the program was not found or may not be executed": CauseKind.NOT_FOUND,
    r"the workload was killed by signal (?P<signal>\d+)( \(\w+\))?": CauseKind.SIGNAL,
    r"the workload ended with exit status (?P<status>\d+)( \(\w+\))?": CauseKind.EXIT_STATUS,
    r"the workload ended with exit status None": CauseKind.EXIT_STATUS,
    rf"not enough steps before the deadline of (?P<seconds>{NUMBER}) s": CauseKind.DEADLINE,
    rf"hung: (?P<steps>\d+) steps?, then none for the last (?P<silent_seconds>{NUMBER}) s of its "
    rf"(?P<seconds>{NUMBER}) s": CauseKind.HUNG,
    r"the workload ended without enough steps to measure a rate": CauseKind.TOO_FEW_STEPS,
    r"told by line (?P<line>\d+) of (?P<text>.+)": CauseKind.IMPORTED,
    rf"(?P<steps>\d+) steps?, the last one (?P<silent_seconds>{NUMBER}) s before its end": CauseKind.STEPPED,
    r"no line of its log matched the pattern": CauseKind.NO_MATCH,
    r"it wrote no event; one that writes none can be measured by a `pattern` on its log": CauseKind.NO_EVENT,
    r"it wrote its start and no step": CauseKind.NO_STEP,
    r"its process is stopped \(SIGSTOP\)": CauseKind.STOPPED,
    r"it had closed its event pipe": CauseKind.PIPE_CLOSED,
    r"its data set (?P<text>.+) is no longer there: put it back": CauseKind.DATA_GONE,
    rf"of its data set (?P<text>.+) only (?P<bytes>{BYTES}) of (?P<whole>{BYTES}) are still there: put the rest back": (
        CauseKind.DATA_PARTLY_GONE
    ),
    r"a disk that it wrote to was full: make room there": CauseKind.DISK_FULL,
}
"""Every clause of an error that schema 1's code wrote, but for the names of full disks."""

WITH_SEEN = ("not enough steps before the deadline of ", "the workload ended without enough steps to measure a rate")
"""Clauses after which a colon led to what was seen of the run."""

FULL_DISKS = re.compile(r"(?P<places>.+) was full: make room there, or measure on a larger one")
FULL_DISK = {
    r"(?:disk `[^`]+`|the disk) under its scratch folder \(TMPDIR\) and its output \((?P<text>[^()]+)\)": (
        CauseKind.SCRATCH_AND_OUTPUT_FULL
    ),
    r"(?:disk `[^`]+`|the disk) under its output \((?P<text>[^()]+)\)": CauseKind.OUTPUT_FULL,
    r"the disk under its scratch folder \(TMPDIR\) \((?P<text>[^()]+)\)": CauseKind.SCRATCH_FULL,
    r"shared memory \((?P<text>[^()]+)\)": CauseKind.SHARED_MEMORY_FULL,
}

EVIDENCE = {
    r"(?P<cores>[\d.]+) of (?P<vcpus>[\d.e+]+) vCPU busy, and nothing else is": EvidenceKind.SERIAL,
    r"several are busy: .*": EvidenceKind.SEVERAL,
    r"nothing is fully busy: .*": EvidenceKind.NONE_FULL,
    r"[\w' ]+ \d+ % busy reading what the page cache could not keep": EvidenceKind.REREADS,
    r"[\w' ]+ \d+ % busy": EvidenceKind.BUSIEST,
    r"told by (?P<text>.+), not accounted by sizer": EvidenceKind.IMPORTED,
}
IMPORTED_LIMITS = re.compile(r"told by (?P<text>.+), not set by sizer")
DISK_NAMES = {"the disk's read bandwidth": "disk_bandwidth", "the disk's IOPS": "disk_iops"}


PLACES = {
    "vcpus": "vcpus",
    "memory_gib": "memory_bytes",
    "disk": "disk",
    "batch_size": "batch_size",
    "gpu_count": "gpu_count",
}
WORKLOADS = ("framework", "input", "cache")
"""Where a record held what an imported table did not say: the columns stood in `untold`."""


def upgraded(form: dict[str, Any]) -> dict[str, Any]:
    """The form of a run as schema 2 writes it. What is not of schema 1's types stays, for the reader to refuse."""
    return {**_with_kinds(_without_untold(form)), "schema_version": 2}


def with_limits(form: dict[str, Any]) -> dict[str, Any]:
    """The form of a run whose `limited_by` is a sentence, as schema 1 wrote it, and the first runs of schema 2."""
    limited_by = form.get("limited_by")
    return form | {"limited_by": _limited_by(limited_by)} if isinstance(limited_by, str) else form


def marks_of(text: str) -> tuple[RunWarning | Purpose, ...]:
    """What `; ` joined in the `warnings` column of a measurements.csv: kinds, or the sentences of schema 1."""
    return tuple(_mark(each) for each in _clauses(text, WARNINGS))


def _mark(text: str) -> RunWarning | Purpose:
    if text in {purpose.value for purpose in SEARCHES}:
        return Purpose(text)
    return Purpose.FLOOR_SEARCH if _is_search(text) else warning_of(text)


def warning_of(sentence: str) -> RunWarning:
    """The warning that schema 1 wrote as a sentence; of one that is not known the text is kept."""
    if sentence in {kind.value for kind in WarningKind}:
        return RunWarning(WarningKind(sentence))
    found = _matched(sentence, WARNINGS)
    if found is not None:
        kind, figures, text = found
        if kind is WarningKind.MEMORY_LEFT:
            figures = {"more": 0, **figures}
        return RunWarning(kind, figures, text)
    return RunWarning(BEGINNINGS.get(sentence.partition(":")[0].strip(), WarningKind.OTHER), text=sentence)


def note_of(sentence: str) -> Note:
    """The note that schema 1 wrote as a sentence, kept as its text."""
    return Note(NoteKind.OTHER, text=sentence)


def failure_of(error: str) -> dict[str, Any]:
    """The form of a failure that schema 1 wrote as a sentence."""
    said, _, last_lines = error.partition(LAST_WORDS)
    if said.startswith(WITH_SEEN):
        said = said.replace(": ", "; ", 1)
    first, *others = _clauses(said, CAUSES, longest=True)
    if _cause_matched(first) is None:
        causes = [{"kind": CauseKind.OTHER.value, "figures": {}, "text": said}]
    else:
        causes = [cause for clause in (first, *others) for cause in _causes(clause)]
    return {"cause": causes[0], "reasons": causes[1:], "last_lines": last_lines}


def _with_kinds(form: dict[str, Any]) -> dict[str, Any]:
    """Warnings, the error, the evidence's reason and why the run was made, as records."""
    found = dict(form)
    warnings, error = form.get("warnings"), form.get("error")
    searched = False
    if isinstance(warnings, list) and all(isinstance(each, str) for each in warnings):
        searched = any(map(_is_search, warnings))
        found["warnings"] = [_warning_form(warning_of(each)) for each in warnings if not _is_search(each)]
    if isinstance(error, str):
        found["error"] = failure_of(error)
    if isinstance(form.get("evidence"), dict):
        found["evidence"] = _evidence(form["evidence"])
    if isinstance(form.get("spec"), dict):
        found["spec"] = _spec(form["spec"], searched)
    return found


def _without_untold(form: dict[str, Any]) -> dict[str, Any]:
    """The form of a run with null for each column that its `untold` names; a form that is no run's is left as it is."""
    untold, spec, place = form.get("untold") or [], form.get("spec"), form.get("configuration")
    plain = {key: value for key, value in form.items() if key != "untold"}
    if not isinstance(untold, list) or not isinstance(spec, dict) or not isinstance(place, dict):
        return plain
    workload = spec.get("workload")
    if isinstance(workload, dict):
        workload = {key: None if key in WORKLOADS and key in untold else value for key, value in workload.items()}
        device = workload.get("device")
        if "device" in untold and isinstance(device, dict):
            workload["device"] = None if device.get("kind") == "cpu" else {**device, "index": None}
        plain["spec"] = {**spec, "workload": workload}
    plain["configuration"] = place | {PLACES[column]: None for column in untold if column in PLACES}
    return plain | ({"started_at": None} if "started_at" in untold else {})


def _limited_by(text: str) -> dict[str, Any] | None:
    """A sentence, empty for a run that had no limits."""
    match = IMPORTED_LIMITS.fullmatch(text)
    if match:
        return {"kind": LimitedByKind.IMPORTED.value, "text": match["text"]}
    return {"kind": LimitedByKind.OTHER.value, "text": text} if text else None


def _spec(spec: dict[str, Any], searched: bool) -> dict[str, Any]:
    """`isolates`, `repeat` and the warning of a search told together why a run was made."""
    found = {name: value for name, value in spec.items() if name != "isolates"}
    purposes = {stage: purpose for purpose, stage in ISOLATED_STAGES.items()}
    stage, repeat, measure = spec.get("isolates"), spec.get("repeat", 0), spec.get("measure")
    repeats = measure.get("repeats", 3) if isinstance(measure, dict) else None
    if searched:
        purpose: Any = Purpose.FLOOR_SEARCH.value
    elif stage is not None:
        purpose = purposes[stage].value if isinstance(stage, str) and stage in purposes else stage
    elif isinstance(repeat, int) and isinstance(repeats, int) and repeat >= repeats:
        purpose = Purpose.REFERENCE.value
    else:
        purpose = Purpose.REPEAT.value if repeat else Purpose.ASKED.value
    return {**found, "purpose": purpose}


def _evidence(evidence: dict[str, Any]) -> dict[str, Any]:
    """The reason as its kind; shares are those of `busy`, which has more digits."""
    reason, busy = evidence.get("reason"), evidence.get("busy")
    if not isinstance(reason, str) or not isinstance(busy, dict):
        return evidence
    found = {name: value for name, value in evidence.items() if name != "reason"}
    known = [share for share in busy.values() if isinstance(share, (int, float))]
    shares = dict(sorted(busy.items(), key=lambda item: -item[1])) if len(known) == len(busy) else {}
    for pattern, kind in EVIDENCE.items():
        match = re.fullmatch(pattern, reason)
        if match:
            figures, text = _parts(match)
            if kind is EvidenceKind.SEVERAL:
                figures = {name: share for name, share in shares.items() if share >= BUSY}
            elif kind is EvidenceKind.NONE_FULL:
                figures = shares
            elif kind is EvidenceKind.BUSIEST:
                figures = dict(list(shares.items())[:1])
            elif kind is EvidenceKind.REREADS:
                figures = {
                    name: shares[name]
                    for said, name in DISK_NAMES.items()
                    if reason.startswith(said) and name in shares
                }
            if figures or text or kind is EvidenceKind.NONE_FULL:
                return {**found, "kind": kind.value, "figures": figures, "text": text}
    return {**found, "kind": EvidenceKind.OTHER.value, "figures": {}, "text": reason}


def _is_search(sentence: str) -> bool:
    return sentence in (FLOOR_SEARCH, Purpose.FLOOR_SEARCH.value)


def _warning_form(warning: RunWarning) -> dict[str, Any]:
    return {"kind": warning.kind.value, "figures": warning.figures, "text": warning.text}


def _clauses(text: str, patterns: Iterable[str], longest: bool = False) -> list[str]:
    """The sentences that `; ` joined; some hold such a mark, so the shortest, or longest, that is known is taken."""
    parts = text.split("; ")
    found = []
    while parts:
        counts = range(1, len(parts) + 1)
        known = (
            count
            for count in (reversed(counts) if longest else counts)
            if any(re.fullmatch(each, "; ".join(parts[:count])) for each in patterns)
        )
        count = next(known, 1)
        found.append("; ".join(parts[:count]))
        parts = parts[count:]
    return found


def _causes(clause: str) -> list[dict[str, Any]]:
    full = FULL_DISKS.fullmatch(clause)
    if full:
        found = [
            (each.start(), kind.value, each["text"])
            for pattern, kind in FULL_DISK.items()
            for each in re.finditer(pattern, full["places"])
        ]
        if found:
            return [{"kind": kind, "figures": {}, "text": text} for _, kind, text in sorted(found)]
    matched = _cause_matched(clause)
    kind, figures, text = matched or (CauseKind.OTHER, {}, clause)
    return [{"kind": kind.value, "figures": figures, "text": text}]


def _cause_matched(clause: str) -> Found[CauseKind] | None:
    return _matched(clause, CAUSES)


def _matched(sentence: str, patterns: dict[str, Kind]) -> Found[Kind] | None:
    for pattern, kind in patterns.items():
        match = re.fullmatch(pattern, sentence)
        if match:
            try:
                figures, text = _parts(match)
                return kind, figures, text
            except (ValueError, InputError):
                return None
    return None


def _parts(match: re.Match[str]) -> tuple[dict[str, float], str | None]:
    """The figures that are known, and the text. Raises ValueError or InputError."""
    groups = {name: value for name, value in match.groupdict().items() if value is not None}
    text = groups.pop("text", None)
    if "path" in groups:
        text = f"{groups.pop('path')} {groups.pop('why')}"
    figures = {name: FIGURES.get(name, _number)(value) for name, value in groups.items() if value not in UNKNOWN}
    return figures, text


UNKNOWN = ("inf", "nan", "unknown")


def _number(text: str) -> float:
    return float(text.replace(",", ""))


def _size(text: str) -> float:
    return parse_bytes(text.replace(",", ""))


def _percent(text: str) -> float:
    return round(_number(text) / 100, 6)


FIGURES: dict[str, Callable[[str], float]] = {
    "bytes": _size,
    "whole": _size,
    "share": _percent,
    "half_width": _percent,
    "asked": _percent,
}
"""How a figure is read; any other is a number."""

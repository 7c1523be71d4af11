"""Converts what older versions of sizer stored: `python convert_study.py FOLDER_OR_FILE...`.

A study folder, a table of measurements (.csv) or runs as lines (.jsonl). Schema 1 wrote sentences where sizer now
writes kinds with figures; `probe` in a study file is gone. Nothing else changes, and a second time nothing at all.
Needs only Python.
"""

from __future__ import annotations

import csv
import io
import json
import math
import re
import sys
from collections.abc import Callable, Iterable
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any

Form = dict[str, Any]
Parts = tuple[dict[str, float], str | None]
"""Figures and text of one sentence."""

BYTES = r"[\d,.]+ [KMGTP]?i?B"
NUMBER = r"[-+\d,.e]+|inf|nan|unknown"
BAND = rf"outside the (?P<low>{NUMBER}) (?P<text>.+)/s to (?P<high>{NUMBER}) (?P=text)/s of most of its measurements"
FLOOR_SEARCH = "memory floor: measured for a few seconds to see whether this cap holds, so the rate counts for nothing"
"""What marked a run of a search for the memory floor."""
LAST_WORDS = "; its last words:\n"
BUSY = 0.85
"""Busy share from which schema 1's reason listed a resource as busy."""

WARNINGS = {
    rf"contended: something else on this host used (?P<cores>{NUMBER}) cores meanwhile": "contended",
    rf"stolen: the hypervisor gave (?P<cores>{NUMBER}) cores to others meanwhile": "stolen",
    rf"overhead: sizer itself used (?P<share>{NUMBER}) % of the workload's core-seconds": "overhead",
    rf"throttled: (?P<share>{NUMBER}) % of CPU periods used up the quota of (?P<vcpus>{NUMBER}) vCPU, so it ran in "
    r"slices: latencies are not those of a slower CPU(, and threads that wait for each other lose more than that)?": (
        "throttled"
    ),
    rf"page cache warm: (?P<share>{NUMBER}) % of the data was resident before": "page_cache_warm",
    rf"swapped: up to (?P<bytes>{BYTES}) of its memory was in swap": "swapped",
    rf"memory rising: anonymous memory still rose at the end, by (?P<bytes>{BYTES}) in 1,000 steps; "
    r"a longer run needs more": "memory_rising",
    rf"read amplified: the device gave (?P<ratio>{NUMBER}) bytes for each byte asked for": "read_amplified",
    rf"writes unlimited: up to (?P<bytes>{BYTES}) waited in the page cache, where this kernel's throttle does not see "
    r"them; let the program sync as it writes": "writes_unlimited",
    rf"two rates: (?P<before>{NUMBER}) .+s/s for (?P<seconds>{NUMBER}) s, then (?P<after>{NUMBER}); "
    r"the later rate counts": "two_rates",
    rf"imprecise: ±(?P<half_width>{NUMBER}) % after (?P<seconds>{NUMBER}) s, where ±(?P<asked>{NUMBER}) % "
    r"was asked for": "imprecise",
    rf"short: stopped at the deadline after (?P<seconds>{NUMBER}) s of steady state": "short",
    r"unsettled: the rate moved too slowly, or stalled too seldom, for this run to tell how far it may be off; "
    r"measure for more seconds": "unsettled",
    rf"steps joined: the program made so many steps that each one kept stands for (?P<steps>{NUMBER}) of them; "
    r"writing an event costs it up to 0\.1 ms, so let one event stand for several steps": "steps_joined",
    r"first epoch only: no later epoch was reached before the run ended, so the cache was not in use yet": (
        "first_epoch"
    ),
    r"no epochs told: the program does not say when an epoch ends, so this may be the rate of its first": "no_epochs",
    r"part of an epoch: the run ended inside its second epoch; the cache serves more at the start of one": (
        "part_of_epoch"
    ),
    rf"drifting: the reference configuration made (?P<rate>{NUMBER}) .+/s here, {BAND}": "drifting",
    rf"drifting: the reference configuration went from (?P<before>{NUMBER}) (?P<text>.+)/s to (?P<after>{NUMBER}) "
    rf"(?P=text)/s \((?:{NUMBER}) %\) while this run was measured between": "drifting",
    rf"drifting: around this run the reference configuration made (?P<level>{NUMBER}) .+/s, {BAND}": "drifting",
    r"data set changed: its data set (?P<text>.+) is no longer there: put it back": "data_gone",
    rf"data set changed: of its data set (?P<text>.+) only (?P<bytes>{BYTES}) of (?P<whole>{BYTES}) are still there: "
    r"put the rest back": "data_partly_gone",
    rf"left behind: (?P<text>/dev/shm/.+?)( and (?P<more>\d+) more)?, (?P<bytes>{BYTES}) of memory; "
    r"remove what no other program uses": "memory_left",
    r"left behind: (?P<text>(?!/dev/shm/).+)": "left_behind",
    r"log incomplete: (?P<path>.+) could not be written (?P<why>\(.+\)); make room there": "log_incomplete",
}
"""Every warning that schema 1's code wrote, with its figures."""

KINDS = frozenset(WARNINGS.values())
BEGINNINGS = {kind.replace("_", " "): kind for kind in KINDS} | {
    "first epoch only": "first_epoch",
    "no epochs told": "no_epochs",
    "part of an epoch": "part_of_epoch",
    "data set changed": "data_gone",
}
"""What schema 1 told kinds by: the words before the colon. A sentence of a sizer before it is kept as its text."""

CAUSES = {
    r"the process could not be put under its limits": "not_limited",
    r"killed by the kernel: the memory cap is below what the workload needs": "memory_cap",
    r"killed by the kernel: the host's memory is below what the workload needs": "host_memory",
    rf"the pattern cannot be matched with the log: it took more than (?P<seconds>{NUMBER}) s of CPU time for one read; "
    r"avoid nested repetition": "slow_pattern",
    r"the event pipe broke its form: (?P<text>(.|\n)+)": "broken_events",
    r"stopped by Ctrl-C or a signal before it was measured": "interrupted",
    r"the framework or device is not available here": "unsupported",
    r"the program was not found or may not be executed": "not_found",
    r"the workload was killed by signal (?P<signal>\d+)( \(\w+\))?": "signal",
    r"the workload ended with exit status (?P<status>\d+)( \(\w+\))?": "exit_status",
    r"the workload ended with exit status None": "exit_status",
    rf"not enough steps before the deadline of (?P<seconds>{NUMBER}) s": "deadline",
    rf"hung: (?P<steps>\d+) steps?, then none for the last (?P<silent_seconds>{NUMBER}) s of its "
    rf"(?P<seconds>{NUMBER}) s": "hung",
    r"the workload ended without enough steps to measure a rate": "too_few_steps",
    r"told by line (?P<line>\d+) of (?P<text>.+)": "imported",
    rf"(?P<steps>\d+) steps?, the last one (?P<silent_seconds>{NUMBER}) s before its end": "stepped",
    r"no line of its log matched the pattern": "no_match",
    r"it wrote no event; one that writes none can be measured by a `pattern` on its log": "no_event",
    r"it wrote its start and no step": "no_step",
    r"its process is stopped \(SIGSTOP\)": "stopped",
    r"it had closed its event pipe": "pipe_closed",
    r"its data set (?P<text>.+) is no longer there: put it back": "data_gone",
    rf"of its data set (?P<text>.+) only (?P<bytes>{BYTES}) of (?P<whole>{BYTES}) are still there: put the rest back": (
        "data_partly_gone"
    ),
    r"a disk that it wrote to was full: make room there": "disk_full",
}
"""Every clause of an error that schema 1's code wrote, but for the names of full disks."""

WITH_SEEN = ("not enough steps before the deadline of ", "the workload ended without enough steps to measure a rate")
"""Clauses after which a colon led to what was seen of the run."""

FULL_DISKS = re.compile(r"(?P<places>.+) was full: make room there, or measure on a larger one")
FULL_DISK = {
    r"(?:disk `[^`]+`|the disk) under its scratch folder \(TMPDIR\) and its output \((?P<text>[^()]+)\)": (
        "scratch_and_output_full"
    ),
    r"(?:disk `[^`]+`|the disk) under its output \((?P<text>[^()]+)\)": "output_full",
    r"the disk under its scratch folder \(TMPDIR\) \((?P<text>[^()]+)\)": "scratch_full",
    r"shared memory \((?P<text>[^()]+)\)": "shared_memory_full",
}

EVIDENCE = {
    r"(?P<cores>[\d.]+) of (?P<vcpus>[\d.e+]+) vCPU busy, and nothing else is": "serial",
    r"several are busy: .*": "several",
    r"nothing is fully busy: .*": "none_full",
    r"[\w' ]+ \d+ % busy reading what the page cache could not keep": "rereads",
    r"[\w' ]+ \d+ % busy": "busiest",
    r"told by (?P<text>.+), not accounted by sizer": "imported",
}
DISK_NAMES = {"the disk's read bandwidth": "disk_bandwidth", "the disk's IOPS": "disk_iops"}
IMPORTED_LIMITS = re.compile(r"told by (?P<text>.+), not set by sizer")
STAGES = {"step": "isolates_step", "pipeline": "isolates_pipeline", "disk": "isolates_disk", "cache": "two_epochs"}
PLACES = {name: name for name in ("vcpus", "disk", "batch_size", "gpu_count")} | {"memory_gib": "memory_bytes"}
OF_WORKLOAD = ("framework", "input", "cache")
"""Where a record held what an imported table did not say: the columns stood in `untold`."""

PERCENT = ("share", "half_width", "asked")
UNITS = {
    f"{prefix}{i}B": base**power for power, prefix in enumerate("KMGTP", 1) for i, base in (("", 1000), ("i", 1024))
}


def converted_run(form: Form) -> Form:
    """The form of a run as it is written now. What is not of schema 1's types stays, for sizer to refuse."""
    if form.get("schema_version") == 1:
        form = {**_with_kinds(_without_untold(form)), "schema_version": 2}
    text = form.get("limited_by")  # a sentence in the first runs of schema 2, too; empty without limits
    if isinstance(text, str):
        match = IMPORTED_LIMITS.fullmatch(text)
        kind = {"kind": "imported", "text": match["text"]} if match else {"kind": "other", "text": text}
        form = {**form, "limited_by": kind if text else None}
    return form


def converted_host(form: Form) -> Form:
    """The form of a host whose notes are sentences: they are kept as their text."""
    notes = [{"kind": "other", "text": note} if isinstance(note, str) else note for note in form.get("notes", [])]
    return {**form, "schema_version": max(form.get("schema_version", 1), 2), "notes": notes}


def converted_study(text: str) -> str:
    """The study file without `probe`, which was a key of `measure`."""
    return re.sub(r"^(measure: \{.*), probe: \w+(?=[,}])", r"\1", text, flags=re.MULTILINE)


def converted_table(text: str) -> str:
    """A measurements.csv whose `warnings` are kinds."""
    reader = csv.DictReader(io.StringIO(text, newline=""))
    before = list(reader)
    rows = [{**row, "warnings": _marks(row["warnings"])} if row.get("warnings") else row for row in before]
    if rows == before:
        return text
    written = io.StringIO(newline="")
    writer = csv.DictWriter(written, reader.fieldnames or (), lineterminator="\r\n" if "\r\n" in text else "\n")
    writer.writeheader()
    writer.writerows(rows)
    return written.getvalue()


def _marks(text: str) -> str:
    """What `; ` joined in a cell of `warnings`, each as its kind."""
    marks = _clauses(text, WARNINGS)
    return "; ".join("floor_search" if _is_search(mark) else warning_of(mark)["kind"] for mark in marks)


def warning_of(sentence: str) -> Form:
    """The warning that schema 1 wrote as a sentence; of one that is not known the text is kept."""
    if sentence in KINDS:
        return _kind(sentence)
    kind, figures, text = _matched(sentence, WARNINGS) or (
        BEGINNINGS.get(sentence.partition(":")[0].strip(), "other"),
        {},
        sentence,
    )
    return _kind(kind, {"more": 0, **figures} if kind == "memory_left" else figures, text)


def failure_of(error: str) -> Form:
    """The failure that schema 1 wrote as a sentence."""
    clauses, _, last_lines = error.partition(LAST_WORDS)
    if clauses.startswith(WITH_SEEN):
        clauses = clauses.replace(": ", "; ", 1)
    first, *others = _clauses(clauses, CAUSES, longest=True)
    if _matched(first, CAUSES) is None:
        causes = [_kind("other", {}, clauses)]
    else:
        causes = [cause for clause in (first, *others) for cause in _causes(clause)]
    return {"cause": causes[0], "reasons": causes[1:], "last_lines": last_lines}


def _with_kinds(form: Form) -> Form:
    """Warnings, the error, the evidence's reason and why the run was made, as records."""
    new = dict(form)
    warnings, searched = form.get("warnings"), False
    if isinstance(warnings, list) and all(isinstance(warning, str) for warning in warnings):
        searched = any(map(_is_search, warnings))
        new["warnings"] = [warning_of(warning) for warning in warnings if not _is_search(warning)]
    if isinstance(form.get("error"), str):
        new["error"] = failure_of(form["error"])
    if isinstance(form.get("evidence"), dict):
        new["evidence"] = _evidence(form["evidence"])
    if isinstance(form.get("spec"), dict):
        new["spec"] = _spec(form["spec"], searched)
    return new


def _without_untold(form: Form) -> Form:
    """The form of a run with null for each column that its `untold` names; a form that is no run's is left as it is."""
    untold, spec, place = form.get("untold") or [], form.get("spec"), form.get("configuration")
    plain = {key: value for key, value in form.items() if key != "untold"}
    if not isinstance(untold, list) or not isinstance(spec, dict) or not isinstance(place, dict):
        return plain
    workload = spec.get("workload")
    if isinstance(workload, dict):
        workload = {key: None if key in OF_WORKLOAD and key in untold else value for key, value in workload.items()}
        device = workload.get("device")
        if "device" in untold and isinstance(device, dict):
            workload["device"] = None if device.get("kind") == "cpu" else {**device, "index": None}
        plain["spec"] = {**spec, "workload": workload}
    plain["configuration"] = place | {PLACES[column]: None for column in untold if column in PLACES}
    return plain | ({"started_at": None} if "started_at" in untold else {})


def _spec(spec: Form, searched: bool) -> Form:
    """`isolates`, `repeat` and the warning of a search told together why a run was made."""
    stage, repeat, measure = spec.get("isolates"), spec.get("repeat", 0), spec.get("measure")
    repeats = measure.get("repeats", 3) if isinstance(measure, dict) else None
    if searched:
        purpose: Any = "floor_search"
    elif stage is not None:
        purpose = STAGES.get(stage, stage) if isinstance(stage, str) else stage
    elif isinstance(repeat, int) and isinstance(repeats, int) and repeat >= repeats:
        purpose = "reference"
    else:
        purpose = "repeat" if repeat else "asked"
    return {**{name: value for name, value in spec.items() if name != "isolates"}, "purpose": purpose}


def _evidence(evidence: Form) -> Form:
    """The reason as its kind; shares are those of `busy`, which has more digits."""
    reason, busy = evidence.get("reason"), evidence.get("busy")
    if not isinstance(reason, str) or not isinstance(busy, dict):
        return evidence
    others = {name: value for name, value in evidence.items() if name != "reason"}
    numbers = all(isinstance(share, (int, float)) for share in busy.values())
    shares: dict[str, float] = dict(sorted(busy.items(), key=lambda item: -item[1])) if numbers else {}
    kind, figures, text = _matched(reason, EVIDENCE) or ("other", {}, reason)
    if kind == "several":
        figures = {name: share for name, share in shares.items() if share >= BUSY}
    elif kind == "none_full":
        figures = shares
    elif kind == "busiest":
        figures = dict(list(shares.items())[:1])
    elif kind == "rereads":
        disks = [name for words, name in DISK_NAMES.items() if reason.startswith(words)]
        figures = {name: shares[name] for name in disks if name in shares}
    if not (figures or text or kind == "none_full"):
        kind, text = "other", reason
    return {**others, **_kind(kind, figures, text)}


def _is_search(sentence: str) -> bool:
    return sentence in (FLOOR_SEARCH, "floor_search")


def _kind(kind: str, figures: dict[str, float] | None = None, text: str | None = None) -> Form:
    return {"kind": kind, "figures": figures or {}, "text": text}


def _clauses(text: str, patterns: Iterable[str], longest: bool = False) -> list[str]:
    """The sentences that `; ` joined; some hold such a mark, so the shortest, or longest, that is known is taken."""
    parts, clauses = text.split("; "), []
    while parts:
        counts = range(1, len(parts) + 1)
        matching = (
            count
            for count in (reversed(counts) if longest else counts)
            if any(re.fullmatch(pattern, "; ".join(parts[:count])) for pattern in patterns)
        )
        count = next(matching, 1)
        clauses.append("; ".join(parts[:count]))
        parts = parts[count:]
    return clauses


def _causes(clause: str) -> list[Form]:
    full = FULL_DISKS.fullmatch(clause)
    places = sorted(
        (match.start(), kind, match["text"])
        for pattern, kind in FULL_DISK.items()
        for match in re.finditer(pattern, full["places"] if full else "")
    )
    if places:
        return [_kind(kind, {}, text) for _, kind, text in places]
    return [_kind(*(_matched(clause, CAUSES) or ("other", {}, clause)))]


def _matched(sentence: str, patterns: dict[str, str]) -> tuple[str, dict[str, float], str | None] | None:
    """Kind, figures and text of a sentence that one of these fits; None where a figure is no number, too."""
    for pattern, kind in patterns.items():
        match = re.fullmatch(pattern, sentence)
        if match:
            try:
                return kind, *_parts({name: value for name, value in match.groupdict().items() if value is not None})
            except (ValueError, ArithmeticError):
                return None
    return None


def _parts(groups: dict[str, str]) -> Parts:
    """The figures that are finite, and the text. Raises ValueError or ArithmeticError."""
    text = groups.pop("text", None)
    if "path" in groups:
        text = f"{groups.pop('path')} {groups.pop('why')}"
    figures = {name: _figure(name, value.replace(",", "")) for name, value in groups.items() if value != "unknown"}
    return {name: figure for name, figure in figures.items() if math.isfinite(figure)}, text


def _figure(name: str, text: str) -> float:
    if name in ("bytes", "whole"):
        number, unit = text.split(" ")
        return int(Decimal(number) * UNITS.get(unit, 1) + Decimal("0.5"))
    return round(float(text) / 100, 6) if name in PERCENT else float(text)


def convert(path: Path) -> int:
    """Convert a study folder or file where it lies; how many files have changed. Raises OSError or ValueError."""
    if path.is_dir():
        files = [path / "host.json", path / "study.yaml", *sorted((path / "runs").glob("*.json"))]
        return sum(convert(file) for file in files)
    before = path.read_bytes().decode()
    after = _conversion(path)(before)
    if after == before:
        return 0
    aside = path.with_name(f".{path.name}.tmp")
    aside.write_bytes(after.encode())
    aside.replace(path)
    return 1


def _conversion(path: Path) -> Callable[[str], str]:
    """What converts the text of a file of this name."""
    if path.name == "study.yaml":
        return converted_study
    if path.suffix == ".csv":
        return converted_table
    if path.suffix == ".jsonl":
        return lambda text: "".join(
            _rewritten(line, converted_run, separators=(",", ":")) for line in text.splitlines(keepends=True)
        )
    return partial(_rewritten, form=converted_host if path.name == "host.json" else converted_run, indent=1)


def _rewritten(text: str, form: Callable[[Form], Form], **style: Any) -> str:
    """JSON text by its new form; as it is where that is the same."""
    before = json.loads(text)
    after = form(before)
    return text if after == before else json.dumps(after, **style) + "\n"


def main(arguments: list[str]) -> int:
    """Convert each; 2 where one cannot be read or written."""
    if not arguments:
        print("Name a study folder, or a table or runs of one: python convert_study.py FOLDER", file=sys.stderr)
        return 2
    for name in arguments:
        try:
            print(f"{name}: files converted: {convert(Path(name))}")
        except (OSError, ValueError, TypeError, AttributeError) as error:
            print(f"{name} cannot be converted ({error}); name a study folder of sizer's.", file=sys.stderr)
            return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

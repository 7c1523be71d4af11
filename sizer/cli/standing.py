"""status: how far a study is, which run is in hand, and what became of the others."""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from sizer.cli.wording import emulated_disks
from sizer.plan import UNFINISHED, estimate_seconds, plan, remaining
from sizer.records import FINDINGS, Outcome, Run, RunSpec, format_seconds
from sizer.store import StudyFolder, is_held, run_in_hand
from sizer.study import Facts
from sizer.words import imported_run_in_words, outcome_in_words, result_in_words, run_in_words, warning_names


@dataclass(frozen=True)
class Standing:
    """What is planned and stored; `held` says whether a sizer measures, `in_hand` is the id of the run that goes on."""

    specs: Sequence[RunSpec]
    runs: Sequence[Run]
    held: bool
    in_hand: str | None

    @property
    def todo(self) -> tuple[RunSpec, ...]:
        return remaining(self.specs, self.runs)

    @property
    def finished(self) -> int:
        return len(self.specs) - len(self.todo)

    @property
    def warned(self) -> int:
        return sum(bool(run.warnings) for run in self.runs)

    @property
    def seconds_left(self) -> float:
        return estimate_seconds(self.todo, self.runs)


def status(arguments: argparse.Namespace) -> int:
    folder = StudyFolder.open(Path(arguments.folder))
    standing = _standing(folder)
    if arguments.json:
        print(json.dumps(_form(standing, folder), indent=1))
        return 0
    emulated = emulated_disks(folder.study)
    for group in _groups(standing.runs):
        print(_line(group, folder, emulated, standing))
    stored = {run.id for run in standing.runs}
    for spec in standing.todo:
        if spec.id not in stored:
            now = "being measured now" if spec.id == standing.in_hand else "to be run"
            print(f"{spec.id}  {run_in_words(spec, emulated)}: {now}")
    for problem in folder.problems():
        print(f"left out: {problem}")
    print("; ".join(_summary(standing)))
    return 0


def _standing(folder: StudyFolder) -> Standing:
    host = folder.host
    if folder.study.imported:
        runs = folder.runs()
        return Standing([run.spec for run in runs], runs, False, None)
    specs = plan(folder.study, Facts(int(host.get("cpus", 1)), int(host.get("memory_bytes", 1))))
    held = is_held(folder)
    return Standing(specs, folder.runs(), held, run_in_hand(folder) if held else None)


def _form(standing: Standing, folder: StudyFolder) -> dict[str, object]:
    return {
        "planned": len(standing.specs),
        "finished": standing.finished,
        "warned": standing.warned,
        "outcomes": Counter(run.outcome.value for run in standing.runs),
        "measuring": standing.held,
        "in_hand": standing.in_hand,
        "seconds_left": standing.seconds_left,
        "problems": folder.problems(),
        "report": str(folder.report_path),
    }


def _groups(runs: Sequence[Run]) -> list[list[Run]]:
    """The runs in their order; those of a workload that failed in the same words are one group."""
    groups: dict[tuple[str, ...], list[Run]] = {}
    for run in runs:
        alike = (run.spec.workload.name, result_in_words(run), _kinds_of_warning(run))
        groups.setdefault((run.id,) if run.outcome in FINDINGS else alike, []).append(run)
    return list(groups.values())


def _line(group: Sequence[Run], folder: StudyFolder, emulated: Collection[str], standing: Standing) -> str:
    first = group[0]
    imported = folder.study.imported
    places = {imported_run_in_words(run) if imported else run_in_words(run.spec, emulated) for run in group}
    place = places.pop() if len(places) == 1 else first.spec.workload.name
    times = f" ×{len(group)}" if len(group) > 1 else ""
    result = f"{result_in_words(first, folder.log_of(first))}{_kinds_of_warning(first)}"
    return f"{first.id}  {place}{times}: {result}{_again(group, standing)}"


def _again(group: Sequence[Run], standing: Standing) -> str:
    """What is still to come of runs that are stored."""
    if standing.in_hand in {run.id for run in group}:
        return "; being measured again now"
    planned = {spec.id for spec in standing.todo}
    return "; to be run again" if group[0].outcome in UNFINISHED and planned & {run.id for run in group} else ""


def _summary(standing: Standing) -> Iterator[str]:
    counts = Counter(run.outcome for run in standing.runs)
    outcomes = ", ".join(f"{counts[outcome]} {outcome_in_words(outcome)}" for outcome in Outcome if counts[outcome])
    yield f"{standing.finished} of {len(standing.specs)} runs finished" + (f" ({outcomes})" if outcomes else "")
    yield f"{standing.warned or 'none'} with a warning"
    if standing.todo:
        yield f"{len(standing.todo)} to go, about {format_seconds(standing.seconds_left)}"
    if standing.held:
        yield "being measured now"


def _kinds_of_warning(run: Run) -> str:
    """` (contended, short)`: the name of each warning; the report says all of it."""
    names = warning_names(run)
    return f" ({', '.join(names)})" if names else ""

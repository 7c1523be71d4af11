"""status: how far a study is, which run is being measured, and how the others ended."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Collection, Sequence

from sizer.api import StudyStatus, open_study, study_status
from sizer.cli.arguments import add_folder, add_json, print_json
from sizer.plan.chooser import NextRun, PlanEnd
from sizer.plan.run_order import UNFINISHED
from sizer.records.messages import printable, typed_path
from sizer.records.run import Run, way_of_ending
from sizer.records.run_kinds import FINDINGS, Outcome
from sizer.store.study_folder import StudyFolder
from sizer.words import terminal
from sizer.words.names import outcomes_counted
from sizer.words.runs import imported_run_in_words, result_and_warnings, run_in_words
from sizer.words.studies import planning


def arguments(parser: argparse.ArgumentParser) -> None:
    add_folder(parser)
    add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    folder = open_study(arguments.folder)
    status = study_status(folder)
    if arguments.json:
        print_json(_form(status, folder))
        return 0
    emulated = folder.study.emulated_disks
    planned = {spec.id for spec in status.todo}
    for group in _groups(status.runs):
        print(_line(group, folder, emulated, status.current, planned))
    stored = {run.id for run in status.runs}
    for spec in status.todo:
        if spec.id not in stored:
            run = f"{spec.id}  {run_in_words(spec, emulated)}"
            print(terminal.being_measured(run) if spec.id == status.current else terminal.to_be_run(run))
    for problem in folder.problems():
        print(terminal.problem_said(problem))
    if status.chosen is not None and not status.held:
        print(_plan(status, folder))
    if status.searching and not status.held:
        print(planning.unfinished_said(status.searching, status.runs), _going_on(status, folder))
    print(_summary(status))
    return 0


def _form(status: StudyStatus, folder: StudyFolder) -> dict[str, object]:
    return {
        "planned": len(status.specs),
        "finished": status.finished,
        "followed": status.followed,
        "older": status.older,
        "warned": status.warned,
        "outcomes": Counter(run.outcome.value for run in status.runs),
        "measuring": status.held,
        "in_hand": status.current,
        "seconds_left": status.seconds_left,
        "next_run": status.next_run.spec.id if status.next_run is not None else None,
        "plan_ended": status.chosen.kind.value if isinstance(status.chosen, PlanEnd) else None,
        "to_go_on": _going_on(status, folder) if status.next_run is not None or status.searching else None,
        "searches_left": [
            {
                "workload": left.following.base.workload.name,
                "search": left.following.base.purpose.value,
                "bound": left.bound.value if left.bound is not None else None,
            }
            for left in status.searching
        ],
        "problems": [printable(str(problem)) for problem in folder.problems()],
        "report": str(folder.report_path),
    }


def _plan(status: StudyStatus, folder: StudyFolder) -> str:
    """What the adaptive plan does next, or how it ended, with the command that goes on, where no search is to come."""
    chosen, emulated = status.chosen, folder.study.emulated_disks
    if isinstance(chosen, NextRun):
        return f"{planning.plan_goes_on(chosen, emulated)} {_going_on(status, folder)}"
    assert chosen is not None
    if chosen.then is None or status.searching:
        return planning.chosen_runs(chosen, emulated)
    return f"{planning.chosen_runs(chosen, emulated, to_go_on=True)} {_going_on(status, folder)}"


def _going_on(status: StudyStatus, folder: StudyFolder) -> str:
    ended = status.chosen if isinstance(status.chosen, PlanEnd) else None
    return planning.going_on_with(status.searching, typed_path(folder.path), ended)


def _groups(runs: Sequence[Run]) -> list[list[Run]]:
    """The runs in their order; those of a workload that failed alike are one group."""
    groups: dict[tuple[object, ...], list[Run]] = {}
    for run in runs:
        groups.setdefault((run.id,) if run.outcome in FINDINGS else _alike(run), []).append(run)
    return list(groups.values())


def _alike(run: Run) -> tuple[object, ...]:
    """What runs that failed alike have in common: how they ended, the last line that they printed, and what warns."""
    lines = run.error.last_lines.strip().splitlines()[-1:] if run.error is not None else []
    warned = frozenset(warning.kind.group for warning in run.warnings)
    return run.spec.workload.name, way_of_ending(run), *lines, warned


def _line(
    group: Sequence[Run],
    folder: StudyFolder,
    emulated: Collection[str],
    current: str | None,
    planned: Collection[str],
) -> str:
    first = group[0]
    imported = folder.study.imported
    labels = {imported_run_in_words(run) if imported else run_in_words(run.spec, emulated) for run in group}
    label = labels.pop() if len(labels) == 1 else first.spec.workload.name
    result = result_and_warnings(first, folder.log_of(first))
    return terminal.status_line(
        first.id, label, len(group), _again(group, result, current, planned), several=len(group) > 1
    )


def _again(group: Sequence[Run], result: str, current: str | None, planned: Collection[str]) -> str:
    """The result of stored runs, and whether they are measured again: now, or as they are still planned."""
    if any(run.id == current for run in group):
        return terminal.being_measured_again(result)
    repeated = group[0].outcome in UNFINISHED and any(run.id in planned for run in group)
    return terminal.to_be_run_again(result) if repeated else result


def _summary(status: StudyStatus) -> str:
    counts = Counter(run.outcome for run in status.runs)
    outcomes = {outcome: counts[outcome] for outcome in Outcome if counts[outcome]}
    planned = status.finished, len(status.specs), status.followed
    ended = outcomes_counted([outcome.value for outcome in outcomes], list(outcomes.values()))
    left = len(status.todo), status.seconds_left
    return terminal.study_summary(*planned, ended, status.warned, status.older, *left, held=status.held)

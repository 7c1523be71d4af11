"""The grid by `--until settled` beside the whole of it: minutes, and whether answers are the same. Stores nothing."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from grid_data import portable

sys.path += [str(Path(__file__).parents[1] / name) for name in ("choosing", "accuracy", "curves")]

from judged import WholeGrid, whole_grids
from replayed import case_of

from sizer.catalog.catalog import Catalog
from sizer.model.fitting import fit
from sizer.recommend.recommendation import recommend
from sizer.records.answer import Answer
from sizer.records.prediction import Spec
from sizer.records.run import Run
from sizer.records.run_kinds import Outcome
from sizer.records.study import Objective
from sizer.records.units import format_bytes

LINE = "{:12} {:>11} {:>15} {:>32} {:>32}  {}"


def show_chosen(chosen: Sequence[Run], whole: Sequence[Run]) -> bool:
    """One line a workload, and one of all: runs, minutes of them, both specs, and what the one from the `chosen` runs
    misses and costs by the `whole` grid. Whether every workload has the same spec, or one of 5 % regret."""
    objective, catalog = Objective(), Catalog.load()
    grids = _whole_grids(whole, objective, catalog)
    answers = {each.workload: each for each in recommend(fit(chosen), chosen, objective, catalog).workloads}
    print(LINE.format("workload", "runs", "minutes", "spec", "of the whole grid", "regret"))
    for name, grid in grids.items():
        answer = answers.get(name)
        spec = answer.spec if answer is not None else None
        own = [run for run in chosen if run.spec.workload.name == name]
        theirs = [run for run in whole if run.spec.workload.name == name]
        print(_line(name, own, theirs, _spec(spec), _spec(grid.answer.spec), _regret(grid, answer, objective)))
    print(_line("all", chosen, whole, "", "", ""))
    return all(grid.right(answers.get(name), objective.target) for name, grid in grids.items())


def _whole_grids(whole: Sequence[Run], objective: Objective, catalog: Catalog) -> Mapping[str, WholeGrid]:
    runs = [portable(run) for run in whole if run.outcome is Outcome.COMPLETED]
    return whole_grids(case_of("grid", "grid", runs), objective, catalog)


def _line(name: str, own: Sequence[Run], theirs: Sequence[Run], spec: str, wanted: str, regret: str) -> str:
    minutes = [sum(run.wall_seconds for run in runs) / 60 for runs in (own, theirs)]
    runs = f"{len(own)} of {len(theirs)}"
    return LINE.format(name, runs, f"{minutes[0]:.1f} of {minutes[1]:.1f}", spec, wanted, regret).rstrip()


def _regret(grid: WholeGrid, answer: Answer | None, objective: Objective) -> str:
    if answer is None or answer.spec is None:
        return "no answer"
    if answer.spec == grid.answer.spec:
        return "same"
    short, dear = grid.regret(answer.spec, objective.target)
    return f"rate {short:.1%} below the target, cost {dear:+.1%}"


def _spec(spec: Spec | None) -> str:
    if spec is None:
        return "-"
    memory = format_bytes(spec.memory_bytes) if spec.memory_bytes is not None else ""
    return ", ".join(part for part in (f"{spec.vcpus:g} vCPU", memory, spec.disk or "") if part)

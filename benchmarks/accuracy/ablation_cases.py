"""What each part of the model is judged on: the grid, simulated machines, real and drawn curves, published tables.

All that does not depend on the model is made once: the truth of the machines is simulated for minutes.
"""

from __future__ import annotations

import math
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from accuracy_advised import REGRET, TARGET
from accuracy_curves import SHAPES, Curve, drawn
from accuracy_designs import designed
from accuracy_grid import A_WORKLOAD, IN_ALL, Group, by_workload, merged, predict_others
from accuracy_real import told
from accuracy_shapes import judged as judged_curve
from accuracy_simulated import SEED, CaseResult, Prepared, judged, prepared
from answers_asked import ReadTable, asked, job_rows, read_table, write_table
from answers_held_out import one_at_a_time
from answers_jobs import PublishedJob, published_jobs
from answers_prices import retired_machines, sold_machines, usd_per_hour
from answers_truth import OBJECTIVES, Choice, choices, verdict
from curves_data import JPEG, questions, real_curves
from grid_data import RUNS, SECOND, load_grid
from judged import WholeGrid, answer_of, whole_grids
from replayed import grid_cases

from sizer.catalog import Catalog
from sizer.model import fit
from sizer.records import Bottleneck, Configuration, Objective, Run

GRID, INSIDE, BEYOND = "grid", "simulated", "simulated, beyond"
CURVES, DRAWN, TABLES = "real curves", "drawn curves", "published tables"
ALIKE = "real curves, each kind alike"
HOSTS = "drifting hosts"
FAMILIES = (GRID, INSIDE, BEYOND, CURVES, ALIKE, DRAWN, TABLES)


@dataclass(frozen=True)
class Outcome:
    """Of one case: errors of predictions, whether their 90 % intervals hold the truth, whether answers are right and no
    dearer than need be, whether the bottleneck is right where one is named and the truth is clear, and whether what is
    said of one place agrees with what is said of another.

    Figures of a family whose cases are of a `kind` are the means over the kinds.
    """

    errors: tuple[float, ...] = ()
    covered: tuple[bool, ...] = ()
    right: tuple[bool, ...] = ()
    named: tuple[bool, ...] = ()
    agrees: tuple[bool, ...] = ()
    kind: str = ""


Judge = Callable[[], dict[str, Outcome]]
"""One case with the model as it is now, by family."""


@dataclass(frozen=True)
class Size:
    """How many machines, of the real curves and published jobs one in so many, and how many drawn curves a shape."""

    machines: int
    every_curve: int
    every_job: int
    drawn: int


SIZES = {"small": Size(10, 16, 16, 1), "middle": Size(60, 1, 4, 4), "whole": Size(150, 1, 1, 20)}


def cases(size: Size) -> list[Judge]:
    """All of them, each to be judged as often as is wanted."""
    machines = [machine(prepared(number)) for number in range(size.machines)]
    curves = [*_curves(size.every_curve), *_drawn(size.drawn)]
    return [*_grid(), *_grid_answers(), *machines, *curves, *_tables(size.every_job)]


def _grid() -> list[Judge]:
    """Each workload of both grids by the two designs of the benchmark."""
    found = []
    for groups in measured_grids():
        for group in groups.values():
            for count in (IN_ALL // len(groups), A_WORKLOAD):
                found.append(grid_case(group, designed(list(group), max(3, min(count, len(group) // 2)))))
    return found


def measured_grids() -> tuple[dict[str, Group], ...]:
    """The runs of each configuration of each workload, of the grid of 2026-11-21 and of that of 2026-11-23."""
    return tuple(by_workload(merged(load_grid(path))) for path in (RUNS, SECOND))


def grid_case(group: Group, design: Sequence[Configuration]) -> Judge:
    def judge() -> dict[str, Outcome]:
        others, _ = predict_others(group, design, with_rivals=False)
        covered = tuple(each.low <= rate <= each.high for each in others for rate in each.runs)
        return {GRID: Outcome(tuple(each.error for each in others), covered)}

    return judge


def _grid_answers() -> list[Judge]:
    """The answer of each workload by the larger design against that of the whole grid."""
    objective, catalog, found = Objective("cheapest", TARGET), Catalog.load(), []
    for case in (*grid_cases(), *grid_cases(load_grid(SECOND))):
        whole, groups = whole_grids(case, objective, catalog), by_workload(case.all_runs)
        if len(groups) > 1:
            continue
        for name, group in groups.items():
            design = designed(list(group), max(3, min(A_WORKLOAD, len(group) // 2)))
            found.append(_grid_answer(whole[name], [run for place in design for run in group[place]], objective))
    return found


def _grid_answer(whole: WholeGrid, runs: Sequence[Run], objective: Objective) -> Judge:
    def judge() -> dict[str, Outcome]:
        answer = answer_of(runs, objective, whole.catalog)
        return {GRID: Outcome(right=(whole.right(answer, objective.target),))}

    return judge


def machine(case: Prepared) -> Judge:
    """A simulated machine, inside of what was measured of it and beyond."""

    def judge() -> dict[str, Outcome]:
        found = judged(case, with_rivals=False)
        if found.fault is not None:
            raise RuntimeError(found.fault)
        return {INSIDE: _of_machine(found, beyond=False), BEYOND: _of_machine(found, beyond=True)}

    return judge


def _of_machine(found: CaseResult, beyond: bool) -> Outcome:
    held = [each for each in found.held_out if each.beyond is beyond]
    errors, covered = tuple(each.error for each in held), tuple(each.covered for each in held)
    if beyond:
        return Outcome(errors, covered)
    clear = [each for each in found.named if each.clear and each.named is not Bottleneck.AMBIGUOUS]
    advised = found.advised
    right: tuple[bool, ...] = ()
    if advised is not None and advised.spec is not None:
        dearer = 0.0 if math.isnan(advised.cost_regret) else advised.cost_regret
        right = (max(advised.rate_regret, dearer) <= REGRET,)
    return Outcome(errors, covered, right, tuple(each.right for each in clear))


def _curves(every: int) -> list[Judge]:
    """Those that taught the prior: what is held out is for the report of the whole model, and for no choice."""
    taught = [curve for curve in real_curves() if not curve.held_out and curve.kind != JPEG]

    def judge_of(number: int) -> Judge:
        def judge() -> dict[str, Outcome]:
            found = [each.point for each in map(told, questions(taught[number])) if each is not None]
            covered = tuple(each.low <= each.truth <= each.high for each in found)
            outcome = Outcome(tuple(each.error for each in found), covered)
            return {CURVES: outcome, ALIKE: replace(outcome, kind=taught[number].kind)}

        return judge

    return [judge_of(number) for number in range(0, len(taught), every)]


def _drawn(each: int) -> list[Judge]:
    """Curves of known shapes, of more points than the real ones, with noise."""
    return [drawn_curve(drawn(shape, number, SEED), SEED + number) for shape in SHAPES for number in range(each)]


def drawn_curve(curve: Curve, seed: int) -> Judge:
    """A curve of which every second inner point is left out."""

    def judge() -> dict[str, Outcome]:
        found, _ = judged_curve(curve, seed)
        covered = tuple(each.low <= each.new_run <= each.high for each in found)
        return {DRAWN: Outcome(tuple(each.error for each in found), covered)}

    return judge


def _tables(every: int) -> list[Judge]:
    sold, retired = sold_machines(), retired_machines()
    return [
        _table(_runs_of(job), choices(job.rows, lambda machine: usd_per_hour(machine, sold), retired))
        for job in published_jobs()[::every]
    ]


def _runs_of(job: PublishedJob) -> tuple[Run, ...]:
    with tempfile.TemporaryDirectory() as folder:
        write_table(path := Path(folder) / "table.csv", job_rows(job))
        return read_table(path).runs


def _table(runs: tuple[Run, ...], best: Sequence[Choice]) -> Judge:
    def judge() -> dict[str, Outcome]:
        table = ReadTable(runs, fit(runs), Catalog.load())
        right = tuple(verdict(best, each, asked(table, Objective(each))).right for each in OBJECTIVES)
        foretold = [each for each in one_at_a_time(runs) if each.predicted is not None]
        return {TABLES: Outcome(tuple(e.error for e in foretold), tuple(e.covered for e in foretold), right)}

    return judge

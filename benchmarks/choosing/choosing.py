"""How many runs does an answer need? Measured grids, simulated machines and curves replayed: a run is looked up.

    python benchmarks/choosing/choosing.py [--machines 60] [--every 1] [--only FAMILY ...]
                                            [--worst] [--processes 2]

For each study: the answer from its whole grid; what `--until settled` measures, and whether its answer is the same
spec or one with at most 5 % of regret, with `--runs` of as many as are allowed (five for each workload, or a tenth of
the grid's where that is more) and without. Exit status 1 where a goal is missed.
"""

from __future__ import annotations

import argparse
import math
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

# Before numpy: two processes that compute with two threads each would wait for one another.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

sys.path += [str(Path(__file__).parents[1] / name) for name in ("accuracy", "answers", "curves", "grid", "shared")]

from goals import HEAD, GoalRow, below, in_processes, quantile, share
from grid_data import SECOND, load_grid
from judged import WholeGrid, answer_of, whole_grids
from replayed import ReplayCase, by_workload, curve_cases, grid_cases, machine_cases

from sizer.catalog.catalog import Catalog
from sizer.plan.chooser import Chooser, NextRun
from sizer.records.run import Run
from sizer.records.study import Adaptive

FEWEST, SHARE = 5, 0.1
RIGHT = 0.9
FREE, BOUNDED = "adaptive", "adaptive, with the runs allowed"
MOST_POINTS = 4
"""Of a curve over vCPUs, in the median."""


@dataclass(frozen=True)
class Replay:
    """What one order made of one study: its runs, whether each workload's answer is right, and how it ended."""

    case: ReplayCase
    order: str
    runs: Sequence[Run]
    allowed: int
    right: tuple[bool, ...]
    ended: str = ""
    said: str = ""

    @property
    def in_time(self) -> bool:
        """Whether it has ended by itself after no more runs than allowed, and every workload has the right answer."""
        return all(self.right) and len(self.runs) <= self.allowed

    @property
    def line(self) -> str:
        return (
            f"{self.case.name}: {len(self.runs)} of {self.allowed} runs, right {self.right}, {self.ended}: {self.said}"
        )


def replay_all(case: ReplayCase) -> list[Replay]:
    """The adaptive plan until it stops, and after as many runs as are allowed."""
    objective, catalog = case.study.objective, Catalog.load()
    grids = whole_grids(case, objective, catalog)
    if not grids:
        return []
    allowed = max(len(case.study.workloads) * FEWEST, math.ceil(SHARE * len(case.all_runs)))
    replays = []
    for name, asked in ((FREE, Adaptive()), (BOUNDED, Adaptive(runs=allowed))):
        chooser, runs = Chooser(case.study, case.host, catalog, asked), list[Run]()
        while isinstance(chosen := chooser.next_run(runs), NextRun):
            runs.append(case.run(chosen.spec))
        replays.append(_judged(case, grids, runs, allowed, name, chosen.kind.value))
    return replays


def _judged(
    case: ReplayCase, grids: dict[str, WholeGrid], runs: Sequence[Run], allowed: int, order: str, ended: str = ""
) -> Replay:
    objective, own = case.study.objective, by_workload(runs)
    answers = {
        name: answer_of(own[name], objective, grid.catalog) if name in own else None for name, grid in grids.items()
    }
    right = tuple(grids[name].right(answer, objective.target) for name, answer in answers.items())
    specs = [f"{answer and answer.spec}, whole grid {grids[name].answer.spec}" for name, answer in answers.items()]
    return Replay(case, order, runs, allowed, right, ended, "; ".join(specs))


def table(family: str, here: Sequence[Replay]) -> list[GoalRow]:
    """The rows of one family."""
    right = {order: [all(replay.right) for replay in here if replay.order == order] for order in (FREE, BOUNDED)}
    own = [replay for replay in here if replay.order == FREE]
    settled = [all(replay.right) for replay in own if replay.ended == "settled"]
    runs = [len(replay.runs) for replay in own]
    points = [len({run.configuration for run in replay.runs}) for replay in own]
    rows = [
        share(family, f"{BOUNDED}: right", right[BOUNDED], RIGHT),
        share(family, "adaptive: ends within them, and right", [replay.in_time for replay in own]),
        share(family, "adaptive: right when it ends", right[FREE]),
        share(family, "adaptive: ends as settled", [replay.ended == "settled" for replay in own]),
        share(family, "adaptive: right where settled", settled),
        _figure(family, "adaptive: runs, median", runs, 0.5),
        _figure(family, "adaptive: runs, 90th percentile", runs, 0.9),
        _figure(family, "whole grid: runs, median", [len(replay.case.all_runs) for replay in own], 0.5),
    ]
    if family == "curve":
        rows.append(below(family, "adaptive: points, median", quantile(points, 0.5), "", MOST_POINTS, len(own)))
    return rows


def _figure(part: str, figure: str, values: Sequence[float], at: float) -> GoalRow:
    return GoalRow(part, figure, quantile(values, at), "", cases=len(values))


FAMILIES: dict[str, Callable[[argparse.Namespace], list[ReplayCase]]] = {
    "grid": lambda _: [*grid_cases(load_grid()), *grid_cases(load_grid(SECOND))],
    "machine": lambda given: machine_cases(given.machines),
    "curve": lambda given: curve_cases(given.every),
}


def main() -> int:
    given = _arguments()
    rows = list[GoalRow]()
    print(HEAD)
    for family in given.only or FAMILIES:
        replays = in_processes(replay_all, [(case,) for case in FAMILIES[family](given)], given.processes)
        judged = [replay for every in replays for replay in every]
        rows += table(family, judged)
        worst = [replay.line for replay in judged if given.worst and replay.order == FREE and not replay.in_time]
        print("\n".join([*worst, *(row.line for row in rows if row.part == family)]), flush=True)
    return 1 if any(row.met is False for row in rows) else 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--machines", type=int, default=60, help="simulated machines")
    parser.add_argument("--every", type=int, default=1, help="one held-out curve of so many")
    parser.add_argument("--only", action="append", choices=list(FAMILIES), help="this family; may be given again")
    parser.add_argument("--worst", action="store_true", help="each study that needed more runs, or answers otherwise")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    return parser.parse_args()


if __name__ == "__main__":
    raise SystemExit(main())

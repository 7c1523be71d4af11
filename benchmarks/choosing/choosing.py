"""How many runs does an answer need? Measured grids, simulated machines and curves replayed: a run is looked up.

    python benchmarks/choosing/choosing.py [--machines 60] [--curves 60] [--drifting 36] [--only FAMILY ...]
                                            [--worst] [--processes 2]

For each study: the answer from its whole grid; what `--until settled` measures, and whether its answer is the same
spec or one with at most 5 % of regret, with `--runs` of as many as are allowed (five for each workload, or a tenth of
the grid's where that is more) and without; and the same for other orders after as many runs. Exit status 1 where a goal
is missed.
"""

from __future__ import annotations

import argparse
import math
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

# Before numpy: two processes that compute with two threads each would wait for one another.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

sys.path.append(str(Path(__file__).parents[1] / "accuracy"))
sys.path.append(str(Path(__file__).parents[1] / "answers"))
sys.path.append(str(Path(__file__).parents[1] / "grid"))

from accuracy_scores import HEAD, GoalRow, quantile, share
from drifting import drifting_cases
from grid_data import SECOND, load_grid
from judged import REGRET, WholeGrid, answer_of, whole_grids
from orders import Order, as_planned, at_random, bayesian, pairwise
from replayed import ReplayCase, by_workload, curve_cases, grid_cases, machine_cases

from sizer.adaptive import Chooser, NextRun, PlanEnd
from sizer.catalog import Catalog
from sizer.records import Adaptive, Answer, Run

FEWEST, SHARE = 5, 0.1
RIGHT = 0.9
BOUNDED = "adaptive, with the runs allowed"
MOST_POINTS = 4
"""Of a curve over vCPUs, in the median."""


@dataclass(frozen=True)
class Replay:
    """What one order made of one study: runs, seconds, whether each workload's answer is right, and how it ended."""

    case: str
    family: str
    order: str
    runs: int
    configurations: int
    seconds: float
    whole_runs: int
    whole_seconds: float
    allowed: int
    right: tuple[bool, ...]
    regrets: tuple[float, ...] = ()
    ended: str = ""
    said: str = ""

    @property
    def in_time(self) -> bool:
        """Whether it has ended by itself after no more runs than allowed, and every workload has the right answer."""
        return all(self.right) and self.runs <= self.allowed


def replay_all(case: ReplayCase) -> list[Replay]:
    """The adaptive plan until it stops, and after as many runs as are allowed; the others after as many."""
    objective, catalog = case.study.objective, Catalog.load()
    grids = whole_grids(case, objective, catalog)
    if not grids:
        return []
    allowed = runs_allowed(case)
    found = [_adaptive(case, grids, Adaptive(), allowed, "adaptive"), bounded(case, grids)]
    orders: dict[str, Order] = {
        "random": at_random(case, seed=len(case.name)),
        "as planned": as_planned(case),
        "pairwise": pairwise(case),
        "Bayesian optimisation": bayesian(case, objective, catalog),
    }
    for name, order in orders.items():
        runs: list[Run] = []
        while len(runs) < allowed and (spec := order(runs)) is not None:
            runs.append(case.run(spec, runs))
        found.append(_judged(case, grids, runs, allowed, name))
    return found


def runs_allowed(case: ReplayCase) -> int:
    """FEWEST runs a workload, or SHARE of the grid's where that is more."""
    return max(len(case.study.workloads) * FEWEST, math.ceil(SHARE * len(case.all_runs)))


def bounded(case: ReplayCase, grids: dict[str, WholeGrid]) -> Replay:
    """The adaptive plan with the runs allowed as its bound."""
    allowed = runs_allowed(case)
    return _adaptive(case, grids, Adaptive(runs=allowed), allowed, BOUNDED)


def _adaptive(case: ReplayCase, grids: dict[str, WholeGrid], asked: Adaptive, allowed: int, name: str) -> Replay:
    chooser, runs = Chooser(case.study, case.host, Catalog.load(), asked), list[Run]()
    while isinstance(chosen := chooser.next_run(runs), NextRun):
        runs.append(case.run(chosen.spec, runs))
    return _judged(case, grids, runs, allowed, name, chosen)


def _judged(
    case: ReplayCase,
    grids: dict[str, WholeGrid],
    runs: Sequence[Run],
    allowed: int,
    order: str,
    ended: PlanEnd | None = None,
) -> Replay:
    objective, own = case.study.objective, by_workload(runs)
    answers = {
        name: answer_of(own[name], objective, grid.catalog) if name in own else None for name, grid in grids.items()
    }
    regrets = tuple(grids[name].most_regret(answer, objective.target) for name, answer in answers.items())
    return Replay(
        case.name,
        case.family,
        order,
        len(runs),
        len({(run.spec.workload.name, run.configuration) for run in runs}),
        sum(run.wall_seconds for run in runs),
        len(case.all_runs),
        case.seconds,
        allowed,
        tuple(each <= REGRET for each in regrets),
        regrets,
        ended.kind.value if ended is not None else "",
        "; ".join(_said(grids[name], answer, runs) for name, answer in answers.items()),
    )


def _said(grid: WholeGrid, answer: Answer | None, runs: Sequence[Run]) -> str:
    path = " ".join(f"{run.configuration.vcpus:g}" for run in runs)
    return f"{_in_words(answer)} after {path}; whole grid {_in_words(grid.answer)}"


def _in_words(answer: Answer | None) -> str:
    if answer is None or answer.spec is None:
        return "no answer"
    spec = answer.spec
    memory = f" {spec.memory_bytes / 2**30:g} GiB" if spec.memory_bytes else ""
    return f"{answer.status} {spec.vcpus:g} vCPU{memory} {spec.disk or ''} P={answer.probability}".replace("  ", " ")


def table(found: Sequence[Replay]) -> list[GoalRow]:
    """The rows of one family."""
    rows: list[GoalRow] = []
    for family in dict.fromkeys(each.family for each in found):
        here = [each for each in found if each.family == family]
        own = [each for each in here if each.order == "adaptive"]
        settled = [each for each in own if each.ended == "settled"]
        rows += [
            share(
                family,
                f"{BOUNDED}: right",
                [all(each.right) for each in here if each.order == BOUNDED],
                RIGHT if family != "drifting" else None,
            ),
            share(family, "adaptive: ends within them, and right", [each.in_time for each in own]),
            share(family, "adaptive: right when it ends", [all(each.right) for each in own]),
            share(family, "adaptive: ends as settled", [each.ended == "settled" for each in own]),
            share(family, "adaptive: right where settled", [all(each.right) for each in settled]),
            _figure(family, "adaptive: runs, median", [each.runs for each in own], 0.5),
            _figure(family, "adaptive: runs, 90th percentile", [each.runs for each in own], 0.9),
            _figure(family, "whole grid: runs, median", [each.whole_runs for each in own], 0.5),
            _figure(
                family,
                "adaptive: share of the grid's seconds",
                [each.seconds / each.whole_seconds for each in own],
                0.5,
            ),
        ]
        if family == "curve":
            points = quantile([each.configurations for each in own], 0.5)
            rows.append(
                GoalRow(
                    family, "adaptive: points, median", points, "", f"<= {MOST_POINTS}", points <= MOST_POINTS, len(own)
                )
            )
        for order in dict.fromkeys(each.order for each in here if each.order not in ("adaptive", BOUNDED)):
            theirs = [all(each.right) for each in here if each.order == order]
            rows.append(share(family, f"{order}: right after the runs allowed", theirs))
    return rows


def _figure(part: str, figure: str, values: Sequence[float], at: float) -> GoalRow:
    return GoalRow(part, figure, quantile(values, at), "", cases=len(values))


FAMILIES = ("grid", "machine", "curve", "drifting")


def main() -> int:
    given = _arguments()
    cases = [
        *([*grid_cases(), *grid_cases(load_grid(SECOND))] if "grid" in given.only else []),
        *(machine_cases(given.machines) if "machine" in given.only else []),
        *(curve_cases(given.curves) if "curve" in given.only else []),
        *(drifting_cases(given.drifting) if "drifting" in given.only else []),
    ]
    if given.processes > 1:
        from multiprocessing import get_context

        with get_context("fork").Pool(given.processes) as pool:
            replays = [each for found in pool.imap(replay_all, cases, chunksize=1) for each in found]
    else:
        replays = [each for case in cases for each in replay_all(case)]
    if given.worst:
        for each in replays:
            if each.order == "adaptive" and not each.in_time:
                print(f"{each.case}: {each.runs} of {each.allowed} runs, right {each.right}, {each.ended}: {each.said}")
    rows = table(replays)
    print("\n".join([HEAD, *(row.line for row in rows)]))
    return 1 if any(row.met is False for row in rows) else 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--machines", type=int, default=60, help="simulated machines")
    parser.add_argument("--drifting", type=int, default=36, help="simulated machines whose host drifts by 20 %%")
    parser.add_argument("--curves", type=int, default=60, help="curves of each drawn shape")
    parser.add_argument("--only", action="append", choices=FAMILIES, help="this family; may be given again")
    parser.add_argument(
        "--worst", action="store_true", help="each study that needed more runs, or whose answer differs"
    )
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    given = parser.parse_args()
    given.only = given.only or list(FAMILIES)
    return given


if __name__ == "__main__":
    raise SystemExit(main())

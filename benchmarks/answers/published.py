"""Is the recommendation the best machine of the table? Every published job with two machines or more, no one picked.

    python benchmarks/answers/published.py [--held-out] [--also FILE.csv ...] [--jobs 2] [--quick] [--no-predictions]

The right answer is found by looking at all rows (`answers_truth.py`), with the prices of the catalogue
(`answers_prices.py`). Beside it: rates left out of the same tables and foretold from the others
(`answers_held_out.py`). `--held-out` asks the tables of `held_out.csv`, on which nothing was tuned. `--also` adds
figures that may not be copied into the repository, in the columns of `held_out.csv`. Exit status 1 where a goal is
missed.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

# Before numpy: two processes that compute with two threads each would wait for one another.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

sys.path.append(str(Path(__file__).parents[1] / "accuracy"))

from accuracy_scores import HEAD, GoalRow, at_most, share
from answers_asked import ReadTable, asked, job_rows, read_table, write_table
from answers_held_out import HeldOutRate, one_at_a_time, thirds
from answers_jobs import HELD_OUT, PUBLISHED, PublishedJob, published_jobs
from answers_prices import retired_machines, sold_machines, usd_per_hour
from answers_truth import OBJECTIVES, Given, Verdict, choices, fastest_given, verdict

from sizer.records.errors import SizerError
from sizer.records.study import Objective

RIGHT = 0.95
QUICK = 8
"""With --quick one job of so many is asked."""


@dataclass(frozen=True)
class JudgedAnswer:
    """One question, and whether its answer is right. `fastest_right` is whether who always takes the fastest is."""

    job: str
    objective: str
    answered: bool
    verdict: Verdict
    fastest_right: bool

    @property
    def line(self) -> str:
        """Why it is wrong."""
        without = " (no price)" if self.verdict.without_price else ""
        return f"  {self.objective}{without}: {self.job}: {self.verdict.reason}"


@dataclass(frozen=True)
class JudgedJob:
    """The questions of one job, and the rates that were left out of its table and foretold."""

    answers: tuple[JudgedAnswer, ...]
    one_left_out: tuple[HeldOutRate, ...] = ()
    third_left_out: tuple[HeldOutRate, ...] = ()


def judge_job(job: PublishedJob, predictions: bool) -> JudgedJob:
    """Ask sizer for every objective, and compare with what looking at the rows says."""
    sold = sold_machines()
    found = choices(job.rows, lambda machine: usd_per_hour(machine, sold), retired_machines())
    table: ReadTable | None = None
    unread = ""
    try:
        with tempfile.TemporaryDirectory() as folder:
            write_table(path := Path(folder) / "table.csv", job_rows(job))
            table = read_table(path)
    except SizerError as error:
        unread = str(error).replace(f"{folder}/", "")
    answers = []
    for objective in OBJECTIVES:
        given = Given(refused=unread) if table is None else asked(table, Objective(objective))
        judged, by_speed = verdict(found, objective, given), verdict(found, objective, fastest_given(found))
        answers.append(JudgedAnswer(job.label, objective, not given.refused, judged, by_speed.right))
    if table is None or not predictions or any(row.input for row in job.rows):
        return JudgedJob(tuple(answers))
    return JudgedJob(tuple(answers), one_at_a_time(table.runs), thirds(table.runs))


def main() -> int:
    given = _arguments()
    jobs = published_jobs((HELD_OUT if given.held_out else PUBLISHED, *given.also))
    jobs = jobs[::QUICK] if given.quick else jobs
    judged = _judged(jobs, not given.no_predictions, given.jobs)
    part = "held-out jobs" if given.held_out else "published jobs"
    one = [rate for job in judged for rate in job.one_left_out]
    third = [rate for job in judged for rate in job.third_left_out]
    table = [
        *answer_rows(part, [each for job in judged for each in job.answers]),
        *prediction_rows("one left out, between others", one),
        *prediction_rows("a third left out, between", [rate for rate in third if rate.between]),
        *prediction_rows("a third left out, beyond", [rate for rate in third if not rate.between]),
    ]
    rows, machines = sum(len(job.rows) for job in jobs), sum(len(job.machines) for job in jobs)
    print(f"{len(jobs)} jobs, {rows} rows, {machines} machines")
    print("\n".join(["", HEAD, *(row.line for row in table), ""]))
    wrong = [each for job in judged for each in job.answers if not each.verdict.right]
    print("\n".join([f"{len(wrong)} wrong:", *(each.line for each in wrong)]))
    missed = [row for row in table if row.met is False]
    return 1 if missed else 0


def answer_rows(part: str, answers: Sequence[JudgedAnswer]) -> list[GoalRow]:
    """How many were answered and right, those of jobs without a price apart."""
    priced = [each for each in answers if not each.verdict.without_price]
    table = [share(part, "answered", [each.answered for each in answers])]
    for objective in OBJECTIVES:
        own = [each.verdict.right for each in priced if each.objective == objective]
        table.append(share(part, f"{objective}: right", own))
    table.append(share(part, "right, all three", [each.verdict.right for each in priced], RIGHT))
    table.append(share(part, "who always takes the fastest: right", [each.fastest_right for each in priced]))
    unpriced = [each.verdict.right for each in answers if each.verdict.without_price]
    return [*table, share(part, "no price known: says so, or the fastest", unpriced, RIGHT)]


def prediction_rows(part: str, rates: Sequence[HeldOutRate]) -> list[GoalRow]:
    """How far the predictions of rates that were left out are off, and how many lie in their intervals."""
    foretold = [each for each in rates if each.predicted is not None]
    return [
        share(part, "foretold", [each.predicted is not None for each in rates]),
        at_most(part, "median error", [each.error for each in foretold], 0.5),
        at_most(part, "90th percentile of errors", [each.error for each in foretold], 0.9),
        share(part, "in their 90 % intervals", [each.covered for each in foretold]),
    ]


def _judged(jobs: Sequence[PublishedJob], predictions: bool, processes: int) -> list[JudgedJob]:
    asked_for = [(job, predictions) for job in jobs]
    if processes == 1:
        return [judge_job(*each) for each in asked_for]
    with get_context("fork").Pool(processes) as pool:
        return pool.starmap(judge_job, asked_for, chunksize=1)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--held-out", action="store_true", help="the tables on which nothing was tuned")
    parser.add_argument("--also", action="append", type=Path, default=[], help="further figures; may be given again")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes")
    parser.add_argument("--quick", action="store_true", help=f"one job of {QUICK}: whether all of it works")
    parser.add_argument("--no-predictions", action="store_true", help="leave no rates out of the tables")
    return parser.parse_args()


if __name__ == "__main__":
    raise SystemExit(main())

"""Is the recommendation the best machine of the table? Every published job with two machines or more.

    python benchmarks/answers/published.py [--held-out] [--also FILE.csv ...] [--quick]

The right answer is found by looking at all rows (`answers_truth.py`), with the prices of the catalogue
(`answers_jobs.py`). `--held-out` asks the tables of `held_out.csv`, on which nothing was tuned. `--also` adds figures
that may not be copied into the repository, in the columns of `held_out.csv`. Exit status 1 where a goal is missed.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

# Before numpy: two processes that compute with two threads each would wait for one another.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

sys.path.append(str(Path(__file__).parents[1] / "shared"))

from answers_asked import ReadTable, asked, job_rows, read_table, write_table
from answers_jobs import (
    HELD_OUT,
    PUBLISHED,
    PublishedJob,
    published_jobs,
    retired_machines,
    sold_machines,
    usd_per_hour,
)
from answers_truth import OBJECTIVES, Given, Verdict, choices, verdict
from goals import GoalRow, in_processes, printed, share

from sizer.records.messages import SizerError
from sizer.records.study import Objective

RIGHT = 0.95
QUICK = 8
"""With --quick one job of so many is asked."""


@dataclass(frozen=True)
class JudgedAnswer:
    """One question, and whether its answer is right."""

    job: str
    objective: str
    answered: bool
    verdict: Verdict

    @property
    def line(self) -> str:
        """Why it is wrong."""
        without = " (no price)" if self.verdict.without_price else ""
        return f"  {self.objective}{without}: {self.job}: {self.verdict.reason}"


def judge_job(job: PublishedJob) -> list[JudgedAnswer]:
    """Ask sizer for every objective, and compare with what looking at the rows says."""
    sold = sold_machines()
    options = choices(job.rows, lambda machine: usd_per_hour(machine, sold), retired_machines())
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
        judged = verdict(options, objective, given)
        answers.append(JudgedAnswer(job.label, objective, not given.refused, judged))
    return answers


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--held-out", action="store_true", help="the tables on which nothing was tuned")
    parser.add_argument("--also", action="append", type=Path, default=[], help="further figures; may be given again")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--quick", action="store_true", help=f"one job of {QUICK}: whether all of it works")
    given = parser.parse_args()
    jobs = published_jobs((HELD_OUT if given.held_out else PUBLISHED, *given.also))
    jobs = jobs[::QUICK] if given.quick else jobs
    judged = in_processes(judge_job, [(job,) for job in jobs], given.processes)
    answers = [answer for of_job in judged for answer in of_job]
    table = answer_rows("held-out jobs" if given.held_out else "published jobs", answers)
    rows, machines = sum(len(job.rows) for job in jobs), sum(len(job.machines) for job in jobs)
    wrong = [answer.line for answer in answers if not answer.verdict.right]
    return printed(table, [f"{len(jobs)} jobs, {rows} rows, {machines} machines", f"{len(wrong)} wrong:", *wrong, ""])


def answer_rows(part: str, answers: Sequence[JudgedAnswer]) -> list[GoalRow]:
    """How many were answered and right, those of jobs without a price apart."""
    priced = [answer for answer in answers if not answer.verdict.without_price]
    table = [share(part, "answered", [answer.answered for answer in answers])]
    for objective in OBJECTIVES:
        own = [answer.verdict.right for answer in priced if answer.objective == objective]
        table.append(share(part, f"{objective}: right", own))
    table.append(share(part, "right, all three", [answer.verdict.right for answer in priced], RIGHT))
    unpriced = [answer.verdict.right for answer in answers if answer.verdict.without_price]
    return [*table, share(part, "no price known: says so, or the fastest", unpriced, RIGHT)]


if __name__ == "__main__":
    raise SystemExit(main())

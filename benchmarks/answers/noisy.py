"""Is an answer right where the host drifts, and is it given? Simulated studies, each beside its twin on a quiet host.

    python benchmarks/answers/noisy.py [--studies 200] [--first 0] [--processes 2] [--worst 20]

Two jobs on simulated machines whose true rates are known (`accuracy/accuracy_machines.py`), measured in the order of
`sizer run` with a reference between, on a host that becomes 20 % slower in steps, ramps or spells; for all jobs or one;
so that accounting sees it, or does not (`noisy_studies.py`). An answer is `recommended` and not provisional; it is
right where its true rate is within 5 % of the target of the best. The twin has neither drift nor noise. Exit status 1
where a goal is missed.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

# Before numpy: two processes that compute with two threads each would wait for one another.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

sys.path += [str(Path(__file__).parents[1] / name) for name in ("accuracy", "shared")]

from goals import GoalRow, judge_numbered, share
from judged_studies import LEAST_ANSWERED, LEAST_RIGHT, JudgedAnswer, answers_of, judged_answer
from noisy_studies import KINDS, NoisyHost, NoisyStudy, drawn_study

from sizer.records.answer import Answer


@dataclass(frozen=True)
class JudgedJob:
    """One job of one study: what was said on the noisy host, and of its twin."""

    study: int
    job: int
    host: NoisyHost
    noisy: JudgedAnswer
    twin: JudgedAnswer

    @property
    def line(self) -> str:
        felt = "all" if self.host.everywhere else f"job {self.host.only}"
        seen = "seen" if self.host.seen else "unseen"
        answers = f"noisy {self.noisy.line}; twin {self.twin.line}"
        return f"{self.study}.{self.job} {self.host.kind}, {felt}, {seen}: {answers}"


def judge_study(number: int) -> list[JudgedJob]:
    """One study, from drawing to judging."""
    study = drawn_study(number)
    noisy, twin = (_judged(study, is_noisy) for is_noisy in (True, False))
    host = replace(study.host, path=float)  # A drawn path cannot be sent to another process.
    return [JudgedJob(number, job, host, noisy[job], twin[job]) for job in range(len(study.cases))]


def _judged(study: NoisyStudy, is_noisy: bool) -> list[JudgedAnswer]:
    model, answers = answers_of(study.runs(is_noisy))
    judged = []
    for job, case in enumerate(study.cases):
        name = f"job{job}"
        answer = answers.get(name, Answer(name, "refused"))
        judged.append(judged_answer(case, model.workload(name), answer) if answer.spec else JudgedAnswer(answer))
    return judged


def scores(studies: Sequence[Sequence[JudgedJob]]) -> list[GoalRow]:
    """The rows of the table: all studies, then those of each kind of drift."""
    judged = [job for study in studies for job in study]
    groups = {"all studies": judged, **{kind: [job for job in judged if job.host.kind == kind] for kind in KINDS}}
    groups["felt by all jobs"] = [job for job in judged if job.host.everywhere]
    groups["felt by one job"] = [job for job in judged if not job.host.everywhere]
    groups["seen by accounting"] = [job for job in judged if job.host.seen]
    groups["unseen"] = [job for job in judged if not job.host.seen]
    table = []
    for part, members in groups.items():
        goals = (LEAST_RIGHT, LEAST_ANSWERED) if part == "all studies" else (None, None)
        right = [member.noisy.right for member in members if member.noisy.answered]
        kept = [member.noisy.answered for member in members if member.twin.answered]
        table += [
            share(part, "right, of those answered", right, goals[0]),
            share(part, "answered, of those that a quiet host answers", kept, goals[1]),
        ]
    twins = [job.twin.right for job in judged if job.twin.answered]
    return [*table, share("twins without noise", "right, of those answered", twins)]


def _worst_lines(studies: Sequence[Sequence[JudgedJob]]) -> list[str]:
    judged = [job for study in studies for job in study]
    wrong = [job for job in judged if job.noisy.answered and not job.noisy.right]
    missing = [job for job in judged if job.twin.answered and not job.noisy.answered]
    return [job.line for job in [*wrong, *missing]]


if __name__ == "__main__":
    raise SystemExit(judge_numbered(__doc__, "studies", 200, judge_study, scores, _worst_lines))

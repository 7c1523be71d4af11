"""Is an answer as sure as it is right where other programs use the host's CPUs? Simulated studies beside their twins.

    python benchmarks/answers/crowded.py [--studies 200] [--first 0] [--processes 2] [--worst 20]

A job on a host of two or four CPUs, measured with all of them and less while others take what they want of them in
spells (`crowded_studies.py`); a quarter of the jobs compute in one thread. The twin has the host for itself. An answer
is `recommended` and not provisional, and right where its true rate is within 5 % of the target of the best. Of a
probability it is asked how often what it is that of is true. Exit status 1 where a goal is missed.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

# Before numpy: two processes that compute with two threads each would wait for one another.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

sys.path += [str(Path(__file__).parents[1] / name) for name in ("accuracy", "shared")]

from crowded_studies import CrowdedStudy, drawn_study
from goals import GoalRow, judge_numbered, share
from judged_studies import LEAST_ANSWERED, LEAST_RIGHT, JudgedAnswer, answers_of, judged_answer

LEAST_TRUE = 0.9
SURE = 0.9
BANDS = (0.5, 0.75, SURE, 0.97, 1.0)
"""Probabilities between which it is counted how often what is said is true."""


@dataclass(frozen=True)
class JudgedStudy:
    """What was said of one study beside others, and of its twin."""

    number: int
    crowded: JudgedAnswer
    twin: JudgedAnswer

    @property
    def too_sure(self) -> bool:
        """Whether it is wrong, or nearly certain of what is not so."""
        judged = self.crowded
        untrue = judged.true is False and (judged.answer.probability or 0.0) >= SURE
        return untrue or (judged.answered and not judged.right)


def judge_study(number: int) -> JudgedStudy:
    """One study, from drawing to judging."""
    study = drawn_study(number)
    return JudgedStudy(number, *(_judged(study, crowded) for crowded in (True, False)))


def _judged(study: CrowdedStudy, crowded: bool) -> JudgedAnswer:
    model, answers = answers_of(study.runs(crowded))
    (answer,) = answers.values()
    return judged_answer(study.case, model.workloads[0], answer)


def scores(judged: Sequence[JudgedStudy]) -> list[GoalRow]:
    """Answers, and of each kind how often what was said with a probability was true."""
    crowded, twins = [study.crowded for study in judged], [study.twin for study in judged]
    kept = [study.crowded.answered for study in judged if study.twin.answered]
    return [
        share(
            "crowded", "right, of those answered", [answer.right for answer in crowded if answer.answered], LEAST_RIGHT
        ),
        share("crowded", "answered, of those that the twin answers", kept, LEAST_ANSWERED),
        *_how_true("crowded", crowded, LEAST_TRUE),
        share("twins", "right, of those answered", [twin.right for twin in twins if twin.answered]),
        *_how_true("twins", twins),
    ]


def _how_true(part: str, judged: Sequence[JudgedAnswer], least: float | None = None) -> Iterator[GoalRow]:
    for status in ("recommended", "at_least"):
        some = [
            (answer.answer.probability, answer.true)
            for answer in judged
            if answer.status.endswith(status) and answer.true is not None and answer.answer.probability is not None
        ]
        for low, high in pairwise(BANDS):
            band = [(likely, true) for likely, true in some if low <= likely < high]
            mean = sum(likely for likely, _ in band) / max(1, len(band))
            figure = f"{status}, {low:g} to {high:g} (mean {mean:.2f}): true"
            yield share(part, figure, [true for _, true in band], least if low >= SURE else None)


def _worst_lines(judged: Sequence[JudgedStudy]) -> list[str]:
    return [f"{study.number}: {study.crowded.line}; twin {study.twin.line}" for study in judged if study.too_sure]


if __name__ == "__main__":
    raise SystemExit(judge_numbered(__doc__, "studies", 200, judge_study, scores, _worst_lines))

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

from accuracy_advised import REGRET, TARGET, bought, offered
from accuracy_machines import Faster
from accuracy_scores import GoalRow, share
from crowded_studies import CrowdedStudy, drawn_study
from judged_studies import judge_and_print

from sizer.catalog.catalog import Catalog
from sizer.model.fitting import fit
from sizer.recommend.recommendation import recommend
from sizer.records.answer import Event
from sizer.records.prediction import Spec
from sizer.records.run import Run
from sizer.records.study import Objective

LEAST_RIGHT, LEAST_ANSWERED, LEAST_TRUE = 0.95, 0.80, 0.9
SURE = 0.9
BANDS = (0.5, 0.75, SURE, 0.97, 1.0)
"""Probabilities between which it is counted how often what is said is true."""


@dataclass(frozen=True)
class Told:
    """What was said: the status, the spec and whether its rate is right; and what was said with which probability, and
    whether it is `true`."""

    status: str
    spec: str = "-"
    right: bool = False
    probability: float | None = None
    true: bool | None = None

    @property
    def answered(self) -> bool:
        """Whether it is an answer to act on."""
        return self.status == "recommended"

    @property
    def too_sure(self) -> bool:
        return (self.answered and not self.right) or (self.true is False and (self.probability or 0.0) >= SURE)

    @property
    def line(self) -> str:
        return f"{self.status} {self.spec} P {self.probability} true {self.true}"


@dataclass(frozen=True)
class JudgedStudy:
    """What was said of one study beside others, and of its twin."""

    number: int
    crowded: Told
    twin: Told

    @property
    def line(self) -> str:
        return f"{self.number}: {self.crowded.line}; twin {self.twin.line}"


def judge_study(number: int) -> JudgedStudy:
    """One study, from drawing to judging."""
    study = drawn_study(number)
    return JudgedStudy(number, *(_told(study, study.runs(crowded)) for crowded in (True, False)))


def _told(study: CrowdedStudy, runs: Sequence[Run]) -> Told:
    model, catalog = fit(runs), Catalog.load()
    (answer,) = recommend(model, runs, Objective("cheapest", TARGET), catalog).workloads
    if answer.spec is None:
        return Told("refused")
    machine, case = study.case.machine, study.case
    sold = offered(model.workloads[0], answer, catalog)
    places = {spec: place for spec in sold if machine.holds(place := bought(case, spec))}
    mine = bought(case, answer.spec)
    rates = machine.truth([(place, Faster()) for place in dict.fromkeys([*places.values(), mine])])
    needed = TARGET * max(rates.values())
    own = rates[mine, Faster()] if machine.holds(mine) else 0.0
    status = f"provisional {answer.status}" if answer.provisional else answer.status
    said: bool | None = None
    if answer.probability_of is Event.REACHES_TARGET:
        said = own >= needed
    elif answer.probability_of in (Event.FEWER_TOO_FEW, Event.LESS_TOO_LITTLE):
        less = [place for spec, place in places.items() if _is_less(spec, answer.spec, answer.probability_of)]
        said = not any(rates[place, Faster()] >= needed for place in less)
    right = own >= (1 - REGRET) * needed
    return Told(status, f"{answer.spec.vcpus} {answer.spec.disk or ''}", right, answer.probability, said)


def _is_less(spec: Spec, mine: Spec, event: Event) -> bool:
    """Of a lower bound: fewer vCPUs, or as many with less memory where that is said, too."""
    if (spec.vcpus or 0.0) < (mine.vcpus or 0.0):
        return True
    less_memory = (spec.memory_bytes or 0) < (mine.memory_bytes or 0)
    return event is Event.LESS_TOO_LITTLE and spec.vcpus == mine.vcpus and less_memory


def scores(judged: Sequence[JudgedStudy]) -> list[GoalRow]:
    """Answers, and of each kind how often what was said with a probability was true."""
    crowded, twins = [each.crowded for each in judged], [each.twin for each in judged]
    kept = [each.crowded.answered for each in judged if each.twin.answered]
    return [
        share("crowded", "right, of those answered", [each.right for each in crowded if each.answered], LEAST_RIGHT),
        share("crowded", "answered, of those that the twin answers", kept, LEAST_ANSWERED),
        *_how_true("crowded", crowded, LEAST_TRUE),
        share("twins", "right, of those answered", [each.right for each in twins if each.answered]),
        *_how_true("twins", twins),
    ]


def _how_true(part: str, told: Sequence[Told], least: float | None = None) -> Iterator[GoalRow]:
    for status in ("recommended", "at_least"):
        some = [each for each in told if each.status.endswith(status) and each.true is not None]
        for low, high in pairwise(BANDS):
            band = [each for each in some if each.probability is not None and low <= each.probability < high]
            mean = sum(each.probability or 0.0 for each in band) / max(1, len(band))
            figure = f"{status}, {low:g} to {high:g} (mean {mean:.2f}): true"
            yield share(part, figure, [bool(each.true) for each in band], least if low >= SURE else None)


def _worst_lines(judged: Sequence[JudgedStudy]) -> list[str]:
    return [each.line for each in judged if each.crowded.too_sure]


def main() -> int:
    return judge_and_print(__doc__.splitlines()[0], judge_study, scores, _worst_lines, "wrong or too sure")


if __name__ == "__main__":
    raise SystemExit(main())

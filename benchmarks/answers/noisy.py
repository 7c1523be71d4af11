"""Is an answer right where the host drifts, and is it given? Simulated studies, each beside its twin on a quiet host.

    python benchmarks/answers/noisy.py [--studies 200] [--first 0] [--processes 2] [--worst 20]

Two jobs on simulated machines whose true rates are known (`accuracy/accuracy_machines.py`), measured in the order of
`sizer run` with a reference between, on a host that becomes 20 % slower in steps, ramps or spells; for all jobs or one;
so that accounting sees it, or does not (`noisy_hosts.py`). An answer is `recommended` and not provisional; it is right
where its true rate is within 5 % of the target of the best. The twin has neither drift nor noise. Exit status 1 where a
goal is missed.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

# Before numpy: two processes that compute with two threads each would wait for one another.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

sys.path += [str(Path(__file__).parents[1] / name) for name in ("accuracy", "shared")]

from accuracy_advised import REGRET, TARGET, Advised, against, offered
from accuracy_scores import GoalRow, share
from judged_studies import judge_and_print
from noisy_hosts import KINDS, NoisyHost
from noisy_studies import NoisyStudy, drawn_study

from sizer.catalog.catalog import Catalog
from sizer.model.fitting import fit
from sizer.recommend.recommendation import recommend
from sizer.records.run import Run
from sizer.records.study import Objective

LEAST_RIGHT, LEAST_ANSWERED = 0.95, 0.80


@dataclass(frozen=True)
class Told:
    """What was said of one job: whether it is an answer to act on, and against the truth."""

    answered: bool
    status: str
    probability: float | None
    advised: Advised | None

    @property
    def right(self) -> bool:
        return self.advised is not None and self.advised.rate_regret <= REGRET


@dataclass(frozen=True)
class JudgedJob:
    """One job of one study: what was said on the noisy host, and of its twin."""

    study: int
    job: int
    host: NoisyHost
    noisy: Told
    twin: Told

    @property
    def line(self) -> str:
        host, told = self.host, self.noisy
        felt = "all" if host.everywhere else f"job {host.only}"
        seen = "seen" if host.seen else "unseen"
        said = [f"{name} {each.status} {_spec(each)} {each.probability}" for name, each in self._both]
        return f"{self.study}.{self.job} {host.kind}, {felt}, {seen}: {'; '.join(said)}; regret {_regret(told)}"

    @property
    def _both(self) -> list[tuple[str, Told]]:
        return [("noisy", self.noisy), ("twin", self.twin)]


def _spec(told: Told) -> str:
    spec = told.advised.spec if told.advised is not None else None
    return "-" if spec is None else f"{spec.vcpus} {spec.disk or ''}"


def _regret(told: Told) -> str:
    return "-" if told.advised is None else f"{told.advised.rate_regret:.1%}"


def judge_study(number: int) -> list[JudgedJob]:
    """One study, from drawing to judging."""
    study = drawn_study(number)
    both = [_told(study, study.runs(noisy)) for noisy in (True, False)]
    return [
        JudgedJob(number, job, _without_path(study.host), *told) for job, told in enumerate(zip(*both, strict=True))
    ]


def _without_path(host: NoisyHost) -> NoisyHost:
    """As it can be sent to another process."""
    return NoisyHost(host.kind, host.everywhere, host.only, host.seen, float)


def _told(study: NoisyStudy, runs: Sequence[Run]) -> list[Told]:
    model, catalog = fit(runs), Catalog.load()
    answers = {each.workload: each for each in recommend(model, runs, Objective("cheapest", TARGET), catalog).workloads}
    found = []
    for job, case in enumerate(study.cases):
        answer = answers.get(f"job{job}")
        if answer is None or answer.spec is None:
            found.append(Told(False, "refused", None, None))
            continue
        advised = against(case, answer, answer.spec, offered(model.workload(answer.workload), answer, catalog))
        sure = answer.status == "recommended" and not answer.provisional
        status = f"provisional {answer.status}" if answer.provisional else answer.status
        found.append(Told(sure, status, answer.probability, advised))
    return found


def scores(judged: Sequence[JudgedJob]) -> list[GoalRow]:
    """The rows of the table: all studies, then those of each kind of drift."""
    groups = {"all studies": list(judged)}
    groups |= {kind: [each for each in judged if each.host.kind == kind] for kind in KINDS}
    groups["felt by all jobs"] = [each for each in judged if each.host.everywhere]
    groups["felt by one job"] = [each for each in judged if not each.host.everywhere]
    groups["seen by accounting"] = [each for each in judged if each.host.seen]
    groups["unseen"] = [each for each in judged if not each.host.seen]
    table = []
    for part, members in groups.items():
        goal = part == "all studies"
        told = [each.noisy.right for each in members if each.noisy.answered]
        kept = [each.noisy.answered for each in members if each.twin.answered]
        table += [
            share(part, "right, of those answered", told, LEAST_RIGHT if goal else None),
            share(part, "answered, of those that a quiet host answers", kept, LEAST_ANSWERED if goal else None),
        ]
    twins = [each.twin.right for each in judged if each.twin.answered]
    return [*table, share("twins without noise", "right, of those answered", twins)]


def _worst_lines(studies: Sequence[Sequence[JudgedJob]]) -> list[str]:
    judged = [each for study in studies for each in study]
    wrong = [each for each in judged if each.noisy.answered and not each.noisy.right]
    missing = [each for each in judged if each.twin.answered and not each.noisy.answered]
    return [each.line for each in [*wrong, *missing]]


def _scores_of_all(studies: Sequence[Sequence[JudgedJob]]) -> list[GoalRow]:
    return scores([each for study in studies for each in study])


def main() -> int:
    return judge_and_print(__doc__.splitlines()[0], judge_study, _scores_of_all, _worst_lines, "wrong or missing")


if __name__ == "__main__":
    raise SystemExit(main())

"""Simulated machines: each is measured, fitted, asked about what was held out, and compared with the truth."""

from __future__ import annotations

import math
import traceback
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from accuracy_advised import TARGET, Advised, against, offered
from accuracy_draws import Case, draw_case
from accuracy_machines import Faster, Question, share_questions, stage_shares
from accuracy_rivals import Answers, rivals
from accuracy_runs import measured_questions, measured_runs, noise
from accuracy_scores import error

from sizer.catalog import Catalog
from sizer.model import Model, WorkloadModel, fit, gpus_of, predict
from sizer.recommend import recommend
from sizer.records.configuration import Bottleneck, Configuration
from sizer.records.errors import NoAnswer
from sizer.records.run import Run
from sizer.records.study import Objective

SEED = 2018
CLEAR = 0.2
"""The bottleneck is judged where the first two stages' true shares are at least this far apart."""
EITHER = 0.3
"""Of computing, `cpu` is right where at least this share of it is relieved by vCPUs, `serial` where as much is not."""
MOST_JUDGED = 8


@dataclass(frozen=True)
class HeldOut:
    """One configuration that was not measured: what was said of it, and what is true."""

    case: int
    accounted: bool
    configuration: Configuration
    truth: float
    predicted: float
    low: float
    high: float
    new_run: float
    beyond: bool
    others: dict[str, float]

    @property
    def error(self) -> float:
        return error(self.predicted, self.truth)

    @property
    def covered(self) -> bool:
        return self.low <= self.new_run <= self.high


@dataclass(frozen=True)
class Named:
    """The bottleneck that was named, and the true shares of the kinds of stages.

    `relieved` is the part of the computing time that a few more vCPUs, or a few fewer, show to scale with them: lowest
    and highest of the two sides, 0 to 1. `accelerator_known`: whether the runs name one, or account for it.
    """

    case: int
    accounted: bool
    configuration: Configuration
    named: Bottleneck
    shares: dict[str, float]
    relieved: tuple[float, float]
    accelerator_known: bool = True

    @property
    def truth(self) -> str:
        return max(self.shares, key=lambda kind: self.shares[kind])

    @property
    def clear(self) -> bool:
        first, second, *_ = sorted(self.shares.values(), reverse=True)
        return first - second >= CLEAR

    @property
    def right(self) -> bool:
        """`cpu` and `serial` are both computing: the first where vCPUs relieve it, the second where they do not.

        An accelerator that no column tells of is part of what vCPUs do not relieve: from rates alone, `serial`.
        """
        kind = kind_of(self.named)
        if self.truth == "accelerator" and not self.accelerator_known:
            return kind == "serial"
        if self.truth != "computing":
            return kind == self.truth
        if kind == "cpu":
            return self.relieved[1] >= EITHER
        return kind == "serial" and self.relieved[0] <= 1 - EITHER


@dataclass(frozen=True)
class CaseResult:
    """All results of one case; `unanswered` counts held-out configurations that were refused.

    `fault` is the traceback where sizer itself failed.
    """

    case: Case
    held_out: tuple[HeldOut, ...]
    unanswered: int
    refused: str | None
    named: tuple[Named, ...]
    advised: Advised | None
    fault: str | None = None


@dataclass(frozen=True)
class Prepared:
    """A case with what was measured of it, and the true rates, which are simulated once for several models.

    `truth` grows by what an answer asks for.
    """

    case: Case
    runs: tuple[Run, ...]
    asked: tuple[Configuration, ...]
    truth: dict[Question, float]


def judge_case(number: int, seed: int = SEED) -> CaseResult:
    """One machine, from drawing to judging; a fault of sizer's own is an outcome, too."""
    return judged(prepared(number, seed))


def prepared(number: int, seed: int = SEED) -> Prepared:
    """One machine, drawn and measured."""
    return prepared_case(draw_case(number, seed))


def prepared_case(case: Case) -> Prepared:
    """One that was drawn, measured."""
    asked = _judged(case)
    held = [(configuration, Faster()) for configuration in (*case.inside, *case.beyond)]
    counterfactuals = [question for configuration in asked for question in share_questions(configuration).values()]
    truth = case.machine.truth([*measured_questions(case), *held, *counterfactuals])
    return Prepared(case, tuple(measured_runs(case, truth)), tuple(asked), dict(truth))


def judged(prepared: Prepared, with_rivals: bool = True) -> CaseResult:
    """What the model as it is now says of it."""
    case, runs, truth = prepared.case, prepared.runs, prepared.truth
    try:
        model = fit(runs)
        workload = model.workloads[0]
        others = rivals(runs) if with_rivals else {}
        held_out, named = _held_out(case, workload, others, truth), _named(case, workload, prepared.asked, truth)
        advised = _advised(prepared, model)
    except Exception:
        return CaseResult(case, (), 0, None, (), None, fault=traceback.format_exc())
    asked = len(case.inside) + len(case.beyond)
    return CaseResult(
        case,
        held_out,
        asked - len(held_out),
        workload.refused.reason.code.value if workload.refused else None,
        named,
        advised,
    )


def _judged(case: Case) -> list[Configuration]:
    """Where the bottleneck is asked for: held-out configurations and a few that were measured."""
    measured = [configuration for configuration in case.measured if case.machine.holds(configuration)]
    random = np.random.default_rng([case.machine.seed, 3])
    return [*case.inside[:MOST_JUDGED], *(measured[int(i)] for i in random.permutation(len(measured))[:4])]


def _held_out(
    case: Case, workload: WorkloadModel, rivalling: Mapping[str, Answers], truth: Mapping[Question, float]
) -> tuple[HeldOut, ...]:
    random = np.random.default_rng([case.machine.seed, 2])
    asked = [*case.inside, *case.beyond]
    others = {name: answers(asked) for name, answers in rivalling.items()}
    found = []
    for index, configuration in enumerate(asked):
        rate = truth[configuration, Faster()]
        new_run = rate * noise(case, random)
        try:
            said = predict(workload, configuration).throughput
        except NoAnswer:
            continue
        found.append(
            HeldOut(
                case.number,
                case.accounted,
                configuration,
                rate,
                said.value,
                said.low,
                said.high,
                new_run,
                index >= len(case.inside),
                {name: float(values[index]) for name, values in others.items()},
            )
        )
    return tuple(found)


def _named(
    case: Case, workload: WorkloadModel, judged: Sequence[Configuration], truth: Mapping[Question, float]
) -> tuple[Named, ...]:
    known = case.accounted or case.measured[0].gpu is not None or gpus_of(case.measured[0]) > 0
    found = []
    for configuration in judged:
        gains = stage_shares(configuration, truth)
        try:
            named = predict(workload, configuration).bottleneck
        except NoAnswer:
            continue
        found.append(
            Named(case.number, case.accounted, configuration, named, true_kinds(gains), relieved(gains), known)
        )
    return tuple(found)


def true_kinds(gains: dict[str, float]) -> dict[str, float]:
    """Shares of computing (with the lock), of the disk with its latency, of writing, and of the accelerator."""
    return {
        "computing": max(0.0, gains["cpu"] + gains["lock"]),
        "disk": max(0.0, gains["disk"] + gains["latency"]),
        "write": max(0.0, gains["write"]),
        "accelerator": max(0.0, gains["accelerator"]),
    }


def relieved(gains: dict[str, float]) -> tuple[float, float]:
    """Which part of computing vCPUs relieve, by the side that says least and the one that says most."""
    computing = max(0.05, gains["cpu"] + gains["lock"])
    parts = sorted(min(1.0, max(0.0, gains[side] / computing)) for side in ("more", "fewer"))
    return parts[0], parts[1]


def kind_of(named: Bottleneck) -> str:
    """Bytes, IOs and want of page cache are all the disk's: which of them it is rests on figures that are given."""
    if named in (Bottleneck.DISK_BANDWIDTH, Bottleneck.DISK_IOPS, Bottleneck.MEMORY):
        return "disk"
    return "write" if named is Bottleneck.DISK_WRITE else named.value


def _advised(prepared: Prepared, model: Model) -> Advised:
    case, runs = prepared.case, prepared.runs
    workload, catalog = model.workloads[0], Catalog.load()
    answer = recommend(model, runs, Objective("cheapest", TARGET), catalog).workloads[0]
    if answer.spec is None:
        return Advised(case.number, case.accounted, answer.status, None, math.nan, math.nan, math.nan)
    return against(case, answer, answer.spec, offered(workload, answer, catalog), prepared.truth)

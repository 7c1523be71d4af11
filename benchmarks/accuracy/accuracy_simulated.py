"""Simulated machines: each is measured, fitted, asked about what was held out, and compared with the truth."""

from __future__ import annotations

import traceback
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from accuracy_draws import Case, draw_case
from accuracy_machines import Faster, Question, share_questions, stage_shares
from accuracy_runs import measured_questions, measured_runs, noise
from accuracy_scores import LeftOut, error_rows, in_words, left_out, worst_lines
from goals import GoalRow, below, share

from sizer.model.fitting import fit
from sizer.model.model import WorkloadModel, gpus_of
from sizer.model.prediction import predict_several
from sizer.records.prediction import Bottleneck, Configuration, Refusal
from sizer.records.run import Run

SEED = 2018
CLEAR = 0.2
"""The bottleneck is judged where the first two stages' true shares are at least this far apart."""
EITHER = 0.3
"""Of computing, `cpu` is right where at least this share of it is relieved by vCPUs, `serial` where as much is not."""
MOST_JUDGED = 8


@dataclass(frozen=True)
class Named:
    """The bottleneck that was named at a configuration of a machine, and the true shares of the kinds of stages.

    `relieved` is the part of the computing time that a few more vCPUs, or a few fewer, show to scale with them: lowest
    and highest of the two sides, 0 to 1. `accelerator_known`: whether the runs name one, or account for it.
    """

    case: str
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

    @property
    def line(self) -> str:
        shares = ", ".join(f"{kind} {share:.2f}" for kind, share in self.shares.items() if share > 0.02)
        low, high = self.relieved
        place = f"{self.case}: {in_words(self.configuration)}"
        return (
            f"    {place}: said {self.named.value}, true {shares}; vCPUs relieve {low:.2f} to {high:.2f} of computing"
        )


@dataclass(frozen=True)
class CaseResult:
    """What was said of one case inside of what was measured and beyond, of how many configurations it was `asked`, and
    which bottlenecks; `fault` is the traceback where sizer itself failed."""

    accounted: bool
    asked: int
    inside: Sequence[LeftOut] = ()
    beyond: Sequence[LeftOut] = ()
    named: Sequence[Named] = ()
    fault: str | None = None


def judge_case(number: int, seed: int = SEED) -> CaseResult:
    """One machine, from drawing to judging."""
    case = draw_case(number, seed)
    named_at = _judged(case)
    held = [(configuration, Faster()) for configuration in (*case.inside, *case.beyond)]
    counterfactuals = [question for configuration in named_at for question in share_questions(configuration).values()]
    truth = case.machine.truth([*measured_questions(case), *held, *counterfactuals])
    try:
        return _judge(case, measured_runs(case, truth), named_at, truth)
    except Exception:
        return CaseResult(case.accounted, len(held), fault=f"machine {number}: {traceback.format_exc()}")


def _judged(case: Case) -> list[Configuration]:
    """Where the bottleneck is asked for: held-out configurations and a few that were measured."""
    measured = [configuration for configuration in case.measured if case.machine.holds(configuration)]
    random = np.random.default_rng([case.machine.seed, 3])
    return [*case.inside[:MOST_JUDGED], *(measured[int(i)] for i in random.permutation(len(measured))[:4])]


def _judge(
    case: Case, runs: Sequence[Run], named_at: Sequence[Configuration], truth: Mapping[Question, float]
) -> CaseResult:
    model, random = fit(runs).workloads[0], np.random.default_rng([case.machine.seed, 2])
    name, asked = f"machine {case.number}", [*case.inside, *case.beyond]
    rates = [truth[configuration, Faster()] for configuration in asked]
    truths = {place: (rate, (rate * noise(case, random),)) for place, rate in zip(asked, rates, strict=True)}
    points = left_out(name, model, truths)
    inside = [point for point in points if point.configuration in case.inside]
    beyond = [point for point in points if point.configuration not in case.inside]
    return CaseResult(case.accounted, len(asked), inside, beyond, _named(case, model, named_at, truth))


def _named(
    case: Case, model: WorkloadModel, named_at: Sequence[Configuration], truth: Mapping[Question, float]
) -> list[Named]:
    by_accounting = case.accounted or case.measured[0].gpu is not None or gpus_of(case.measured[0]) > 0
    judged = []
    for place, prediction in zip(named_at, predict_several(model, named_at), strict=True):
        if not isinstance(prediction, Refusal):
            gains = stage_shares(place, truth)
            kinds, name = true_kinds(gains), f"machine {case.number}"
            judged.append(Named(name, place, prediction.bottleneck, kinds, relieved(gains), by_accounting))
    return judged


def true_kinds(gains: dict[str, float]) -> dict[str, float]:
    """Shares of computing (with the lock), of the disk with its latency, of writing, and of the accelerator."""
    parts = {"computing": gains["cpu"] + gains["lock"], "disk": gains["disk"] + gains["latency"]}
    return {kind: max(0.0, parts.get(kind, gains.get(kind, 0.0))) for kind in (*parts, "write", "accelerator")}


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


def scores(outcomes: Sequence[CaseResult], worst: int = 0) -> tuple[list[GoalRow], list[str]]:
    """The rows of the table, and what sizer failed on with the worst of the others."""
    groups = {
        "simulated": outcomes,
        "simulated, accounted": [result for result in outcomes if result.accounted],
        "simulated, rates alone": [outcome for outcome in outcomes if not outcome.accounted],
    }
    inside, beyond = [e for o in outcomes for e in o.inside], [e for o in outcomes for e in o.beyond]
    faults = [outcome.fault for outcome in outcomes if outcome.fault]
    asked, answered = sum(outcome.asked for outcome in outcomes), len(inside) + len(beyond)
    table = [
        *(row for part, chosen in groups.items() for row in _rate_rows(part, chosen)),
        below("simulated", "machines on which sizer fails", len(faults), "", 0),
        share("simulated", "held-out points refused", [number >= answered for number in range(asked)]),
        *(row for part, chosen in groups.items() for row in _name_rows(part, chosen)),
    ]
    named = [name for outcome in outcomes for name in outcome.named if name.clear]
    wrong = {name.case: name.line for name in named if not name.right and name.named is not Bottleneck.AMBIGUOUS}
    return table, [*faults, *worst_lines("inside", inside, worst), *list(wrong.values())[:worst]]


def _rate_rows(part: str, chosen: Sequence[CaseResult]) -> list[GoalRow]:
    goals = (0.03, 0.10) if part == "simulated" else None
    inside, beyond = [e for o in chosen for e in o.inside], [e for o in chosen for e in o.beyond]
    rows = error_rows(part, inside, "new runs", "inside: ", goals)
    return [*rows, *error_rows(part, beyond, "new runs", "beyond: ")]


def _name_rows(part: str, chosen: Sequence[CaseResult]) -> list[GoalRow]:
    clear = [name for outcome in chosen for name in outcome.named if name.clear]
    right = [name.right for name in clear if name.named is not Bottleneck.AMBIGUOUS]
    ambiguous = [name.named is Bottleneck.AMBIGUOUS for name in clear]
    return [
        share(part, "bottleneck right where one is named", right, 0.95 if part == "simulated" else None),
        share(part, "bottleneck ambiguous where one is clear", ambiguous),
    ]

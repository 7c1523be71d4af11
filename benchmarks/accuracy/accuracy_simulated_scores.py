"""Results of the simulated machines -> the rows of the table. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from accuracy_advised import REGRET, Advised
from accuracy_scores import GoalRow, at_most, below, error, share
from accuracy_simulated import CaseResult, HeldOut

from sizer.records.configuration import Bottleneck


def scores(outcomes: Sequence[CaseResult]) -> list[GoalRow]:
    """The rows of the table."""
    held = [each for outcome in outcomes for each in outcome.held_out]
    named = [each for outcome in outcomes for each in outcome.named if each.clear]
    found = []
    for label, chosen in (
        ("simulated", held),
        ("simulated, accounted", [each for each in held if each.accounted]),
        ("simulated, rates alone", [each for each in held if not each.accounted]),
    ):
        goals = (0.03, 0.10) if label == "simulated" else (None, None)
        cover = (0.85, 0.95) if label == "simulated" else (None, None)
        inside, beyond = [e for e in chosen if not e.beyond], [e for e in chosen if e.beyond]
        found += [
            at_most(label, "inside: median error", [e.error for e in inside], 0.5, goals[0]),
            at_most(label, "inside: 90th percentile of errors", [e.error for e in inside], 0.9, goals[1]),
            share(label, "inside: new runs in their 90 % intervals", [e.covered for e in inside], *cover),
            at_most(label, "beyond: median error", [e.error for e in beyond], 0.5),
            at_most(label, "beyond: 90th percentile of errors", [e.error for e in beyond], 0.9),
            share(label, "beyond: new runs in their 90 % intervals", [e.covered for e in beyond]),
        ]
    found.append(below("simulated", "machines on which sizer fails", sum(o.fault is not None for o in outcomes), "", 0))
    asked = sum(len(outcome.held_out) + outcome.unanswered for outcome in outcomes)
    found.append(share("simulated", "held-out points refused", [True] * (asked - len(held)) + [False] * len(held)))
    for label, some in (
        ("simulated", named),
        ("simulated, accounted", [each for each in named if each.accounted]),
        ("simulated, rates alone", [each for each in named if not each.accounted]),
    ):
        clear = [each for each in some if each.named is not Bottleneck.AMBIGUOUS]
        least = 0.95 if label == "simulated" else None
        found.append(share(label, "bottleneck right where one is named", [each.right for each in clear], least))
        found.append(share(label, "bottleneck ambiguous where one is clear", [each not in clear for each in some]))
    return found + _advice_scores([outcome.advised for outcome in outcomes if outcome.advised]) + _rival_scores(held)


def _advice_scores(advised: Sequence[Advised]) -> list[GoalRow]:
    given = [each for each in advised if each.status == "recommended"]
    rising = [each for each in advised if each.status == "at_least"]
    part = "simulated, answers"
    return [
        share(part, "recommended: rate within 5 % of the target", [e.rate_regret <= REGRET for e in given], 0.95),
        share(
            part,
            "recommended: cost within 5 % of the cheapest",
            [cost <= REGRET for cost in _known(e.cost_regret for e in given)],
        ),
        at_most(part, "recommended: 90th percentile of cost above it", _known(e.cost_regret for e in given), 0.9),
        share(part, "at_least: rate within 5 % of the target", [e.rate_regret <= REGRET for e in rising]),
        share(part, "recommended of all answers", [e.status == "recommended" for e in advised]),
        share(part, "refused of all answers", [e.status == "refused" for e in advised]),
        share(part, "recommended: twice the vCPUs gain <= 10 %", [e.gain <= 0.1 for e in given]),
        share(part, "at_least: twice the vCPUs truly gain > 5 %", [e.gain > 0.05 for e in rising]),
    ]


def _known(values: Iterable[float]) -> list[float]:
    return [value for value in values if not math.isnan(value)]


def _rival_scores(held: Sequence[HeldOut]) -> list[GoalRow]:
    found = []
    inside = [each for each in held if not each.beyond]
    beyond = [each for each in held if each.beyond]
    for name in inside[0].others if inside else ():
        errors = [error(each.others[name], each.truth) for each in inside]
        far = [error(each.others[name], each.truth) for each in beyond]
        found += [
            at_most(f"rival: {name}", "inside: median error", errors, 0.5),
            at_most(f"rival: {name}", "inside: 90th percentile of errors", errors, 0.9),
            at_most(f"rival: {name}", "beyond: median error", far, 0.5),
            at_most(f"rival: {name}", "beyond: 90th percentile of errors", far, 0.9),
        ]
    return found

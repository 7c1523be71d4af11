"""What two thirds of the real machines teach: how often each form of vCPU scaling is right, and its parameters.

    python benchmarks/curves/learn.py [--processes 2] [--every 3]

Prints the constants of `sizer/model/scaling_prior.py`. Of each curve inner points are left out and predicted by every
form alone; the odds are those by which the average of the forms, weighed by their evidence, makes the points that were
left out likeliest (stacking: Yao et al., Bayesian Analysis 2018).
"""

from __future__ import annotations

import argparse
import math
import os
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from multiprocessing import get_context
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
sys.path.append(str(Path(__file__).parents[1] / "accuracy"))

import numpy as np
from accuracy_curves import Curve
from accuracy_shapes import configuration_at, run_at
from curves_data import JPEG, MACHINES, Asked, questions, real_curves
from numpy.typing import NDArray

from sizer.model import scaling_prior
from sizer.model.equation import solve
from sizer.model.facts import gather_facts
from sizer.model.families import scalings
from sizer.model.fitting import members_of, optima, scale_of
from sizer.model.observations import measure, observe
from sizer.model.problem import Data, problem_of
from sizer.model.stages import build_rows

Array = NDArray[np.float64]

FORMS = tuple((name, capped) for name in scaling_prior.ODDS for capped in (False, True))
ROUGH = 0.02
"""Standard deviation of ln rate that every form is allowed beyond what its draws say: real curves are not smooth."""
EVEN = 1.0
"""Questions that count as answered by each form before any is asked, so that none is ruled out by luck."""
ROUNDS, RATE = 3000, 0.05
EACH = 40.0
"""Curves that each kind counts as: there are many machines, and they are much alike."""


@dataclass(frozen=True)
class Answers:
    """What each form (len(FORMS),) says of one question: ln of its evidence without odds (-inf: not asked), and ln of
    how likely it makes the point that was left out."""

    evidence: list[float]
    likelihood: list[float]
    weight: float


def answered(asked: Asked) -> Answers:
    """Every form alone."""
    real = asked.curve
    curve = Curve(real.name, "vcpus", real.places, real.rates, 0.0)
    runs = [run_at(curve, real.places[index], real.rates[index]) for index in asked.measured]
    measured = measure(runs)
    observations, noise = observe(runs)
    facts = gather_facts(runs, [], measured)
    place, truth = configuration_at(curve, real.places[asked.left_out]), math.log(real.rates[asked.left_out])
    evidence, likelihood = [-math.inf] * len(FORMS), [-math.inf] * len(FORMS)
    data, rows = Data(facts, measured, observations), build_rows(facts, measured, [place])
    problems = [problem_of(structure, data) for structure in scalings(facts, measured, observations)]
    for fitted in optima(problems, noise):
        structure = fitted.problem.structure
        (member,) = members_of([(fitted, 1.0)], scale_of(fitted, noise), np.random.default_rng(1))
        told = solve(structure, member.vectors, rows.design(structure)).log_rate[:, 0]
        spread = math.hypot(float(told[1:].std()), ROUGH)
        number = FORMS.index((structure.scaling, structure.capped))
        evidence[number] = -(fitted.criterion - scaling_prior.cost(structure)) / 2
        off = (float(told[1:].mean()) - truth) / spread
        # Student's t with 3 degrees: one point that no form expects must not decide everything.
        likelihood[number] = -2 * math.log1p(off * off / 3) - math.log(spread)
    return Answers(evidence, likelihood, 1 / len(questions(real)))


def balanced(asked: list[Asked]) -> dict[str, float]:
    """What a curve of each kind counts, so that each kind counts as much as EACH curves."""
    count = Counter(curve.kind for curve in {each.curve for each in asked})
    return {kind: EACH / number for kind, number in count.items()}


def odds(answers: Sequence[Answers]) -> Array:
    """Of each form (len(FORMS),), the likeliest of them 1; 0 for one that no question has.

    Gradient ascent (Adam) in ln odds of the weighted sum of ln likelihoods, with EVEN from a Dirichlet prior.
    """
    evidence = np.array([each.evidence for each in answers])
    evidence = np.exp(evidence - evidence.max(axis=1, keepdims=True))
    right = np.exp(np.where(evidence > 0, np.array([each.likelihood for each in answers]), -np.inf))
    weight, used = np.array([each.weight for each in answers]), (evidence > 0).any(axis=0)
    logs, first, second = np.zeros(len(FORMS)), np.zeros(len(FORMS)), np.zeros(len(FORMS))
    for step in range(1, ROUNDS):
        found = np.where(used, np.exp(logs - logs[used].max()), 0.0)
        shares = found * evidence
        shares /= shares.sum(axis=1, keepdims=True)
        credit = shares * right
        credit /= credit.sum(axis=1, keepdims=True)
        slope = (weight[:, None] * (credit - shares)).sum(axis=0)
        slope += np.where(used, EVEN * (1 - used.sum() * found / found.sum()), 0.0)
        first, second = 0.9 * first + 0.1 * slope, 0.99 * second + 0.01 * slope**2
        logs += RATE * (first / (1 - 0.9**step)) / (np.sqrt(second / (1 - 0.99**step)) + 1e-8)
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--every", type=int, default=1, help="of the curves of machines only one in so many")
    given = parser.parse_args()
    learnt = [curve for curve in real_curves() if not curve.held_out]
    alike = [curve for curve in learnt if curve.kind in (MACHINES, JPEG)][:: given.every]
    asked = [
        each for curve in [*alike, *(c for c in learnt if c.kind not in (MACHINES, JPEG))] for each in questions(curve)
    ]

    with get_context("fork").Pool(given.processes) as pool:
        answers = pool.map(answered, asked, chunksize=4)
    worth = balanced(asked)
    answers = [replace(a, weight=a.weight * worth[q.curve.kind]) for a, q in zip(answers, asked, strict=True)]
    for (name, capped), value in zip(FORMS, odds(answers), strict=True):
        print(f"{name:10s} {'capped' if capped else '':8s} {value:.2f}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

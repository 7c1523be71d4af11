"""What two thirds of the real machines teach: how often each form of vCPU scaling is right, and its parameters.

    python benchmarks/curves/learn.py [--width] [--processes 2] [--every 3]

Prints what the odds of `sizer/model/scaling_prior.py` are taken from. Of each curve inner points are left out and
predicted by every form alone; the odds are those by which the average of the forms, weighed by their evidence, makes
the points that were left out likeliest (stacking: Yao et al., Bayesian Analysis 2018).

With `--width` instead: how many of the points lie in their 90 % intervals by the noise that is believed about a curve
(ABOUT_A_CURVE of `sizer/model/observations.py`), and cross-validated: of points whose CPU model, or table, had no say
in choosing it.
"""

from __future__ import annotations

import argparse
import hashlib
import math
import os
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from multiprocessing import get_context
from multiprocessing.pool import Pool
from pathlib import Path
from unittest.mock import patch

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
sys.path.append(str(Path(__file__).parents[1] / "accuracy"))

import numpy as np
from accuracy_curves import Curve
from accuracy_real import told
from accuracy_shapes import configuration_at, run_at
from curves_data import JPEG, MACHINES, Asked, questions, real_curves
from numpy.typing import NDArray

from sizer.model import observations, scaling_prior
from sizer.model.equation import solve
from sizer.model.facts import gather_facts
from sizer.model.families import scalings
from sizer.model.fitting import members_of, optima, scale_of
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
NOISES = (0.02, 0.015, 0.0125, 0.01, 0.0075, 0.005)
ASKED, FOLDS = 0.9, 5


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
    measured = observations.measure(runs)
    rows_seen, noise = observations.observe(runs)
    facts = gather_facts(runs, [], measured)
    place, truth = configuration_at(curve, real.places[asked.left_out]), math.log(real.rates[asked.left_out])
    evidence, likelihood = [-math.inf] * len(FORMS), [-math.inf] * len(FORMS)
    data, rows = Data(facts, measured, rows_seen), build_rows(facts, measured, [place])
    problems = [problem_of(structure, data) for structure in scalings(facts, measured, rows_seen)]
    for fitted in optima(problems, noise):
        structure = fitted.problem.structure
        (member,) = members_of([(fitted, 1.0)], scale_of(fitted, noise), np.random.default_rng(1))
        log_rates = solve(structure, member.vectors, rows.design(structure)).log_rate[:, 0]
        spread = math.hypot(float(log_rates[1:].std()), ROUGH)
        number = FORMS.index((structure.scaling, structure.capped))
        evidence[number] = -(fitted.criterion - scaling_prior.cost(structure)) / 2
        off = (float(log_rates[1:].mean()) - truth) / spread
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


def is_covered(asked: Asked, noise: float) -> bool:
    """Whether the point that was left out lies in its interval, by this noise about a curve."""
    with patch.object(observations, "ABOUT_A_CURVE", noise):
        found = told(asked)
    return found is not None and found.point.low <= found.point.truth <= found.point.high


def width(asked: Sequence[Asked], pool: Pool) -> list[str]:
    """The share of points that are covered by each noise, and by the one that the other folds choose; each kind of
    curve counts alike."""
    covered = {noise: pool.starmap(is_covered, [(each, noise) for each in asked], chunksize=4) for noise in NOISES}
    fold = [hashlib.sha256(each.curve.cpu_model.encode()).digest()[1] % FOLDS for each in asked]
    held: list[tuple[Asked, bool]] = []
    for number in range(FOLDS):
        others = [index for index, each in enumerate(fold) if each != number]
        chosen = _chosen({noise: _share([(asked[i], flags[i]) for i in others]) for noise, flags in covered.items()})
        held += [(asked[i], covered[chosen][i]) for i, each in enumerate(fold) if each == number]
    shares = {noise: _share(list(zip(asked, flags, strict=True))) for noise, flags in covered.items()}
    lines = [f"noise {noise:g}: {100 * share:.1f} % covered" for noise, share in shares.items()]
    return [*lines, f"chosen: {_chosen(shares):g}; cross-validated: {100 * _share(held):.1f} % covered"]


def _share(found: Sequence[tuple[Asked, bool]]) -> float:
    """Covered, the mean over the kinds of curves that were measured."""
    kinds = {each.curve.kind for each, _ in found} - {JPEG}
    return float(np.mean([np.mean([flag for each, flag in found if each.curve.kind == kind]) for kind in kinds]))


def _chosen(shares: Mapping[float, float]) -> float:
    """The least noise with which as many are covered as are asked for."""
    return min((noise for noise, share in shares.items() if share >= ASKED), default=max(NOISES))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--width", action="store_true", help="how wide intervals must be, and not the odds")
    parser.add_argument("--every", type=int, default=1, help="of the curves of machines only one in so many")
    given = parser.parse_args()
    learnt = [curve for curve in real_curves() if not curve.held_out]
    alike = [curve for curve in learnt if curve.kind in (MACHINES, JPEG)][:: given.every]
    asked = [
        each for curve in [*alike, *(c for c in learnt if c.kind not in (MACHINES, JPEG))] for each in questions(curve)
    ]

    with get_context("fork").Pool(given.processes) as pool:
        if given.width:
            print("\n".join(width(asked, pool)))
            return 0
        answers = pool.map(answered, asked, chunksize=4)
    worth = balanced(asked)
    answers = [replace(a, weight=a.weight * worth[q.curve.kind]) for a, q in zip(answers, asked, strict=True)]
    for (name, capped), value in zip(FORMS, odds(answers), strict=True):
        print(f"{name:10s} {'capped' if capped else '':8s} {value:.2f}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

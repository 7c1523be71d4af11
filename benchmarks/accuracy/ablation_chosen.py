"""Answers by few runs: studies over vCPUs of which every run is known, by `--until settled` with the runs allowed.

Curves of known shapes with noise, by a seed that chose nothing, and real ones that taught the prior, as they were
measured and with noise.
"""

from __future__ import annotations

import itertools
from functools import lru_cache

from ablation_cases import Judge, Outcome
from accuracy_curves import Curve
from choosing import bounded
from curves_data import JPEG, real_curves
from judged import whole_grids
from replayed import LEAST_VALUES, ReplayCase, curve_case, curve_cases

from sizer.catalog import Catalog

ANSWERS, OF_DRAWN, OF_REAL = "answers by few runs", "of drawn curves", "of real curves"
DRAWN_KIND, REAL_KIND = "drawn", "real"
EACH = 300
"""Curves of each drawn shape."""
NOISES = (0.0, 0.01, 0.03)
"""Relative, of a run of a real curve."""


@lru_cache(maxsize=1)
def studies(seed: int) -> tuple[tuple[str, ReplayCase], ...]:
    """With their kinds: the drawn ones, then the real ones."""
    drawn = [(DRAWN_KIND, case) for case in curve_cases(EACH, seed) if case.truth["curve"]]
    taught = [each for each in real_curves() if not each.held_out and each.kind != JPEG]
    real = [
        (REAL_KIND, curve_case(Curve(each.name, "vcpus", each.places, each.rates, noise), number, seed))
        for number, (noise, each) in enumerate(itertools.product(NOISES, taught))
        if len(each.places) >= LEAST_VALUES
    ]
    return (*drawn, *real)


def by_few_runs(kind: str, case: ReplayCase) -> Judge:
    """What misses is told by the whole model's answer from the whole grid, whichever part is left out. Both kinds
    together, where they count alike, and each by itself."""
    grids = whole_grids(case, case.study.objective, Catalog.load())

    def judge() -> dict[str, Outcome]:
        outcome = Outcome(kind=kind)
        if grids:
            found = bounded(case, grids)
            outcome = Outcome(found.regrets, right=found.right, kind=kind)
        return {ANSWERS: outcome, OF_DRAWN if kind == DRAWN_KIND else OF_REAL: outcome}

    return judge

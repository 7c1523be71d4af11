"""How much the runs speak for a form: its likelihood, less what its parameters cost."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from sizer.model.equation import Array, parameter_names
from sizer.model.problem import Problem
from sizer.model.scaling_prior import SHAPE, cost

IDLE = 0.5
"""What a parameter costs that the data do not determine: of forms that explain the same, the shorter counts more."""


@dataclass(frozen=True)
class Judged:
    """-2 ln of how likely a form is, up to a constant, and how many parameters the data determine of it."""

    criterion: float
    effective: float


def judge(problem: Problem, information: Array, squares: float, believed: float) -> Judged:
    """A form at its optimum, where data of unit deviation have this information (k, k) about its parameters.

    `squares` are all residuals in deviations, `believed` how many observations count for the noise that is assumed:
    without them three points would show nothing. From rates alone how vCPUs scale is judged by Laplace's approximation
    of the evidence (MacKay 1992), with beliefs that real machines taught, and all else by AICc (Hurvich and Tsai 1989)
    with effective parameters; where accounting sees the CPU's time at every vCPU value, AICc judges that, too.
    """
    deviation, n = problem.belief.deviation, problem.target.size
    total = n + believed
    spread = (squares + believed) / total
    prior = np.diag(deviation**-2.0)
    kept = np.diag(np.linalg.inv(information + prior)) / deviation**2
    shape = np.array([name in SHAPE for name in parameter_names(problem.structure)])
    shape &= not np.isfinite(problem.cpu_busy).any()
    parameters = float((1 - kept)[~shape].sum()) + 1
    spare = max(total - parameters - 1, 0.5)
    aicc = 2 * parameters + 2 * parameters * (parameters + 1) / spare + IDLE * float(kept[~shape].sum())
    left = np.linalg.inv(information / spread + prior)[np.ix_(shape, shape)]
    occam = 2 * float(np.log(deviation[shape]).sum()) - float(np.linalg.slogdet(left)[1]) if shape.any() else 0.0
    return Judged(total * math.log(spread) + occam + aicc + cost(problem.structure), float((1 - kept).sum()))

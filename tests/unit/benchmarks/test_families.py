"""What judges families, on one simulated fleet."""

from __future__ import annotations

import numpy as np
import pytest
from families import best_of_all, judge, least_penalty


def test_a_fleet_is_judged() -> None:
    """Its family is the best, and proven; noise misleads by little."""
    judged = judge(3)
    assert judged.regret == pytest.approx(0, abs=1e-6)
    assert judged.proven
    assert -1e-9 <= judged.true_regret < 0.2


def test_all_are_tried() -> None:
    """Two shapes of three, of which one pair serves both within a fifth."""
    costs = np.array([[1.0, 1.2, np.inf], [3.0, 1.2, 1.0]])
    assert best_of_all(costs, 1, 9.0) == pytest.approx(1.2)
    assert best_of_all(costs, 2, 9.0) == pytest.approx(1.0)
    assert least_penalty(costs, 1) == pytest.approx(0.2)

from __future__ import annotations

import pytest

from sizer.analysis.monitor import MOST_STEPS, JoinedSteps
from sizer.analysis.steady_state import steady_state
from sizer.records.run import Step


def test_as_many_steps_as_usual_are_kept_as_they_are() -> None:
    """Nothing is joined in an ordinary run."""
    kept: list[Step] = []
    joined = JoinedSteps(kept)
    given = [Step(0.1 * number, 8, 0.01, 0, 0.05) for number in range(1000)]
    for step in given:
        joined.add(step)
    assert kept == given
    assert joined.calls == 1


def test_a_flood_is_bounded_and_its_rate_is_the_same() -> None:
    """Samples and waiting are kept to the last one, and each kept step says how many it stands for."""
    kept: list[Step] = []
    joined = JoinedSteps(kept)
    count = 10 * MOST_STEPS + 7
    for number in range(count):
        joined.add(Step(0.001 * number, 8, 0.0001, number // 1000, 0.001 * (number % 10)))
    assert MOST_STEPS // 2 <= len(kept) < MOST_STEPS
    assert joined.calls == 16
    assert sum(step.samples for step in kept) == 8 * count
    assert sum(step.input_wait for step in kept) == pytest.approx(0.0001 * count)
    assert kept[-1].time == pytest.approx(0.001 * (count - 1))
    steady = steady_state(kept)
    assert steady is not None
    assert steady.throughput.value == pytest.approx(8000, rel=1e-3)
    assert {step.latency for step in kept[:-1]} <= {0.001 * number for number in range(10)}

"""A model is computed with one thread of BLAS; whoever asked for it has as many as before afterwards."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from simulated_noise import Host, Job, study
from threadpoolctl import threadpool_info, threadpool_limits

from sizer.model import corrected, drift_of, fit
from sizer.records import Run


def threads() -> set[int]:
    """Of all BLAS libraries that are loaded."""
    return {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"}


@pytest.mark.parametrize("work", [fit, drift_of, corrected])
def test_what_a_model_is_computed_with(
    work: Callable[[Sequence[Run]], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = study([Job("train")], (0.5, 1.0, 2.0), 3, 10.0, Host(0.06, 0.05, 0.03, 0.025), np.random.default_rng(0))
    seen: list[set[int]] = []
    inverse = np.linalg.inv

    def watched(matrix: Any) -> Any:
        seen.append(threads())
        return inverse(matrix)

    monkeypatch.setattr(np.linalg, "inv", watched)
    with threadpool_limits(limits=2, user_api="blas"):
        before = threads()
        work(runs)
        assert threads() == before
    assert 2 in before
    assert seen
    assert all(each == {1} for each in seen)

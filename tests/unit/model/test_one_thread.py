"""A model is computed with one thread of BLAS; whoever asked for it has as many as before afterwards."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from sizer.model.drift import drift_of
from sizer.model.fitting import fit
from sizer.records.run import Run


def threads() -> set[int]:
    """Of all BLAS libraries that are loaded."""
    return {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"}


@pytest.mark.parametrize("work", [fit, drift_of])
def test_what_a_model_is_computed_with(
    work: Callable[[Sequence[Run]], object], make_run: Callable[..., Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    rates = [(0.5, 48.0), (1.0, 99.0), (2.0, 190.0), (2.0, 150.0), (1.0, 81.0), (0.5, 41.0)]
    runs = [
        replace(make_run(rate, vcpus, repeat=number // 3), started_at=f"2026-11-21T00:0{number}:00+00:00")
        for number, (vcpus, rate) in enumerate(rates)
    ]
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

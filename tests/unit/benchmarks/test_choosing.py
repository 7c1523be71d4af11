"""Replayed studies: every run is known, and other orders ask for each of them once."""

from __future__ import annotations

from dataclasses import replace

import pytest
from curves_data import Curve
from judged import whole_grids
from orders import as_planned, at_random, bayesian, pairwise
from replayed import ReplayCase, curve_case

from sizer.catalog.catalog import Catalog
from sizer.records.run import Run
from sizer.records.study import Objective

KNEE = Curve("drawn", "knee", "vcpus", (1.0, 2.0, 4.0, 8.0, 16.0), (100.0, 200.0, 400.0, 400.0, 400.0), 0.003)


@pytest.fixture(scope="module")
def case() -> ReplayCase:
    return curve_case(KNEE, 0)


def test_every_order_makes_every_run_once(case: ReplayCase) -> None:
    """Until nothing is left; a run is looked up by its limits."""
    catalog = Catalog.load()
    for order in (at_random(case, 1), as_planned(case), pairwise(case), bayesian(case, Objective(), catalog)):
        runs: list[Run] = []
        while (spec := order(runs)) is not None:
            runs.append(case.run(spec))
        assert len({run.id for run in runs}) == len(runs) >= 10
        assert {run.configuration.vcpus for run in runs} == set(KNEE.places)


def test_an_answer_is_judged_against_the_whole_grid(case: ReplayCase) -> None:
    """Its own answer is right; half of it is too slow, and twice as much too dear."""
    grid = whole_grids(case, Objective(), Catalog.load())["curve"]
    assert grid.answer.spec is not None
    assert grid.answer.spec.vcpus == 4.0
    assert grid.right(grid.answer, 0.95)
    for vcpus in (2.0, 8.0):
        other = replace(grid.answer, spec=replace(grid.answer.spec, vcpus=vcpus))
        assert not grid.right(other, 0.95)

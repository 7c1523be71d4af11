"""Answers to runs of one workload, and what they say."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from sizer.catalog import Catalog
from sizer.model import fit
from sizer.recommend import recommend
from sizer.records.answer import Answer
from sizer.records.run import Run
from sizer.records.study import Deadline, Objective


@pytest.fixture(scope="session")
def catalog() -> Catalog:
    return Catalog.load()


@pytest.fixture
def ask(catalog: Catalog) -> Callable[..., Answer]:
    """The answer to runs of one workload."""

    def ask(
        runs: list[Run],
        prefer: str = "cheapest",
        *,
        target: float = 0.95,
        within: Deadline | None = None,
        **known: object,
    ) -> Answer:
        objective = Objective(prefer, target, within)
        return recommend(fit(runs), runs, objective, catalog, **known).workloads[0]  # type: ignore[arg-type]

    return ask


@pytest.fixture
def curve(make_run: Callable[..., Run]) -> Callable[..., list[Run]]:
    """Runs at (vCPUs, rate) points, all else alike."""

    def curve(*points: tuple[float, float], **known: object) -> list[Run]:
        return [make_run(rate, vcpus, **known) for vcpus, rate in points]

    return curve

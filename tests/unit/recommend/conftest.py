"""Answers to runs of one workload, and what they say."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from sizer.catalog.catalog import Catalog
from sizer.model.fitting import fit
from sizer.model.model import Model
from sizer.recommend.recommendation import recommend
from sizer.records.answer import Answer
from sizer.records.run import Run
from sizer.records.study import Deadline, Objective
from sizer.words.names import terms_of
from sizer.words.reasons.phrasing import reason_sentences, suggestion_sentences
from tests.tables import runs_of, stored_catalog


@pytest.fixture(scope="session")
def catalog() -> Catalog:
    return stored_catalog()


@pytest.fixture(scope="session")
def fitted() -> Callable[[Sequence[Run]], Model]:
    """The model of runs: many tests ask of equal ones, which are fitted once."""
    models: dict[str, Model] = {}

    def fitted(runs: Sequence[Run]) -> Model:
        key = repr(runs)
        if key not in models:
            models[key] = fit(runs)
        return models[key]

    return fitted


def in_words(answer: Answer, model: Model) -> Answer:
    """The same answer with sentences where it has reasons and a suggestion."""
    terms = terms_of(model.workload(answer.workload))
    return replace(
        answer,
        reasons=tuple(reason_sentences(answer.reasons, terms)),
        rejected=tuple(
            replace(rejection, why=" ".join(reason_sentences(rejection.why, terms))) for rejection in answer.rejected
        ),
        next_run=None if answer.next_run is None else suggestion_sentences(answer.next_run, terms),
    )


@pytest.fixture(scope="session")
def ask(catalog: Catalog, fitted: Callable[[Sequence[Run]], Model]) -> Callable[..., Answer]:
    """The answer to runs of one workload, with what it says in words."""

    def ask(
        runs: list[Run],
        prefer: str = "cheapest",
        *,
        target: float = 0.95,
        within: Deadline | None = None,
        at_least: float | None = None,
        baseline: str | None = None,
        **asked: object,
    ) -> Answer:
        objective = Objective(prefer, target, within, at_least, baseline=baseline)
        model = fitted(runs)
        return in_words(recommend(model, runs, objective, catalog, **asked).workloads[0], model)  # type: ignore[arg-type]

    return ask


@pytest.fixture(scope="session")
def curve(make_run: Callable[..., Run]) -> Callable[..., list[Run]]:
    """Runs at (vCPUs, rate) points, all else alike."""

    def curve(*points: tuple[float, float], **settings: object) -> list[Run]:
        return [make_run(rate, vcpus, **settings) for vcpus, rate in points]

    return curve


@pytest.fixture
def ask_table(tmp_path: Path, catalog: Catalog, fitted: Callable[..., Model]) -> Callable[..., Answer]:
    """The answer to a table of somebody's, written as its rows, for an objective."""

    def ask(table: str, prefer: str = "cheapest", **objective: object) -> Answer:
        runs = runs_of(tmp_path, table)
        asked = Objective(prefer, **objective)  # type: ignore[arg-type]
        return recommend(fitted(runs), runs, asked, catalog).workloads[0]

    return ask

from __future__ import annotations

import pytest

from sizer.adaptive.chooser import Chooser
from sizer.adaptive.chosen import NextRun
from sizer.catalog.catalog import Catalog
from sizer.model.fitting import fit
from tests.unit.adaptive.machine import HOST, UNBOUNDED, chosen, knee, study_of


def test_a_model_that_is_there_is_not_fitted_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """And what comes next is the same, in the middle of a study and at its end."""
    study = study_of("one", "two")
    runs, end = chosen(study, knee(4.0))
    some = runs[:-1]
    model, later = fit(some), fit(runs)
    after_some = Chooser(study, HOST, Catalog.load(), UNBOUNDED).next_run(some)
    assert isinstance(after_some, NextRun)
    monkeypatch.delattr("sizer.adaptive.conclusions.fit")
    assert Chooser(study, HOST, Catalog.load(), UNBOUNDED, model).next_run(some) == after_some
    assert Chooser(study, HOST, Catalog.load(), UNBOUNDED, later).next_run(runs) == end

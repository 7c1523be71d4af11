"""What the tests of the page share beside the study that it shows."""

from __future__ import annotations

from collections.abc import Iterator
from unittest.mock import patch

import pytest

from sizer.bundled.reports import curves
from sizer.model import WorkloadModel
from sizer.records import Configuration


@pytest.fixture(scope="session", autouse=True)
def _each_point_of_a_curve_is_predicted_once() -> Iterator[None]:
    """A page asks a model for some four hundred points, and most pages here are of one model."""
    known: dict[tuple[int, Configuration], tuple[WorkloadModel, curves.CurvePoint | None]] = {}
    predicted = curves.predicted

    def once(model: WorkloadModel, configuration: Configuration) -> curves.CurvePoint | None:
        # The model is kept beside the point, so that no other can come to have its id.
        key = (id(model), configuration)
        if key not in known:
            known[key] = model, predicted(model, configuration)
        return known[key][1]

    with patch.object(curves, "predicted", once):
        yield

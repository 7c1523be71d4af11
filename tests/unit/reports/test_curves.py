"""The model's line: where it is drawn, where it breaks and where it is dashed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import pytest

from sizer.bundled.reports.figures.axis_chart import grid, segments
from sizer.model.coordinates import vcpus_of
from sizer.records.configuration import Bottleneck, Configuration, Estimate
from sizer.records.prediction import Prediction, ReasonCode, Refusal, reason

BASE = Configuration(2.0, 4096, "ssd", 32)


@dataclass(frozen=True)
class Line:
    """A model whose answer is a function of vCPUs: a rate, None for no answer; beyond 4 vCPUs it extrapolates."""

    rate: Callable[[float], float | None]


def predict_several(
    line: Line, configurations: Sequence[Configuration], **_options: bool
) -> list[Prediction | Refusal]:
    return [_predicted(line.rate(vcpus_of(each)), each) for each in configurations]


def _predicted(rate: float | None, at: Configuration) -> Prediction | Refusal:
    """0 is a run that does not complete."""
    if rate is None:
        return Refusal(reason(ReasonCode.NOT_FITTED))
    found = Estimate(rate, rate - 1, rate + 1)
    return Prediction("a", at, found, Bottleneck.CPU, {}, extrapolated=vcpus_of(at) > 4, out_of_memory=rate == 0)


@pytest.fixture
def draw(monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[tuple[list[float], bool]]]:
    monkeypatch.setattr("sizer.bundled.reports.figures.curves.predict_several", predict_several)

    def drawn(rate: Callable[[float], float | None], *places: float) -> list[tuple[list[float], bool]]:
        stretches = segments(Line(rate), BASE, "vcpus", places)  # type: ignore[arg-type]  # only predicted from
        return [([point.x for point in stretch], stretch[0].extrapolated) for stretch in stretches]

    return drawn


def test_the_line_is_dashed_from_the_last_measured_place_on(draw: Callable[..., list[object]]) -> None:
    """The extrapolated stretch begins where the measured one ends."""
    assert draw(lambda x: 10 * x, 1, 2, 4, 5, 6) == [([1, 2, 4], False), ([4, 5, 6], True)]


def test_the_line_breaks_where_the_model_has_no_answer(draw: Callable[..., list[object]]) -> None:
    """Nothing is drawn through a place that the model refuses."""
    assert draw(lambda x: None if x == 2 else x, 0.5, 1, 2, 3, 4) == [([0.5, 1], False), ([3, 4], False)]


def test_the_line_breaks_where_a_run_would_not_complete(draw: Callable[..., list[object]]) -> None:
    """Below the memory floor there is no rate, not a rate of 0."""
    assert draw(lambda x: 0 if x < 2 else x, 1, 2, 3) == [([2, 3], False)]


def test_a_measured_place_among_refused_ones_still_shows_the_model(draw: Callable[..., list[object]]) -> None:
    """With two measured values the model answers at them alone, and there it is drawn."""
    assert draw(lambda x: x if x in (1, 4) else None, 1, 2, 3, 4) == [([1], False), ([4], False)]


def test_the_grid_holds_the_measured_places() -> None:
    """The line goes through the places that were measured and not only near them."""
    places = grid(0.5, 3.0, False, [0.5, 1.0, 2.0, 9.0])
    assert {0.5, 1.0, 2.0} <= set(places)
    assert max(places) == 3.0

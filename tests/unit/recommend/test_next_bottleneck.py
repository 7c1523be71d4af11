"""What would bind if the present bottleneck were relieved."""

from __future__ import annotations

import pytest

from sizer.recommend.reasons import next_bottleneck
from sizer.records.configuration import Bottleneck, Configuration, Estimate
from sizer.records.prediction import Prediction


@pytest.mark.parametrize(
    ("shares", "bound", "follows"),
    [
        ({"cpu": 0.7, "serial": 0.3}, Bottleneck.CPU, Bottleneck.SERIAL),
        ({"serial": 0.6, "cpu": 0.4}, Bottleneck.CPU, Bottleneck.SERIAL),
        ({"cpu": 1.0, "serial": 1e-6}, Bottleneck.CPU, None),
        ({"cpu": 0.5, "serial": 0.5}, Bottleneck.AMBIGUOUS, None),
        ({}, Bottleneck.CPU, None),
    ],
)
def test_what_binds_next_is_never_what_binds_now(
    shares: dict[str, float], bound: Bottleneck, follows: Bottleneck | None
) -> None:
    """Also where accounting shows another bottleneck than the largest share."""
    here = Configuration(2.0, 2**30, "host", 1)
    prediction = Prediction("train", here, Estimate(100.0, 90.0, 110.0), bound, shares, extrapolated=False)
    assert next_bottleneck(prediction) is follows

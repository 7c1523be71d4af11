"""What the presets fill in."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sizer.study.presets import Preset, vcpus_axis


@pytest.mark.parametrize(
    ("preset", "host", "axis"),
    [
        ("quick", 1, (0.25, 0.5, 1)),
        ("quick", 2, (0.5, 1, 2)),
        ("quick", 64, (16, 32, 64)),
        ("standard", 2, (0.5, 1, 2)),
        ("standard", 6, (1, 2, 3, 6)),
        ("standard", 64, (1, 2, 4, 8, 16, 32, 64)),
        ("full", 1, (0.25, 0.5, 0.75, 1)),
        ("full", 2, (0.5, 0.75, 1, 1.5, 2)),
        ("full", 8, (0.5, 0.75, 1, 1.5, 2, 3, 4, 6, 8)),
    ],
)
def test_the_axis_goes_down_from_the_host_by_halves(preset: str, host: int, axis: tuple[float, ...]) -> None:
    """quick has the three largest, standard goes down to one vCPU, full has the middles too."""
    assert vcpus_axis(Preset(preset), host) == axis


@given(st.sampled_from(list(Preset)), st.integers(1, 512))
def test_every_axis_can_be_measured_and_predicted_along(preset: Preset, host: int) -> None:
    """Three distinct values at least, in quarters, none above the host, and the host's own among them."""
    axis = vcpus_axis(preset, host)
    assert len(set(axis)) >= 3
    assert all(value % 0.25 == 0 and 0 < value <= host for value in axis)
    assert max(axis) == host
    assert list(axis) == sorted(axis)

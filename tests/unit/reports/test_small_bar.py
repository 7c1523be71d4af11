"""The small bar of the first screen, read back from its SVG."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree

import pytest

from sizer.bundled.reports.charts.rows import EDGE, Candidate, SmallBar
from sizer.bundled.reports.charts.rows import SMALL_WIDTH as WIDTH
from sizer.records.run import Estimate

CANDIDATES = (Candidate(100.0, "4 vCPUs: 100 images/s"), Candidate(50.0, "2 vCPUs: 50 images/s"))
LONG = WIDTH - 2 * EDGE


def drawn(bar: SmallBar) -> ElementTree.Element:
    return ElementTree.fromstring(str(bar.draw()))


def of_class(root: ElementTree.Element, name: str) -> list[ElementTree.Element]:
    return [each for each in root.iter() if name in each.get("class", "").split()]


def width(root: ElementTree.Element, name: str) -> float:
    (mark,) = of_class(root, name)
    return float(mark.get("width", "0"))


def exactly(rate: float) -> Estimate:
    """A rate without an interval."""
    return Estimate(rate, rate, rate)


def test_the_scale_is_from_0_to_the_best_candidate() -> None:
    """Half of the best rate is half as long as the track, and each candidate has its tick with its words."""
    root = drawn(SmallBar("50 images/s", exactly(50.0), CANDIDATES))
    assert width(root, "small-bar") == pytest.approx(LONG / 2, abs=0.1)
    assert width(root, "track") == LONG
    places = [float(each.get("x1", "0")) for each in of_class(root, "candidate")]
    assert places == pytest.approx([WIDTH - EDGE, EDGE + LONG / 2], abs=0.1)
    assert [each.text for each in root.iter() if each.tag.endswith("title")] == [each.title for each in CANDIDATES]
    assert root.get("aria-label") == "50 images/s"


def test_what_no_run_had_has_no_filled_bar() -> None:
    """But a dashed frame of the same length, with the same interval."""
    rate = Estimate(80.0, 70.0, 90.0)
    predicted, known = (drawn(SmallBar("80", rate, CANDIDATES, predicted=each)) for each in (True, False))
    assert not of_class(predicted, "small-bar")
    assert not of_class(known, "small-frame")
    assert width(predicted, "small-frame") == width(known, "small-bar") == pytest.approx(LONG * 0.8, abs=0.1)
    assert len(of_class(predicted, "interval")) == len(of_class(known, "interval")) == 3


def test_an_interval_beyond_the_best_candidate_is_drawn_whole() -> None:
    """Unless it is so wide that it would push all else aside."""
    root = drawn(SmallBar("100", Estimate(100.0, 90.0, 125.0), CANDIDATES))
    assert width(root, "small-bar") == pytest.approx(LONG * 0.8, abs=0.1)
    wide = drawn(SmallBar("100", Estimate(100.0, -20.0, 900.0), CANDIDATES))
    assert width(wide, "small-bar") == pytest.approx(LONG / 1.5, abs=0.1)
    places = [float(each.get(end, "0")) for each in of_class(wide, "interval") for end in ("x1", "x2")]
    assert min(places) == EDGE
    assert max(places) == WIDTH - EDGE


def test_a_rate_of_nothing_is_drawn() -> None:
    """Nor is a single run without an interval given one."""
    root = drawn(SmallBar("0", exactly(0.0), ()))
    assert width(root, "small-bar") == 0
    assert not of_class(root, "interval")

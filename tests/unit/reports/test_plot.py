"""The drawing of a chart, read back from its SVG."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from itertools import pairwise
from typing import Any

import pytest

from sizer.bundled.reports.charts.plot import (
    BOTTOM,
    LEFT,
    RIGHT,
    TOP,
    Ceiling,
    CurvePoint,
    FailureMark,
    Line,
    Part,
    Pile,
    PlaceMark,
    Plot,
    Point,
    Stop,
)
from sizer.records.run import Estimate


def estimate(value: float) -> Estimate:
    return Estimate(value, value * 0.95, value * 1.05)


def plot(*lines: Line, logarithmic: bool = False, **more: Any) -> ElementTree.Element:
    drawn = Plot("label", "vCPUs", "images/s", 1.0, lines, logarithmic, **more).draw()
    return ElementTree.fromstring(str(drawn))


def of_class(root: ElementTree.Element, name: str) -> list[ElementTree.Element]:
    return [each for each in root.iter() if name in each.get("class", "").split()]


MEASURED = Line((Point(1, estimate(50), "one"), Point(2, estimate(100), "two")), ())


def test_heights_are_proportional_to_rates() -> None:
    """The axis starts at 0: twice the rate is drawn twice as high."""
    one, two = (BOTTOM - float(each.get("cy", "0")) for each in of_class(plot(MEASURED), "point"))
    assert abs(two / one - 2) < 0.01


def test_repeats_stand_side_by_side() -> None:
    """Two runs with the same rate at the same place are both to be seen."""
    line = Line((Point(1, estimate(50), "a"), Point(1, estimate(50), "b"), Point(2, estimate(90), "c")), ())
    first, second, _ = (float(each.get("cx", "0")) for each in of_class(plot(line), "point"))
    assert second - first >= 4


def test_a_failed_run_is_marked_at_the_floor_with_its_word() -> None:
    """Two kills at one cap are one word with their number, and both crosses are there."""
    failures = (FailureMark(0.5, "out of memory", "a"), FailureMark(0.5, "out of memory", "b"))
    root = plot(Line(MEASURED.points, failures))
    assert len(of_class(root, "failure")) == 2
    assert [each.text for each in of_class(root, "failure-word")] == ["out of memory ×2"]


def test_words_of_neighbouring_failures_do_not_cover_each_other() -> None:
    """Where two words would overlap, one is lifted."""
    failures = (FailureMark(1.0, "out of memory", "a"), FailureMark(1.1, "crashed", "b"))
    heights = [each.get("y") for each in of_class(plot(Line(MEASURED.points, failures)), "failure-word")]
    assert len(set(heights)) == 2


def test_a_band_that_explodes_does_not_flatten_the_points() -> None:
    """An extrapolated interval of 1 to 1,000,000 leaves the measured points half as high as the chart."""
    wild = (CurvePoint(2, estimate(100), True), CurvePoint(3, Estimate(150, 1, 1e6), True))
    root = plot(Line(MEASURED.points, (), (wild,)))
    assert float(of_class(root, "point")[1].get("cy", "0")) <= (TOP + BOTTOM) / 2


def test_names_of_ceilings_that_are_close_do_not_cover_each_other() -> None:
    """The lower one's name stands under its line."""
    root = plot(MEASURED, ceilings=(Ceiling(140, "P100 alone"), Ceiling(138, "disk alone")))
    upper, lower = (float(each.get("y", "0")) for each in of_class(root, "ceiling-word"))
    assert lower - upper >= 12


def test_places_that_are_close_have_their_words_on_lines_of_their_own() -> None:
    """The picture grows upwards for them, and all words stay within it."""
    marks = (PlaceMark(1.0, "recommended 1", is_answer=True), PlaceMark(1.05, "memory floor: 1 GiB to 2 GiB"))
    root = plot(MEASURED, marks=marks)
    heights = [float(each.get("y", "0")) for each in [*of_class(root, "answer-word"), *of_class(root, "limit-word")]]
    assert heights[0] - heights[1] >= 12
    assert min(heights) - 10 >= float(root.get("viewBox", "").split()[1])


def test_piles_stand_under_the_points_and_their_heights_add_up() -> None:
    """Where the time of a sample goes, on the axis of the rates: half of the time is half as high."""
    piles = tuple(Pile(x, (Part("CPU", 0.002 / x, 0, "a"), Part("disk", 0.002 / x, 2, "b"))) for x in (1.0, 2.0))
    root = plot(MEASURED, piles=piles, pile_label="ms an image")
    parts = of_class(root, "part")
    heights = [float(each.get("height", "0")) for each in parts]
    assert heights[0] == pytest.approx(heights[1], abs=0.11)
    assert heights[0] == pytest.approx(2 * heights[2], abs=0.21)
    middle = float(parts[0].get("x", "0")) + float(parts[0].get("width", "0")) / 2
    point = next(each for each in of_class(root, "point"))
    assert middle == pytest.approx(float(point.get("cx", "0")), abs=0.11)
    assert {each.get("class") for each in root.iter() if (each.get("class") or "").startswith("hue-")} == {
        "hue-0",
        "hue-2",
    }
    assert len(of_class(root, "hatched")) == len(parts), "each has its hatching beside its colour"


def test_pointing_tells_at_every_place() -> None:
    """Columns cover the picture without a gap, each with its words and the place of its line."""
    stops = (Stop(1.0, "one"), Stop(1.5, "between"), Stop(2.0, "two"))
    columns = of_class(plot(MEASURED, stops=stops), "stop")
    edges = [(float(each.get("x", "0")), float(each.get("width", "0"))) for each in columns]
    assert edges[0][0] == LEFT
    assert all(left + width == pytest.approx(right, abs=0.11) for (left, width), (right, _) in pairwise(edges))
    assert edges[-1][0] + edges[-1][1] == pytest.approx(RIGHT, abs=0.11)
    assert [each.findtext("title") for each in columns] == ["one", "between", "two"]
    assert all(each.get("data-at") for each in columns)


def test_nothing_in_a_picture_has_a_style_of_its_own() -> None:
    """Colours come from the page's style sheet alone, so that one drawing serves light and dark."""
    piles = (Pile(1.0, (Part("CPU", 0.002, 0, "a"),)),)
    root = plot(MEASURED, piles=piles, ceilings=(Ceiling(120, "x"),), knee=(1.5, 80.0))
    assert not [each.tag for each in root.iter() if {"style", "fill", "stroke", "color"} & each.attrib.keys()]

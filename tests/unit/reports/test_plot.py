"""The drawing of a chart, read back from its SVG."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree

from sizer.bundled.reports.curves import CurvePoint
from sizer.bundled.reports.dots import DotChart, Dots, TierRow
from sizer.bundled.reports.plot import BOTTOM, RIGHT, TOP, FailureMark, Line, Plot, Point
from sizer.records.run import Estimate


def estimate(value: float) -> Estimate:
    return Estimate(value, value * 0.95, value * 1.05)


def plot(*lines: Line, mark: tuple[float, str] | None = None, logarithmic: bool = False) -> ElementTree.Element:
    drawn = Plot("label", "vCPUs", "images/s", 1.0, lines, logarithmic, mark).draw()
    return ElementTree.fromstring(str(drawn))


def of_class(root: ElementTree.Element, name: str) -> list[ElementTree.Element]:
    return [each for each in root.iter() if name in each.get("class", "").split()]


MEASURED = Line((Point(1, estimate(50), "one"), Point(2, estimate(100), "two")), ())


def test_heights_are_proportional_to_rates() -> None:
    """The axis starts at 0: twice the rate is drawn twice as high."""
    one, two = (BOTTOM - float(each.get("cy", "0")) for each in of_class(plot(MEASURED), "point"))
    assert abs(two / one - 2) < 0.01


def test_whiskers_reach_from_the_low_to_the_high_end() -> None:
    """A whisker is as long as the interval: 10 % of the value."""
    root = plot(MEASURED)
    point, whisker = of_class(root, "point")[1], of_class(root, "whisker")[1]
    height = BOTTOM - float(point.get("cy", "0"))
    length = float(whisker.get("y1", "0")) - float(whisker.get("y2", "0"))
    assert abs(length / height - 0.1) < 0.01


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


def test_the_extrapolated_part_is_told_apart() -> None:
    """Line and band beyond what was measured have a class of their own, which the style draws dashed."""
    inside = (CurvePoint(1, estimate(50), False), CurvePoint(2, estimate(100), False))
    beyond = (CurvePoint(2, estimate(100), True), CurvePoint(3, estimate(150), True))
    root = plot(Line(MEASURED.points, (), (inside, beyond)))
    assert len(of_class(root, "model")) == 2
    assert len(of_class(root, "extrapolated")) == 2


def test_a_band_that_explodes_does_not_flatten_the_points() -> None:
    """An extrapolated interval of 1 to 1,000,000 leaves the measured points half as high as the chart."""
    wild = (CurvePoint(2, estimate(100), True), CurvePoint(3, Estimate(150, 1, 1e6), True))
    root = plot(Line(MEASURED.points, (), (wild,)))
    assert float(of_class(root, "point")[1].get("cy", "0")) <= (TOP + BOTTOM) / 2


def test_the_answer_is_marked_inside_the_picture() -> None:
    """A recommended spec at the right edge keeps its word within the paper."""
    root = plot(MEASURED, mark=(2.0, "recommended 2"))
    (word,) = of_class(root, "answer-word")
    assert word.text == "recommended 2"
    assert float(word.get("x", "0")) < RIGHT


def test_series_differ_in_shape_and_not_only_in_colour() -> None:
    """The second series is not drawn with circles."""
    root = plot(MEASURED, Line((Point(1, estimate(20), "three"),), ()))
    tags = [each.tag for each in of_class(root, "point")]
    assert tags == ["circle", "circle", "path"]


def test_a_wide_axis_is_labelled_with_doublings() -> None:
    """From 1 to 64 vCPUs, every measured value that has room is written at the axis."""
    points = tuple(Point(2.0**power, estimate(10.0 * power + 10), "") for power in range(7))
    ticks = [each.text for each in of_class(plot(Line(points, ()), logarithmic=True), "tick")]
    assert {"1", "2", "4", "8", "16", "32", "64"} <= set(ticks)


def test_a_text_in_a_chart_is_text() -> None:
    """Markup in a title or a name is shown, not obeyed."""
    line = Line((Point(1, estimate(1), "<script>"), Point(2, estimate(2), "&")), ())
    assert [each.text for each in plot(line).iter("title")] == ["<script>", "&"]


def test_a_disk_chart_has_a_row_for_each_tier() -> None:
    """Measured dots, failed runs, the tier's figures and the model's estimate are all in its row."""
    rows = (
        TierRow("slow", "20 MB/s", "50 images/s", (Dots((Point(0, estimate(50), "a"),), (), estimate(52)),)),
        TierRow("fast", "400 MB/s", "", (Dots((), (FailureMark(0, "crashed", "b"),)),), is_answer=True),
    )
    root = ElementTree.fromstring(str(DotChart("label", "images/s", rows).draw()))
    assert [each.text for each in of_class(root, "row-name")] == ["slow", "fast"]
    assert [each.text for each in of_class(root, "figures")] == ["20 MB/s", "400 MB/s"]
    assert len(of_class(root, "point")) == len(of_class(root, "failure")) == len(of_class(root, "model")) == 1


def test_a_long_name_of_a_tier_is_cut_in_its_middle() -> None:
    """It stays inside the picture, and its end, which tells tiers of one family apart, can still be read."""
    rows = (TierRow("alibaba-cloud-essd-" + "performance-" * 8 + "level-3", "", "69.5 images/s", (Dots((), ()),)),)
    text = str(DotChart("label", "images/s", rows).draw())
    assert "alibaba-cloud" in text
    assert "…" in text
    assert "level-3<" in text
    assert "performance-" * 8 not in text

"""Bars of disk tiers and machines, read back from their SVG."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree

from sizer.bundled.reports.charts.plot import FailureMark, Point
from sizer.bundled.reports.charts.rows import LEFT, RIGHT, Bar, Row, RowGroup, Rows
from sizer.records.configuration import Estimate


def estimate(value: float) -> Estimate:
    return Estimate(value, value * 0.95, value * 1.05)


def drawn(*rows: Row, heading: str = "") -> ElementTree.Element:
    return ElementTree.fromstring(str(Rows("label", "images/s", (RowGroup(heading, rows),)).draw()))


def of_class(root: ElementTree.Element, name: str) -> list[ElementTree.Element]:
    return [each for each in root.iter() if name in each.get("class", "").split()]


SLOW = Bar(50, "50 images/s", points=(Point(0, estimate(50), "a"),), predicted=estimate(52))
FAILED = Bar(None, failures=(FailureMark(0, "crashed", "b"),))


def test_a_picture_has_a_row_for_each_tier() -> None:
    """Measured points, failed runs, the tier's figures and the model's estimate are all in its row."""
    root = drawn(Row("slow", (SLOW,), figures=("20 MB/s",)), Row("fast", (FAILED,), figures=("400 MB/s", "x")))
    assert [each.text for each in of_class(root, "row-name")] == ["slow", "fast"]
    assert [each.text for each in of_class(root, "figures")] == ["20 MB/s", "400 MB/s", "x"]
    assert len(of_class(root, "point")) == len(of_class(root, "failure")) == len(of_class(root, "model")) == 1


def test_lengths_are_proportional_to_rates() -> None:
    """The axis starts at 0: twice the rate is twice as long."""
    root = drawn(Row("a", (Bar(50, interval=estimate(50)),)), Row("b", (Bar(100, interval=estimate(100)),)))
    one, two = (float(each.get("width", "0")) for each in of_class(root, "bar"))
    assert abs(two / one - 2) < 0.01


def test_the_model_lies_beside_what_was_measured_and_not_on_it() -> None:
    """They must never look the same."""
    root = drawn(Row("slow", (SLOW,)))
    (bar,), (band,) = of_class(root, "bar"), of_class(root, "band")
    assert float(band.get("y", "0")) >= float(bar.get("y", "0")) + float(bar.get("height", "0"))


def test_bars_of_one_tier_stand_under_each_other() -> None:
    """Cold and warm, say, in the colours of their series."""
    root = drawn(Row("slow", (SLOW, SLOW)))
    first, second = of_class(root, "bar")
    assert float(second.get("y", "0")) >= float(first.get("y", "0")) + 15
    assert {"series-0", "series-1"} <= {each.get("class") for each in root.iter()}


def test_what_the_disk_is_enough_for_is_marked_where_it_can_be_seen() -> None:
    """Far beyond the measured rates it would flatten the bars, so there it is left to the words."""
    near, far = (of_class(drawn(Row("slow", (SLOW,), ceiling=rate)), "ceiling") for rate in (70, 7000))
    assert len(near) == 1
    assert far == []


def test_a_long_name_is_cut_in_its_middle() -> None:
    """It stays inside the picture, and its end, which tells tiers of one family apart, can still be read."""
    (name,) = of_class(drawn(Row("alibaba-cloud-essd-" + "performance-" * 8 + "level-3", (SLOW,))), "row-name")
    assert name.text is not None
    assert name.text.startswith("alibaba-cloud")
    assert name.text.endswith("level-3")
    assert len(name.text) * 6 < RIGHT - LEFT


def test_a_name_of_ten_thousand_characters_takes_no_time_and_no_room() -> None:
    """It is cut before anything is measured at length."""
    root = drawn(Row("x" * 10_000, (SLOW,), beside="y" * 10_000, figures=("z" * 10_000,)), heading="k" * 10_000)
    assert len(ElementTree.tostring(root)) < 5_000

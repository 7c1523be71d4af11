"""Values over time, as plain data and as SVG."""

from __future__ import annotations

import re
from dataclasses import replace

from sizer.bundled.reports.charts.times import Break, Moment, Stretch, Times
from sizer.records.run import Estimate

PLOT = Times(
    label="Times",
    x_label="seconds",
    y_label="%",
    unit=1.0,
    moments=(Moment(10.0, Estimate(100.0, 98.0, 102.0), "first"), Moment(90.0, Estimate(96.0, 94.0, 98.0), "last")),
    stretches=(Stretch(0.0, 20.0, "a", 0), Stretch(20.0, 80.0, "b", 1), Stretch(80.0, 100.0, "c", None, failed=True)),
    band=(97.5, 102.5),
)


def places(drawn: str, class_: str) -> list[tuple[float, float]]:
    """Left and right of the bars of that class."""
    found = re.findall(rf'<rect x="([\d.]+)" y="[\d.]+" width="([\d.]+)" height="[\d.]+" class="{class_}"', drawn)
    return [(float(left), float(left) + float(width)) for left, width in found]


def test_small_changes_are_seen() -> None:
    """The axis begins where the values do, not at zero, and its ticks hold all of them."""
    assert PLOT.y_ticks[0] >= 90
    assert PLOT.y_ticks[0] <= 94
    assert PLOT.y_ticks[-1] >= 102.5


def test_one_wide_interval_does_not_flatten_the_rest() -> None:
    """A whisker is cut off where it would take more room than the values and the band have."""
    wide = Moment(50.0, Estimate(100.0, 1.0, 900.0), "wide")
    assert replace(PLOT, moments=(*PLOT.moments, wide)).y_ticks[0] >= 80
    assert replace(PLOT, moments=(*PLOT.moments, wide)).y_ticks[-1] <= 120


def test_a_strip_shows_what_went_on() -> None:
    """Bars one after the other, as long as they took; what failed is a cross."""
    drawn = str(PLOT.draw())
    (first, second) = places(drawn, "stretch")
    assert first[1] <= second[0]
    assert 2.5 < (second[1] - second[0]) / (first[1] - first[0]) < 3.5
    assert drawn.count('class="failure"') == 1


def test_values_alike_still_have_an_axis() -> None:
    """Of one value, and without a band."""
    drawn = replace(PLOT, moments=(Moment(1.0, Estimate(100.0, 100.0, 100.0), ""),), band=None).draw()
    assert 'class="point"' in drawn


def test_words_of_breaks_do_not_meet() -> None:
    """Each break has its line, and those have words that find room."""
    breaks = tuple(Break(place, "3 h 00 min later") for place in (10.0, 12.0, 14.0, 80.0))
    drawn = str(replace(PLOT, breaks=breaks).draw())
    assert drawn.count('class="limit"') == 4
    assert drawn.count('class="limit-word"') == 2


def test_names_are_text() -> None:
    """Whatever they hold."""
    drawn = replace(PLOT, stretches=(Stretch(0.0, 1.0, "<b>\u202e", 0),)).draw()
    assert "<title>&lt;b&gt;�</title>" in drawn

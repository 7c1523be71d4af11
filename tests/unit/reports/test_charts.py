"""The drawing of a chart, read back from its SVG."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from sizer.bundled.reports.charts import plot as plots
from sizer.bundled.reports.charts import svg
from sizer.bundled.reports.charts.legend import Figure, Key
from sizer.bundled.reports.figures.workload import figures
from sizer.bundled.reports.policy import TEMPLATES
from sizer.bundled.reports.subject import Material, Subject, subjects
from sizer.cli import main
from sizer.model.runs import as_asked
from sizer.records.prediction import Estimate, Spec
from tests.reported_study import TRAIN


def estimate(value: float) -> Estimate:
    return Estimate(value, value * 0.95, value * 1.05)


def plot(*lines: plots.Line, logarithmic: bool = False, **more: Any) -> ElementTree.Element:
    drawn = plots.Plot("label", "vCPUs", "images/s", 1.0, lines, logarithmic, **more).draw()
    return ElementTree.fromstring(str(drawn))


def of_class(root: ElementTree.Element, name: str) -> list[ElementTree.Element]:
    return [element for element in root.iter() if name in element.get("class", "").split()]


MEASURED = plots.Line((plots.Point(1, estimate(50), "one"), plots.Point(2, estimate(100), "two")), ())


def test_heights_are_proportional_to_rates() -> None:
    """The axis starts at 0: twice the rate is drawn twice as high."""
    one, two = (plots.BOTTOM - float(element.get("cy", "0")) for element in of_class(plot(MEASURED), "point"))
    assert abs(two / one - 2) < 0.01


def test_a_failed_run_is_marked_at_the_floor_with_its_word() -> None:
    """Two kills at one cap are one word with their number, and both crosses are there."""
    failures = (plots.FailureMark(0.5, "out of memory", "a"), plots.FailureMark(0.5, "out of memory", "b"))
    root = plot(plots.Line(MEASURED.points, failures))
    assert len(of_class(root, "failure")) == 2
    assert [element.text for element in of_class(root, "failure-word")] == ["out of memory ×2"]


def test_a_band_that_explodes_does_not_flatten_the_points() -> None:
    """An extrapolated interval of 1 to 1,000,000 leaves the measured points half as high as the chart."""
    wild = (plots.CurvePoint(2, estimate(100), True), plots.CurvePoint(3, Estimate(150, 1, 1e6), True))
    root = plot(plots.Line(MEASURED.points, (), (wild,)))
    assert float(of_class(root, "point")[1].get("cy", "0")) <= (plots.TOP + plots.BOTTOM) / 2


def test_places_that_are_close_have_their_words_on_lines_of_their_own() -> None:
    """The picture grows upwards for them, and all words stay within it."""
    marks = (
        plots.PlaceMark(1.0, "recommended 1", is_answer=True),
        plots.PlaceMark(1.05, "memory floor: 1 GiB to 2 GiB"),
    )
    root = plot(MEASURED, marks=marks)
    heights = [
        float(element.get("y", "0")) for element in [*of_class(root, "answer-word"), *of_class(root, "limit-word")]
    ]
    assert heights[0] - heights[1] >= 12
    assert min(heights) - 10 >= float(root.get("viewBox", "").split()[1])


def test_pointing_tells_at_every_place() -> None:
    """Columns cover the picture without a gap, each with its words and the place of its line."""
    stops = (plots.Stop(1.0, "one"), plots.Stop(1.5, "between"), plots.Stop(2.0, "two"))
    columns = of_class(plot(MEASURED, stops=stops), "stop")
    edges = [(float(column.get("x", "0")), float(column.get("width", "0"))) for column in columns]
    assert edges[0][0] == plots.LEFT
    assert all(left + width == pytest.approx(right, abs=0.11) for (left, width), (right, _) in pairwise(edges))
    assert edges[-1][0] + edges[-1][1] == pytest.approx(plots.RIGHT, abs=0.11)
    assert [column.findtext("title") for column in columns] == ["one", "between", "two"]
    assert all(column.get("data-at") for column in columns)


def test_nothing_in_a_picture_has_a_style_of_its_own() -> None:
    """Colours come from the page's style sheet alone, so that one drawing serves light and dark."""
    piles = (plots.Pile(1.0, (plots.Part("CPU", 0.002, 0, "a"),)),)
    root = plot(MEASURED, piles=piles, ceilings=(plots.Ceiling(120, "x"),), knee=(1.5, 80.0))
    assert not [element.tag for element in root.iter() if {"style", "fill", "stroke", "color"} & element.attrib.keys()]


@pytest.mark.parametrize("text", ["<script>alert(1)</script>", "\"'><img src=x>", "]]>", "&amp;", "{{7*7}}"])
def test_markup_is_text(text: str) -> None:
    """In a text, a tooltip, a label, a description and a class."""
    drawn = str(svg.drawing(1, 1, text, svg.text(text, 0, 0, text), svg.marker(0, 1, 1, "", text), description=text))
    root = ElementTree.fromstring(drawn)
    assert root.get("aria-label") == text
    assert [element.text for element in root.iter() if element.tag in ("desc", "text", "title")] == [text, text, text]
    assert [element.get("class") for element in root.iter("text")] == [text]


@pytest.mark.parametrize("mark", ["\u202e", "\u2067", "\u200f", "\x00", "\x1b", "\ud800"])
def test_what_would_turn_or_break_the_line_is_shown_as_unknown(mark: str) -> None:
    """Marks of direction and control characters; a drawing with them would be no XML or read backwards."""
    root = ElementTree.fromstring(str(svg.text(f"a{mark}b", 0, 0, "")))
    assert root.text == "a\ufffdb"


TABLES = {
    "curve": "workload,vcpus,throughput\njob,1,100\njob,2,190\njob,4,350\njob,8,600\n",
    "disks": "workload,vcpus,disk,throughput\n"
    "job,2,a,150\njob,4,a,290\njob,4,b,295\njob,8,a,420\njob,8,b,560\njob,16,a,430\njob,16,b,1050\n",
    "machines": "workload,gpu,gpu_count,throughput\njob,K80,1,480\njob,K80,2,950\njob,P100,1,1800\njob,P100,4,7105\n",
}


def classes(drawn: ElementTree.Element, around: frozenset[str] = frozenset()) -> Iterator[tuple[str, frozenset[str]]]:
    """Each class of each mark, with the classes of the groups that it is in."""
    own = frozenset(drawn.get("class", "").split())
    yield from ((name, around | own) for name in own)
    for part in drawn:
        yield from classes(part, around | own)


def is_drawn(key: Key, figure: Figure) -> bool:
    """Whether each mark of the key is in the picture, in a group of the key's series or colour."""
    marks = set(classes(ElementTree.fromstring(str(figure.svg))))
    needed = {kind for kind in key.kind.split() if re.match("series|hue|light", kind)}
    wanted = {name for name, _around in classes(ElementTree.fromstring(str(key.svg)))}
    return all(any(name == mark and needed <= around for mark, around in marks) for name in wanted)


def unfounded(subject: Subject) -> list[tuple[str, str]]:
    drawn = figures(replace(subject, runs=tuple(as_asked(subject.runs))))
    return [(figure.title, key.text) for figure in drawn for key in figure.keys if not is_drawn(key, figure)]


def test_each_key_has_a_mark_in_its_picture(material: Material) -> None:
    for subject in subjects(material):
        assert unfounded(subject) == []


@pytest.mark.parametrize("name", TABLES)
def test_keys_of_imported_tables_have_marks_too(name: str, tmp_path: Path) -> None:
    """Rows without an interval have points without a whisker, in the legend as in the chart."""
    (tmp_path / "table.csv").write_text(TABLES[name])
    assert main(["import", str(tmp_path / "table.csv"), "--out", str(tmp_path / "s")]) == 0
    page = (tmp_path / "s" / "report.html").read_text("utf-8")
    drawn = re.findall(r"<figure>.*?</figure>", page, re.S)
    assert drawn
    assert "not measured by fio" not in page
    for figure in drawn:
        picture, legend = figure.split('<ul class="legend">')
        svg = picture[picture.index("<svg") : picture.rindex("</svg>") + 6]
        for kind, small, text in re.findall(r'<li class="([^"]*)">(<svg.*?</svg>) (.*?)</li>', legend, re.S):
            assert is_drawn(Key(small, text, kind), Figure("", svg, ()))  # type: ignore[arg-type]


def test_a_chart_is_drawn_along_the_demands_of_the_answer(material: Material) -> None:
    """Its disk's points are measured points, the others' lighter, and the model's line is that of its disk."""
    trained = next(subject for subject in subjects(material) if subject.name == TRAIN.name)
    slow: Spec = replace(trained.answer.spec, disk="slow")
    subject = replace(trained, answer=replace(trained.answer, spec=slow))
    first = figures(subject)
    chart = next(figure for figure in first if figure.title == "Throughput against vCPUs")
    named = {key.text: key.kind for key in chart.keys}
    assert named["slow (emulated)"] == "series-0 alone"
    assert named["fast (emulated)"] == "series-1 light"
    assert unfounded(subject) == []
    marks = list(classes(ElementTree.fromstring(str(chart.svg))))
    assert not any(name == "model" and "light" in around for name, around in marks)
    assert any(name == "model" and "series-0" in around for name, around in marks)


TEXT = ("ink", "muted", "good", "caution", "bad", "link")
MARKS = ("series-0", "series-1", "series-2", "series-3", "model")


def schemes() -> dict[str, dict[str, str]]:
    blocks = re.findall(r":root \{(.*?)\}", (TEMPLATES / "page.css").read_text(encoding="utf-8"), re.DOTALL)
    light, dark = (dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})", block)) for block in blocks)
    assert light.keys() == dark.keys()
    return {"light": light, "dark": dark}


def luminance(colour: str) -> float:
    parts = [int(colour[index : index + 2], 16) / 255 for index in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("background", ["page", "panel"])
@pytest.mark.parametrize("name", TEXT)
def test_text_is_readable(scheme: str, background: str, name: str) -> None:
    """Text reaches 4.5 on the page and on panels, in both schemes."""
    colours = schemes()[scheme]
    assert contrast(colours[name], colours[background]) >= 4.5


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", MARKS)
def test_marks_of_charts_stand_out(scheme: str, name: str) -> None:
    """Points and lines reach the 3 that graphics need."""
    colours = schemes()[scheme]
    assert contrast(colours[name], colours["page"]) >= 3

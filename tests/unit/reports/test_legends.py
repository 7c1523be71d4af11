"""Legends list what is drawn, and nothing else."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from sizer.bundled.reports.charts.legend import Figure, Key
from sizer.bundled.reports.figures.workload import figures
from sizer.bundled.reports.subject import Material, Subject, subjects
from sizer.cli import main
from sizer.model.isolation import as_asked
from sizer.records.prediction import Spec
from tests.reported_study import TRAIN

TABLES = {
    "curve": "workload,vcpus,throughput\njob,1,100\njob,2,190\njob,4,350\njob,8,600\n",
    "disks": "workload,vcpus,disk,throughput\n"
    "job,2,a,150\njob,4,a,290\njob,4,b,295\njob,8,a,420\njob,8,b,560\njob,16,a,430\njob,16,b,1050\n",
    "machines": "workload,gpu,gpu_count,throughput\njob,K80,1,480\njob,K80,2,950\njob,P100,1,1800\njob,P100,4,7105\n",
}


def classes(drawn: ElementTree.Element, around: frozenset[str] = frozenset()) -> Iterator[tuple[str, frozenset[str]]]:
    """Each class of each mark, with the classes of the groups that it is in."""
    own = frozenset(drawn.get("class", "").split())
    yield from ((each, around | own) for each in own)
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
    return [(each.title, key.text) for each in drawn for key in each.keys if not is_drawn(key, each)]


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
    assert trained.answer is not None
    assert trained.answer.spec is not None
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

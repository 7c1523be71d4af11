"""The whole page as text: its order, what it must say, what it must never hold, and what its scripts read."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sizer.bundled.reports import what_if
from sizer.bundled.reports.markup import embedded, showable
from sizer.bundled.reports.page import render, write_report
from sizer.bundled.reports.subject import Material, subjects
from sizer.bundled.reports.what_if import Control, controls
from sizer.catalog.catalog import Catalog
from sizer.model.fitting import fit
from sizer.model.model import WorkloadModel
from sizer.model.prediction import filled
from sizer.records.messages import HostError
from sizer.records.prediction import Configuration, Estimate
from sizer.records.run import Run
from sizer.records.run_kinds import Outcome
from sizer.records.study import Study
from sizer.records.units import GIB
from sizer.store.study_folder import StudyFolder
from sizer.words.names import outcome_in_words
from tests import ROOT
from tests.hostile_study import HOSTILE, hostile

# The whole page as text: its order, what it must say, and what it must never hold.


class Reader(HTMLParser):
    """Tags with their attributes, visible text, and the names of elements left open at the end."""

    VOID = ("meta", "br", "input")

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.open: list[str] = []
        self.feed(page)
        self.text = re.sub(r"\s+", " ", " ".join(self.words))

    def handle_starttag(self, tag: str, attrs: Sequence[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag, f"</{tag}> closes another element, after: {' '.join(self.words[-3:])}"

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] not in ("style", "script"):
            self.words.append(data)


@pytest.fixture(scope="module")
def page(material: Material) -> str:
    return render(material)


@pytest.fixture(scope="module")
def reader(page: str) -> Reader:
    return Reader(page)


def test_the_page_is_well_formed(reader: Reader) -> None:
    """Every element that is opened is closed, in order."""
    assert reader.open == []


def test_the_verdict_stands_before_everything_else(page: str) -> None:
    """Answers, then charts, then failures and doubts, how it was measured, and every run."""
    sections = ("failures", "trust", "measurement", "runs")
    places = [page.index(mark) for mark in ('id="verdict"', "<figure>", *(f'id="{name}"' for name in sections))]
    assert places == sorted(places)
    assert page.index("no machine yet") < page.index("<figure>")


def test_every_measured_point_is_drawn(page: str, runs: tuple[Run, ...]) -> None:
    """Each completed run is a point of some chart, and pointing at it says its rate."""
    for run in runs:
        if run.outcome is Outcome.COMPLETED:
            assert re.search(rf'class="point"><title>[^<]*(?:images|words)/s[^<]*run {run.id}</title>', page)


def test_every_failed_run_is_drawn_and_explained(page: str, reader: Reader, runs: tuple[Run, ...]) -> None:
    """A run that failed has its mark in a chart, and its reason and a link to it in the table."""
    listed = page[page.index('id="failures"') : page.index('id="trust"')]
    for run in runs:
        if run.outcome is not Outcome.COMPLETED:
            assert re.search(rf'class="failure"><title>[^<]*run {run.id}</title>', page)
            assert f'href="#run-{run.id}"' in listed
    assert "killed by the kernel: the memory cap is below what the workload needs" in reader.text
    assert "exit status 1" in reader.text


def test_every_run_has_its_line_and_its_card(reader: Reader, runs: tuple[Run, ...]) -> None:
    """The list of all runs leaves none out, and each can be linked to."""
    listed = reader.text[reader.text.index("All runs") :]
    assert all(run.id in listed for run in runs)
    cards = [attributes["id"] for tag, attributes in reader.tags if tag == "div" and attributes.get("id")]
    assert sorted(cards) == sorted(f"run-{run.id}" for run in runs)


def test_every_link_within_the_page_has_its_target(
    material: Material, runs: tuple[Run, ...], reference: tuple[Run, ...]
) -> None:
    """From the head and from failures, to where it is said."""
    reader = Reader(render(replace(material, runs=(*runs, *reference))))
    targets = {attributes["id"] for _, attributes in reader.tags if "id" in attributes}
    links = {attributes["href"] or "" for tag, attributes in reader.tags if tag == "a"}
    within = {link[1:] for link in links if link.startswith("#")}
    assert "trust" in within
    assert within <= targets


def test_runs_of_the_first_version_have_their_page(material: Material, first_version: Path) -> None:
    """A stored run that knows nothing of newer figures shows those it has, and none is made up."""
    stored = StudyFolder.open(first_version)
    text = Reader(render(replace(material, study=stored.study, runs=stored.runs(), recommendation=None))).text
    card = text[text.index("All runs") :]
    assert "183 images/s (180–186)" in card
    assert "Cores used" in card
    assert not re.search(r"None|Hit rate \d|Stalled CPU|Anonymous growth \+", card)


def test_a_page_of_hundreds_of_runs_stays_small(material: Material, runs: tuple[Run, ...]) -> None:
    """Each further run of the same configurations costs less than 4 kB, card and point in the charts together."""
    most = [
        replace(run, spec=replace(run.spec, repeat=2 * turn + run.spec.repeat)) for turn in range(5) for run in runs
    ]
    small, large = (len(render(replace(material, runs=tuple(own))).encode()) for own in (runs, most))
    assert (large - small) / (len(most) - len(runs)) < 4000


def test_what_is_emulated_or_embedded_is_said(reader: Reader) -> None:
    """The emulated GPU, the emulated disks and the embedded data set are named as such."""
    assert "emulated P100, 219 images/s from TensorFlow performance benchmarks" in reader.text
    assert "No GPU computed anything" in reader.text
    assert "medium (emulated)" in reader.text
    assert "embedded data set (made by sizer; not ImageNet, not PennTreeBank)" in reader.text


def test_every_mention_of_the_emulated_accelerator_says_so(reader: Reader) -> None:
    """No P100 is on the page without the word emulated before it, but in what the user named and in the study file."""
    text = reader.text.replace("train-resnet50-p100", "").replace("gpu: P100", "")
    assert len(re.findall(r"P100", text)) == len(re.findall(r"emulated P100", text)) > 5


def test_the_time_for_imagenet_is_given(reader: Reader) -> None:
    """Preprocessing says how long ImageNet's images would take, and that ImageNet was not read."""
    assert "ImageNet's 1,281,167 images" in reader.text
    assert "ImageNet itself was not read" in reader.text


def test_nothing_is_loaded_from_the_network(page: str, reader: Reader) -> None:
    """No element or style refers to anything outside the page but links that a person follows."""
    assert [tag for tag, _ in reader.tags].count("script") == 2, "the page's own, and the data of its model"
    for tag, attributes in reader.tags:
        assert tag not in ("link", "img", "iframe", "object", "embed", "base", "image", "use")
        assert not attributes.keys() & {"src", "srcset", "data", "poster", "background", "xlink:href"}
        assert "href" not in attributes or tag == "a"
        assert not [name for name in attributes if name.startswith("on")]
    assert not re.search(r"@import|url\s*\((?!#hatch)|@font-face", page)
    assert "default-src 'none'" in page


def test_only_a_web_address_becomes_a_link(material: Material) -> None:
    """A source like javascript:... is text."""
    answer = material.recommendation.workloads[0]
    offer = replace(answer.instances[0], source="javascript:alert(1)")
    recommendation = replace(material.recommendation, workloads=(replace(answer, instances=(offer,)),))
    reader = Reader(render(replace(material, recommendation=recommendation)))
    assert "javascript:alert(1)" in reader.text
    links = [attributes["href"] or "" for tag, attributes in reader.tags if tag == "a"]
    assert not [link for link in links if link.startswith("javascript")]


def test_a_study_without_any_run_has_a_page(material: Material) -> None:
    """Before the first run, and without model and recommendation, the page says what is not there."""
    empty = Material(Study("new", ()), {}, (), None, None, (), (), "now", "0")
    assert "No recommendation has been computed" in Reader(render(empty)).text
    planned = replace(material, runs=(), model=None, recommendation=None, disk_checks=())
    assert "No run of this workload completed" in Reader(render(planned)).text


def test_a_study_in_which_everything_failed_has_a_page(material: Material) -> None:
    """Every outcome is handled by every part of the page."""
    outcomes = [outcome for outcome in Outcome if outcome is not Outcome.COMPLETED]
    failed = tuple(
        replace(run, outcome=outcomes[index % len(outcomes)], throughput=None, evidence=None, demand=None)
        for index, run in enumerate(material.runs)
    )
    reader = Reader(render(replace(material, runs=failed, model=fit(failed), recommendation=None)))
    assert all(outcome_in_words(outcome) in reader.text for outcome in outcomes)


@pytest.mark.parametrize("rate", [Estimate(math.nan, math.nan, math.nan), Estimate(1, 0, math.inf), None])
def test_a_rate_that_is_no_number_does_not_spoil_the_page(material: Material, rate: Estimate | None) -> None:
    """A completed run without a usable rate is marked and the rest is drawn."""
    runs = (replace(material.runs[0], throughput=rate), *material.runs[1:])
    page = render(replace(material, runs=runs))
    assert "no rate" in page
    assert "nan" not in re.findall(r'[a-z0-9]+="([^"]*)"', page)


def test_the_report_is_written_whole(material: Material, page: str, tmp_path: Path) -> None:
    """The file holds the page and nothing is left beside it; a folder that is not there is an error for people."""
    path = tmp_path / "report.html"
    path.write_text("old")
    write_report(path, material)
    assert path.read_text(encoding="utf-8") == page
    assert list(tmp_path.iterdir()) == [path]
    with pytest.raises(HostError, match="cannot be written"):
        write_report(tmp_path / "missing" / "report.html", material)


EVIL = HOSTILE["markup"]
PLAIN = "x" * len(EVIL)


@pytest.fixture
def _short_curves(monkeypatch: pytest.MonkeyPatch) -> None:
    """A curve of few points has the same elements, and each model here is another one."""
    monkeypatch.setattr("sizer.bundled.reports.figures.series.POINTS", 6)


@pytest.mark.slow
@pytest.mark.usefixtures("_short_curves")
def test_no_text_becomes_an_element_or_an_attribute(material: Material) -> None:
    """Of names, units, errors, last words, warnings, paths and reasons; a link is inside the page, a source's, or saves
    a file that the page holds.
    """
    evil, plain = (render(hostile(material, text)) for text in (EVIL, PLAIN))
    assert plain.count(PLAIN) > 100
    assert EVIL not in evil
    skeletons = ([(tag, tuple(attributes)) for tag, attributes in Reader(page).tags] for page in (evil, plain))
    assert next(skeletons) == next(skeletons)
    tags = [attributes for _tag, attributes in Reader(evil).tags]
    names = ("href", "src", "action", "xlink:href")
    links = [
        attributes[name] or ""
        for attributes in tags
        if "download" not in attributes
        for name in names
        if name in attributes
    ]
    assert all(link.startswith(("#", "https://", "http://")) for link in links)
    saved = [attributes["href"] or "" for attributes in tags if "download" in attributes]
    assert [link.startswith("data:application/gzip;base64,") for link in saved] == [True, True]
    assert not any("owned" in (attributes.get("style") or "") for attributes in tags)


# Data that a page's scripts read.


@given(st.recursive(st.integers() | st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)))
def test_what_is_embedded_comes_back(value: object) -> None:
    """Whatever is in it, in one element of plain data, with its texts as a page may have them."""
    block = embedded("series", value)
    assert Reader(block).tags == [("script", {"type": "application/json", "id": "series"})]
    assert json.loads(inside(block, "series")) == showable(value)


@pytest.mark.parametrize("text", ["</script><script>alert(1)</script>", "<!--<script>", "]]>", "a & b", "\u2028"])
def test_no_text_ends_the_block(text: str) -> None:
    """Neither its end nor a comment can be written into it."""
    block = embedded("series", {"name": text})
    inside = re.fullmatch(r"<script [^>]*>(.*)</script>", block, re.DOTALL)
    assert not set("<>&\u2028") & set(inside[1])
    assert json.loads(inside[1]) == {"name": text}


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_what_json_does_not_know_is_refused(value: float) -> None:
    """A browser could not read the block."""
    with pytest.raises(ValueError, match="not JSON compliant"):
        embedded("series", [value])


def test_texts_turn_nothing_round() -> None:
    """A script shows them as they are, in keys and in values."""
    assert showable({"a\u202eb": ["c\x07", ("d", 1, None)]}) == {"a�b": ["c�", ["d", 1, None]]}


# The data of the what-if section: which controls there are, what they set, and that nothing in it breaks out.


CATALOG = Catalog.load()


def begun(model: WorkloadModel) -> Configuration:
    start = filled(model, {})
    return (
        start if start.gpu_count or not model.measured.gpus else replace(start, gpu_count=model.measured.gpus[0].count)
    )


def named(model: WorkloadModel) -> dict[str, Control]:
    return {control.name: control for control in controls(model, begun(model), CATALOG)}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("rising", ["vcpus"]),
        ("accelerator and disks", ["vcpus", "gpu_speedup", "disk", "disk_mbps", "disk_iops", "decode_speedup"]),
        ("step apart", ["vcpus", "decode_speedup"]),
        ("batches on the CPU", ["vcpus", "batch_size"]),
        ("several accelerators", ["gpu_count", "gpu_speedup", "decode_speedup"]),
        ("kinds of accelerator", ["vcpus", "gpu", "gpu_speedup", "decode_speedup"]),
        ("page cache", ["vcpus", "memory_gib", "disk", "disk_mbps", "disk_iops", "data_factor"]),
        ("reads miss", ["vcpus", "memory_gib", "disk"]),
        ("memory alone", ["memory_gib"]),
        ("disks that saturate", ["gpu_count", "gpu_speedup", "disk", "decode_speedup"]),
        ("whole machines", ["vcpus", "memory_gib", "gpu", "gpu_count", "gpu_speedup", "batch_size", "decode_speedup"]),
    ],
)
def test_controls_follow_from_what_the_model_can_answer(
    models: dict[str, WorkloadModel], name: str, shown: list[str]
) -> None:
    """No memory where it was not varied, no accelerator on a job of the CPU, no other disk where reads are unknown."""
    assert list(named(models[name])) == shown


def codes_of_the_page() -> set[str]:
    script = (ROOT / "reports" / "templates" / "model.js").read_text()
    return set(re.findall(r'refused: "(\w+)"', script))


def test_a_slider_marks_what_was_measured(models: dict[str, WorkloadModel]) -> None:
    """With stops between and beyond it where three values are known, and none where there are two."""
    three, two = named(models["rising"])["vcpus"], named(models["two vCPU values"])["vcpus"]
    assert [three.stops[index] for index in three.measured] == [1, 2, 4]
    assert list(three.stops) == [1, 2, 3, 4, 6, 8, 12, 16]
    assert three.labels[three.start] == "4 vCPUs"
    assert list(two.stops) == [1, 2]
    memory = named(models["memory floor"])["memory_gib"]
    assert memory.stops[0] == GIB // 2
    assert 0 not in memory.measured
    assert memory.scale == GIB


def shown(material: Material) -> dict[str, Any]:
    contents = what_if.contents(material, subjects(material))
    assert contents is not None
    return contents


def inside(element: object, name: str) -> str:
    """What the element of data of that id holds."""
    begin, _, rest = str(element).partition(">")
    assert begin == f'<script type="application/json" id="{name}"'
    return rest.removesuffix("</script>")


def data(material: Material) -> dict[str, Any]:
    what_if_data: dict[str, Any] = json.loads(inside(shown(material)["data"], "what-if-data"))
    return what_if_data


def test_each_refusal_of_the_page_has_its_sentence(material: Material) -> None:
    """Every code that model.js can give."""
    sentences = data(material)["workloads"][0]["refusals"]
    assert codes_of_the_page() == {"not_fitted", "no_gpu_to_speed_up", "too_few_values"} <= set(sentences)
    assert all(sentence.endswith(".") for sentence in sentences.values())

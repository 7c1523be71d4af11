"""The whole page as text: its order, what it must say, and what it must never hold."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest

from sizer.bundled.reports.page import contents, render, write_report
from sizer.bundled.reports.subject import Material
from sizer.model.fitting import fit
from sizer.records.configuration import Configuration, Estimate
from sizer.records.messages import HostError
from sizer.records.notes import Note, NoteKind
from sizer.records.run import Cause, CauseKind, Failure, LimitedBy, LimitedByKind, Run, RunWarning, WarningKind
from sizer.records.run_kinds import Outcome
from sizer.records.study import Study
from sizer.store.study_folder import StudyFolder
from sizer.words.names import outcome_in_words
from sizer.words.warnings import warning_line
from tests.hostile_study import HOSTILE, hostile


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


def test_every_warning_is_said_in_full_with_its_run(reader: Reader, runs: tuple[Run, ...]) -> None:
    """A warning is not only counted."""
    listed = reader.text[reader.text.index("All runs") :]
    warned = [warning_line(warning, run.sample_unit) for run in runs for warning in run.warnings]
    assert warned
    assert all(listed.count(each[1:]) == warned.count(each) for each in warned)


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
    small, large = (len(render(replace(material, runs=tuple(each))).encode()) for each in (runs, most))
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


def test_markup_in_untrusted_text_is_shown_and_not_obeyed(material: Material) -> None:
    """A workload's name, an error, a log, a note or a source with HTML in it stays text."""
    hostile = "<script>alert(1)</script><img src=x onerror=alert(2)>"
    run = material.runs[0]
    spec = replace(run.spec, workload=replace(run.spec.workload, name=hostile))
    bad = replace(
        run,
        spec=spec,
        outcome=Outcome.CRASHED,
        error=Failure(Cause(CauseKind.REFUSED, text=hostile), last_lines=hostile),
        warnings=(RunWarning(WarningKind.OTHER, text=hostile),),
    )
    good = replace(
        run,
        spec=spec,
        configuration=Configuration(1.0, 2**30, hostile, 1),
        limited_by=LimitedBy(LimitedByKind.OTHER, text=hostile),
    )
    study = replace(material.study, name=hostile)
    found = Reader(
        render(
            replace(
                material,
                study=study,
                runs=(bad, good),
                notes=(Note(NoteKind.OTHER, text=hostile),),
                host={hostile: hostile},
            )
        )
    )
    assert [tag for tag, _ in found.tags if tag in ("script", "img")] == ["script", "script"], "the page's own"
    assert found.open == []
    assert hostile in found.text


def test_only_a_web_address_becomes_a_link(material: Material) -> None:
    """A source like javascript:... is text."""
    assert material.recommendation is not None
    answer = material.recommendation.workloads[0]
    offer = replace(answer.instances[0], source="javascript:alert(1)")
    recommendation = replace(material.recommendation, workloads=(replace(answer, instances=(offer,)),))
    reader = Reader(render(replace(material, recommendation=recommendation)))
    assert "javascript:alert(1)" in reader.text
    links = [attributes["href"] or "" for tag, attributes in reader.tags if tag == "a"]
    assert not [link for link in links if link.startswith("javascript")]


def test_workloads_stand_in_the_order_of_the_study(material: Material) -> None:
    """Wherever they are listed, whatever order the runs were made in."""
    stated = contents(replace(material, runs=material.runs[::-1]))
    names = [plan.workload.name for plan in material.study.workloads]
    assert [row["name"] for row in stated["verdict"]["rows"]] == names
    for section, part in (("workloads", "sections"), ("runs", "runs")):
        assert [each["name"] for each in stated[section][part]] == names
    assert stated["measurement"]["data_sets"][0]["workloads"] == "train-resnet50-p100, infer-squeezenet"
    assert stated["measurement"]["states"][0][0].startswith("train-resnet50-p100, infer-squeezenet")


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


def test_runs_that_the_study_does_not_name_are_shown(material: Material) -> None:
    """Imported runs need no plan."""
    imported = replace(material, study=Study("imported", ()), disk_checks=())
    assert "train-resnet50-p100" in Reader(render(imported)).text


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


class Skeleton(HTMLParser):
    """Elements with the names of their attributes, and where links lead."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, tuple[str, ...]]] = []
        self.links: list[str] = []
        self.saved: list[str] = []
        self.styles: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, tuple(name for name, _ in attrs)))
        found = [value or "" for name, value in attrs if name in ("href", "src", "action", "xlink:href")]
        if "download" in dict(attrs):
            self.saved += found
        else:
            self.links += found
        self.styles += [value or "" for name, value in attrs if name == "style"]


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
    assert Skeleton(evil).elements == Skeleton(plain).elements
    assert all(link.startswith(("#", "https://", "http://")) for link in Skeleton(evil).links)
    assert all(link.startswith("data:application/gzip;base64,") for link in Skeleton(evil).saved)
    assert len(Skeleton(evil).saved) == 2
    assert "owned" not in "".join(Skeleton(evil).styles)

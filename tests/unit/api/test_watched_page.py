"""A table becomes a study folder as a whole, or not at all."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from sizer.api import Measurement, conclusions, events, plan_study, this_host
from sizer.api.conclusions import PAUSE, WatchedPage
from sizer.api.importing import write_study
from sizer.records.messages import HostError
from sizer.store.content import mark_watched
from sizer.store.study_folder import StudyFolder
from tests.tables import imported

TABLE = """
    workload,vcpus,throughput
    job,1,100
    job,2,190
"""


def test_no_run_is_written_over_another(tmp_path: Path) -> None:
    """Two that have one name are refused before any file is there, and nothing is left behind."""
    measured = imported(tmp_path, TABLE)
    folder = tmp_path / "study"
    with pytest.raises(ValueError, match="two runs have one id"):
        write_study(folder, replace(measured, runs=(*measured.runs, measured.runs[0])), tmp_path / "rates.csv")
    assert not folder.exists()


class Clock:
    """Moves on by itself while a page is drawn."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def folder(tmp_path: Path, store_knee: Callable[[Path], Path]) -> StudyFolder:
    return StudyFolder.open(store_knee(tmp_path / "s"))


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def drawn(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Path]]:
    """The pages that were drawn, each of which took three seconds."""
    pages = []

    def draw(folder: StudyFolder) -> None:
        clock.now += 3
        folder.report_path.write_text("page")
        pages.append(folder.report_path)

    monkeypatch.setattr(conclusions, "write_report", draw)
    return pages


def add_a_run(folder: StudyFolder) -> None:
    """Store one again, a second after the page."""
    (path, *_) = (folder.path / "runs").glob("*.json")
    later = folder.report_path.stat().st_mtime_ns + 10**9
    os.utime(path, ns=(later, later))


def test_the_page_is_that_of_the_report(folder: StudyFolder) -> None:
    """Model and recommendation are written with it."""
    mark_watched(folder.path)
    WatchedPage().write_if_due(folder)
    assert "</html>" in folder.report_path.read_text()
    assert folder.model_path.exists()
    assert folder.recommendation_path.exists()


def test_without_anybody_nothing_is_written(folder: StudyFolder, drawn: list[Path], clock: Clock) -> None:
    """Not one file."""
    before = sorted(os.listdir(folder.path))
    WatchedPage(clock).write_if_due(folder)
    assert drawn == []
    assert sorted(os.listdir(folder.path)) == before


def test_a_page_is_drawn_once(folder: StudyFolder, drawn: list[Path], clock: Clock) -> None:
    """Until there are newer runs."""
    mark_watched(folder.path)
    page = WatchedPage(clock)
    page.write_if_due(folder)
    clock.now += 1000
    page.write_if_due(folder)
    assert len(drawn) == 1
    add_a_run(folder)
    page.write_if_due(folder)
    assert len(drawn) == 2


def test_pages_take_a_small_share_of_the_time(folder: StudyFolder, drawn: list[Path], clock: Clock) -> None:
    """Ten times as long as one took, there is no other one."""
    mark_watched(folder.path)
    page = WatchedPage(clock)
    page.write_if_due(folder)
    add_a_run(folder)
    clock.now += PAUSE * 3 - 0.1
    page.write_if_due(folder)
    assert len(drawn) == 1
    clock.now += 0.2
    page.write_if_due(folder)
    assert len(drawn) == 2


@pytest.mark.parametrize(
    ("raised", "sentence"),
    [
        (HostError("no room"), "no room"),
        (ZeroDivisionError("a page"), "internal error in sizer (ZeroDivisionError('a page'))"),
    ],
)
def test_a_page_that_cannot_be_drawn_ends_no_study(
    folder: StudyFolder, monkeypatch: pytest.MonkeyPatch, raised: Exception, sentence: str
) -> None:
    """Whatever the reason is; whoever measures is told, and the next run begins."""

    def fail(_: StudyFolder) -> None:
        raise raised

    monkeypatch.setattr(conclusions, "write_report", fail)
    mark_watched(folder.path)
    host = this_host()
    heard: list[events.Event] = []
    Measurement(plan_study(folder.study, folder.path, host), folder, host, heard.append)._show()
    (event,) = heard
    assert isinstance(event, events.Announcement)
    assert str(event.why) == sentence


def test_what_cannot_be_written_is_said_and_not_tried_at_once_again(
    folder: StudyFolder, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A full disk, say."""
    tried = []

    def refuse(_: StudyFolder) -> None:
        clock.now += 3
        tried.append(clock.now)
        raise HostError("no room")

    monkeypatch.setattr(conclusions, "write_report", refuse)
    mark_watched(folder.path)
    page = WatchedPage(clock)
    with pytest.raises(HostError, match="no room"):
        page.write_if_due(folder)
    page.write_if_due(folder)
    assert len(tried) == 1

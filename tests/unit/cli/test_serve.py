"""Where `sizer serve` draws the page itself, and where it leaves that to who measures."""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from sizer.bundled.reports.policy import page_policy
from sizer.bundled.reports.server.live_page import LivePage
from sizer.cli.commands import serve
from sizer.cli.commands.serve import _Keeper, _sentences
from sizer.records.messages import HostError
from sizer.store.content import mark_watched
from sizer.store.study_folder import StudyFolder


@pytest.fixture
def folder(tmp_path: Path, store_knee: Callable[[Path], Path]) -> StudyFolder:
    opened = StudyFolder.open(store_knee(tmp_path / "s"))
    mark_watched(opened.path)
    return opened


@pytest.fixture
def keeper(folder: StudyFolder, monkeypatch: pytest.MonkeyPatch) -> _Keeper:
    """Of a page that somebody has just asked for, on a host where nobody measures."""
    monkeypatch.setattr(serve, "is_host_measured", lambda: False)
    monkeypatch.setattr(serve, "PAUSE_SECONDS", 0.0)
    page = LivePage(folder.report_path, _sentences(), page_policy)
    page.now()
    return _Keeper(folder, page)


def test_serving_imports_nothing_that_draws() -> None:
    """A second of CPU time at its start would be other load of the run that goes on."""
    code = "import sys, sizer.cli.commands.serve; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not {"numpy", "scipy", "jinja2", "sizer.words", "sizer.api"} & set(loaded)


def test_the_page_is_drawn_where_nobody_measures(folder: StudyFolder, keeper: _Keeper) -> None:
    """Once, until there are newer runs."""
    keeper.draw()
    before = folder.report_path.stat().st_mtime_ns
    keeper.draw()
    assert folder.report_path.stat().st_mtime_ns == before


@pytest.mark.usefixtures("keeper")
def test_a_page_that_was_there_before_is_drawn_anew(folder: StudyFolder) -> None:
    """Whoever a study folder comes from may have written it, and made it look newer than the runs."""
    folder.report_path.write_text("<script>alert(1)</script>")
    os.utime(folder.report_path, (1e10, 1e10))
    page = LivePage(folder.report_path, _sentences(), page_policy)
    assert b"alert" not in page.now().content
    _Keeper(folder, page).draw()
    assert b"</html>" in page.now().content
    assert b"alert" not in folder.report_path.read_bytes()


def test_a_folder_that_cannot_be_written_is_said(
    folder: StudyFolder, keeper: _Keeper, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once in a while, with what to type: no page can come."""

    def refuse(_: Path) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(serve, "mark_watched", refuse)
    with pytest.raises(HostError) as error:
        keeper._mark()
    assert str(error.value) == (
        f"The page cannot be drawn, as {folder.path} cannot be written (Permission denied); serve a copy of the "
        f"folder: cp -r {folder.path} COPY && sizer serve COPY"
    )
    keeper._mark()


def test_it_is_not_drawn_while_any_study_is_measured(
    folder: StudyFolder, keeper: _Keeper, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Here or in another folder of this host, or in this folder by another host that shares it."""
    with folder.locked():
        keeper.draw()
    monkeypatch.setattr(serve, "is_host_measured", lambda: True)
    keeper.draw()
    assert not folder.report_path.exists()


def test_what_goes_wrong_is_said_once(
    folder: StudyFolder, keeper: _Keeper, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """And tried again: a folder that is moved away, say."""
    tried = []

    def fail() -> None:
        tried.append(1)
        if len(tried) > 3:
            raise KeyboardInterrupt
        raise HostError("There is no room.")

    monkeypatch.setattr(keeper, "draw", fail)
    with pytest.raises(KeyboardInterrupt):
        keeper.keep()
    assert capsys.readouterr().err == "sizer: There is no room.\n"
    assert ".watched" in os.listdir(folder.path)


def test_a_folder_that_is_gone_ends_no_server(
    folder: StudyFolder, keeper: _Keeper, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its mark cannot be set, and there is nothing to draw."""
    shutil.rmtree(folder.path)
    draw, left = keeper.draw, [1, 1]

    def twice() -> None:
        if not left:
            raise KeyboardInterrupt
        left.pop()
        draw()

    monkeypatch.setattr(keeper, "draw", twice)
    with pytest.raises(KeyboardInterrupt):
        keeper.keep()
    assert capsys.readouterr().err.count("\n") == 1

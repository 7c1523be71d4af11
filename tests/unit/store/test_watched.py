"""The mark of whoever looks at a study's page."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from sizer.records.errors import InputError
from sizer.store.study_folder import StudyFolder
from sizer.store.watched import WATCHED, is_watched, mark_watched, unmark_watched


def test_a_mark_holds_for_a_minute(tmp_path: Path) -> None:
    """One that nobody set again is none, and neither is one of a clock that was wrong."""
    assert not is_watched(tmp_path)
    mark_watched(tmp_path)
    assert is_watched(tmp_path)
    for age in (61, -5):
        os.utime(tmp_path / WATCHED, (time.time() - age,) * 2)
        assert not is_watched(tmp_path)
    mark_watched(tmp_path)
    assert is_watched(tmp_path)
    unmark_watched(tmp_path)
    assert os.listdir(tmp_path) == []
    unmark_watched(tmp_path)


def test_a_link_in_its_place_is_not_followed(tmp_path: Path, store_knee: object) -> None:
    """Nor does any command read a folder with one."""
    (tmp_path / "other").write_text("")
    os.utime(tmp_path / "other", (0, 0))
    study = store_knee(tmp_path / "s")  # type: ignore[operator]
    (study / WATCHED).symlink_to(tmp_path / "other")
    with pytest.raises(OSError, match="symbolic links"):
        mark_watched(study)
    assert (tmp_path / "other").stat().st_mtime == 0
    with pytest.raises(InputError, match=r"\.watched is a link"):
        StudyFolder.open(study)

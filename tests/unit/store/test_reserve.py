"""Room that is held on a study's disk."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from sizer.store.unsaved import RESERVED_BYTES, Reserve


def test_room_is_really_taken_and_given_back(tmp_path: Path) -> None:
    """Blocks of the disk, not a file with a hole; taking it twice takes it once."""
    reserve = Reserve(tmp_path)
    reserve.take()
    reserve.take()
    (path,) = tmp_path.iterdir()
    assert path.stat().st_blocks * 512 >= RESERVED_BYTES
    assert reserve.give_up()
    assert list(tmp_path.iterdir()) == []
    assert not reserve.give_up()


def test_what_cannot_be_taken_is_told_and_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A disk without the room takes no part of it."""

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "posix_fallocate", full)
    with pytest.raises(OSError, match="No space"):
        Reserve(tmp_path).take()
    assert list(tmp_path.iterdir()) == []


def test_a_link_in_its_place_is_not_written_through(tmp_path: Path) -> None:
    """Whatever lies there, nothing outside the folder is written."""
    reserve = Reserve(tmp_path)
    reserve.take()
    (name,) = (path.name for path in tmp_path.iterdir())
    reserve.give_up()
    (tmp_path / name).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OSError, match="symbolic links"):
        reserve.take()
    assert not (tmp_path / "elsewhere").exists()

"""Runs that their study folder would not take, and room that is held on a study's disk."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from sizer.records.messages import HostError
from sizer.records.prediction import Configuration
from sizer.records.run import Run
from sizer.records.run_kinds import Outcome
from sizer.records.study import Limits, Measure, RunSpec, Workload
from sizer.store import unsaved
from sizer.store.unsaved import RESERVED_BYTES, Reserve

HOST = {"cpu_model": "EPYC", "cpus": 2}
RUN = Run(
    RunSpec(Workload("train", "image_training"), 32, Limits(), Measure()),
    Outcome.COMPLETED,
    Configuration(1.0, 2**30, "host", 32),
    "2026-11-21T10:00:00+00:00",
    40.0,
)


def take_back(study: Path, cache: Path, host: dict[str, object] = HOST, wanted: bool = True) -> list[Run]:
    """What comes back for a study folder, taken or not."""
    taken: list[Run] = []

    def store(run: Run) -> bool:
        taken.append(run)
        return wanted

    assert unsaved.take_back(study, host, cache, store) == (len(taken) if wanted else 0)
    return taken


def test_a_kept_run_comes_back_once(tmp_path: Path) -> None:
    """The next start of the same study gets it, and nothing stays in the cache."""
    path = unsaved.keep_unsaved(RUN, tmp_path / "study", HOST, tmp_path / "cache")
    assert path.is_file()
    assert take_back(tmp_path / "study", tmp_path / "cache") == [RUN]
    assert take_back(tmp_path / "study", tmp_path / "cache") == []
    assert not path.parent.exists()


def test_a_run_belongs_to_its_folder_and_machine(tmp_path: Path) -> None:
    """Neither another study folder nor another machine that shares the cache gets it."""
    unsaved.keep_unsaved(RUN, tmp_path / "study", HOST, tmp_path / "cache")
    assert take_back(tmp_path / "other", tmp_path / "cache") == []
    assert take_back(tmp_path / "study", tmp_path / "cache", {**HOST, "cpu_model": "Xeon"}) == []
    assert take_back(tmp_path / "study", tmp_path / "cache") == [RUN]


def test_what_is_not_taken_stays(tmp_path: Path) -> None:
    """A study that does not ask for the run leaves it; a file that is no run is passed over and left."""
    path = unsaved.keep_unsaved(RUN, tmp_path / "study", HOST, tmp_path / "cache")
    broken = path.with_name("0123456789ab.json")
    broken.write_text("{")
    assert take_back(tmp_path / "study", tmp_path / "cache", wanted=False) == [RUN]
    assert path.exists()
    assert take_back(tmp_path / "study", tmp_path / "cache") == [RUN]
    assert broken.exists()


def test_a_cache_that_takes_nothing_either_is_told(tmp_path: Path) -> None:
    """One sentence with the path."""
    (tmp_path / "cache").write_text("a file")
    with pytest.raises(HostError, match="cannot be written"):
        unsaved.keep_unsaved(RUN, tmp_path / "study", HOST, tmp_path / "cache")


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

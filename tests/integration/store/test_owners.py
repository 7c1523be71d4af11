"""Whose a study folder and the cache are: files of other users, which only root can make."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from sizer.files.own_folder import check_own_cache
from sizer.plan.run_order import plan
from sizer.records.messages import InputError
from sizer.records.prediction import Configuration
from sizer.records.run import Run
from sizer.records.run_kinds import Outcome
from sizer.records.study import Study, Workload, WorkloadPlan
from sizer.store.study_folder import StudyFolder
from sizer.study.presets import HostSize

pytestmark = pytest.mark.root

HOST = {"cpu_model": "EPYC", "cpus": 2}
STUDY = Study("s", (WorkloadPlan(Workload("train", "image_training"), (32,), (1.0,)),))
SPEC = plan(STUDY, HostSize(2, 2**30))[0]
RUN = Run(SPEC, Outcome.COMPLETED, Configuration(1.0, 2**30, "host", 32), "2026-11-21T10:00:00+00:00", 40.0)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where a study folder is made."""
    return tmp_path / "a" / "study"


@pytest.mark.parametrize("entry", [".", "study.yaml", "runs", "runs/x.json"])
def test_what_another_user_owns_is_refused(path: Path, entry: str) -> None:
    """Who owns it can change what it runs, as when root unpacks an archive, which keeps the numbers of its users."""
    with StudyFolder.create(path, STUDY, HOST):
        (path / "runs/x.json").write_text("{}")
    os.chown(path / entry, 12345, -1)
    with pytest.raises(InputError, match=r"belongs to user 12345, not to root.( If you trust .* cp -r )?"):
        StudyFolder.open(path)
    with pytest.raises(InputError, match="user 12345"), StudyFolder.create(path, STUDY, HOST):
        pass


def test_sudo_may_use_the_folder_of_who_typed_it(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As git does; and what root then wrote there is no stranger's for that user."""
    with StudyFolder.create(path, STUDY, HOST):
        pass
    for entry in (path, *path.rglob("*")):
        os.chown(entry, 12345, -1)
    monkeypatch.setenv("SUDO_UID", "12345")
    with StudyFolder.create(path, STUDY, HOST) as folder:
        folder.add(RUN)
    monkeypatch.delenv("SUDO_UID")
    monkeypatch.setattr(os, "geteuid", lambda: 12345)
    assert len(StudyFolder.open(path).runs()) == 1


STRANGER = 12345
IMAGE = "images-v1-seed1-64/class_3/0001.JPEG"

Spoil = Callable[[Path], object]


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    """A cache of this user's own, with all that lies in one: a kept run, a data set, a volume and an index."""
    cache = tmp_path / "home" / "cache"
    for name in ("unsaved/0123456789ab/0123456789ab.json", IMAGE, "disks/volume-1-2-3-x/disk.img"):
        (cache / name).parent.mkdir(parents=True, exist_ok=True)
        (cache / name).touch()
    (cache / "index-0123456789ab").mkdir()
    (cache / "index-0123456789ab/train.rec").symlink_to("/data/of/mine/train.rec")
    return cache


def strangers(name: str) -> Spoil:
    return lambda cache: os.chown(cache / name, STRANGER, -1, follow_symlinks=False)


def open_to_all(name: str) -> Spoil:
    return lambda cache: (cache / name).chmod(0o777)


def linked(cache: Path) -> None:
    (cache / "disks").rename(cache.parent / "disks")
    (cache / "disks").symlink_to(cache.parent / "disks")
    os.lchown(cache / "disks", STRANGER, -1)


@pytest.mark.parametrize(
    ("spoil", "sentence"),
    [
        (strangers("."), "home/cache belongs to user 12345, not to root.* set SIZER_CACHE to a folder that is yours"),
        (strangers(".."), "home belongs to user 12345"),
        (strangers("unsaved"), "cache/unsaved belongs to user 12345"),
        (strangers("unsaved/0123456789ab/0123456789ab.json"), "0123456789ab.json belongs to user 12345"),
        (strangers(IMAGE), "0001.JPEG belongs to user 12345"),
        (strangers("disks/volume-1-2-3-x/disk.img"), "disk.img belongs to user 12345"),
        (strangers("index-0123456789ab/train.rec"), "train.rec belongs to user 12345"),
        (linked, "cache/disks belongs to user 12345"),
        (open_to_all("."), "Everybody can write to .*home/cache; type: chmod -R o-w"),
        (open_to_all(".."), "Everybody can write to .*home, so that the cache .* can be replaced; set SIZER_CACHE"),
        (open_to_all("images-v1-seed1-64"), "Everybody can write to .*images-v1-seed1-64; type: chmod"),
        (lambda cache: os.mkfifo(cache / "unsaved/0123456789ab/x.json"), "x.json is not a regular file"),
    ],
)
def test_a_cache_that_others_may_write_to_is_refused(cache: Path, spoil: Spoil, sentence: str) -> None:
    """What lies in it becomes runs and data of a study: a stranger's would be measured, or taken for measured."""
    check_own_cache(cache)
    spoil(cache)
    with pytest.raises(InputError, match=sentence):
        check_own_cache(cache)


@pytest.mark.parametrize(
    "change",
    [
        lambda cache: cache.parent.chmod(0o1777),
        lambda cache: cache.chmod(0o775),
        lambda cache: cache.rename(cache.with_name("away")),
    ],
    ids=["in a sticky folder", "open to its group", "not there yet"],
)
def test_a_cache_of_ones_own_is_taken(cache: Path, change: Spoil) -> None:
    """As below /tmp, with the umask of a user whose group is their own, and on the first day."""
    change(cache)
    check_own_cache(cache)

"""Whose a study folder is: files of other users, which only root can make."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from sizer.plan.run_order import plan
from sizer.records.errors import InputError
from sizer.records.run import Configuration, Outcome, Run
from sizer.records.study import Study, Workload, WorkloadPlan
from sizer.store.study_folder import StudyFolder
from sizer.study import HostSize

pytestmark = pytest.mark.root

HOST = {"cpu_model": "EPYC", "cpus": 2}
STUDY = Study("s", (WorkloadPlan(Workload("train", "image_training"), (32,), (1.0,)),))
SPEC = plan(STUDY, HostSize(2, 2**30))[0]
RUN = Run(SPEC, Outcome.COMPLETED, Configuration(1.0, 2**30, "host", 32), "2026-11-21T10:00:00+00:00", 40.0)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where a study folder is made."""
    return tmp_path / "a" / "study"


def test_another_users_folder_is_refused(path: Path) -> None:
    """Who owns it can change what it runs; the sentence says how to make it one's own."""
    with StudyFolder.create(path, STUDY, HOST):
        pass
    os.chown(path, 12345, -1)
    with pytest.raises(InputError, match=r"belongs to user 12345, not to root. If you trust .* cp -r "):
        StudyFolder.open(path)
    with pytest.raises(InputError, match="user 12345"), StudyFolder.create(path, STUDY, HOST):
        pass


@pytest.mark.parametrize("entry", ["study.yaml", "host.json", "runs", "runs/x.json"])
def test_what_another_user_put_into_a_folder_is_refused(path: Path, entry: str) -> None:
    """As when root unpacks an archive, which keeps the numbers of its users."""
    with StudyFolder.create(path, STUDY, HOST):
        (path / "runs/x.json").write_text("{}")
    os.chown(path / entry, 12345, -1)
    with pytest.raises(InputError, match="belongs to user 12345"):
        StudyFolder.open(path)


def test_sudo_may_use_the_folder_of_who_typed_it(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As git does; and what root then wrote there is no stranger's for that user."""
    with StudyFolder.create(path, STUDY, HOST):
        pass
    for each in (path, *path.rglob("*")):
        os.chown(each, 12345, -1)
    monkeypatch.setenv("SUDO_UID", "12345")
    with StudyFolder.create(path, STUDY, HOST) as folder:
        folder.add(RUN)
    monkeypatch.delenv("SUDO_UID")
    monkeypatch.setattr(os, "geteuid", lambda: 12345)
    assert len(StudyFolder.open(path).runs()) == 1

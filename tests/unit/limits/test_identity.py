"""Whose a name is."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from sizer.limits.control_group import leftovers
from sizer.limits.identity import owner_is_dead, world


def test_a_dead_process_name_is_dead() -> None:
    """Also when its pid is in use again: the start time differs."""
    code = "from sizer.limits.identity import owned_name; print(owned_name('run'))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert owner_is_dead(done.stdout.strip())
    assert owner_is_dead(f"{world()}-{os.getpid()}-1-run")


@pytest.mark.parametrize(
    "name",
    ["", "notes", "1-1-old", "999999999-5-gone", "0123456789-1-1-elsewhere", "0123456789-1-", "20261121-12-30-notes"],
)
def test_nothing_is_known_of_other_names(name: str) -> None:
    """Of people's own files, and of other containers and hosts."""
    assert not owner_is_dead(name)


def test_a_process_that_proc_hides_lives(monkeypatch: pytest.MonkeyPatch) -> None:
    """With hidepid another user's process is not in /proc, and a signal tells."""

    def forbidden(_pid: int, _signal: int) -> None:
        raise PermissionError

    name = f"{world()}-999999998-1-run"
    assert owner_is_dead(name)
    monkeypatch.setattr("os.kill", forbidden)
    assert not owner_is_dead(name)


def test_an_ordinary_user_leaves_roots_groups_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """He could not end what runs in them; root removes everybody's."""
    group = tmp_path / f"{world()}-999999999-1-run"
    for folder in (group, tmp_path / "notes"):
        folder.mkdir()
    assert leftovers([tmp_path]) == [group]
    monkeypatch.setattr("os.geteuid", lambda: group.stat().st_uid + 1)
    assert leftovers([tmp_path]) == []
    monkeypatch.setattr("os.geteuid", lambda: 0)
    assert leftovers([tmp_path]) == [group]

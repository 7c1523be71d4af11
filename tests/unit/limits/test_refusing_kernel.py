"""What limits do where the kernel refuses: an error that names the file or the process, and nothing left behind."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path

import pytest

from sizer.limits import process_tree
from sizer.limits.backends.control_group import TRIES, CgroupBackend, kill_until_empty, leftovers, make_group
from sizer.limits.backends.delegation import hands_over
from sizer.limits.backends.v2 import enabling, own_group
from sizer.limits.detection import backend_for
from sizer.limits.interface import Control
from sizer.limits.process_tree import owner_is_dead, world
from sizer.limits.topology import Machine, read_topology
from sizer.limits.tree import Held, Tree
from sizer.records.messages import HostError
from sizer.words.language import in_words

TOP = "/sys/fs/cgroup"


class Stubborn(Tree):
    """Groups that stay busy for their first removals, as the kernel frees them a moment after their last process."""

    def __init__(self, root: Path, busy: int) -> None:
        super().__init__(root)
        self.busy = busy

    def remove(self, directory: Path) -> None:
        if self.busy:
            self.busy -= 1
            raise OSError(errno.EBUSY, os.strerror(errno.EBUSY))
        super().remove(directory)


def sentence_of(error: pytest.ExceptionInfo[HostError]) -> str:
    return in_words(error.value)


def test_a_group_that_is_freed_late_is_removed_all_the_same(tmp_path: Path) -> None:
    """The groups inside it go first; one that somebody else removed meanwhile is no error."""
    group = tmp_path / "group"
    (group / "inner").mkdir(parents=True)
    Stubborn(tmp_path, busy=2).discard(group)
    assert not group.exists()
    Tree().discard(group)


def test_a_group_that_stays_busy_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With what to type, when it is empty."""
    monkeypatch.setattr("sizer.limits.tree.REMOVAL_SECONDS", 0.0)
    (tmp_path / "group").mkdir()
    with pytest.raises(HostError) as refused:
        Stubborn(tmp_path, busy=10**6).discard(tmp_path / "group")
    assert f"rmdir {tmp_path}/group" in sentence_of(refused)
    assert os.strerror(errno.EBUSY) in sentence_of(refused)


def test_a_group_that_somebody_removes_meanwhile_is_gone(tmp_path: Path) -> None:
    """Between the listing and the removal another sizer may tidy up."""

    class Swept(Tree):
        def remove(self, directory: Path) -> None:
            directory.rmdir()
            super().remove(directory)

    (tmp_path / "group").mkdir()
    Swept(tmp_path).discard(tmp_path / "group")
    assert not (tmp_path / "group").exists()
    assert Tree().below(tmp_path / "group") == []
    assert Tree().processes(tmp_path / "group") == set()


def test_a_limit_that_cannot_be_written_names_its_file(tmp_path: Path) -> None:
    """The value and the kernel's own reason are said; a file that reads something else is not taken for a limit."""
    with pytest.raises(HostError) as refused:
        Held(Tree()).hold(tmp_path / "memory.max", "1024")
    assert str(tmp_path / "memory.max") in sentence_of(refused)
    assert "'1024'" in sentence_of(refused)
    assert os.strerror(errno.ENOENT) in sentence_of(refused)


@pytest.mark.parametrize("made", [0, 1])
def test_groups_are_made_all_or_none(made: int, tmp_path: Path) -> None:
    """Where the last of them is refused, those before it are removed again."""

    class Full(Tree):
        def make(self, directory: Path) -> None:
            if directory.name == "refused":
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            super().make(directory)

    groups = [tmp_path / "first", tmp_path / "second"][:made]
    with pytest.raises(HostError, match="No space left on device"):
        make_group(Full(), lambda: None, [*groups, tmp_path / "refused"])
    assert list(tmp_path.iterdir()) == []


def test_a_parent_that_keeps_vanishing_ends_the_trying(tmp_path: Path) -> None:
    """Each time the parents are made anew, and after some tries it is an error and no endless loop."""
    prepared: list[None] = []
    with pytest.raises(HostError, match=os.strerror(errno.ENOENT)):
        make_group(Tree(), lambda: prepared.append(None), [tmp_path / "nowhere" / "group"])
    assert len(prepared) == TRIES


def test_a_process_that_does_not_die_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that hangs in the kernel outlives SIGKILL: its pid is what one can look at."""
    monkeypatch.setattr("sizer.limits.process_tree.KILL_SECONDS", 0.0)
    (tmp_path / "cgroup.procs").write_text("4711\n4712\n")
    killed: list[Collection[Path]] = []
    with pytest.raises(HostError, match="4711 4712"):
        kill_until_empty(Tree(), [tmp_path], killed.append)


@pytest.mark.parametrize(
    ("listing", "group"),
    [
        ("0::/user.slice/run.scope\n", "user.slice/run.scope"),
        ("4:cpu:/a\n0::/b/supervisor\n", None),
        ("4:cpu:/a\n", None),
    ],
)
def test_our_own_group_is_the_unified_one(listing: str, group: str | None, tmp_path: Path) -> None:
    """A host without the unified hierarchy has none."""
    tree = Tree(tmp_path)
    (tmp_path / "proc/self").mkdir(parents=True)
    (tmp_path / "proc/self/cgroup").write_text(listing)
    group_path = own_group(tree, tree.path(TOP))
    if "supervisor" in listing:
        assert group_path in (tree.path(f"{TOP}/b"), tree.path(f"{TOP}/b/supervisor"))
    else:
        assert group_path == (tree.path(f"{TOP}/{group}") if group else None)


def lacking(v2_tree: Tree, machine: Machine, control: Control) -> tuple[bool, str, str | None]:
    (missing,) = (
        capability for capability in backend_for(v2_tree, machine).capabilities() if capability.control is control
    )
    return missing.available, in_words(missing.how), missing.fix


def test_a_controller_that_the_kernel_keeps_off_says_how_to_turn_it_on(v2_tree: Tree, machine: Machine) -> None:
    """Only memory has such a switch; without io nothing can be typed."""
    v2_tree.path(f"{TOP}/cgroup.controllers").write_text("cpuset cpu pids")
    available, how, fix = lacking(v2_tree, machine, Control.MEMORY)
    assert (available, fix) == (False, enabling("memory"))
    assert "memory" in how
    assert fix is not None
    assert "cgroup_enable=memory" in fix
    available, how, fix = lacking(v2_tree, machine, Control.DISK)
    assert (available, fix) == (False, None)
    assert "io" in how


def test_a_world_without_a_boot_id_is_still_one(tmp_path: Path) -> None:
    """A sandbox may hide the kernel's files: what cannot be read is the same for all in it."""
    assert process_tree._text(tmp_path / "boot_id") == ""
    assert process_tree._namespace("no-such-namespace") == ""


@pytest.mark.parametrize(
    ("answer", "handed"),
    [("no\n", False), ("yes\n", True), (FileNotFoundError(), True), (subprocess.TimeoutExpired("systemctl", 5), True)],
)
def test_a_systemd_that_does_not_answer_keeps_nothing(
    answer: str | Exception, handed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only a clear `no` of the user's manager is one."""

    def run(*_argv: object, **_options: object) -> subprocess.CompletedProcess[str]:
        if isinstance(answer, Exception):
            raise answer
        return subprocess.CompletedProcess([], 0, answer, "")

    monkeypatch.setattr("sizer.limits.backends.delegation.subprocess.run", run)
    assert hands_over("run-1.scope") is handed


def test_without_lscpu_each_cpu_is_a_core(monkeypatch: pytest.MonkeyPatch) -> None:
    """A small container has no lscpu, and sizer still knows its CPUs."""

    def missing(*_argv: object, **_options: object) -> None:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), "lscpu")

    monkeypatch.setattr("sizer.limits.topology.subprocess.run", missing)
    processors = read_topology().processors
    assert [processor.cpu for processor in processors] == sorted(os.sched_getaffinity(0))
    assert [processor.core for processor in processors] == [processor.cpu for processor in processors]


@pytest.mark.parametrize("version", ["v1", "v2"])
def test_a_kernel_that_does_not_count_swap_needs_it_off(
    version: str, machine: Machine, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A memory limit that lets the rest go to swap is none; where the host has no swap it holds."""
    tree, swapping = request.getfixturevalue(f"{version}_tree"), replace(machine, swap_bytes=1 << 30)
    assert lacking(tree, swapping, Control.MEMORY)[0]
    monkeypatch.setattr(CgroupBackend, "_counts_swap", lambda _: False)
    assert lacking(tree, machine, Control.MEMORY)[0]
    available, how, fix = lacking(tree, swapping, Control.MEMORY)
    assert (available, fix) == (False, "sudo swapoff -a")
    assert "swap" in how


def test_a_dead_process_name_is_dead() -> None:
    """Also when its pid is in use again: the start time differs."""
    code = "from sizer.limits.process_tree import owned_name; print(owned_name('run'))"
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

"""One sizer measures a host at a time, and nobody keeps another user from measuring."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from sizer.host.lock import is_host_measured, measuring_alone
from sizer.records.messages import HostError
from tests import ROOT

BECOME = """
import os, socket, sys
from pathlib import Path
from sizer.host.lock import is_host_measured, measuring_alone
from sizer.records.messages import HostError
os.setresgid({user}, {user}, {user})
os.setresuid({user}, {user}, {user})
"""
"""Imports first: the interpreter may lie where this user may not look."""

HOLD = """
with measuring_alone({name!r}, Path({folder!r})) as others:
    print("held", *(other.pid for other in others), flush=True)
    sys.stdin.read()
"""

TAKE = """
lock = socket.socket(socket.AF_UNIX)
lock.bind({name!r})
if {listens}:
    lock.listen()
print("taken", flush=True)
sys.stdin.read()
"""

LOOK = """
print(is_host_measured({name!r}, folder=Path({folder!r})))
open(Path({folder!r}, "measuring"))
"""

USERS = 54321, 54322
"""Ordinary users."""

Start = Callable[..., subprocess.Popen[str]]
Hold = Callable[..., subprocess.Popen[str]]


@pytest.fixture
def name() -> str:
    """A name of this test's own, so that a sizer that measures meanwhile does not matter."""
    return f"\0sizer-test-{os.getpid()}-"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Root's folder of this test's own, where other users may look for it."""
    for above in (tmp_path, *tmp_path.parents):
        if above.stat().st_uid == os.geteuid():
            above.chmod(above.stat().st_mode | 0o111)
    (tmp_path / "run").mkdir()
    return tmp_path / "run" / "sizer"


@pytest.fixture
def start() -> Iterator[Start]:
    """Starts a program as this or another user, which is killed in the end."""
    started: list[subprocess.Popen[str]] = []

    def begin(program: str, user: int | None = None) -> subprocess.Popen[str]:
        user = os.geteuid() if user is None else user
        argv = [sys.executable, "-S", "-c", BECOME.format(user=user) + program]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        process = subprocess.Popen(argv, text=True, cwd="/", env={"PYTHONPATH": str(ROOT)}, **pipes)
        started.append(process)
        return process

    yield begin
    for process in started:
        process.kill()
        process.communicate()


@pytest.fixture
def hold(start: Start, name: str, folder: Path) -> Hold:
    """Starts a process that measures until it is killed, or says why it does not."""
    return lambda user=None: start(HOLD.format(name=name, folder=str(folder)), user)


def answer_of(process: subprocess.Popen[str]) -> str:
    """`held`, with the pids of those beside it, or the last line of why not."""
    return process.stdout.readline().strip() or process.stderr.read().strip().splitlines()[-1]


def test_the_second_is_told_who_measures_until_that_is_killed(hold: Hold, name: str, folder: Path) -> None:
    """Process id, command line, and what to type; as often as it is typed. Whoever asks sees it held, and then free:
    the kernel gives the host free with the process."""
    holder = hold()
    assert answer_of(holder) == "held"
    for _ in range(50):
        with pytest.raises(HostError) as refused, measuring_alone(name, folder):
            pytest.fail("the host was not free")
        sentence = str(refused.value)
        assert refused.value.exit_code == 3
        assert f"process {holder.pid}: {sys.executable} -S -c" in sentence
        assert sentence.endswith(f"kill {holder.pid}")
        assert "\n" not in sentence
    assert is_host_measured(name, folder=folder)
    assert not is_host_measured(f"{name}other-", folder=folder / "other")
    holder.kill()
    holder.wait()
    assert not is_host_measured(name, folder=folder)
    with measuring_alone(name, folder):
        pass


def test_children_do_not_keep_the_lock(hold: Hold, name: str, folder: Path) -> None:
    """A daemon that outlives its sizer does not lock the host."""
    with measuring_alone(name, folder):
        child = subprocess.Popen(["sleep", "60"])
    try:
        assert answer_of(hold()) == "held"
    finally:
        child.kill()
        child.wait()


@pytest.mark.root
@pytest.mark.parametrize(
    ("first", "second", "stopped"),
    [(0, USERS[0], True), (USERS[0], USERS[0], True), (USERS[0], 0, False), (USERS[0], USERS[1], False)],
)
def test_a_measuring_stops_whom_its_user_could_stop(hold: Hold, first: int, second: int, stopped: bool) -> None:
    """Root's stops everybody's, a user's own the same user's; a stranger's is named beside what goes on."""
    before = hold(first)
    assert answer_of(before) == "held"
    after = hold(second)
    if stopped:
        assert f"Another sizer is measuring on this host (process {before.pid}: {sys.executable}" in answer_of(after)
    else:
        assert answer_of(after) == f"held {before.pid}"


@pytest.mark.root
def test_everybody_sees_that_root_measures(start: Start, name: str, folder: Path) -> None:
    """Also a user who may not open root's lock, and so can neither take nor keep it; whatever root's umask."""
    before = os.umask(0o077)
    with measuring_alone(name, folder):
        os.umask(before)
        output, errors = start(LOOK.format(name=name, folder=str(folder)), USERS[0]).communicate()
    assert output == "True\n", errors
    assert "PermissionError" in errors


@pytest.mark.root
@pytest.mark.parametrize("listens", [True, False])
def test_a_stranger_who_takes_a_users_name_stops_nobody(start: Start, hold: Hold, name: str, listens: bool) -> None:
    """The kernel says whose the process is that has it; one that does not answer is not believed either."""
    stranger = start(TAKE.format(name=f"{name}{USERS[0]}", listens=listens), USERS[1])
    assert answer_of(stranger) == "taken"
    for user in (USERS[0], 0):
        assert answer_of(hold(user)) == f"held {stranger.pid if listens else 0}"

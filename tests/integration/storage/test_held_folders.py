"""Folders with a lock, of this world and of others."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from sizer.limits.process_tree import world
from sizer.records.messages import HostError
from sizer.storage.held_folders import held_folder, remove_left

HOLD = (
    "import os, sys\nfrom pathlib import Path\nfrom sizer.storage.held_folders import held_folder\n"
    "with held_folder(Path(sys.argv[1]), 'x-') as folder:\n"
    "    (folder / 'inner').mkdir()\n    (folder / 'inner/data').write_bytes(b'x')\n"
    "    print(folder, flush=True)\n    sys.stdin.read()\n"
)


def holder(parent: Path) -> tuple[subprocess.Popen[str], Path]:
    """A process that holds a folder until its input ends."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(parent)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    return process, Path(process.stdout.readline().strip())


@pytest.mark.parametrize("elsewhere", [False, True])
def test_a_killed_makers_folder_is_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, elsewhere: bool) -> None:
    """By its name, in the world that it was made in. Two containers that share a cache do not know each other's pids:
    by the lock the one sees there whether the other lives."""
    if elsewhere:
        monkeypatch.setattr("sizer.storage.held_folders.is_of_this_world", lambda _: False)
    process, folder = holder(tmp_path)
    assert remove_left(tmp_path, "x-") == ()
    process.kill()
    process.communicate()
    assert (folder / "inner/data").exists()
    assert remove_left(tmp_path, "x-") == (folder,)
    assert list(tmp_path.iterdir()) == []


USER = 61_235
"""A user that no file of this host knows."""

DEAD = f"x-{world()}-999999999-1-dead"


@pytest.fixture
def shared() -> Iterator[Path]:
    """A place like /tmp: everybody may make a folder in it, and remove his own."""
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o1777)
        yield Path(folder)


@contextmanager
def an_ordinary_user() -> Iterator[None]:
    """What is done in here is done without root's rights."""
    before = os.geteuid()
    if before == 0:
        os.seteuid(USER)
    try:
        yield
    finally:
        os.seteuid(before)


def without_rights(folder: Path) -> None:
    """What a measured program may leave: folders that not even their owner may write to, or look into."""
    for mode in (0o555, 0o000):
        inner = folder / f"mode-{mode:o}" / "inner"
        inner.mkdir(parents=True)
        (inner / "data").write_bytes(b"x")
        inner.chmod(mode)
        inner.parent.chmod(mode)


def test_folders_that_may_not_be_written_to_are_removed(shared: Path) -> None:
    """After a run, and by the next start; a link in one of them changes nothing outside. Those of a living sizer stay,
    for root, too."""
    outside = shared / "outside"
    with an_ordinary_user():
        outside.mkdir(mode=0o500)
        with held_folder(shared, "x-") as folder:
            without_rights(folder)
            assert remove_left(shared, "x-") == ()
            user = os.geteuid()
            os.seteuid(os.getuid())
            assert remove_left(shared, "x-") == ()
            os.seteuid(user)
            assert folder.exists()
        left = shared / DEAD
        left.mkdir()
        (left / "link").symlink_to(outside)
        without_rights(left)
        left.chmod(0o000)
        assert remove_left(shared, "x-") == (left,)
    assert list(shared.iterdir()) == [outside]
    assert outside.stat().st_mode & 0o777 == 0o500


@pytest.mark.root
def test_root_removes_a_users_left_folder_and_nothing_that_the_user_could_not(shared: Path) -> None:
    """Whatever he puts there: neither root's file behind a link, nor one of root's own in it; and that is told."""
    secret = shared / "secret"
    secret.write_text("precious")
    left, mixed = shared / DEAD, shared / f"{DEAD}-mixed"
    with an_ordinary_user():
        for folder in (left, mixed):
            folder.mkdir()
            without_rights(folder)
            (folder / "link").symlink_to(secret)
    (mixed / "roots").mkdir()
    (mixed / "roots/data").write_text("precious")
    rights = os.geteuid(), os.getegid(), os.getgroups()
    with pytest.raises(HostError, match=rf"^{mixed}/roots/data \(Permission denied\)$"):
        remove_left(shared, "x-")
    assert (os.geteuid(), os.getegid(), os.getgroups()) == rights
    assert sorted(shared.iterdir()) == [secret, mixed]
    assert [path.name for path in mixed.rglob("*")] == ["roots", "data"]
    assert secret.read_text() == "precious"
    shutil.rmtree(mixed)


def test_a_tree_without_end_is_removed(shared: Path) -> None:
    """A program that makes folder in folder for ever."""
    left = shared / DEAD
    left.mkdir()
    here = os.open(left, os.O_RDONLY)
    for _ in range(2 * sys.getrecursionlimit()):
        os.mkdir("d", dir_fd=here)
        inner = os.open("d", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = inner
    os.close(here)
    assert remove_left(shared, "x-") == (left,)
    assert list(shared.iterdir()) == []


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A user's own data, which a program has mounted in a folder that is removed."""
    folder = tmp_path / "data"
    (folder / "sub").mkdir(parents=True)
    for path in (folder / "a", folder / "sub/b"):
        path.write_text("precious")
    return folder


def mount(*words: object) -> None:
    subprocess.run(["mount", *map(str, words)], check=True)


@pytest.mark.root
def test_what_is_mounted_in_a_folder_is_unmounted_and_not_removed(shared: Path, data: Path) -> None:
    """A folder and a file of the same disk, one inside the other, another file system, and one on the folder itself."""
    with held_folder(shared, "x-") as folder:
        for name in ("d", "tmp"):
            (folder / name).mkdir()
        (folder / "file").touch()
        mount("--bind", data, folder / "d")
        mount("--bind", data / "sub", folder / "d/sub")
        mount("--bind", data / "a", folder / "file")
        mount("-t", "tmpfs", "tmpfs", folder / "tmp")
        mount("-t", "tmpfs", "tmpfs", folder)
    assert str(shared) not in Path("/proc/self/mountinfo").read_text()
    assert list(shared.iterdir()) == []
    assert [path.read_text() for path in (data / "a", data / "sub/b")] == ["precious"] * 2


HOLDS = f"""
import os, sys
from pathlib import Path
from sizer.records.messages import SizerError
from sizer.storage.held_folders import held_folder
os.setgroups([])
os.setgid({USER})
os.setuid({USER})
try:
    with held_folder(Path(sys.argv[1]), "x-") as folder:
        (folder / "d").mkdir()
        (folder / "other").write_text("x")
        print(folder, flush=True)
        sys.stdin.readline()
except SizerError as error:
    print(error)
"""


@pytest.mark.root
@pytest.mark.parametrize(("inner", "stay"), [("d", [".lock", "d"]), ("", [".lock", "d", "other"])])
def test_a_mount_that_cannot_be_unmounted_stays_and_is_named(
    shared: Path, data: Path, inner: str, stay: list[str]
) -> None:
    """An ordinary user may not unmount what root has mounted; all else is removed, if it is not under it."""
    user = subprocess.Popen(
        [sys.executable, "-c", HOLDS, str(shared)],
        text=True,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    folder = Path(user.stdout.readline().rstrip())
    place = folder / inner
    # What is in them is this user's to remove.
    data.chmod(0o777)
    mount("--bind", data, place)
    try:
        error, _ = user.communicate("go on\n", timeout=60)
        assert f"{place} (something is mounted there that cannot be unmounted)" in error
        assert sorted(path.name for path in data.rglob("*")) == ["a", "b", "sub"]
    finally:
        subprocess.run(["umount", str(place)], check=True)
    assert sorted(path.name for path in folder.iterdir()) == stay

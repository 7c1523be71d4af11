"""Where data may lie."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from sizer.files.data_paths import files_below, refuse_no_data, refuse_no_disk
from sizer.records.messages import InputError


@pytest.mark.parametrize("path", ["/proc", "/sys", "/proc/self/fd", "/sys/kernel"])
def test_what_the_kernel_makes_up_is_no_disk(path: str) -> None:
    """A folder of ours there would do something, and its files have no end."""
    with pytest.raises(InputError, match=f"disk `x`: {path} is not on a disk"):
        refuse_no_disk(Path(path), "disk `x`")


def test_what_holds_it_is_none_either(tmp_path: Path) -> None:
    """Nor by a link. As a disk it is one: what we make there lies beside what the kernel makes up."""
    (tmp_path / "link").symlink_to("/")
    for path in (Path("/"), tmp_path / "link"):
        with pytest.raises(InputError, match="which the kernel makes up"):
            refuse_no_data(path, "workload `w`")
        refuse_no_disk(path, "disk `x`")


def test_folders_and_files_of_a_disk_are_data(tmp_path: Path) -> None:
    """And a memory file system counts as a disk."""
    (tmp_path / "file").touch()
    for path in (tmp_path, tmp_path / "file", Path("/dev/shm")):
        refuse_no_data(path, "workload `w`")


@pytest.mark.parametrize("kind", [stat.S_IFIFO, stat.S_IFSOCK])
def test_a_pipe_or_a_socket_is_no_data(tmp_path: Path, kind: int) -> None:
    """It would be waited for without end."""
    os.mknod(tmp_path / "odd", kind | 0o600)
    with pytest.raises(InputError, match="is neither a file nor a folder"):
        refuse_no_data(tmp_path / "odd", "workload `w`")
    assert list(files_below(tmp_path)) == []


@pytest.mark.parametrize("path", ["/dev/zero", "/dev/null", "/dev/tty"])
def test_a_device_is_no_data(path: str) -> None:
    """It has no end either."""
    with pytest.raises(InputError, match=f"workload `w`: {path} is neither"):
        refuse_no_data(Path(path), "workload `w`")


def test_files_come_in_the_order_of_their_names(tmp_path: Path) -> None:
    """Folder by folder, also behind a link, as paths compare."""
    for name in ("a-b/x", "a/y", "a/z/w", "b"):
        (tmp_path / "data" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "data" / name).touch()
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere/1").touch()
    (tmp_path / "data/c").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "data/self").symlink_to("self")
    (tmp_path / "data/nowhere").symlink_to("nowhere-else")
    found = [str(path.relative_to(tmp_path / "data")) for path in files_below(tmp_path / "data")]
    assert found == ["a/y", "a/z/w", "a-b/x", "b", "c/1"]
    assert list(map(Path, found)) == sorted(map(Path, found))


def test_links_in_a_circle_are_refused(tmp_path: Path) -> None:
    """With the link that closes it."""
    (tmp_path / "a/b").mkdir(parents=True)
    (tmp_path / "a/b/back").symlink_to(tmp_path / "a")
    with pytest.raises(InputError, match="b/back is a link back"):
        list(files_below(tmp_path))


def test_a_few_folders_cannot_be_made_billions(tmp_path: Path) -> None:
    """Thirty folders, each reached in two ways from the one before: 2^30 ways without any circle."""
    for depth in range(31):
        (tmp_path / str(depth)).mkdir()
    for depth in range(30):
        for name in ("left", "right"):
            (tmp_path / str(depth) / name).symlink_to(tmp_path / str(depth + 1))
    (tmp_path / "30/file").touch()
    with pytest.raises(InputError, match="is a link back"):
        list(files_below(tmp_path / "0"))


COUNT = """
import sys, tracemalloc
from pathlib import Path
from sizer.files.data_paths import files_below
tracemalloc.start()
count = sum(1 for _ in files_below(Path(sys.argv[1])))
print(count, tracemalloc.get_traced_memory()[1])
"""


def test_a_folder_of_many_files_is_counted_in_little_memory(tmp_path: Path) -> None:
    """A million files take 0.3 GB at most: of 5,000 that is 1.5 MB. In a process in which nothing else is."""
    for number in range(5_000):
        os.mknod(tmp_path / f"{number:07d}.jpg")
    told = subprocess.run([sys.executable, "-c", COUNT, str(tmp_path)], check=True, capture_output=True, text=True)
    count, peak = map(int, told.stdout.split())
    assert count == 5_000
    assert peak < 1.5e6

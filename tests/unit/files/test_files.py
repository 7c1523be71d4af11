"""Files that people give: read with bounds, and named by paths."""

from __future__ import annotations

import errno
import os
import socket
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

from sizer.files import given_files, tables
from sizer.files.codec import FormatError, from_json, load_json
from sizer.files.given_files import files_below, read_given, refuse_no_data, refuse_no_disk
from sizer.files.own_folder import check_content, read_file
from sizer.files.tables import read_table
from sizer.files.writing import write_text
from sizer.records.messages import HostError, InputError, Message
from sizer.words.language import in_words

# Files that are read and written safely, and content that is in form and still refused.


def test_the_old_text_is_replaced(tmp_path: Path) -> None:
    """The new text is there, with the rights that any new file has, and nothing beside it."""
    path = tmp_path / "a.json"
    path.write_text("old")
    write_text(path, "néw\n")
    plain = tmp_path / "plain"
    plain.touch()
    assert path.read_text("utf-8") == "néw\n"
    assert path.stat().st_mode == plain.stat().st_mode
    assert sorted(os.listdir(tmp_path)) == ["a.json", "plain"]


@pytest.mark.parametrize(
    ("failing", "failure", "raised"),
    [
        ("fsync", OSError(28, "No space left on device"), HostError),
        ("replace", OSError(28, "No space left on device"), HostError),
        ("fsync", KeyboardInterrupt(), KeyboardInterrupt),
    ],
)
def test_a_failure_leaves_the_old_file_and_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failing: str, failure: BaseException, raised: type[BaseException]
) -> None:
    """A full disk costs the new text only, and gives a sentence; Ctrl-C passes on."""
    path = tmp_path / "a.json"
    path.write_text("old")
    monkeypatch.setattr(os, failing, Mock(side_effect=failure))
    with pytest.raises(raised, match=r"^$|a\.json cannot be written \(No space left on device\)"):
        write_text(path, "new")
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["a.json"]


def test_a_folder_that_cannot_be_synced_holds_the_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Some network file systems sync files alone, and say so with EINVAL."""
    synced = os.fsync

    def only_files(descriptor: int) -> None:
        if stat.S_ISDIR(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))
        synced(descriptor)

    monkeypatch.setattr(os, "fsync", only_files)
    write_text(tmp_path / "a.json", "new")
    assert (tmp_path / "a.json").read_text() == "new"


def test_what_cannot_be_written_as_it_is(tmp_path: Path) -> None:
    """No traceback for a folder that is gone, and a name in a sentence that is not UTF-8 does not lose the run."""
    with pytest.raises(HostError, match="No such file"):
        write_text(tmp_path / "gone" / "a.json", "new")
    write_text(tmp_path / "a", "\udcff")
    assert (tmp_path / "a").read_text() == "\\udcff"


@dataclass(frozen=True)
class Mixed:
    """What a field of two types, or of any, may be."""

    either: int | str = 0
    whatever: Any = None


def test_a_field_of_several_types_is_read_as_the_first_that_fits() -> None:
    """Neither is an error, which says what was found; of one of any type nothing is known, and it is taken."""
    for given in ({"either": 3}, {"either": "x"}, {"whatever": [1, {"a": None}]}):
        assert from_json(Mixed, given, "a.json") == Mixed(**given)  # type: ignore[arg-type]
    with pytest.raises(FormatError) as refused:
        from_json(Mixed, {"either": {"a": 1}}, "a.json")
    assert in_words(refused.value).endswith("found an object.")


def test_a_file_in_a_folders_place_is_named(tmp_path: Path) -> None:
    """A folder in a file's place passes: who reads it says so."""
    (tmp_path / "runs").write_text("")
    with pytest.raises(InputError, match=f"{tmp_path}/runs is a file where a folder should be"):
        check_content(tmp_path, ["runs"], [])
    (tmp_path / "study.yaml").mkdir()
    check_content(tmp_path, [], ["study.yaml"])
    with pytest.raises(HostError, match=f"{tmp_path}/study.yaml"):
        load_json(tmp_path / "study.yaml")


def test_a_file_that_cannot_be_opened_says_why(tmp_path: Path) -> None:
    """A socket, say; one that is not there is the caller's to answer."""
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "run.json"))
    with pytest.raises(HostError, match=r"cannot be read \(No such device or address\)"):
        read_file(tmp_path / "run.json")
    with pytest.raises(FileNotFoundError):
        read_file(tmp_path / "gone")
    (tmp_path / "folder").mkdir()
    with pytest.raises(HostError, match="is a folder where a file should be; move it away"):
        read_file(tmp_path / "folder")


def test_a_table_has_bounds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Too many rows or columns are refused with what to do, before they fill the memory."""
    path, kind = tmp_path / "t.csv", Message("a table")
    path.write_text("a,b,c\n1,2,3\n4,5,6\n")
    monkeypatch.setattr(tables, "MOST_ROWS", 1)
    with pytest.raises(InputError, match="line 3: the table has more than 1 rows; split it into several tables"):
        read_table(path, kind, ["a", "b", "c"], ["a"])
    monkeypatch.setattr(tables, "MOST_COLUMNS", 2)
    with pytest.raises(InputError, match="the header has 3 columns, and at most 2 are read"):
        read_table(path, kind, ["a", "b", "c"], ["a"])


def test_text_is_utf8(tmp_path: Path) -> None:
    """With a mark before it, as editors on other systems write it, or without; line ends stay as they are."""
    (tmp_path / "a").write_bytes(b"\xef\xbb\xbfa: \xc3\xa9\r\n")
    assert read_given(tmp_path / "a", Message("a table")) == "a: é\r\n"
    for content, line in ((b"a\nb\xff\n", 2), ("a: 1".encode("utf-16"), 1)):
        (tmp_path / "a").write_bytes(content)
        with pytest.raises(InputError, match=f"a line {line} is not UTF-8; save the file as UTF-8"):
            read_given(tmp_path / "a", Message("a table"))


def test_what_cannot_be_read_is_named(tmp_path: Path) -> None:
    """Nothing there, a folder, a path that no system has, a device that never ends."""
    for path, sentence in (
        (tmp_path / "nothing", "nothing: there is no such file; make one"),
        (tmp_path, "cannot be read (Is a directory)"),
        (Path("a\0b"), "cannot be read (embedded null byte)"),
        (Path("x" * 5_000), "cannot be read (File name too long)"),
        (Path("/dev/zero"), "/dev/zero is larger than 64 MiB, too large for a table"),
    ):
        with pytest.raises(InputError) as caught:
            read_given(path, Message("a table"), Message("make one"))
        assert sentence in str(caught.value)


def test_a_pipe_that_nobody_writes_ends_in_a_sentence(tmp_path: Path) -> None:
    """`mkfifo` alone makes what a program could wait for as long as the machine runs; so does a silent writer."""
    os.mkfifo(tmp_path / "fifo")
    with pytest.raises(InputError, match="fifo is a pipe that nobody writes to"):
        read_given(tmp_path / "fifo", Message("a table"), patience=0.02)
    silent = os.open(tmp_path / "fifo", os.O_RDWR)
    with pytest.raises(InputError, match="nobody writes"):
        read_given(tmp_path / "fifo", Message("a table"), patience=0.01)
    os.close(silent)


def test_a_pipe_with_a_name_is_read_to_its_end(tmp_path: Path) -> None:
    """More than the kernel holds of it at once, from a writer that opens it after us."""
    os.mkfifo(tmp_path / "fifo")
    text = "ab\n" * 100_000
    with ThreadPoolExecutor() as beside:
        writing = beside.submit((tmp_path / "fifo").write_text, text)
        assert read_given(tmp_path / "fifo", Message("a table")) == text
        assert writing.result() == len(text)


@pytest.mark.parametrize("words", [["printf", "vcpus\\n2\\n"], ["sh", "-c", "printf vcpus; sleep 0.1; echo; echo 2"]])
def test_what_a_shell_puts_in_a_files_place_is_read(words: list[str]) -> None:
    """`<(command)` is /dev/fd/N of a pipe whose writer may be through already, or pause for longer than patience."""
    with subprocess.Popen(words, stdout=subprocess.PIPE) as writer:
        assert writer.stdout is not None
        path = Path(f"/dev/fd/{writer.stdout.fileno()}")
        assert read_given(path, Message("a table"), patience=0.04) == "vcpus\n2\n"


def test_a_pipe_larger_than_any_of_its_kind_is_not_read_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """`<(cat /dev/zero)` never ends."""
    monkeypatch.setattr(given_files, "LARGEST_FILE", 2**20)
    with subprocess.Popen(["cat", "/dev/zero"], stdout=subprocess.PIPE) as writer:
        assert writer.stdout is not None
        with pytest.raises(InputError, match="is larger than 1 MiB"):
            read_given(Path(f"/dev/fd/{writer.stdout.fileno()}"), Message("a table"))


# Where data may lie.


def test_what_the_kernel_makes_up_is_no_disk(tmp_path: Path) -> None:
    """A folder of ours there would do something, and its files have no end. What holds it is a disk, and no data."""
    for made_up in ("/proc", "/sys", "/proc/self/fd", "/sys/kernel"):
        with pytest.raises(InputError, match=f"disk `x`: {made_up} is not on a disk"):
            refuse_no_disk(Path(made_up), "disk `x`")
    (tmp_path / "link").symlink_to("/")
    for path in (Path("/"), tmp_path / "link"):
        with pytest.raises(InputError, match="which the kernel makes up"):
            refuse_no_data(path, "workload `w`")
        refuse_no_disk(path, "disk `x`")


def test_folders_and_files_of_a_disk_are_data(tmp_path: Path) -> None:
    """A memory file system counts as a disk; a pipe, a socket or a device has no end."""
    os.mknod(tmp_path / "pipe", stat.S_IFIFO | 0o600)
    os.mknod(tmp_path / "socket", stat.S_IFSOCK | 0o600)
    assert list(files_below(tmp_path)) == []
    for odd in (tmp_path / "pipe", tmp_path / "socket", *map(Path, ("/dev/zero", "/dev/null", "/dev/tty"))):
        with pytest.raises(InputError, match=f"workload `w`: {odd} is neither a file nor a folder"):
            refuse_no_data(odd, "workload `w`")
    (tmp_path / "file").touch()
    for path in (tmp_path, tmp_path / "file", Path("/dev/shm")):
        refuse_no_data(path, "workload `w`")


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
    names = [str(path.relative_to(tmp_path / "data")) for path in files_below(tmp_path / "data")]
    assert names == ["a/y", "a/z/w", "a-b/x", "b", "c/1"]
    assert list(map(Path, names)) == sorted(map(Path, names))


def test_links_in_a_circle_are_refused(tmp_path: Path) -> None:
    """With the link that closes it. Thirty folders, each reached in two ways: 2^30 ways without any circle."""
    (tmp_path / "a/b").mkdir(parents=True)
    (tmp_path / "a/b/back").symlink_to(tmp_path / "a")
    with pytest.raises(InputError, match="b/back is a link back"):
        list(files_below(tmp_path))
    (tmp_path / "30").mkdir()
    (tmp_path / "30/file").touch()
    for depth in range(30):
        (tmp_path / str(depth)).mkdir()
        for name in ("left", "right"):
            (tmp_path / str(depth) / name).symlink_to(tmp_path / str(depth + 1))
    with pytest.raises(InputError, match="is a link back"):
        list(files_below(tmp_path / "0"))


COUNT = """
import sys, tracemalloc
from pathlib import Path
from sizer.files.given_files import files_below
tracemalloc.start()
count = sum(1 for _ in files_below(Path(sys.argv[1])))
print(count, tracemalloc.get_traced_memory()[1])
"""


def test_a_folder_of_many_files_is_counted_in_little_memory(tmp_path: Path) -> None:
    """A million files take 0.3 GB at most: of 5,000 that is 1.5 MB. In a process in which nothing else is."""
    for number in range(5_000):
        os.mknod(tmp_path / f"{number:07d}.jpg")
    done = subprocess.run([sys.executable, "-c", COUNT, str(tmp_path)], check=True, capture_output=True, text=True)
    count, peak = map(int, done.stdout.split())
    assert count == 5_000
    assert peak < 1.5e6

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


@pytest.mark.parametrize("failing", ["fsync", "replace"])
def test_a_failure_leaves_the_old_file_and_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failing: str
) -> None:
    """A full disk costs the new text only, and gives a sentence."""
    path = tmp_path / "a.json"
    path.write_text("old")

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, failing, full)
    with pytest.raises(HostError, match=r"a\.json cannot be written \(No space left on device\)"):
        write_text(path, "new")
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["a.json"]


def test_an_interrupt_leaves_nothing_half_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C while writing passes on and takes the half file with it."""

    def interrupted(_: int) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_text(tmp_path / "a.json", "new")
    assert os.listdir(tmp_path) == []


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


def test_a_missing_folder_is_told_in_words(tmp_path: Path) -> None:
    """No traceback for a folder that is gone."""
    with pytest.raises(HostError, match="No such file"):
        write_text(tmp_path / "gone" / "a.json", "new")


def test_text_that_utf8_cannot_hold_is_written_as_escapes(tmp_path: Path) -> None:
    """A file name that is not UTF-8 may be in an error message, and must not lose the run."""
    write_text(tmp_path / "a", "\udcff")
    assert (tmp_path / "a").read_text() == "\\udcff"


@dataclass(frozen=True)
class Mixed:
    """What a field of two types, or of any, may be."""

    either: int | str = 0
    whatever: Any = None


def test_a_field_of_two_types_is_read_as_the_first_that_fits() -> None:
    """Neither is an error, which says what was found."""
    assert from_json(Mixed, {"either": 3}, "a.json") == Mixed(3)
    assert from_json(Mixed, {"either": "x"}, "a.json") == Mixed("x")
    with pytest.raises(FormatError) as refused:
        from_json(Mixed, {"either": {"a": 1}}, "a.json")
    assert in_words(refused.value).endswith("found an object.")


def test_a_field_of_any_type_is_taken_as_it_is() -> None:
    """Nothing is known of its form."""
    assert from_json(Mixed, {"whatever": [1, {"a": None}]}, "a.json").whatever == [1, {"a": None}]


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


def test_text_is_read_with_or_without_a_byte_order_mark(tmp_path: Path) -> None:
    """As editors on other systems write it; line ends stay as they are."""
    (tmp_path / "a").write_bytes(b"\xef\xbb\xbfa: \xc3\xa9\r\n")
    assert read_given(tmp_path / "a", Message("a table")) == "a: é\r\n"


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"a\nb\xff\n", "file line 2 is not UTF-8; save the file as UTF-8"),
        ("a: 1".encode("utf-16"), "file line 1 is not UTF-8"),
    ],
)
def test_what_is_not_utf8_is_named_with_its_line(tmp_path: Path, content: bytes, sentence: str) -> None:
    """One sentence."""
    (tmp_path / "file").write_bytes(content)
    with pytest.raises(InputError, match=sentence):
        read_given(tmp_path / "file", Message("a table"))


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
    """`mkfifo` alone makes something that a program could wait for as long as the machine runs."""
    os.mkfifo(tmp_path / "fifo")
    with pytest.raises(InputError, match="fifo is a pipe that nobody writes to"):
        read_given(tmp_path / "fifo", Message("a table"), patience=0.02)


def test_a_pipe_whose_writer_says_nothing_ends_too(tmp_path: Path) -> None:
    """Later than one that nobody has opened: what writes it may take its time to begin."""
    os.mkfifo(tmp_path / "fifo")
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
from sizer.files.given_files import files_below
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

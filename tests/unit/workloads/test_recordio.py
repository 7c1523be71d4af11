from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workloads.backends import mxnet_library
from workloads.data_sets import recordio
from workloads.data_sets.record_writers import Record, RecordIOWriter
from workloads.faults import InputFault

PAYLOADS = [
    b"",
    b"a",
    b"four",
    b"x" * 1001,
    recordio.MAGIC,
    b"abcd" + recordio.MAGIC + b"efgh" + recordio.MAGIC,
    b"ab" + recordio.MAGIC + b"cd",
    recordio.MAGIC * 3 + b"z",
]


def write(folder: Path, payloads: list[bytes]) -> Path:
    path = folder / "some.rec"
    path.write_bytes(b"".join(map(recordio.framed, payloads)))
    return path


def test_mxnet_reads_what_we_write(tmp_path: Path) -> None:
    """MXNet's reader gives back every payload, also those that hold the magic."""
    mx = mxnet_library.load()
    reader = mx.recordio.MXRecordIO(str(write(tmp_path, PAYLOADS)), "r")
    assert [reader.read() for _ in PAYLOADS] == PAYLOADS
    assert reader.read() is None


def test_we_write_what_mxnet_writes(tmp_path: Path) -> None:
    """Our bytes are MXNet's bytes."""
    mx = mxnet_library.load()
    writer = mx.recordio.MXRecordIO(str(tmp_path / "mxnet.rec"), "w")
    for payload in PAYLOADS:
        writer.write(payload)
    writer.close()
    assert write(tmp_path, PAYLOADS).read_bytes() == (tmp_path / "mxnet.rec").read_bytes()


@given(st.lists(st.lists(st.sampled_from([recordio.MAGIC, b"a", b"bc", b"\0\0\0"]), max_size=8).map(b"".join)))
def test_every_record_is_found_where_it_begins(tmp_path_factory: pytest.TempPathFactory, payloads: list[bytes]) -> None:
    """The offsets of a file are those at which its records were written."""
    path = write(tmp_path_factory.mktemp("records"), payloads)
    begins = [sum(len(recordio.framed(p)) for p in payloads[:count]) for count in range(len(payloads))]
    assert list(recordio.record_offsets(path)) == begins


def test_a_file_cut_off_is_refused_with_its_name(tmp_path: Path) -> None:
    """A copy that was interrupted is found before the run, by index and by reading."""
    path = write(tmp_path, PAYLOADS)
    recordio.write_index(path, tmp_path / "some.idx")
    path.write_bytes(path.read_bytes()[:-6])
    with pytest.raises(InputFault, match=r"some\.rec is cut off"):
        recordio.check_index(path, recordio.read_index(tmp_path / "some.idx"))
    with pytest.raises(InputFault, match=r"some\.rec is cut off"):
        list(recordio.record_offsets(path))


@pytest.mark.parametrize("content", ["no index", "1\tx\n", "\x00\xff\n"])
def test_what_is_no_index_is_refused(tmp_path: Path, content: str) -> None:
    """A wrong .idx file is named."""
    (tmp_path / "some.idx").write_bytes(content.encode("latin1"))
    with pytest.raises(InputFault, match=r"some\.idx is no RecordIO index"):
        recordio.read_index(tmp_path / "some.idx")


def test_the_image_of_a_record_comes_back(tmp_path: Path) -> None:
    """Header and labels are cut off, and parts are joined where the image itself holds the magic."""
    image = b"\xff\xd8\xff" + bytes(5) + recordio.MAGIC + b"rest"
    payloads = [recordio.image_record(1.0, 7, image), recordio.IMAGE_HEADER.pack(2, 0.0, 1, 0) + bytes(8) + image]
    path = write(tmp_path, payloads)
    size = path.stat().st_size
    with path.open("rb") as file:
        found = [recordio.image_at(file.fileno(), path, offset, size) for offset in recordio.record_offsets(path)]
    assert found == [image, image]


def test_an_index_of_another_file_is_suspected(tmp_path: Path) -> None:
    """Where no record begins, either of the two may be wrong; a place before the file is in no index."""
    path = write(tmp_path, PAYLOADS)
    with pytest.raises(InputFault, match=r"no RecordIO at byte 4.*remove its index"):
        recordio.check_index(path, [0, 4])
    (tmp_path / "some.idx").write_text("0\t-8\n")
    with pytest.raises(InputFault, match=r"some\.idx is no RecordIO index"):
        recordio.read_index(tmp_path / "some.idx")


def records(count: int) -> list[Record]:
    return [
        Record(n, f"{n}.jpg", recordio.framed(recordio.image_record(1.0, n, bytes([n % 256]) * n)))
        for n in range(count)
    ]


def packed(folder: Path, content: Sequence[Record]) -> tuple[Path, ...]:
    writer = RecordIOWriter(folder)
    writer.write(content)
    return writer.finish()


def test_what_a_call_does_not_take_is_written_by_the_next(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a disk that fills up and is given room again."""
    content = records(20)
    monkeypatch.setattr(os, "writev", lambda descriptor, some: os.write(descriptor, b"".join(some)[:100]))
    packed(tmp_path, content)
    assert (tmp_path / "train.rec").read_bytes() == b"".join(record.content for record in content)


def test_no_index_is_beside_records_of_another_pass(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A program that is killed between the two leaves records alone, of which an index is made when they are read."""
    packed(tmp_path, records(5))
    monkeypatch.setattr(Path, "replace", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        packed(tmp_path, records(7))
    assert not (tmp_path / "train.idx").exists()
    assert len(list(recordio.record_offsets(tmp_path / "train.rec"))) == 5

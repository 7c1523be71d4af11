"""Output is whole under its own name or not there, whatever ends a pass."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import pytest

from workloads import recordio
from workloads.record_writers import Record, RecordIOWriter


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

"""A replay reads what the loader reads, and makes nothing of it."""

from __future__ import annotations

import ctypes
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import pytest

from workloads.backends import replay
from workloads.backends.interface import Input, Settings
from workloads.data_sets import recordio
from workloads.data_sets.data_set import DataSet
from workloads.faults import InputFault


def opened(records: Path) -> DataSet:
    index = records.with_suffix(".idx")
    return DataSet("recordio", (records,), records.stat().st_size, len(recordio.read_index(index)), index)


class Pieces:
    """Stands in the place of the file of a replay, and keeps what was read."""

    read_at: ClassVar[list[tuple[int, int]]] = []

    def __init__(self, *_: object) -> None:
        """Opens nothing."""

    def read(self, offset: int, size: int) -> int:
        self.read_at.append((offset, size))
        return size

    def close(self) -> None:
        """Holds nothing."""


@pytest.fixture
def pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is read, and what would be is kept."""
    monkeypatch.setattr(replay, "_CFile", Pieces)


def replayed(data: DataSet, batch_size: int, shuffled: bool) -> Input:
    return replay.replayed("mxnet", data, 224, shuffled, Settings("cpu", 1, 1, batch_size))


def epoch(source: Any) -> list[list[tuple[int, int]]]:
    """What each batch of an epoch reads: offset and bytes."""
    batches = []
    while source.next_batch() is not None:
        batches.append(list(Pieces.read_at))
        Pieces.read_at.clear()
    return batches


@pytest.mark.usefixtures("pieces")
def test_each_record_is_read_as_the_loader_does(records: Path) -> None:
    """Shuffled each by itself, all of them in a new order in each epoch; the last batch is filled up with the first. In
    order a batch at once, as MXNet does: one request for the records that follow each other, one more at the end."""
    data = opened(records / "train.rec")
    source = replayed(data, 5, shuffled=True)
    first = epoch(source)
    source.restart()
    assert [len(batch) for batch in first] == [5, 5, 5]
    assert data.index is not None
    again = [offset for offset, _ in first[0][:3]]
    offsets = Counter([*recordio.read_index(data.index), *again])
    assert Counter(offset for batch in first for offset, _ in batch) == offsets
    assert first != epoch(source)
    assert sum(size for batch in first for _, size in batch) > data.bytes
    batches = epoch(replayed(data, 5, shuffled=False))
    assert [len(batch) for batch in batches] == [1, 1, 2]
    assert sum(size for batch in batches for _, size in batch[:1]) == data.bytes
    assert batches[2][1][0] == 0


def test_a_file_that_ends_before_its_index_is_told_in_a_sentence(records: Path, tmp_path: Path) -> None:
    """It was cut off since."""
    cut = tmp_path / "train.rec"
    whole = (records / "train.rec").read_bytes()
    cut.write_bytes(whole)
    cut.with_suffix(".idx").write_bytes((records / "train.idx").read_bytes())
    source = replayed(opened(cut), 12, shuffled=True)
    cut.write_bytes(whole[:-5000])
    ctypes.set_errno(1)  # of some call before: the end of a file is no error of its own
    with pytest.raises(InputFault, match="ends before its index does"):
        source.next_batch()
    source.close()


def test_programs_replay_without_a_framework(
    run: Callable[..., Any], records: Path, jpegs: Path, tmp_path: Path
) -> None:
    """Their events are those of the program: steps of a batch, over epochs; preprocessing reads each image of each pass
    and writes nothing. A language model reads its text at once, which cannot be replayed."""
    options = ("--input", "replay", "--framework", "tensorflow", "--batch-size", 8, "--steps", 5)
    for program, form in (("image_training", "train.rec"), ("image_inference", "train.lmdb")):
        ended = run(program, "--data", records / form, *options)
        assert ended.code == 0, ended.err
        assert [(step["samples"], step["epoch"]) for step in ended.steps] == [(8, 0), (8, 0), (8, 1), (8, 1), (8, 2)]
        assert "(read only)" in ended.out
    options = ("--input", "replay", "--output", tmp_path, "--passes", 2, "--workers", 2, "--batch-size", 6)
    ended = run("imagenet_preprocessing", "--data", jpegs, *options)
    assert ended.code == 0, ended.err
    assert [(step["samples"], step["epoch"]) for step in ended.steps] == [(6, 0), (6, 0), (6, 1), (6, 1)]
    assert list(tmp_path.iterdir()) == []
    assert "invalid choice: 'replay'" in run("lstm_training", "--input", "replay").err

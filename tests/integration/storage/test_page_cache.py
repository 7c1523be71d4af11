from __future__ import annotations

import os
from pathlib import Path

import pytest

from sizer.storage import page_cache
from sizer.storage.page_cache import evict, files_of, resident_bytes

MIB = 2**20


@pytest.fixture
def data(tmp_path: Path) -> Path:
    path = tmp_path / "data.bin"
    path.write_bytes(os.urandom(8 * MIB))
    return path


def test_eviction_leaves_nothing_and_counting_brings_nothing_back(data: Path) -> None:
    """Written data is resident; evicted it is not, however often one looks."""
    assert resident_bytes([data]) == 8 * MIB
    evict([data])
    assert [resident_bytes([data]) for _ in range(3)] == [0, 0, 0]


def test_the_older_call_counts_the_same(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """mincore, for kernels before 6.5, agrees with cachestat."""
    counted = resident_bytes([data])
    monkeypatch.setattr(page_cache, "_cachestat", lambda _: None)
    assert resident_bytes([data]) == counted
    evict([data])
    assert resident_bytes([data]) == 0


def test_files_of_a_data_set(tmp_path: Path) -> None:
    """A `.rec` brings its index along, a folder all of its files."""
    for name in ("a.rec", "a.idx", "b/c.jpg"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    assert [path.name for path in files_of(tmp_path / "a.rec")] == ["a.rec", "a.idx"]
    outside = tmp_path.parent / f"{tmp_path.name}-classes"
    outside.mkdir()
    (outside / "d.jpg").touch()
    (tmp_path / "linked").symlink_to(outside)
    assert [path.name for path in files_of(tmp_path)] == ["a.idx", "a.rec", "c.jpg", "d.jpg"]


@pytest.mark.root
def test_what_the_kernel_hides_is_unknown(data: Path) -> None:
    """To a user who may only read the file mincore says that all of it is resident."""
    evict([data])
    for folder in (data, *data.parents):
        if folder.stat().st_uid == 0 and folder != Path("/"):
            folder.chmod(folder.stat().st_mode | 0o055)
    os.seteuid(65534)
    try:
        assert resident_bytes([data]) is None
    finally:
        os.seteuid(0)
    assert resident_bytes([data]) == 0


def test_files_that_are_gone_or_not_ours_are_passed_over(tmp_path: Path) -> None:
    """A data set may go while a run reads it: that is the run's outcome, and nothing to fail of here."""
    here = tmp_path / "here"
    here.write_bytes(bytes(8192))
    evict([here, tmp_path / "gone"])
    assert resident_bytes([tmp_path / "gone"]) == 0
    assert list(files_of(tmp_path / "gone")) == [tmp_path / "gone"]

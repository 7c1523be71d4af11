"""Data sets are made once, and their pages are counted and evicted."""

from __future__ import annotations

import os
import shutil
import stat
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from sizer.bundled import WORKLOADS_PATH
from sizer.files.own_folder import cache_folder
from sizer.records.messages import HostError, InputError
from sizer.records.study import Workload
from sizer.storage import page_cache
from sizer.storage.announcements import Announcement, AnnouncementKind
from sizer.storage.data_sets import DataSets, check_cache, check_data, form_of
from sizer.storage.manifest import write_manifest
from sizer.storage.page_cache import evict, files_of, resident_bytes
from workloads.data_sets.data_set import image_format

# The user's own data and the embedded data set, with the real programs that make and pack them.


TRAINING = Workload("train", "image_training", network="resnet18", format="recordio")
PREPROCESSING = Workload("prepare", "imagenet_preprocessing", format="recordio")


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def announcements() -> list[Announcement]:
    return []


@pytest.fixture
def data_sets(cache: Path, announcements: list[Announcement]) -> DataSets:
    return DataSets(cache, Path(sys.executable), WORKLOADS_PATH, 12, announcements.append)


@pytest.mark.slow
def test_the_embedded_images_are_made_once_and_packed_once(
    data_sets: DataSets, announcements: list[Announcement]
) -> None:
    """Preprocessing gets a folder, training the same images as RecordIO; a second time nothing is made."""
    folder = data_sets.prepare(PREPROCESSING)
    packed = data_sets.prepare(TRAINING)
    assert (folder.format, packed.format) == ("folder", "recordio")
    assert folder.embedded
    assert packed.embedded
    assert packed.bytes > 12 * 10_000
    assert any(announcement.kind is AnnouncementKind.DATA_MADE and announcement.bytes for announcement in announcements)
    announcements.clear()
    assert data_sets.prepare(TRAINING) == packed
    assert announcements == []


@pytest.mark.slow
def test_a_users_folder_is_packed_again_when_it_changes(data_sets: DataSets, tmp_path: Path) -> None:
    """The packed copy belongs to the folder as it is now; it is the user's own, not embedded."""
    source = data_sets.prepare(PREPROCESSING)
    image = next(Path(source.path).rglob("*.JPEG"))
    (tmp_path / "n01/").mkdir()
    (tmp_path / "n01/a.JPEG").write_bytes(image.read_bytes())
    own = replace(TRAINING, data=str(tmp_path))
    first = data_sets.prepare(own)
    (tmp_path / "n01/b.JPEG").write_bytes(image.read_bytes())
    second = data_sets.prepare(own)
    assert first.path != second.path
    assert not first.embedded
    assert stat.S_IMODE(Path(first.path).parent.stat().st_mode) == 0o700


@pytest.mark.slow
def test_damaged_data_is_made_and_packed_again(data_sets: DataSets, announcements: list[Announcement]) -> None:
    """Images that a cleaner removed, records that were cut off: what a run gets is whole, and it is said."""
    packed = data_sets.prepare(TRAINING)
    os.truncate(packed.path, packed.bytes // 2)
    announcements.clear()
    fresh = replace(data_sets, whole=set())
    assert fresh.prepare(TRAINING) == packed
    assert AnnouncementKind.DAMAGED_DATA in {announcement.kind for announcement in announcements}
    images = fresh.prepare(PREPROCESSING)
    for image in sorted(Path(images.path).rglob("*.JPEG"))[:5]:
        image.unlink()
    assert replace(data_sets, whole=set()).prepare(PREPROCESSING) == images


@pytest.mark.slow
def test_the_embedded_text_serves_the_language_model(data_sets: DataSets) -> None:
    """A text in PennTreeBank's form, made once."""
    text = data_sets.prepare(Workload("words", "lstm_training", network="small", format="text"))
    assert text.format == "text"
    assert text.bytes > 4e6


def test_data_that_cannot_be_read_is_named(
    data_sets: DataSets, announcements: list[Announcement], tmp_path: Path
) -> None:
    """The workload and the path, before anything is run; what it looks like, and what was asked for. Nothing is made
    for a run that reads nothing."""
    with pytest.raises(InputError, match="`train`: /nowhere does not exist"):
        data_sets.prepare(replace(TRAINING, data="/nowhere"))
    (tmp_path / "train.txt").write_text("a b c\n")
    with pytest.raises(InputError, match=r"looks like a text of words.*reads a RecordIO file"):
        data_sets.prepare(replace(TRAINING, data=str(tmp_path / "train.txt")))
    for name in ("a.rec", "b.rec"):
        (tmp_path / "several").mkdir(exist_ok=True)
        (tmp_path / "several" / name).touch()
    with pytest.raises(InputError, match=r"several \.rec files"):
        check_data(replace(TRAINING, data=str(tmp_path / "several")))
    assert data_sets.prepare(replace(TRAINING, input="synthetic")) is None
    assert announcements == []


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["a.rec", "a.idx"], "recordio"),
        (["x.lmdb/data.mdb", "x.lmdb/lock.mdb"], "lmdb"),
        (["text/train.txt"], "text"),
        (["text/ptb.train.txt"], "text"),
        (["images/n01/1.JPEG"], "folder"),
        (["words.txt"], "text"),
        (["packed/train.rec", "packed/train.idx"], "recordio"),
    ],
)
def test_the_form_of_data_is_seen_from_its_files(tmp_path: Path, names: list[object], expected: str) -> None:
    """By name and content, as users have them; the workloads, which cannot ask us, see the same."""
    for name in names:
        (tmp_path / name).parent.mkdir(exist_ok=True, parents=True)
        (tmp_path / name).write_bytes(b"x" * 10)
    path = tmp_path / Path(names[0]).parts[0]
    assert form_of(path) == expected
    assert expected == "text" or image_format(path) == expected


@pytest.mark.slow
def test_records_without_an_index_get_one_once(
    data_sets: DataSets, announcements: list[Announcement], tmp_path: Path
) -> None:
    """The index is made in the cache, beside a link to the user's file, which stays as it is."""
    packed = data_sets.prepare(TRAINING)
    shutil.copy(packed.path, tmp_path / "mine.rec")
    own = replace(TRAINING, data=str(tmp_path))
    announcements.clear()
    indexed = data_sets.prepare(own)
    assert {path.suffix for path in files_of(Path(indexed.path))} == {".rec", ".idx"}
    assert len(Path(indexed.path).with_suffix(".idx").read_text().splitlines()) == 12
    assert [path.name for path in tmp_path.iterdir()] == ["mine.rec"]
    assert data_sets.prepare(own) == indexed
    assert sum(announcement.kind is AnnouncementKind.INDEX for announcement in announcements) == 1


def test_the_cache_lies_where_the_user_wants_it() -> None:
    """SIZER_CACHE, then the XDG cache folder."""
    assert cache_folder({"SIZER_CACHE": "/a", "XDG_CACHE_HOME": "/b"}) == Path("/a")
    assert cache_folder({"XDG_CACHE_HOME": "/b"}) == Path("/b/sizer")
    users = Path("/var/cache/sizer") if os.geteuid() == 0 else Path.home() / ".cache/sizer"
    assert cache_folder({}) == cache_folder({"XDG_CACHE_HOME": "here"}) == users


def test_a_cache_that_cannot_be_made_is_said_before_anything_runs(tmp_path: Path) -> None:
    """Where data must be made; a user's own command needs none."""
    file = tmp_path / "file"
    file.touch(mode=0o444)
    cache = file / "cache"
    with pytest.raises(HostError, match="set SIZER_CACHE"):
        check_cache(Workload("words", "lstm_training"), cache, 12)
    check_cache(Workload("job", "command", command=("true",)), cache, 12)
    check_cache(Workload("words", "lstm_training"), tmp_path / "new" / "cache", 12)


def test_data_in_a_cache_that_may_only_be_read_is_used(data_sets: DataSets, tmp_path: Path) -> None:
    """Root makes it once for everybody."""
    made = tmp_path / "text-v1"
    made.mkdir()
    (made / "train.txt").write_text("a b c\n")
    write_manifest(made, made, lambda: False)
    data_set = replace(data_sets, cache=tmp_path).prepare(Workload("words", "lstm_training"))
    assert data_set is not None
    assert not (tmp_path / ".lock").exists()


MIB = 2**20


@pytest.fixture
def data(tmp_path: Path) -> Path:
    path = tmp_path / "data.bin"
    path.write_bytes(os.urandom(8 * MIB))
    return path


def test_eviction_leaves_nothing_and_counting_brings_nothing_back(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Written data is resident; evicted it is not, however often one looks. mincore, for kernels before 6.5, agrees
    with cachestat."""
    assert resident_bytes([data]) == 8 * MIB
    evict([data])
    assert [resident_bytes([data]) for _ in range(3)] == [0, 0, 0]
    data.read_bytes()
    counted = resident_bytes([data])
    monkeypatch.setattr(page_cache, "_cachestat", lambda _: None)
    assert resident_bytes([data]) == counted == 8 * MIB
    evict([data])
    assert resident_bytes([data]) == 0


def test_files_of_a_data_set(tmp_path: Path) -> None:
    """A `.rec` brings its index along, a folder all of its files. One may go while a run reads it: that is the run's
    outcome, and nothing to fail of here."""
    gone = tmp_path / "gone"
    evict([gone])
    assert (resident_bytes([gone]), list(files_of(gone))) == (0, [gone])
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

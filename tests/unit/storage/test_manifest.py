"""A data set of the cache that is not as it was made is made anew, whatever happened to it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from sizer.records.errors import HostError, Interrupted
from sizer.storage import manifest
from sizer.storage.announcements import Announcement, AnnouncementKind
from sizer.storage.data_cache import made_once
from sizer.storage.page_cache import resident_bytes
from sizer.words.language import in_words
from sizer.words.terminal import announcement_in_words

MAKING = Announcement(AnnouncementKind.EMBEDDED_DATA)


def never() -> bool:
    return False


def taken(cache: Path, stop: Callable[[], bool] = never) -> list[Announcement]:
    """Take the data set from the cache as a study does: a folder with two files and a link; what was announced."""
    said: list[Announcement] = []
    with made_once(cache / "images", MAKING, said.append, stop) as aside:
        if aside is not None:
            (aside / "n1").mkdir(parents=True)
            (aside / "n1" / "a.JPEG").write_bytes(b"a" * 5000)
            (aside / "b.JPEG").write_bytes(b"b" * 5000)
            (aside / "theirs.rec").symlink_to("/data/theirs.rec")
    return said


def with_changed_byte(folder: Path) -> None:
    """As a fault of a disk leaves it: with the size and the time that it had."""
    path = folder / "b.JPEG"
    facts = path.stat()
    path.write_bytes(path.read_bytes()[:-1] + b"x")
    os.utime(path, ns=(facts.st_atime_ns, facts.st_mtime_ns))


def with_other_link(folder: Path) -> None:
    (folder / "theirs.rec").unlink()
    (folder / "theirs.rec").symlink_to("/data/others.rec")


def with_endless_list(folder: Path) -> None:
    """No number that a machine can mean."""
    folder.with_name("images.manifest.json").write_text(f'{{"files": 3, "bytes": 1{"0" * 400}, "sha256": ""}}')


@pytest.mark.parametrize(
    ("spoil", "why"),
    [
        (lambda folder: (folder / "b.JPEG").unlink(), "it holds 4.9 KiB (files: 2), and held 9.78 KiB (files: 3)"),
        (lambda folder: shutil.rmtree(folder / "n1"), "it holds 4.9 KiB (files: 2)"),
        (lambda folder: (folder / "b.JPEG").write_bytes(b""), "it holds 4.9 KiB (files: 3)"),
        (lambda folder: os.truncate(folder / "b.JPEG", 4999), "it holds 9.78 KiB (files: 3)"),
        (lambda folder: (folder / "c.JPEG").write_bytes(b"c"), "it holds 9.78 KiB (files: 4)"),
        (with_changed_byte, "the content of its files has changed"),
        (with_other_link, "the content of its files has changed"),
        (lambda folder: (folder / "b.JPEG").rename(folder / "c.JPEG"), "the content of its files has changed"),
        (lambda folder: (folder.parent / "images.manifest.json").unlink(), "the list of what it held"),
        (lambda folder: (folder.parent / "images.manifest.json").write_text("[]"), "the list of what it held"),
        (with_endless_list, "the list of what it held"),
        (lambda folder: (shutil.rmtree(folder), folder.write_text("")), "Not a directory"),
    ],
)
def test_a_damaged_data_set_is_made_anew(spoil: Callable[[Path], object], why: str, tmp_path: Path) -> None:
    """It is said why; then it is whole, and nothing else lies in the cache."""
    assert taken(tmp_path) == [MAKING]
    assert taken(tmp_path) == []
    spoil(tmp_path / "images")
    damaged, making = taken(tmp_path)
    assert making == MAKING
    said = announcement_in_words(damaged)
    assert said.startswith(f"the data set in {tmp_path / 'images'} is not as it was made (")
    assert why in said
    assert taken(tmp_path) == []
    assert {path.name for path in tmp_path.iterdir()} == {".lock", "images", "images.manifest.json"}
    assert (tmp_path / "images" / "b.JPEG").read_bytes() == b"b" * 5000


def test_what_was_read_to_compare_it_is_out_of_the_page_cache(tmp_path: Path) -> None:
    """It would be warm for the first run."""
    taken(tmp_path)
    (tmp_path / "images" / "b.JPEG").read_bytes()
    taken(tmp_path)
    assert resident_bytes([tmp_path / "images" / "b.JPEG"]) == 0


def test_of_large_data_a_part_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every fifth block here: what is lacking is seen always, and a change where it is looked at."""
    monkeypatch.setattr(manifest, "BLOCK_BYTES", 100)
    monkeypatch.setattr(manifest, "MOST_BYTES", 2000)
    taken(tmp_path)
    file = tmp_path / "images" / "b.JPEG"
    content = file.read_bytes()
    file.write_bytes(b"x" + content[1:])
    assert len(taken(tmp_path)) == 2
    file.write_bytes(content[:150] + b"x" + content[151:])
    assert taken(tmp_path) == []
    file.write_bytes(content[:-1])
    assert len(taken(tmp_path)) == 2


def test_a_check_can_be_interrupted(tmp_path: Path) -> None:
    """On a slow disk it takes as long as reading what there is."""
    taken(tmp_path)
    with pytest.raises(Interrupted, match=r"Interrupted while .*images was checked"):
        taken(tmp_path, lambda: True)


def test_a_damaged_data_set_that_may_only_be_read_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With its folder, what is wrong, and what to do."""
    taken(tmp_path)
    (tmp_path / "images" / "b.JPEG").unlink()
    monkeypatch.setattr("sizer.storage.data_cache.os.access", lambda *_: False)
    with pytest.raises(HostError) as refused:
        taken(tmp_path)
    assert in_words(refused.value) == (
        f"The data set in {tmp_path / 'images'} is not as it was made (it holds 4.9 KiB (files: 2), and held 9.78 KiB "
        "(files: 3)), and you may not make it anew there; remove it, or set SIZER_CACHE to a folder that you may "
        "write to."
    )

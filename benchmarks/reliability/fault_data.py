"""Data sets with a fault: folders of JPEGs, RecordIO files, LMDBs and texts, each with one thing wrong with it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import cv2
import lmdb
import numpy as np

sys.path.append(str(Path(__file__).parents[2]))

from workloads import datum, recordio

IMAGES = 64
BAD = 17
"""Number of the image that is bad."""

SPOILT: dict[str, Callable[[bytes], bytes]] = {
    "truncated": lambda image: image[: len(image) // 2],
    "empty": lambda _: b"",
    "no image": lambda _: b"This is no image at all.\n" * 40,
    "damaged": lambda image: image[:3] + bytes(len(image) - 3),
}


def jpeg(number: int) -> bytes:
    """A small picture of noise, another one for each number."""
    pixels = np.random.default_rng(number).integers(0, 256, (70, 80, 3), dtype=np.uint8)
    enlarged = cv2.resize(pixels, (320, 280))
    return cv2.imencode(".jpg", enlarged)[1].tobytes()


def folder(where: Path, bad: dict[int, str] | None = None) -> Path:
    """Class folders of JPEGs, those of `bad` spoilt."""
    for number in range(IMAGES):
        path = where / f"class_{number % 4}" / f"{number:04d}.JPEG"
        path.parent.mkdir(parents=True, exist_ok=True)
        image = jpeg(number)
        kind = (bad or {}).get(number)
        path.write_bytes(SPOILT[kind](image) if kind else image)
    return where


def with_folder_for_an_image(where: Path) -> Path:
    """A folder that is called like an image."""
    folder(where)
    (where / "class_0" / "more.JPEG").mkdir()
    return where


def unreadable(where: Path) -> Path:
    """An image that nobody has a permission to read; of root it asks the right to read everything."""
    folder(where)
    (where / f"class_{BAD % 4}" / f"{BAD:04d}.JPEG").chmod(0)
    return where


def records(where: Path, kind: str | None = None, index: bool = True) -> Path:
    """A `.rec` and its index, the record of the bad image spoilt."""
    where.mkdir(parents=True)
    offsets = []
    with (where / "train.rec").open("wb") as file:
        for number in range(IMAGES):
            offsets.append(file.tell())
            image = SPOILT[kind](jpeg(number)) if kind and number == BAD else jpeg(number)
            file.write(recordio.framed(recordio.image_record(float(number % 4), number, image)))
    if index:
        lines = (f"{number}\t{offset}\n" for number, offset in enumerate(offsets))
        (where / "train.idx").write_text("".join(lines))
    return where / "train.rec"


def cut_short(where: Path, index: bool) -> Path:
    """A `.rec` whose copy was interrupted."""
    path = records(where, index=index)
    path.write_bytes(path.read_bytes()[: path.stat().st_size * 2 // 3])
    return path


def with_index(where: Path, text: str) -> Path:
    """A good `.rec` whose index holds `text`, where SIZE and MIDDLE are places in it."""
    path = records(where)
    size = path.stat().st_size
    (where / "train.idx").write_text(text.replace("SIZE", str(size + 4000)).replace("MIDDLE", str(size // 8 * 4)))
    return path


def database(where: Path, kind: str | None = None) -> Path:
    """An LMDB of encoded images, that of the bad one spoilt."""
    where.mkdir(parents=True)
    with lmdb.open(str(where), map_size=1 << 26) as environment, environment.begin(write=True) as transaction:
        for number in range(IMAGES):
            image = SPOILT[kind](jpeg(number)) if kind and number == BAD else jpeg(number)
            message = datum.encode(datum.Datum(3, 0, 0, image, number % 4, encoded=True))
            transaction.put(f"{number:08d}".encode(), message, append=True)
    (where / "lock.mdb").unlink()
    return where


def cut_database(where: Path) -> Path:
    """An LMDB whose copy was interrupted."""
    file = database(where) / "data.mdb"
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])
    return where


def text(where: Path, content: bytes | None = None) -> Path:
    """A text of words, or of `content`."""
    where.mkdir(parents=True)
    words = b" the cat sat on <unk> N mats \n a dog did n't \n" * 2000
    (where / "train.txt").write_bytes(words if content is None else content)
    return where / "train.txt"

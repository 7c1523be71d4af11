"""Data sets with a fault: folders of JPEGs, RecordIO files and texts, each with one thing wrong with it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import cv2
import numpy as np

sys.path.append(str(Path(__file__).parents[2]))

from workloads.data_sets import recordio

IMAGES = 64
BAD = 17
"""Number of the image that is bad."""

SPOILT: dict[str, Callable[[bytes], bytes]] = {
    "truncated": lambda image: image[: len(image) // 2],
    "empty": lambda _: b"",
    "no image": lambda _: b"This is no image at all.\n" * 40,
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


def unreadable(where: Path) -> Path:
    """An image that nobody has a permission to read; of root it asks the right to read everything."""
    folder(where)
    (where / f"class_{BAD % 4}" / f"{BAD:04d}.JPEG").chmod(0)
    return where


def records(where: Path) -> Path:
    """A `.rec` and its index."""
    where.mkdir(parents=True)
    offsets = []
    with (where / "train.rec").open("wb") as file:
        for number in range(IMAGES):
            offsets.append(file.tell())
            file.write(recordio.framed(recordio.image_record(float(number % 4), number, jpeg(number))))
    lines = (f"{number}\t{offset}\n" for number, offset in enumerate(offsets))
    (where / "train.idx").write_text("".join(lines))
    return where / "train.rec"


def cut_short(where: Path) -> Path:
    """A `.rec` whose copy was interrupted, without an index."""
    path = records(where)
    path.with_suffix(".idx").unlink()
    path.write_bytes(path.read_bytes()[: path.stat().st_size * 2 // 3])
    return path


def text(where: Path) -> Path:
    """A text of words."""
    where.mkdir(parents=True)
    (where / "train.txt").write_bytes(b" the cat sat on <unk> N mats \n a dog did n't \n" * 2000)
    return where / "train.txt"

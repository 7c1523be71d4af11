"""What preprocessing makes of one image: read, decoded, resized, and as it lies in the output."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass

from . import image_transform, recordio
from .image_codecs import Codec, fastest, open_codec
from .image_folder import LabelledImage


@dataclass(frozen=True)
class Transformed:
    """What became of image `index`: `record` None if it is no image; `read_seconds` its reading alone."""

    index: int
    record: bytes | memoryview | None
    read_seconds: float


@dataclass(frozen=True)
class Task:
    """What workers do: to each of `images`, unless `synthetic`, then to the same image as often.

    `read_only`: the images are read, and nothing is made of them.
    """

    images: Sequence[LabelledImage]
    format: str
    synthetic: bool
    seed: int
    read_only: bool = False
    decoder: str | None = None

    def opened(self) -> Transformer:
        """With its library loaded. Raises Unavailable."""
        return Transformer(self, open_codec(self.decoder or fastest()))


class Transformer:
    """Does a task, image by image, by one library."""

    def __init__(self, task: Task, codec: Codec) -> None:
        self._task = task
        self._codec = codec
        self._prepared = codec.picture(image_transform.synthetic_image(task.seed)) if task.synthetic else None

    def transform(self, index: int) -> Transformed:
        """Image `index`. Raises OSError as reading does."""
        begin = time.perf_counter()
        encoded = b"" if self._task.synthetic else _read(self._task.images[index].path)
        read_seconds = time.perf_counter() - begin
        if self._task.read_only:
            return Transformed(index, b"", read_seconds)
        picture = self._prepared if self._task.synthetic else self._codec.decode(encoded)
        return Transformed(index, None if picture is None else self._record(index, picture), read_seconds)

    def _record(self, index: int, picture: object) -> bytes | None:
        """As it lies in the output; None for an image that cannot be written at a shorter side of 256."""
        small = self._codec.resize(picture)
        if small is None:
            return None
        label = self._task.images[index].label
        if self._task.format == "lmdb":
            return image_transform.as_datum(self._codec.pixels(small), label)
        return recordio.framed(recordio.image_record(float(label), index, self._codec.as_jpeg(small)))


def _read(path: os.PathLike[str]) -> bytes:
    with open(path, "rb", buffering=0) as file:
        return file.read()

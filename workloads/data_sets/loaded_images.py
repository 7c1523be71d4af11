"""The images of a data set one by one, in any order: from a folder, from RecordIO or from an LMDB."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from ..faults import InputFault, unreadable_file
from . import recordio
from .data_set import DataSet
from .image_codecs import ChooseCrop, Codec, Image


@dataclass(frozen=True)
class Stored:
    """What lies in a data set for one image: an image file, or BGR pixels of height x width x 3; and its class."""

    content: bytes | memoryview | Image
    label: int

    @property
    def bytes(self) -> int:
        return self.content.nbytes if isinstance(self.content, np.ndarray) else len(self.content)

    def cropped(self, codec: Codec, side: int, choose: ChooseCrop) -> Image | None:
        """The pixels that a network takes; None for what is no image."""
        content = self.content
        picture = codec.picture(content) if isinstance(content, np.ndarray) else codec.decode(content)
        return None if picture is None else codec.cropped(picture, side, choose)


class StoredImages(Protocol):
    """A data set whose files are opened by the first read of each process."""

    def __len__(self) -> int: ...

    def read(self, index: int) -> Stored:
        """The image `index`. Raises InputFault where it cannot be read."""

    def name(self, index: int) -> str:
        """Which one it is, for a person."""

    def close(self) -> None:
        """Close what this process opened; the next read opens it again."""


def stored_images(data_set: DataSet) -> StoredImages:
    """The images of a data set on disk."""
    if data_set.format == "folder":
        return FolderImages(data_set)
    return LmdbImages(data_set) if data_set.format == "lmdb" else RecordImages(data_set)


class FolderImages:
    """Image files, each opened, read and closed."""

    def __init__(self, data_set: DataSet) -> None:
        self._files, self._labels = data_set.files, data_set.labels

    def __len__(self) -> int:
        return len(self._files)

    def read(self, index: int) -> Stored:
        path = self._files[index]
        try:
            with open(path, "rb", buffering=0) as file:
                return Stored(file.read(), self._labels[index])
        except OSError as error:
            raise InputFault(unreadable_file(path, error)) from None

    def name(self, index: int) -> str:
        return str(self._files[index])

    def close(self) -> None:
        """Nothing stays open."""


class RecordImages:
    """Records of a RecordIO file, each read at its offset."""

    def __init__(self, data_set: DataSet) -> None:
        assert data_set.index is not None, "open_images gives records an index"
        self._path, self._bytes = data_set.files[0], data_set.bytes
        self._offsets = recordio.read_index(data_set.index)
        self._descriptor: int | None = None

    def __len__(self) -> int:
        return len(self._offsets)

    def read(self, index: int) -> Stored:
        if self._descriptor is None:
            self._descriptor = os.open(self._path, os.O_RDONLY)
        label, encoded = recordio.labelled_image_at(self._descriptor, self._path, self._offsets[index], self._bytes)
        return Stored(encoded, int(label))

    def name(self, index: int) -> str:
        return f"record {index + 1} of {len(self)} (byte {self._offsets[index]}) of {self._path}"

    def close(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


class LmdbImages:
    """Messages of an LMDB of Caffe, each found by its key."""

    def __init__(self, data_set: DataSet) -> None:
        from .lmdb_images import keys_of

        self._folder = data_set.files[0].parent
        self._keys = keys_of(self._folder)
        self._environment: Any = None

    def __len__(self) -> int:
        return len(self._keys)

    def read(self, index: int) -> Stored:
        import lmdb

        from . import datum
        from .lmdb_images import opened, raw_pixels

        try:
            if self._environment is None:
                # Pages around a key that was drawn at random are those of others.
                self._environment = opened(self._folder, readahead=False)
            with self._environment.begin(buffers=True) as transaction:
                message = transaction.get(self._keys[index])
                record = datum.decode(message)
                if record.encoded:
                    return Stored(bytes(record.data), record.label)
                pixels = np.broadcast_to(raw_pixels(record), (3, record.height, record.width))
                return Stored(np.ascontiguousarray(pixels.transpose(1, 2, 0)), record.label)
        except datum.DatumError as error:
            raise InputFault(
                f"{self.name(index)} is no Caffe Datum ({error}): make the LMDB again without it"
            ) from None
        except lmdb.Error as error:
            raise InputFault(f"the LMDB {self._folder} cannot be read ({error}): make it again") from None

    def name(self, index: int) -> str:
        return f"record {self._keys[index]!r} of {self._folder}"

    def close(self) -> None:
        """End the map: mapped pages cannot be evicted."""
        if self._environment is not None:
            self._environment.close()
            self._environment = None

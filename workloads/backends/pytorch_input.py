"""Images from the disk for PyTorch: decoded, cropped and normalised by a thread ahead of the step."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import cv2
import numpy as np
import torch

from .. import image_transform, recordio
from ..ahead import Ahead
from ..data_set import DataSet
from ..faults import InputFault
from . import Settings

MEAN = np.array([123.675, 116.28, 103.53], np.float32)
DEVIATION = np.array([58.395, 57.12, 57.375], np.float32)
"""ImageNet's in RGB, on the scale of 0 to 255."""
CROP_SHARE = 0.875
"""The crop's side over the image's shorter side: 224 of 256."""
BATCHES_AHEAD = 4


class RecordIOImages:
    """Batches of a RecordIO file: in a new order each epoch, cropped and mirrored at random in training, and in their
    own order with the centre otherwise. The last batch of an epoch is filled up with the first images."""

    def __init__(self, data_set: DataSet, side: int, training: bool, settings: Settings) -> None:
        assert data_set.index is not None
        self._records, self._bytes = data_set.files[0], data_set.bytes
        self._offsets = recordio.read_index(data_set.index)
        self._side = side
        self._training = training
        self._batch_size = settings.batch_size
        self._random = random.Random(settings.seed)
        self._ahead = Ahead(self._batches(), BATCHES_AHEAD)

    def next_batch(self) -> Any:
        return self._ahead.next()

    def restart(self) -> None:
        self.close()
        self._ahead = Ahead(self._batches(), BATCHES_AHEAD)

    def close(self) -> None:
        self._ahead.close()

    def _batches(self) -> Iterator[tuple[Any, Any]]:
        order = list(self._offsets)
        if self._training:
            self._random.shuffle(order)
        order += [order[number % len(order)] for number in range(-len(order) % self._batch_size)]
        with self._records.open("rb", buffering=0) as file:
            for begin in range(0, len(order), self._batch_size):
                images, labels = [], []
                for offset in order[begin : begin + self._batch_size]:
                    label, pixels = self._image(file.fileno(), offset)
                    images.append(pixels)
                    labels.append(label)
                yield torch.from_numpy(np.stack(images)).permute(0, 3, 1, 2), torch.tensor(labels)

    def _image(self, descriptor: int, offset: int) -> tuple[int, Any]:
        """The label and the float32 pixels of side x side x 3 of one record."""
        label, encoded = recordio.labelled_image_at(descriptor, self._records, offset, self._bytes)
        pixels = image_transform.decode(encoded)
        if pixels is None:
            number = self._offsets.index(offset) + 1
            raise InputFault(
                f"record {number} of {len(self._offsets)} (byte {offset}) of {self._records} is no image that can be "
                "read: pack the file again without it"
            )
        height, width = pixels.shape[:2]
        scale = round(self._side / CROP_SHARE) / min(height, width)
        size = max(self._side, round(width * scale)), max(self._side, round(height * scale))
        resized: Any = cv2.resize(pixels, size) if size != (width, height) else pixels
        top, left = (self._offset(extent) for extent in resized.shape[:2])
        crop = resized[top : top + self._side, left : left + self._side, ::-1]
        if self._training and self._random.random() < 0.5:
            crop = crop[:, ::-1]
        return int(label), (crop - MEAN) / DEVIATION

    def _offset(self, extent: int) -> int:
        room = extent - self._side
        return self._random.randint(0, room) if self._training else room // 2

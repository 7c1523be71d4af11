"""Images of a folder as users read them: a Dataset that decodes, crops, scales and normalises, and a DataLoader.

The transforms are those of pytorch/examples, imagenet/main.py: RandomResizedCrop and RandomHorizontalFlip in training,
else the centre crop of 224 of a shorter side of 256; then ToTensor and Normalize. They are written by hand, since
torchvision, which has them, does not load beside PyTorch's CPU build. The centre is cut out first and scaled once, as
in our programs, and not scaled and cut.
"""

from __future__ import annotations

import math
import os
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import torch
from PIL import Image
from torch.utils.data import DataLoader, Dataset

MEAN = np.array((0.485, 0.456, 0.406), np.float32)
DEVIATION = np.array((0.229, 0.224, 0.225), np.float32)


def pillow(path: str, side: int, training: bool) -> Any:
    """Decoded and scaled by Pillow, as torchvision does."""
    with Image.open(path) as opened:
        image = opened.convert("RGB")
    left, top, width, height = crop(image.width, image.height, training)
    image = image.crop((left, top, left + width, top + height)).resize((side, side), Image.Resampling.BILINEAR)
    if training and random.random() < 0.5:
        image = image.transpose(Image.Transpose.FLIP_LEFT_RIGHT)
    return np.array(image)


def opencv(path: str, side: int, training: bool) -> Any:
    """Decoded and scaled by OpenCV."""
    image = cv2.cvtColor(cv2.imread(path), cv2.COLOR_BGR2RGB)
    return scaled(image, side, training)


def simplejpeg(path: str, side: int, training: bool) -> Any:
    """Decoded by libjpeg-turbo, scaled by OpenCV."""
    from simplejpeg import decode_jpeg

    return scaled(decode_jpeg(Path(path).read_bytes()), side, training)


def scaled(image: Any, side: int, training: bool) -> Any:
    left, top, width, height = crop(image.shape[1], image.shape[0], training)
    image = cv2.resize(image[top : top + height, left : left + width], (side, side), interpolation=cv2.INTER_LINEAR)
    return cv2.flip(image, 1) if training and random.random() < 0.5 else image


def crop(width: int, height: int, training: bool) -> tuple[int, int, int, int]:
    """Left, top, width and height: of random area, aspect ratio and place, or of the centre."""
    for _ in range(10 if training else 0):
        area = width * height * random.uniform(0.08, 1.0)
        ratio = math.exp(random.uniform(math.log(3 / 4), math.log(4 / 3)))
        wide, tall = round(math.sqrt(area * ratio)), round(math.sqrt(area / ratio))
        if 0 < wide <= width and 0 < tall <= height:
            return random.randint(0, width - wide), random.randint(0, height - tall), wide, tall
    extent = min(width, height) if training else round(min(width, height) * 224 / 256)
    return (width - extent) // 2, (height - extent) // 2, extent, extent


DECODERS = {"pillow": pillow, "opencv": opencv, "simplejpeg": simplejpeg}


class Photographs(Dataset):  # type: ignore[misc]
    """The images of class folders, as torchvision's ImageFolder gives them."""

    def __init__(self, folder: Path, decoder: str, side: int, training: bool) -> None:
        classes = sorted(each.name for each in os.scandir(folder) if each.is_dir())
        files = ((folder / name, label) for label, name in enumerate(classes))
        self._samples = [(str(path), label) for kind, label in files for path in sorted(kind.iterdir())]
        self._decode = DECODERS[decoder]
        self._side = side
        self._training = training

    def __len__(self) -> int:
        return len(self._samples)

    def __getitem__(self, index: int) -> tuple[Any, int]:
        path, label = self._samples[index]
        pixels = self._decode(path, self._side, self._training)
        normalised = (pixels.astype(np.float32) / 255 - MEAN) / DEVIATION
        return torch.from_numpy(np.ascontiguousarray(normalised.transpose(2, 0, 1))), label


def batches_of(
    folder: Path, decoder: str, side: int, batch_size: int, workers: int, training: bool
) -> Iterator[tuple[Any, Any]]:
    """Images and labels of one epoch after another, without end; `workers` decode."""
    cv2.setNumThreads(0)
    loader = DataLoader(
        Photographs(folder, decoder, side, training),
        batch_size=batch_size,
        shuffle=training,
        num_workers=workers,
        drop_last=True,
        persistent_workers=True,
    )
    while True:
        yield from loader

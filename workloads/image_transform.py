"""One encoded image -> what preprocessing stores for it: shorter side 256, as JPEG or as raw pixels."""

from __future__ import annotations

from typing import Any

import cv2
import numpy as np

from . import datum

Image = np.ndarray[Any, np.dtype[np.uint8]]

SHORTER_SIDE = 256
JPEG_QUALITY = 95
"""What im2rec writes unless told otherwise."""


def decode(encoded: bytes) -> Image | None:
    """The BGR pixels, height x width x 3; None if this is no image."""
    if not encoded:
        return None
    image = cv2.imdecode(np.frombuffer(encoded, np.uint8), cv2.IMREAD_COLOR)
    return None if image is None else image.astype(np.uint8, copy=False)


def resize(image: Image) -> Image:
    """Shorter side 256, aspect kept, bilinear, as im2rec does."""
    height, width = image.shape[:2]
    scale = SHORTER_SIDE / min(height, width)
    size = (max(SHORTER_SIDE, int(width * scale)), max(SHORTER_SIDE, int(height * scale)))
    return cv2.resize(image, size).astype(np.uint8, copy=False)


def as_jpeg(image: Image) -> bytes:
    """The image as a JPEG file."""
    _, encoded = cv2.imencode(".jpg", image, [cv2.IMWRITE_JPEG_QUALITY, JPEG_QUALITY])
    return encoded.tobytes()


def as_datum(image: Image, label: int) -> bytes:
    """The centre 256 x 256 as a Caffe Datum: raw, channels first, BGR."""
    top, left = (image.shape[0] - SHORTER_SIDE) // 2, (image.shape[1] - SHORTER_SIDE) // 2
    centre = image[top : top + SHORTER_SIDE, left : left + SHORTER_SIDE]
    pixels = np.ascontiguousarray(centre.transpose(2, 0, 1))
    return datum.encode(datum.Datum(3, SHORTER_SIDE, SHORTER_SIDE, pixels.tobytes(), label))


def synthetic_image(seed: int) -> Image:
    """One smooth image of ImageNet's usual size, for measuring without reading or decoding."""
    coarse = np.random.default_rng(seed).integers(0, 256, (47, 63, 3), dtype=np.uint8)
    return cv2.resize(coarse, (500, 375), interpolation=cv2.INTER_CUBIC).astype(np.uint8, copy=False)

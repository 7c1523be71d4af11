"""One encoded image -> what preprocessing stores for it: shorter side 256, as JPEG or as raw pixels."""

from __future__ import annotations

from typing import Any

import cv2
import numpy as np

from . import datum

Image = np.ndarray[Any, np.dtype[np.uint8]]

SHORTER_SIDE = 256
LONGEST_SIDE = 65_500
"""What libjpeg writes at most."""
JPEG_QUALITY = 95
"""What im2rec writes by default."""


JPEG_SCAN, JPEG_END = b"\xff\xda", b"\xff\xd9"
"""Markers, which cannot occur inside of the data of a scan (ITU-T T.81, B.1.1.5)."""


def decode(encoded: bytes | memoryview) -> Image | None:
    """The BGR pixels, height x width x 3; None if this is no image, or one that is cut off."""
    if not len(encoded) or _is_cut_off(encoded):
        return None
    try:
        image = cv2.imdecode(np.frombuffer(encoded, np.uint8), cv2.IMREAD_COLOR)
    except cv2.error:
        return None
    return None if image is None else image.astype(np.uint8, copy=False)


def _is_cut_off(encoded: bytes | memoryview) -> bool:
    """Whether a JPEG does not end after its last scan: the decoder would fill up what is missing with grey."""
    if encoded[:2] != b"\xff\xd8" or encoded[-2:] == JPEG_END:
        return False
    whole = bytes(encoded)
    return whole.rfind(JPEG_END) < whole.rfind(JPEG_SCAN)


def small_size(height: int, width: int) -> tuple[int, int] | None:
    """Width and height at a shorter side of 256, as im2rec has them; None for a strip that is too long for a JPEG."""
    scale = SHORTER_SIDE / min(height, width)
    if scale * max(height, width) > LONGEST_SIDE:
        return None
    return max(SHORTER_SIDE, int(width * scale)), max(SHORTER_SIDE, int(height * scale))


def resize(image: Image) -> Image | None:
    """Shorter side 256, aspect kept, bilinear, as im2rec does; None for a strip that would be too long for a JPEG."""
    size = small_size(*image.shape[:2])
    return None if size is None else cv2.resize(image, size).astype(np.uint8, copy=False)


def as_jpeg(image: Image) -> bytes:
    """The image as a JPEG file."""
    _, encoded = cv2.imencode(".jpg", image, [cv2.IMWRITE_JPEG_QUALITY, JPEG_QUALITY])
    return encoded.tobytes()


def as_datum(image: Image, label: int) -> bytes:
    """The centre 256 x 256 as a Caffe Datum: raw, channels first, BGR."""
    top, left = (image.shape[0] - SHORTER_SIDE) // 2, (image.shape[1] - SHORTER_SIDE) // 2
    centre = image[top : top + SHORTER_SIDE, left : left + SHORTER_SIDE]
    # A quarter of the time of numpy's transposition.
    planes = b"".join(plane.tobytes() for plane in cv2.split(centre))
    return datum.encode(datum.Datum(3, SHORTER_SIDE, SHORTER_SIDE, planes, label))


def synthetic_image(seed: int) -> Image:
    """One smooth image of ImageNet's usual size, for measuring without reading or decoding."""
    coarse = np.random.default_rng(seed).integers(0, 256, (47, 63, 3), dtype=np.uint8)
    return cv2.resize(coarse, (500, 375), interpolation=cv2.INTER_CUBIC).astype(np.uint8, copy=False)

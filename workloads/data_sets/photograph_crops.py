"""ImageNet-like JPEGs from real photographs: image `index` depends on the seed and the index alone.

ImageNet's training images have a mean of about 110 kB and mostly 500 x 375 pixels. Crops of real photographs at a scale
drawn log-uniformly, with the JPEG quality searched for a size drawn log-normally, cost what those cost to read and
decode. They say nothing about accuracy.
"""

from __future__ import annotations

import math
from functools import cache
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from ..faults import Fault

Image = np.ndarray[Any, np.dtype[np.uint8]]

PHOTOGRAPHS = Path(__file__).parents[1] / "photographs"
SHAPES = ((500, 375), (500, 333), (375, 500), (333, 500), (500, 400))
SHAPE_SHARES = (0.60, 0.14, 0.16, 0.05, 0.05)
"""Width x height and how often. Most of ImageNet is 500 on its longer side."""
MEDIAN_BYTES, SIGMA = 112_000, 0.47
"""Of the log-normal size; the mean of what is made is near 110 kB, for some crops cannot be made as large as drawn."""
CLASSES = 100
FULL_COLOUR_SHARE = 0.25
"""Images with 4:4:4 chroma; the others have 4:2:0."""
LOWEST_QUALITY, HIGHEST_QUALITY = 35, 99
LEAST_SHARE = 0.75
"""A crop that stays under this share of its size even at the highest quality (sky) is drawn again."""
DRAWS = 8


def image_name(index: int) -> str:
    """Where image `index` lies: class folder in the manner of ImageNet's synsets, and file."""
    return f"n{index % CLASSES:08d}/n{index % CLASSES:08d}_{index}.JPEG"


@cache
def load_photographs() -> list[Image]:
    """All photographs decoded, some 210 MB, which forked processes share. Raises Fault if the package has lost them."""
    paths = sorted(PHOTOGRAPHS.glob("*.jpg"))
    images = [cv2.imread(str(path), cv2.IMREAD_COLOR) for path in paths]
    if not images or any(image is None for image in images):
        raise Fault(f"the photographs in {PHOTOGRAPHS} are missing or damaged: install the package again")
    return [image.astype(np.uint8, copy=False) for image in images if image is not None]


def make_image(photographs: list[Image], seed: int, index: int) -> bytes:
    """Image `index` as a JPEG file."""
    random = np.random.default_rng((seed, index))
    encoded = b""
    for _ in range(DRAWS):
        photograph = photographs[int(random.integers(len(photographs)))]
        image, full_colour = drawn(random, photograph), bool(random.random() < FULL_COLOUR_SHARE)
        target = MEDIAN_BYTES * math.exp(SIGMA * random.standard_normal())
        encoded = compressed(image, full_colour, target)
        if len(encoded) >= LEAST_SHARE * target:
            break
    return encoded


def drawn(random: np.random.Generator, photograph: Image) -> Image:
    """A crop of the photograph, averaged down to its shape: scale log-uniform, position uniform, half are mirrored."""
    rows, columns = photograph.shape[:2]
    shape = SHAPES[int(random.choice(len(SHAPES), p=SHAPE_SHARES))]
    largest = min(columns / shape[0], rows / shape[1])
    scale = math.exp(random.uniform(0.0, math.log(largest)))
    width, height = int(shape[0] * scale), int(shape[1] * scale)
    left, top = int(random.integers(columns - width + 1)), int(random.integers(rows - height + 1))
    small = cv2.resize(photograph[top : top + height, left : left + width], shape, interpolation=cv2.INTER_AREA)
    return (cv2.flip(small, 1) if random.random() < 0.5 else small).astype(np.uint8, copy=False)


def compressed(image: Image, full_colour: bool, target_bytes: float) -> bytes:
    """The JPEG of the lowest quality that reaches the target size, by bisection; the highest quality if none does."""
    sampling = cv2.IMWRITE_JPEG_SAMPLING_FACTOR_444 if full_colour else cv2.IMWRITE_JPEG_SAMPLING_FACTOR_420
    low, high = LOWEST_QUALITY, HIGHEST_QUALITY
    encoded = b""
    while low < high:
        quality = (low + high) // 2
        attempt = _jpeg(image, quality, sampling)
        if len(attempt) >= target_bytes:
            high, encoded = quality, attempt
        else:
            low = quality + 1
    return encoded or _jpeg(image, high, sampling)


def _jpeg(image: Image, quality: int, sampling: int) -> bytes:
    parameters = [cv2.IMWRITE_JPEG_QUALITY, quality, cv2.IMWRITE_JPEG_SAMPLING_FACTOR, sampling]
    _, encoded = cv2.imencode(".jpg", image, parameters)
    return encoded.tobytes()

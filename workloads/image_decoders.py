"""Decoders of images for a loader: encoded or raw pixels -> the crop that a network takes, RGB, uint8."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import cv2
import numpy as np

from . import image_codecs, image_transform
from .image_codecs import check_installed, jpeg_decoder

Pixels = np.ndarray[Any, np.dtype[np.uint8]]


@dataclass(frozen=True)
class Crop:
    """The rectangle of an image that is scaled to the network's side, in pixels, and whether it is mirrored."""

    top: int
    left: int
    height: int
    width: int
    mirrored: bool = False


ChooseCrop = Callable[[int, int], Crop]
"""The crop for an image of height x width."""


class Decoder(Protocol):
    """One library. Both return side x side x 3 of RGB."""

    def encoded(self, image: bytes | memoryview, side: int, choose: ChooseCrop) -> Pixels | None:
        """From a JPEG or PNG file; None if it is none, or one that is cut off."""

    def raw(self, pixels: Pixels, side: int, choose: ChooseCrop) -> Pixels:
        """From RGB of height x width x 3."""


class OpenCV:
    """Decodes and scales with OpenCV, bilinear."""

    def encoded(self, image: bytes | memoryview, side: int, choose: ChooseCrop) -> Pixels | None:
        pixels = image_transform.decode(image)
        # What is cropped is less than what was decoded: its colours are put into order afterwards.
        return (
            None
            if pixels is None
            else cv2.cvtColor(self.raw(pixels, side, choose), cv2.COLOR_BGR2RGB).astype(np.uint8, copy=False)
        )

    def raw(self, pixels: Pixels, side: int, choose: ChooseCrop) -> Pixels:
        crop = choose(*pixels.shape[:2])
        part = pixels[crop.top : crop.top + crop.height, crop.left : crop.left + crop.width]
        scaled = cv2.resize(part, (side, side), interpolation=cv2.INTER_LINEAR)
        return (cv2.flip(scaled, 1) if crop.mirrored else scaled).astype(np.uint8, copy=False)


class SimpleJpeg(OpenCV):
    """Decodes with libjpeg-turbo; OpenCV scales, and decodes what is no JPEG of RGB or grey."""

    def __init__(self) -> None:
        self._decode = jpeg_decoder()

    def encoded(self, image: bytes | memoryview, side: int, choose: ChooseCrop) -> Pixels | None:
        pixels = self._decode(image, "RGB")
        return super().encoded(image, side, choose) if pixels is None else self.raw(pixels, side, choose)


class Pillow:
    """Decodes and scales with Pillow, bilinear, as torchvision does with it."""

    def __init__(self) -> None:
        from PIL import Image

        self._images = Image
        self._codec = image_codecs.Pillow()

    def encoded(self, image: bytes | memoryview, side: int, choose: ChooseCrop) -> Pixels | None:
        picture = self._codec.decode(image)
        return None if picture is None else self._cropped(picture, side, choose)

    def raw(self, pixels: Pixels, side: int, choose: ChooseCrop) -> Pixels:
        return self._cropped(self._images.fromarray(pixels), side, choose)

    def _cropped(self, image: Any, side: int, choose: ChooseCrop) -> Pixels:
        crop = choose(image.height, image.width)
        box = crop.left, crop.top, crop.left + crop.width, crop.top + crop.height
        scaled = image.resize((side, side), self._images.Resampling.BILINEAR, box=box)
        if crop.mirrored:
            scaled = scaled.transpose(self._images.Transpose.FLIP_LEFT_RIGHT)
        return np.array(scaled, np.uint8)


DECODERS: dict[str, type[SimpleJpeg] | type[OpenCV] | type[Pillow]] = {
    "simplejpeg": SimpleJpeg,
    "opencv": OpenCV,
    "pillow": Pillow,
}


def open_decoder(name: str) -> Decoder:
    """The decoder of a name. Raises Unavailable with the command that installs it."""
    check_installed(name)
    return DECODERS[name]()

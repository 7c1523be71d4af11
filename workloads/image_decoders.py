"""Decoders of images for a loader: encoded or raw pixels -> the crop that a network takes, RGB, uint8."""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any, Protocol

import cv2
import numpy as np

from . import image_transform
from .faults import Unavailable

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
        import simplejpeg

        self._decode = simplejpeg.decode_jpeg

    def encoded(self, image: bytes | memoryview, side: int, choose: ChooseCrop) -> Pixels | None:
        try:
            pixels = self._decode(image, colorspace="RGB")
        except ValueError:
            return super().encoded(image, side, choose)
        return self.raw(pixels, side, choose)


class Pillow:
    """Decodes and scales with Pillow, bilinear, as torchvision does with it."""

    def __init__(self) -> None:
        from PIL import Image

        self._images = Image

    def encoded(self, image: bytes | memoryview, side: int, choose: ChooseCrop) -> Pixels | None:
        try:
            with self._images.open(io.BytesIO(image)) as opened:
                return self._cropped(opened.convert("RGB"), side, choose)
        except (OSError, ValueError):
            return None

    def raw(self, pixels: Pixels, side: int, choose: ChooseCrop) -> Pixels:
        return self._cropped(self._images.fromarray(pixels), side, choose)

    def _cropped(self, image: Any, side: int, choose: ChooseCrop) -> Pixels:
        crop = choose(image.height, image.width)
        box = crop.left, crop.top, crop.left + crop.width, crop.top + crop.height
        scaled = image.resize((side, side), self._images.Resampling.BILINEAR, box=box)
        if crop.mirrored:
            scaled = scaled.transpose(self._images.Transpose.FLIP_LEFT_RIGHT)
        return np.array(scaled, np.uint8)


DECODERS: dict[str, tuple[type[SimpleJpeg] | type[OpenCV] | type[Pillow], str, str]] = {
    "simplejpeg": (SimpleJpeg, "simplejpeg", "simplejpeg"),
    "opencv": (OpenCV, "cv2", "opencv-python-headless"),
    "pillow": (Pillow, "PIL", "pillow"),
}
"""By name: its class, and the module and package that it needs. The fastest first."""


def fastest() -> str:
    """The name of the fastest decoder that is installed here."""
    return next(name for name, (_, module, _) in DECODERS.items() if find_spec(module))


def open_decoder(name: str) -> Decoder:
    """The decoder of a name. Raises Unavailable with the command that installs it."""
    form, module, package = DECODERS[name]
    if find_spec(module) is None:
        import sys

        raise Unavailable(
            f"the decoder {name} is not installed: type `{sys.executable} -m pip install {package}`, or use another "
            "--decoder"
        )
    return form()

"""Whole images by one library, as preprocessing makes them: file -> pixels -> shorter side 256 -> JPEG or raw."""

from __future__ import annotations

import io
from importlib.util import find_spec
from typing import Any, Protocol

import numpy as np

from . import image_transform
from .faults import Unavailable
from .image_transform import JPEG_QUALITY, Image, small_size

PACKAGES = {
    "simplejpeg": ("simplejpeg", "simplejpeg"),
    "opencv": ("cv2", "opencv-python-headless"),
    "pillow": ("PIL", "pillow"),
}
"""By name: the module and the package that it needs. The fastest first."""

EXIF_MARKER, EXIF = 0xE1, b"Exif\0\0"
APPLICATION_MARKERS = range(0xE0, 0xF0)
"""Of JPEG's segments: what applications add comes before the image's own tables (ITU-T T.81, B.1.1.3; CIPA DC-008)."""


class Codec(Protocol):
    """One library. A picture is what it holds an image in between two steps; None stands for what is no image."""

    def decode(self, encoded: bytes | memoryview) -> Any | None:
        """The picture in a JPEG or PNG file; None if it is none, or one that is cut off."""

    def picture(self, pixels: Image) -> Any:
        """From BGR pixels of height x width x 3."""

    def resize(self, picture: Any) -> Any | None:
        """Shorter side 256, aspect kept, bilinear; None for a strip that would be too long for a JPEG."""

    def as_jpeg(self, picture: Any) -> bytes:
        """A JPEG file of quality 95."""

    def pixels(self, picture: Any) -> Image:
        """BGR of height x width x 3."""


class OpenCV:
    """All by OpenCV, as im2rec does it."""

    def decode(self, encoded: bytes | memoryview) -> Image | None:
        return image_transform.decode(encoded)

    def picture(self, pixels: Image) -> Image:
        return pixels

    def resize(self, picture: Image) -> Image | None:
        return image_transform.resize(picture)

    def as_jpeg(self, picture: Image) -> bytes:
        return image_transform.as_jpeg(picture)

    def pixels(self, picture: Image) -> Image:
        return picture


class SimpleJpeg(OpenCV):
    """Decodes with libjpeg-turbo alone, to the pixels that OpenCV decodes to; all else is OpenCV's.

    Its encoder is not used: it was 7 % faster than OpenCV's, by a transform that is 0.35 dB less exact.
    """

    def __init__(self) -> None:
        self._decode = jpeg_decoder()

    def decode(self, encoded: bytes | memoryview) -> Image | None:
        pixels = self._decode(encoded, "BGR")
        return super().decode(encoded) if pixels is None else pixels


class JpegDecoder(Protocol):
    def __call__(self, encoded: bytes | memoryview, order: str) -> Image | None:
        """Pixels in the order BGR or RGB; None where only another library can tell what they are."""


def jpeg_decoder() -> JpegDecoder:
    """simplejpeg's, for whole JPEGs of RGB or grey that say nothing of how they were held when they were taken."""
    import simplejpeg

    decode_jpeg = simplejpeg.decode_jpeg

    def decode(encoded: bytes | memoryview, order: str) -> Image | None:
        if has_exif(encoded):
            return None
        try:
            pixels: Image = decode_jpeg(encoded, order)
        except ValueError:
            return None
        return pixels

    return decode


def has_exif(encoded: bytes | memoryview) -> bool:
    """Whether a JPEG has Exif data, by which OpenCV turns it upright."""
    at = 2
    while at + 10 <= len(encoded) and encoded[at] == 0xFF and encoded[at + 1] in APPLICATION_MARKERS:
        if encoded[at + 1] == EXIF_MARKER and encoded[at + 4 : at + 10] == EXIF:
            return True
        at += 2 + (encoded[at + 2] << 8 | encoded[at + 3])
    return False


class Pillow:
    """All by Pillow. Its pictures are RGB."""

    def __init__(self) -> None:
        from PIL import Image, ImageOps

        self._images, self._upright = Image, ImageOps.exif_transpose

    def decode(self, encoded: bytes | memoryview) -> Any | None:
        try:
            with self._images.open(io.BytesIO(encoded)) as opened:
                picture = eight_bits(opened)
                self._upright(picture, in_place=True)
                return picture.convert("RGB")
        except (OSError, ValueError, SyntaxError, self._images.DecompressionBombError):
            return None

    def picture(self, pixels: Image) -> Any:
        return self._images.fromarray(np.ascontiguousarray(pixels[:, :, ::-1]))

    def resize(self, picture: Any) -> Any | None:
        size = small_size(picture.height, picture.width)
        return None if size is None else picture.resize(size, self._images.Resampling.BILINEAR)

    def as_jpeg(self, picture: Any) -> bytes:
        file = io.BytesIO()
        picture.save(file, "JPEG", quality=JPEG_QUALITY)
        return file.getvalue()

    def pixels(self, picture: Any) -> Image:
        return np.asarray(picture, np.uint8)[:, :, ::-1]


def eight_bits(picture: Any) -> Any:
    """Grey of 16 bits as the upper 8 of them: Pillow would take what is above 255 for white."""
    if not picture.mode.startswith("I"):
        return picture
    return picture.point(lambda value: value * (1 / 256)).convert("L")


CODECS: dict[str, type[SimpleJpeg] | type[OpenCV] | type[Pillow]] = {
    "simplejpeg": SimpleJpeg,
    "opencv": OpenCV,
    "pillow": Pillow,
}


def fastest() -> str:
    """The name of the fastest decoder that is installed here."""
    return next(name for name, (module, _) in PACKAGES.items() if find_spec(module))


def check_installed(name: str) -> None:
    """Raises Unavailable with the command that installs the decoder."""
    module, package = PACKAGES[name]
    if find_spec(module) is None:
        import sys

        raise Unavailable(
            f"the decoder {name} is not installed: type `{sys.executable} -m pip install {package}`, or use another "
            "--decoder"
        )


def open_codec(name: str) -> Codec:
    """The codec of a name. Raises Unavailable where it is not installed."""
    check_installed(name)
    return CODECS[name]()

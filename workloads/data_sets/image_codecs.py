"""Images by one library: file -> pixels -> shorter side 256 -> JPEG or raw, as preprocessing makes them, and crops of
them, as a network takes them."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any, Protocol

import cv2
import numpy as np

from ..faults import Unavailable
from . import datum

Image = np.ndarray[Any, np.dtype[np.uint8]]

SHORTER_SIDE = 256
LONGEST_SIDE = 65_500
"""What libjpeg writes at most."""
JPEG_QUALITY = 95
"""What im2rec writes by default."""

JPEG_SCAN, JPEG_END = b"\xff\xda", b"\xff\xd9"
"""Markers, which cannot occur inside of the data of a scan (ITU-T T.81, B.1.1.5)."""

PACKAGES = {
    "simplejpeg": ("simplejpeg", "simplejpeg"),
    "opencv": ("cv2", "opencv-python-headless"),
    "pillow": ("PIL", "pillow"),
}
"""By name: the module and the package that it needs. The fastest first."""

EXIF_MARKER, EXIF = 0xE1, b"Exif\0\0"
APPLICATION_MARKERS = range(0xE0, 0xF0)
"""Of JPEG's segments: what applications add comes before the image's own tables (ITU-T T.81, B.1.1.3; CIPA DC-008)."""


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

    def cropped(self, picture: Any, side: int, choose: ChooseCrop) -> Image:
        """What a network takes: the crop scaled to side x side x 3, bilinear, RGB."""


class OpenCV:
    """All by OpenCV, as im2rec does it."""

    def decode(self, encoded: bytes | memoryview) -> Image | None:
        if not len(encoded) or _is_cut_off(encoded):
            return None
        try:
            image = cv2.imdecode(np.frombuffer(encoded, np.uint8), cv2.IMREAD_COLOR)
        except cv2.error:
            return None
        return None if image is None else image.astype(np.uint8, copy=False)

    def picture(self, pixels: Image) -> Image:
        return pixels

    def resize(self, picture: Image) -> Image | None:
        size = small_size(*picture.shape[:2])
        return None if size is None else cv2.resize(picture, size).astype(np.uint8, copy=False)

    def as_jpeg(self, picture: Image) -> bytes:
        _, encoded = cv2.imencode(".jpg", picture, [cv2.IMWRITE_JPEG_QUALITY, JPEG_QUALITY])
        return encoded.tobytes()

    def pixels(self, picture: Image) -> Image:
        return picture

    def cropped(self, picture: Image, side: int, choose: ChooseCrop) -> Image:
        crop = choose(*picture.shape[:2])
        part = picture[crop.top : crop.top + crop.height, crop.left : crop.left + crop.width]
        scaled = cv2.resize(part, (side, side), interpolation=cv2.INTER_LINEAR)
        # What is cropped is less than what was decoded: its colours are put into order afterwards.
        ordered = cv2.cvtColor(cv2.flip(scaled, 1) if crop.mirrored else scaled, cv2.COLOR_BGR2RGB)
        return ordered.astype(np.uint8, copy=False)


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


class SimpleJpeg(OpenCV):
    """Decodes with libjpeg-turbo alone, to the pixels that OpenCV decodes to; all else is OpenCV's.

    Its encoder is not used: it was 7 % faster than OpenCV's, by a transform that is 0.35 dB less exact.
    """

    def __init__(self) -> None:
        import simplejpeg

        self._decode_jpeg = simplejpeg.decode_jpeg

    def decode(self, encoded: bytes | memoryview) -> Image | None:
        # Of what is no JPEG of RGB or grey, and of what says how it was held, only OpenCV can tell what it is.
        if not has_exif(encoded):
            with suppress(ValueError):
                pixels: Image = self._decode_jpeg(encoded, "BGR")
                return pixels
        return super().decode(encoded)


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

    def cropped(self, picture: Any, side: int, choose: ChooseCrop) -> Image:
        crop = choose(picture.height, picture.width)
        box = crop.left, crop.top, crop.left + crop.width, crop.top + crop.height
        scaled = picture.resize((side, side), self._images.Resampling.BILINEAR, box=box)
        if crop.mirrored:
            scaled = scaled.transpose(self._images.Transpose.FLIP_LEFT_RIGHT)
        return np.array(scaled, np.uint8)


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


def open_codec(name: str) -> Codec:
    """The codec of a name. Raises Unavailable, with the command that installs it, where it is not installed."""
    module, package = PACKAGES[name]
    if find_spec(module) is None:
        raise Unavailable(
            f"the decoder {name} is not installed: type `{sys.executable} -m pip install {package}`, or use another "
            "--decoder"
        )
    return CODECS[name]()


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

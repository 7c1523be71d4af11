"""Decoders give the same crop of the same image, whatever library is behind them."""

from __future__ import annotations

from typing import Any

import cv2
import numpy as np
import pytest

from workloads.data_sets import image_codecs
from workloads.data_sets.image_codecs import PACKAGES, Crop, fastest, open_codec
from workloads.faults import Unavailable

SIDE = 32
RED_LEFT = np.zeros((60, 100, 3), np.uint8)
RED_LEFT[:, :50, 0], RED_LEFT[:, 50:, 2] = 200, 200


def encoded(pixels: Any, suffix: str = ".jpg") -> bytes:
    _, content = cv2.imencode(suffix, cv2.cvtColor(pixels, cv2.COLOR_RGB2BGR), [cv2.IMWRITE_JPEG_QUALITY, 95])
    return content.tobytes()


def whole(height: int, width: int) -> Crop:
    return Crop(0, 0, height, width)


@pytest.fixture(params=list(PACKAGES))
def decoder(request: pytest.FixtureRequest) -> Any:
    pytest.importorskip(PACKAGES[request.param][0])
    return open_codec(request.param)


@pytest.mark.parametrize("suffix", [".jpg", ".png"])
def test_red_stays_left_and_blue_right(decoder: Any, suffix: str) -> None:
    """RGB, scaled to the side, of each form that a data set may hold."""
    pixels = decoder.cropped(decoder.decode(encoded(RED_LEFT, suffix)), SIDE, whole)
    assert (pixels.shape, pixels.dtype) == ((SIDE, SIDE, 3), np.uint8)
    assert pixels[:, : SIDE // 2 - 2].mean(axis=(0, 1)) == pytest.approx([200, 0, 0], abs=6)
    assert pixels[:, SIDE // 2 + 2 :].mean(axis=(0, 1)) == pytest.approx([0, 0, 200], abs=6)


def test_a_mirrored_crop_is_that_crop_mirrored(decoder: Any) -> None:
    """Its place is chosen in the image as it lies."""
    crop = Crop(5, 10, 50, 70)
    picture = decoder.picture(RED_LEFT[:, :, ::-1])
    plain = decoder.cropped(picture, SIDE, lambda _height, _width: crop)
    mirrored = decoder.cropped(picture, SIDE, lambda _height, _width: Crop(5, 10, 50, 70, mirrored=True))
    assert np.array_equal(plain[:, ::-1], mirrored)
    assert plain[:, 0].mean(axis=0) == pytest.approx([200, 0, 0], abs=1)


def test_the_fastest_is_the_first_that_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where simplejpeg is missing, OpenCV decodes; one asked for by name says how it is installed."""
    monkeypatch.setattr(image_codecs, "find_spec", lambda module: None if module == "simplejpeg" else object())
    assert fastest() == "opencv"
    with pytest.raises(Unavailable, match="-m pip install simplejpeg"):
        open_codec("simplejpeg")

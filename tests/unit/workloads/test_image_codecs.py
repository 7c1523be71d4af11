"""What preprocessing stores of an image is the same by any library, within what their arithmetic differs by."""

from __future__ import annotations

import io
import struct
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest

from workloads.data_sets import datum, photograph_crops
from workloads.data_sets.image_codecs import PACKAGES, open_codec, synthetic_image
from workloads.data_sets.image_folder import LabelledImage
from workloads.data_sets.transform_workers import Task

PIXELS = np.ascontiguousarray(synthetic_image(3))
JPEG = cv2.imencode(".jpg", PIXELS, [cv2.IMWRITE_JPEG_QUALITY, 95])[1].tobytes()
PHOTOGRAPHS = sorted(photograph_crops.PHOTOGRAPHS.glob("*.jpg"))[:3]

LEAST_PSNR = {"opencv": float("inf"), "simplejpeg": float("inf"), "pillow": 25.0}
"""dB of what is stored, against OpenCV's. libjpeg-turbo is in both OpenCV and simplejpeg; Pillow averages where OpenCV
takes the four pixels around a place."""


@pytest.fixture(params=list(PACKAGES))
def decoder(request: pytest.FixtureRequest) -> Any:
    pytest.importorskip(PACKAGES[request.param][0])
    return request.param


def psnr(found: Any, reference: Any) -> float:
    error = np.mean((found.astype(float) - reference.astype(float)) ** 2)
    return float("inf") if error == 0 else 10 * float(np.log10(255**2 / error))


def stored(decoder: str, path: Path, form: str) -> bytes:
    task = Task([LabelledImage(path, path.stat().st_size, 7)], form, False, 1, decoder=decoder)
    record = task.opened().transform(0).record
    assert record is not None
    return bytes(record)


def seen(record: bytes) -> Any:
    """The pixels in a RecordIO record of one part."""
    return cv2.imdecode(np.frombuffer(record[32:], np.uint8), cv2.IMREAD_COLOR)


@pytest.mark.parametrize("suffix", [".jpg", ".png"])
def test_what_is_stored_is_opencvs(decoder: str, tmp_path: Path, suffix: str) -> None:
    """As a JPEG and as raw pixels, of photographs at ImageNet's size."""
    for number, photograph in enumerate(PHOTOGRAPHS):
        path = tmp_path / f"{number}{suffix}"
        cv2.imwrite(str(path), cv2.resize(cv2.imread(str(photograph)), (500, 375), interpolation=cv2.INTER_AREA))
        found, reference = (seen(stored(each, path, "recordio")) for each in (decoder, "opencv"))
        assert found.shape == reference.shape == (256, 341, 3)
        assert psnr(found, reference) >= LEAST_PSNR[decoder]
        raw, raw_reference = (datum.decode(stored(each, path, "lmdb")) for each in (decoder, "opencv"))
        planes = [np.frombuffer(each.data, np.uint8) for each in (raw, raw_reference)]
        assert psnr(*planes) >= LEAST_PSNR[decoder]
        assert (raw.channels, raw.height, raw.width, raw.label) == (3, 256, 256, 7)


def test_simplejpeg_stores_the_same_bytes_as_opencv(tmp_path: Path) -> None:
    """A data set does not depend on which of the two is installed."""
    pytest.importorskip("simplejpeg")
    path = tmp_path / "0.jpg"
    for encoded in (JPEG, PHOTOGRAPHS[0].read_bytes()):
        path.write_bytes(encoded)
        assert stored("simplejpeg", path, "recordio") == stored("opencv", path, "recordio")


def upright(orientation: int) -> bytes:
    """JPEG with Exif data that say how the camera was held."""
    entry = struct.pack("<HHIHH", 0x0112, 3, 1, orientation, 0)
    exif = b"Exif\0\0" + b"II*\0" + struct.pack("<IH", 8, 1) + entry + bytes(4)
    return JPEG[:2] + b"\xff\xe1" + struct.pack(">H", len(exif) + 2) + exif + JPEG[2:]


@pytest.mark.parametrize("orientation", [1, 3, 6, 8])
def test_an_image_is_turned_upright(decoder: str, tmp_path: Path, orientation: int) -> None:
    """By all alike, as im2rec does it: what a camera wrote lying is stored standing."""
    path = tmp_path / "0.jpg"
    path.write_bytes(upright(orientation))
    found, reference = (seen(stored(each, path, "recordio")) for each in (decoder, "opencv"))
    assert found.shape == reference.shape == ((341, 256, 3) if orientation in (6, 8) else (256, 341, 3))
    assert psnr(found, reference) >= LEAST_PSNR[decoder]


@pytest.mark.parametrize("mode", ["L", "CMYK", "I;16", "P", "RGBA", "LA", "1"])
def test_every_form_of_image_is_stored(decoder: str, tmp_path: Path, mode: str) -> None:
    """Grey, printers' colours, sixteen bits, palettes and transparency; grey of sixteen bits is not white."""
    pillow = pytest.importorskip("PIL.Image")
    path = tmp_path / "0.jpg"
    if mode == "I;16":
        grey = cv2.cvtColor(PIXELS, cv2.COLOR_BGR2GRAY).astype(np.uint16) * 257
        content = cv2.imencode(".png", grey)[1].tobytes()
    else:
        file = io.BytesIO()
        pillow.fromarray(PIXELS[:, :, ::-1].copy()).convert(mode).save(file, "JPEG" if mode in ("L", "CMYK") else "PNG")
        content = file.getvalue()
    path.write_bytes(content)
    found, reference = (seen(stored(each, path, "recordio")) for each in (decoder, "opencv"))
    assert found.shape == (256, 341, 3)
    # Printers' colours have no one meaning, and of two colours alone what is scaled depends on how.
    assert psnr(found, reference) >= (10 if mode in ("CMYK", "1") else LEAST_PSNR[decoder])
    assert 40 < found.mean() < 215


@pytest.mark.parametrize("content", [b"", b"no image", JPEG[: len(JPEG) // 2], JPEG[:-2], JPEG[:4], b"\xff\xd8"])
def test_what_is_no_whole_image_is_none(decoder: str, content: bytes) -> None:
    """A cut one would be filled up with grey."""
    assert open_codec(decoder).decode(content) is None


def test_a_strip_that_no_jpeg_can_hold_is_none(decoder: str) -> None:
    """At a shorter side of 256 it would be longer than libjpeg writes."""
    codec = open_codec(decoder)
    assert codec.resize(codec.picture(np.zeros((1, 4000, 3), np.uint8))) is None

from __future__ import annotations

import cv2
import numpy as np
import pytest

from workloads.image_transform import decode

PIXELS = np.random.default_rng(1).integers(0, 256, (60, 80, 3), dtype=np.uint8)
JPEG = cv2.imencode(".jpg", PIXELS)[1].tobytes()
PROGRESSIVE = cv2.imencode(".jpg", PIXELS, [cv2.IMWRITE_JPEG_PROGRESSIVE, 1])[1].tobytes()
PNG = cv2.imencode(".png", PIXELS)[1].tobytes()


@pytest.mark.parametrize("image", [JPEG, PROGRESSIVE, PNG, JPEG + bytes(100), JPEG + b"made by somebody"])
def test_an_image_is_decoded(image: bytes) -> None:
    """Also one with something behind its end, as some cameras write."""
    found = decode(image)
    assert found is not None
    assert found.shape == (60, 80, 3)


@pytest.mark.parametrize(
    "image",
    [b"", b"no image", JPEG[: len(JPEG) // 2], JPEG[:-2], PROGRESSIVE[: len(PROGRESSIVE) // 2], JPEG[:4], b"\xff\xd8"],
)
def test_what_is_no_whole_image_is_none(image: bytes) -> None:
    """The decoder itself would fill up what is missing of a JPEG with grey, or throw."""
    assert decode(image) is None
    assert decode(memoryview(image)) is None

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workloads.datum import Datum, DatumError, decode, encode


@given(st.integers(1, 4), st.integers(1, 20), st.integers(1, 300), st.integers(0, 2**31 - 1))
def test_a_raw_image_comes_back(channels: int, height: int, width: int, label: int) -> None:
    """Decoding gives what was encoded."""
    pixels = bytes(range(256)) * (channels * height * width // 256 + 1)
    datum = Datum(channels, height, width, pixels[: channels * height * width], label)
    assert decode(encode(datum)) == datum


def test_the_bytes_are_those_of_protocol_buffers() -> None:
    """Caffe's own form: fields 1, 2, 3, 4, 5 as varints and bytes (checked by hand against the wire format)."""
    message = encode(Datum(3, 1, 1, b"\x01\x02\x03", 300))
    assert message == bytes.fromhex("080310011801220301020328ac02")


@pytest.mark.parametrize("message", [b"", b"\xff\xff", b"hello world", encode(Datum(3, 2, 2, b"x" * 12))[:-6]])
def test_what_is_no_image_is_refused(message: bytes) -> None:
    """Bytes of something else, or cut off, raise DatumError and nothing else."""
    with pytest.raises(DatumError):
        decode(message)


@given(st.binary(max_size=60))
def test_any_bytes_decode_or_are_refused(message: bytes) -> None:
    """Nothing but DatumError ever comes out of wrong bytes."""
    with contextlib.suppress(DatumError):
        decode(message)

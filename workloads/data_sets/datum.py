"""Caffe's `Datum`, the protocol-buffer message in which its LMDBs hold one image: a codec for what images use.

Fields (caffe.proto): 1 channels, 2 height, 3 width, 4 data (channels first, BGR), 5 label, 7 encoded.
"""

from __future__ import annotations

from dataclasses import dataclass

VARINT, EIGHT_BYTES, BYTES, FOUR_BYTES = 0, 1, 2, 5
"""Wire types of protocol buffers."""


class DatumError(ValueError):
    """The bytes are no Datum."""


@dataclass(frozen=True)
class Datum:
    """One image: raw `data` is uint8 of channels x height x width; `encoded` data is a JPEG or PNG file."""

    channels: int
    height: int
    width: int
    data: bytes | memoryview
    label: int = 0
    encoded: bool = False


def encode(datum: Datum) -> bytes:
    """The message's bytes."""
    pieces: list[bytes | memoryview] = []
    for field, value in ((1, datum.channels), (2, datum.height), (3, datum.width)):
        pieces.append(_varint(field << 3 | VARINT) + _varint(value))
    pieces += (_varint(4 << 3 | BYTES) + _varint(len(datum.data)), datum.data)
    pieces.append(_varint(5 << 3 | VARINT) + _varint(datum.label))
    if datum.encoded:
        pieces.append(_varint(7 << 3 | VARINT) + _varint(1))
    return b"".join(pieces)


def decode(message: bytes | memoryview) -> Datum:
    """Read a message; `data` is a view into it, not a copy. Raises DatumError for anything else."""
    view = memoryview(message)
    numbers = {1: 0, 2: 0, 3: 0, 5: 0, 7: 0}
    data = view[:0]
    at = 0
    while at < len(view):
        tag, at = _read_varint(view, at)
        field, wire = tag >> 3, tag & 7
        if wire == VARINT:
            numbers[field], at = _read_varint(view, at)
        elif wire == BYTES:
            length, at = _read_varint(view, at)
            if field == 4:
                data = view[at : at + length]
            at += length
        elif wire in (EIGHT_BYTES, FOUR_BYTES):
            at += 8 if wire == EIGHT_BYTES else 4
        else:
            raise DatumError(f"wire type {wire} at byte {at}")
    datum = Datum(numbers[1], numbers[2], numbers[3], data, numbers[5], bool(numbers[7]))
    if at > len(view) or not (datum.encoded or len(data) == datum.channels * datum.height * datum.width > 0):
        raise DatumError("the image is cut off or has no size")
    return datum


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def _read_varint(view: memoryview, at: int) -> tuple[int, int]:
    value = shift = 0
    while at < len(view) and shift < 64:
        byte = view[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7
    raise DatumError(f"a number is cut off at byte {at}")

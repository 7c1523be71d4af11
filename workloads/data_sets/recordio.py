"""RecordIO, the file form of MXNet's image data: framing, image header and index, without MXNet.

A record is magic, length word, payload, padding to four bytes. Where the payload itself holds the magic at a multiple
of four bytes the record is cut there (the magic is dropped) and the parts are marked begin, middle, end in the length
word's upper three bits, so that a reader can find the next record from anywhere (dmlc-core, include/dmlc/recordio.h).
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator
from pathlib import Path

from ..faults import InputFault

MAGIC_NUMBER = 0xCED7230A
MAGIC = struct.pack("<I", MAGIC_NUMBER)
WHOLE, BEGIN, MIDDLE, END = range(4)
LENGTH_BITS = 29
IMAGE_HEADER = struct.Struct("<IfQQ")
"""flag (0: one label), label, id, second id: mx.recordio.IRHeader."""

IF_INDEX_IS_WRONG = " (or remove its index, if that is another file's, and it will be made)"

IMAGE_SIGNATURES = (b"\xff\xd8\xff", b"\x89PNG\r\n\x1a\n")


def image_record(label: float, identity: int, encoded: bytes) -> bytes:
    """The payload for one encoded image with one label."""
    return IMAGE_HEADER.pack(0, label, identity, 0) + encoded


def framed(payload: bytes) -> bytes:
    """The record as it is in the file."""
    parts = _parts(payload)
    marks = [WHOLE] if len(parts) == 1 else [BEGIN, *[MIDDLE] * (len(parts) - 2), END]
    pieces: list[bytes] = []
    for mark, part in zip(marks, parts, strict=True):
        pieces += (MAGIC, struct.pack("<I", mark << LENGTH_BITS | len(part)), part, bytes(-len(part) % 4))
    return b"".join(pieces)


def _parts(payload: bytes) -> list[bytes]:
    """Cut at each magic that lies at a multiple of four bytes: compared as numbers, in a sixth of a search's time."""
    import numpy as np

    words = np.frombuffer(payload, "<u4", len(payload) // 4)
    cuts = [4 * int(word) for word in np.flatnonzero(words == MAGIC_NUMBER)]
    begins, ends = [0, *(cut + 4 for cut in cuts)], [*cuts, len(payload)]
    return [payload[begin:end] for begin, end in zip(begins, ends, strict=True)]


def record_offsets(path: Path) -> Iterator[int]:
    """Where each record begins. Raises InputFault at the first byte that is not RecordIO or is cut off."""
    return (offset for mark, offset in _parts_from(path, 0) if mark in (WHOLE, BEGIN))


def _parts_from(path: Path, offset: int) -> Iterator[tuple[int, int]]:
    """Mark and offset of each part from `offset` to the end of the file. Raises InputFault as record_offsets does."""
    size = path.stat().st_size
    mark, begin = WHOLE, offset
    with path.open("rb", buffering=0) as file:
        while begin < size:
            mark, end = _part_at(file.fileno(), path, begin, size)
            yield mark, begin
            begin = end
    if mark not in (WHOLE, END):
        raise InputFault(f"{path} is cut off in its last record at byte {size}: copy or make it again")


def _part_at(descriptor: int, path: Path, offset: int, size: int) -> tuple[int, int]:
    """The mark of the part at `offset` and where the next one begins."""
    head = os.pread(descriptor, 8, offset)
    if head[:4] != MAGIC[: len(head)]:
        raise InputFault(
            f"{path} is no RecordIO at byte {offset} of {size}: make it again with im2rec or preprocessing"
        )
    (word,) = struct.unpack("<I", head[4:].ljust(4, b"\xff"))
    length = word & ((1 << LENGTH_BITS) - 1)
    end = offset + 8 + (length + 3) // 4 * 4
    if end > size:
        raise InputFault(f"{path} is cut off in the record at byte {offset} of {size}: copy or make it again")
    return word >> LENGTH_BITS, end


def read_index(path: Path) -> list[int]:
    """The offsets in an `.idx` file (lines of key, tab, offset), ascending. Raises InputFault for any other form."""
    try:
        offsets = sorted(int(line.split()[1]) for line in path.read_text().splitlines() if line.strip())
    except (ValueError, IndexError, UnicodeDecodeError):
        offsets = [-1]
    if offsets and offsets[0] < 0:
        raise InputFault(f"{path} is no RecordIO index (lines of key, tab, offset): remove it and it will be made")
    return offsets


def write_index(records: Path, index: Path) -> int:
    """Write the index of a record file that has none; returns the number of records."""
    index.parent.mkdir(parents=True, exist_ok=True)
    aside = index.with_name(f"{index.name}.{os.getpid()}.part")
    count = 0
    with aside.open("w") as file:
        for count, offset in enumerate(record_offsets(records), start=1):
            file.write(f"{count - 1}\t{offset}\n")
    aside.replace(index)
    return count


def check_index(records: Path, offsets: list[int]) -> None:
    """Raise InputFault unless the first and last record of the index are whole, which shows a file cut off."""
    if not offsets:
        raise InputFault(f"the index of {records} is empty: remove it and it will be made")
    size = records.stat().st_size
    if offsets[-1] >= size:
        raise InputFault(
            f"{records} ends at byte {size}, before the record at {offsets[-1]} of its index: copy it again"
        )
    try:
        next(_parts_from(records, offsets[0]))
        for _ in _parts_from(records, offsets[-1]):
            pass
    except InputFault as fault:
        raise InputFault(f"{fault}{IF_INDEX_IS_WRONG}") from None


def image_at(descriptor: int, path: Path, offset: int, size: int) -> bytes:
    """The encoded image of the record at `offset`, without header and labels. Raises InputFault where there is none."""
    return labelled_image_at(descriptor, path, offset, size)[1]


def labelled_image_at(descriptor: int, path: Path, offset: int, size: int) -> tuple[float, bytes]:
    """The label, the first where there are several, and the encoded image of the record at `offset`.

    Raises InputFault where there is none.
    """
    parts = []
    mark = BEGIN
    while mark in (BEGIN, MIDDLE):
        mark, end = _part_at(descriptor, path, offset, size)
        (word,) = struct.unpack("<I", os.pread(descriptor, 4, offset + 4))
        parts.append(os.pread(descriptor, word & ((1 << LENGTH_BITS) - 1), offset + 8))
        offset = end
    payload = MAGIC.join(parts)
    if len(payload) < IMAGE_HEADER.size:
        return 0.0, b""
    labels, label, _, _ = IMAGE_HEADER.unpack_from(payload)
    # A flag above 0 counts labels that lie between header and image (mx.recordio.pack).
    begin = IMAGE_HEADER.size + 4 * labels
    if labels and len(payload) >= begin:
        (label,) = struct.unpack_from("<f", payload, IMAGE_HEADER.size)
    return label, payload[begin:]


def check_images(records: Path, offsets: list[int]) -> None:
    """Raise InputFault unless first and last record hold a JPEG or PNG: MXNet 1.9.1 dies of SIGFPE otherwise."""
    size = records.stat().st_size
    with records.open("rb") as file:
        for offset in (offsets[0], offsets[-1]):
            if not image_at(file.fileno(), records, offset, size).startswith(IMAGE_SIGNATURES):
                raise InputFault(f"the record at byte {offset} of {records} is no image: pack JPEGs with im2rec")

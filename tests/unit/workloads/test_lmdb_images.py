from __future__ import annotations

import contextlib
from pathlib import Path

import cv2
import lmdb
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from workloads.data_sets import datum
from workloads.data_sets.datum import Datum, DatumError, decode, encode
from workloads.data_sets.lmdb_images import DEVIATION_BGR, MEAN_BGR, LmdbBatches, measure
from workloads.faults import InputFault


def database(folder: Path, messages: list[bytes]) -> Path:
    with lmdb.open(str(folder), map_size=64 << 20) as environment, environment.begin(write=True) as transaction:
        for index, message in enumerate(messages):
            transaction.put(f"{index:08d}".encode(), message)
    return folder


def flat(value: int, label: int, side: int = 256) -> bytes:
    return datum.encode(datum.Datum(3, side, side, bytes([value]) * (3 * side * side), label))


def test_images_come_in_the_order_of_their_keys_and_normalised(tmp_path: Path) -> None:
    """Each pixel is (value - mean) / deviation, and labels go with their images; the last batch is filled up."""
    folder = database(tmp_path, [flat(10, 0), flat(20, 1), flat(30, 2)])
    images = LmdbBatches(folder, 224, 2, training=False, seed=1)
    first, second = images.next_batch(), images.next_batch()
    assert first is not None
    assert second is not None
    assert (first.labels.tolist(), second.labels.tolist()) == ([0, 1], [2, 0])
    assert first.images.shape == (2, 3, 224, 224)
    np.testing.assert_allclose(first.images[1][:, :1, :1], (20 - MEAN_BGR) / DEVIATION_BGR, rtol=1e-5)
    assert images.next_batch() is None
    images.restart()
    again = images.next_batch()
    assert again is not None
    assert again.labels.tolist() == [0, 1]
    images.close()


def test_training_crops_at_random_and_inference_takes_the_centre(tmp_path: Path) -> None:
    """The centre of a gradient is its middle; random crops differ from each other."""
    row = np.broadcast_to(np.arange(256, dtype=np.uint8), (3, 256, 256)).tobytes()
    folder = database(tmp_path, [datum.encode(datum.Datum(3, 256, 256, row))])
    centre = LmdbBatches(folder, 224, 2, training=False, seed=1)
    left = centre.next_batch()
    centre.close()
    random = LmdbBatches(folder, 224, 8, training=True, seed=1)
    crops = random.next_batch()
    random.close()
    assert left is not None
    assert crops is not None
    blue = left.images[0, 0, 0] * DEVIATION_BGR[0, 0, 0] + MEAN_BGR[0, 0, 0]
    np.testing.assert_allclose(blue[[0, -1]], [16, 239], rtol=1e-4)
    assert len({crop[0, 0, 0].item() for crop in crops.images}) > 2


def test_an_encoded_image_is_decoded(tmp_path: Path) -> None:
    """Caffe's LMDBs may hold JPEGs."""
    _, jpeg = cv2.imencode(".jpg", np.full((300, 260, 3), 128, np.uint8))
    folder = database(tmp_path, [datum.encode(datum.Datum(3, 0, 0, jpeg.tobytes(), 4, encoded=True))])
    images = LmdbBatches(folder, 224, 1, training=False, seed=1)
    batch = images.next_batch()
    assert batch is not None
    np.testing.assert_allclose(batch.images[0][:, :1, :1], (128 - MEAN_BGR) / DEVIATION_BGR, atol=0.05)
    images.close()


def test_an_empty_lmdb_another_file_and_another_record_are_named(tmp_path: Path) -> None:
    """One sentence each, with the path or the key."""
    for name in ("empty", "text", "other"):
        (tmp_path / name).mkdir()
    with pytest.raises(InputFault, match="is empty"):
        measure(database(tmp_path / "empty", []))
    (tmp_path / "text" / "data.mdb").write_text("no database")
    with pytest.raises(InputFault, match="cannot be read as an LMDB"):
        measure(tmp_path / "text")
    images = LmdbBatches(database(tmp_path / "other", [b"no datum"]), 224, 1, training=False, seed=1)
    with pytest.raises(InputFault, match="record b'00000000'"):
        images.next_batch()
    images.close()


@pytest.mark.parametrize("cut", [0, 100, 2000])
def test_an_encoded_image_that_is_cut_off_is_named(tmp_path: Path, cut: int) -> None:
    """Empty or broken off, with the key of its record."""
    _, jpeg = cv2.imencode(".jpg", np.random.default_rng(1).integers(0, 256, (300, 260, 3), dtype=np.uint8))
    message = datum.encode(datum.Datum(3, 0, 0, jpeg.tobytes()[:cut], 4, encoded=True))
    images = LmdbBatches(database(tmp_path, [message]), 224, 1, training=False, seed=1)
    with pytest.raises(InputFault, match=r"record b'00000000'.*not readable"):
        images.next_batch()
    images.close()


def test_an_image_of_four_channels_is_named(tmp_path: Path) -> None:
    """No network here takes one."""
    message = datum.encode(datum.Datum(4, 256, 256, bytes(4 * 256 * 256), 1))
    images = LmdbBatches(database(tmp_path, [message]), 224, 1, training=False, seed=1)
    with pytest.raises(InputFault, match="4 channels"):
        images.next_batch()
    images.close()


def test_a_database_that_is_cut_off_is_named(tmp_path: Path) -> None:
    """Before its pages are mapped: reading behind the end of the file would be a bus error."""
    file = database(tmp_path, [flat(1, 0)] * 8) / "data.mdb"
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])
    with pytest.raises(InputFault, match=r"data\.mdb is cut off at byte"):
        measure(tmp_path)


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

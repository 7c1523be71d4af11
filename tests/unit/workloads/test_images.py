"""Images as files, records and in LMDB, and what reads and decodes them."""

from __future__ import annotations

import contextlib
import io
import os
import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import cv2
import lmdb
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from workloads.backends import mxnet_library
from workloads.backends.interface import Epochs
from workloads.data_sets import datum, image_codecs, photograph_crops, recordio
from workloads.data_sets.datum import Datum, DatumError, decode, encode
from workloads.data_sets.image_codecs import PACKAGES, Crop, fastest, open_codec, synthetic_image
from workloads.data_sets.image_folder import LabelledImage
from workloads.data_sets.lmdb_images import DEVIATION_BGR, MEAN_BGR, LmdbBatches, measure
from workloads.data_sets.record_writers import Record, RecordIOWriter
from workloads.data_sets.transform_workers import Task
from workloads.faults import InputFault, Unavailable


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
    images = Epochs(LmdbBatches(folder, 224, 2, training=False, seed=1).epoch)
    first, second = images.next_batch(), images.next_batch()
    assert (first.labels.tolist(), second.labels.tolist()) == ([0, 1], [2, 0])
    assert first.images.shape == (2, 3, 224, 224)
    np.testing.assert_allclose(first.images[1][:, :1, :1], (20 - MEAN_BGR) / DEVIATION_BGR, rtol=1e-5)
    assert images.next_batch() is None
    images.restart()
    again = images.next_batch()
    assert again.labels.tolist() == [0, 1]
    images.close()


def test_training_crops_at_random_and_inference_takes_the_centre(tmp_path: Path) -> None:
    """The centre of a gradient is its middle; random crops differ from each other."""
    row = np.broadcast_to(np.arange(256, dtype=np.uint8), (3, 256, 256)).tobytes()
    folder = database(tmp_path, [datum.encode(datum.Datum(3, 256, 256, row))])
    centre = Epochs(LmdbBatches(folder, 224, 2, training=False, seed=1).epoch)
    left = centre.next_batch()
    centre.close()
    random = Epochs(LmdbBatches(folder, 224, 8, training=True, seed=1).epoch)
    crops = random.next_batch()
    random.close()
    blue = left.images[0, 0, 0] * DEVIATION_BGR[0, 0, 0] + MEAN_BGR[0, 0, 0]
    np.testing.assert_allclose(blue[[0, -1]], [16, 239], rtol=1e-4)
    assert len({crop[0, 0, 0].item() for crop in crops.images}) > 2


def test_an_encoded_image_is_decoded(tmp_path: Path) -> None:
    """Caffe's LMDBs may hold JPEGs."""
    _, jpeg = cv2.imencode(".jpg", np.full((300, 260, 3), 128, np.uint8))
    folder = database(tmp_path, [datum.encode(datum.Datum(3, 0, 0, jpeg.tobytes(), 4, encoded=True))])
    images = Epochs(LmdbBatches(folder, 224, 1, training=False, seed=1).epoch)
    batch = images.next_batch()
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
    images = Epochs(LmdbBatches(database(tmp_path / "other", [b"no datum"]), 224, 1, training=False, seed=1).epoch)
    with pytest.raises(InputFault, match="record b'00000000'"):
        images.next_batch()
    images.close()


@pytest.mark.parametrize("cut", [0, 100, 2000])
def test_an_encoded_image_that_is_cut_off_is_named(tmp_path: Path, cut: int) -> None:
    """Empty or broken off, with the key of its record."""
    _, jpeg = cv2.imencode(".jpg", np.random.default_rng(1).integers(0, 256, (300, 260, 3), dtype=np.uint8))
    message = datum.encode(datum.Datum(3, 0, 0, jpeg.tobytes()[:cut], 4, encoded=True))
    images = Epochs(LmdbBatches(database(tmp_path, [message]), 224, 1, training=False, seed=1).epoch)
    with pytest.raises(InputFault, match=r"record b'00000000'.*not readable"):
        images.next_batch()
    images.close()


def test_an_image_of_four_channels_is_named(tmp_path: Path) -> None:
    """No network here takes one."""
    message = datum.encode(datum.Datum(4, 256, 256, bytes(4 * 256 * 256), 1))
    images = Epochs(LmdbBatches(database(tmp_path, [message]), 224, 1, training=False, seed=1).epoch)
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


PAYLOADS = [
    b"",
    b"a",
    b"four",
    b"x" * 1001,
    recordio.MAGIC,
    b"abcd" + recordio.MAGIC + b"efgh" + recordio.MAGIC,
    b"ab" + recordio.MAGIC + b"cd",
    recordio.MAGIC * 3 + b"z",
]


def write(folder: Path, payloads: list[bytes]) -> Path:
    path = folder / "some.rec"
    path.write_bytes(b"".join(map(recordio.framed, payloads)))
    return path


def test_mxnet_reads_what_we_write(tmp_path: Path) -> None:
    """MXNet's reader gives back every payload, also those that hold the magic."""
    mx = mxnet_library.load()
    reader = mx.recordio.MXRecordIO(str(write(tmp_path, PAYLOADS)), "r")
    assert [reader.read() for _ in PAYLOADS] == PAYLOADS
    assert reader.read() is None


def test_we_write_what_mxnet_writes(tmp_path: Path) -> None:
    """Our bytes are MXNet's bytes."""
    mx = mxnet_library.load()
    writer = mx.recordio.MXRecordIO(str(tmp_path / "mxnet.rec"), "w")
    for payload in PAYLOADS:
        writer.write(payload)
    writer.close()
    assert write(tmp_path, PAYLOADS).read_bytes() == (tmp_path / "mxnet.rec").read_bytes()


@given(st.lists(st.lists(st.sampled_from([recordio.MAGIC, b"a", b"bc", b"\0\0\0"]), max_size=8).map(b"".join)))
def test_every_record_is_found_where_it_begins(tmp_path_factory: pytest.TempPathFactory, payloads: list[bytes]) -> None:
    """The offsets of a file are those at which its records were written."""
    path = write(tmp_path_factory.mktemp("records"), payloads)
    begins = [sum(len(recordio.framed(p)) for p in payloads[:count]) for count in range(len(payloads))]
    assert list(recordio.record_offsets(path)) == begins


def test_a_file_cut_off_is_refused_with_its_name(tmp_path: Path) -> None:
    """A copy that was interrupted is found before the run, by index and by reading."""
    path = write(tmp_path, PAYLOADS)
    recordio.write_index(path, tmp_path / "some.idx")
    path.write_bytes(path.read_bytes()[:-6])
    with pytest.raises(InputFault, match=r"some\.rec is cut off"):
        recordio.check_index(path, recordio.read_index(tmp_path / "some.idx"))
    with pytest.raises(InputFault, match=r"some\.rec is cut off"):
        list(recordio.record_offsets(path))


@pytest.mark.parametrize("content", ["no index", "1\tx\n", "\x00\xff\n"])
def test_what_is_no_index_is_refused(tmp_path: Path, content: str) -> None:
    """A wrong .idx file is named."""
    (tmp_path / "some.idx").write_bytes(content.encode("latin1"))
    with pytest.raises(InputFault, match=r"some\.idx is no RecordIO index"):
        recordio.read_index(tmp_path / "some.idx")


def test_the_image_of_a_record_comes_back(tmp_path: Path) -> None:
    """Header and labels are cut off, and parts are joined where the image itself holds the magic."""
    image = b"\xff\xd8\xff" + bytes(5) + recordio.MAGIC + b"rest"
    payloads = [recordio.image_record(1.0, 7, image), recordio.IMAGE_HEADER.pack(2, 0.0, 1, 0) + bytes(8) + image]
    path = write(tmp_path, payloads)
    size = path.stat().st_size
    with path.open("rb") as file:
        images = [recordio.image_at(file.fileno(), path, offset, size) for offset in recordio.record_offsets(path)]
    assert images == [image, image]


def test_an_index_of_another_file_is_suspected(tmp_path: Path) -> None:
    """Where no record begins, either of the two may be wrong; a place before the file is in no index."""
    path = write(tmp_path, PAYLOADS)
    with pytest.raises(InputFault, match=r"no RecordIO at byte 4.*remove its index"):
        recordio.check_index(path, [0, 4])
    (tmp_path / "some.idx").write_text("0\t-8\n")
    with pytest.raises(InputFault, match=r"some\.idx is no RecordIO index"):
        recordio.read_index(tmp_path / "some.idx")


def records(count: int) -> list[Record]:
    return [
        Record(n, f"{n}.jpg", recordio.framed(recordio.image_record(1.0, n, bytes([n % 256]) * n)))
        for n in range(count)
    ]


def packed(folder: Path, content: Sequence[Record]) -> tuple[Path, ...]:
    writer = RecordIOWriter(folder)
    writer.write(content)
    return writer.finish()


def test_what_a_call_does_not_take_is_written_by_the_next(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a disk that fills up and is given room again."""
    content = records(20)
    monkeypatch.setattr(os, "writev", lambda descriptor, some: os.write(descriptor, b"".join(some)[:100]))
    packed(tmp_path, content)
    assert (tmp_path / "train.rec").read_bytes() == b"".join(record.content for record in content)


def test_no_index_is_beside_records_of_another_pass(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A program that is killed between the two leaves records alone, of which an index is made when they are read."""
    packed(tmp_path, records(5))
    monkeypatch.setattr(Path, "replace", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        packed(tmp_path, records(7))
    assert not (tmp_path / "train.idx").exists()
    assert len(list(recordio.record_offsets(tmp_path / "train.rec"))) == 5


# What preprocessing stores of an image is the same by any library, within what their arithmetic differs by.


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


def psnr(decoded: Any, reference: Any) -> float:
    error = np.mean((decoded.astype(float) - reference.astype(float)) ** 2)
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
        decoded, reference = (seen(stored(name, path, "recordio")) for name in (decoder, "opencv"))
        assert decoded.shape == reference.shape == (256, 341, 3)
        assert psnr(decoded, reference) >= LEAST_PSNR[decoder]
        raw, raw_reference = (datum.decode(stored(name, path, "lmdb")) for name in (decoder, "opencv"))
        planes = [np.frombuffer(image.data, np.uint8) for image in (raw, raw_reference)]
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
    decoded, reference = (seen(stored(name, path, "recordio")) for name in (decoder, "opencv"))
    assert decoded.shape == reference.shape == ((341, 256, 3) if orientation in (6, 8) else (256, 341, 3))
    assert psnr(decoded, reference) >= LEAST_PSNR[decoder]


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
    decoded, reference = (seen(stored(name, path, "recordio")) for name in (decoder, "opencv"))
    assert decoded.shape == (256, 341, 3)
    # Printers' colours have no one meaning, and of two colours alone what is scaled depends on how.
    assert psnr(decoded, reference) >= (10 if mode in ("CMYK", "1") else LEAST_PSNR[decoder])
    assert 40 < decoded.mean() < 215


@pytest.mark.parametrize("content", [b"", b"no image", JPEG[: len(JPEG) // 2], JPEG[:-2], JPEG[:4], b"\xff\xd8"])
def test_what_is_no_whole_image_is_none(decoder: str, content: bytes) -> None:
    """A cut one would be filled up with grey."""
    assert open_codec(decoder).decode(content) is None


def test_a_strip_that_no_jpeg_can_hold_is_none(decoder: str) -> None:
    """At a shorter side of 256 it would be longer than libjpeg writes."""
    codec = open_codec(decoder)
    assert codec.resize(codec.picture(np.zeros((1, 4000, 3), np.uint8))) is None


# Decoders give the same crop of the same image, whatever library is behind them.


SIDE = 32
RED_LEFT = np.zeros((60, 100, 3), np.uint8)
RED_LEFT[:, :50, 0], RED_LEFT[:, 50:, 2] = 200, 200


def encoded(pixels: Any, suffix: str = ".jpg") -> bytes:
    _, content = cv2.imencode(suffix, cv2.cvtColor(pixels, cv2.COLOR_RGB2BGR), [cv2.IMWRITE_JPEG_QUALITY, 95])
    return content.tobytes()


def whole(height: int, width: int) -> Crop:
    return Crop(0, 0, height, width)


@pytest.fixture(params=list(PACKAGES))
def decoder_of(request: pytest.FixtureRequest) -> Any:
    pytest.importorskip(PACKAGES[request.param][0])
    return open_codec(request.param)


@pytest.mark.parametrize("suffix", [".jpg", ".png"])
def test_red_stays_left_and_blue_right(decoder_of: Any, suffix: str) -> None:
    """RGB, scaled to the side, of each form that a data set may hold."""
    pixels = decoder_of.cropped(decoder_of.decode(encoded(RED_LEFT, suffix)), SIDE, whole)
    assert (pixels.shape, pixels.dtype) == ((SIDE, SIDE, 3), np.uint8)
    assert pixels[:, : SIDE // 2 - 2].mean(axis=(0, 1)) == pytest.approx([200, 0, 0], abs=6)
    assert pixels[:, SIDE // 2 + 2 :].mean(axis=(0, 1)) == pytest.approx([0, 0, 200], abs=6)


def test_a_mirrored_crop_is_that_crop_mirrored(decoder_of: Any) -> None:
    """Its place is chosen in the image as it lies."""
    crop = Crop(5, 10, 50, 70)
    picture = decoder_of.picture(RED_LEFT[:, :, ::-1])
    plain = decoder_of.cropped(picture, SIDE, lambda _height, _width: crop)
    mirrored = decoder_of.cropped(picture, SIDE, lambda _height, _width: Crop(5, 10, 50, 70, mirrored=True))
    assert np.array_equal(plain[:, ::-1], mirrored)
    assert plain[:, 0].mean(axis=0) == pytest.approx([200, 0, 0], abs=1)


def test_the_fastest_is_the_first_that_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where simplejpeg is missing, OpenCV decodes; one asked for by name says how it is installed."""
    monkeypatch.setattr(image_codecs, "find_spec", lambda module: None if module == "simplejpeg" else object())
    assert fastest() == "opencv"
    with pytest.raises(Unavailable, match="-m pip install simplejpeg"):
        open_codec("simplejpeg")

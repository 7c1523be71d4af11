"""Data as it comes: every program ends well, at a quarter of a vCPU too, or with one sentence that says why."""

from __future__ import annotations

import shutil
import struct
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest

from sizer.limits.detection import detect
from sizer.limits.interface import Group
from sizer.records.study import Limits
from workloads.data_sets import recordio
from workloads.data_sets.image_codecs import synthetic_image
from workloads.data_sets.lmdb_images import keys_of

Run = Callable[..., Any]

pytestmark = [pytest.mark.root, pytest.mark.slow]

NETWORK = ("--network", "squeezenet", "--device", "emulated", "--rate", 400, "--batch-size", 2, "--steps", 8)
EXIF = b"Exif\0\0II*\0" + struct.pack("<IHHHIHHI", 8, 1, 0x0112, 3, 1, 6, 0, 0)
"""Held so that the top of the picture is at the right."""


@pytest.fixture
def quarter() -> Iterator[Group]:
    """A group of a quarter of a vCPU."""
    with detect().open("awkward", Limits(vcpus=0.25)) as group:
        yield group


@pytest.fixture(scope="module")
def album(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One image of every kind: plain, 16 bits a channel and grey of 16, printers' colours, lying, and 40 megapixels."""
    pillow = pytest.importorskip("PIL.Image")
    folder = tmp_path_factory.mktemp("album")
    pixels = np.ascontiguousarray(synthetic_image(1))
    plain = cv2.imencode(".jpg", pixels)[1].tobytes()
    deep = pixels.astype(np.uint16) * 257
    for name in ("a", "b", "nothing"):
        (folder / name).mkdir()
    (folder / "a/plain.jpg").write_bytes(plain)
    (folder / "a/deep.png").write_bytes(cv2.imencode(".png", deep)[1].tobytes())
    (folder / "a/deep_grey.png").write_bytes(cv2.imencode(".png", deep[:, :, 0])[1].tobytes())
    (folder / "b/lying.jpg").write_bytes(plain[:2] + b"\xff\xe1" + struct.pack(">H", len(EXIF) + 2) + EXIF + plain[2:])
    pillow.fromarray(pixels[:, :, ::-1].copy()).convert("CMYK").save(folder / "b/printed.jpg")
    cv2.imwrite(str(folder / "b/large.jpg"), cv2.resize(pixels, (7300, 5480)))
    return folder


@pytest.mark.parametrize(
    "decoder",
    ["simplejpeg", *(pytest.param(name, marks=pytest.mark.long) for name in ("opencv", "pillow"))],
)
def test_preprocessing_stores_every_kind_of_image(
    run: Run, quarter: Group, album: Path, tmp_path: Path, decoder: str
) -> None:
    """All six, in both forms, each upright with a shorter side of 256."""
    pytest.importorskip({"opencv": "cv2", "pillow": "PIL"}.get(decoder, decoder))
    for form in ("recordio", "lmdb"):
        options = ("--data", album, "--output", tmp_path, "--format", form, "--decoder", decoder)
        ended = run("imagenet_preprocessing", *options, within=quarter)
        assert (ended.code, ended.err) == (0, "")
        assert ended.events[0]["stated"]["decoder"] == decoder
    offsets = recordio.read_index(tmp_path / "train.idx")
    with (tmp_path / "train.rec").open("rb") as file:
        size = (tmp_path / "train.rec").stat().st_size
        images = [recordio.image_at(file.fileno(), tmp_path / "train.rec", offset, size) for offset in offsets]
    shapes = [cv2.imdecode(np.frombuffer(image, np.uint8), cv2.IMREAD_COLOR).shape[:2] for image in images]
    assert sorted(shapes) == [(256, 341)] * 5 + [(341, 256)]
    assert len(keys_of(tmp_path / "train.lmdb")) == 6


@pytest.mark.parametrize(("framework", "program"), [("mxnet", "image_training"), ("pytorch", "image_inference")])
def test_networks_are_fed_with_every_kind_of_image(run: Run, album: Path, framework: str, program: str) -> None:
    """From the folder, whether it is packed first or read as it is."""
    ended = run(program, "--framework", framework, *NETWORK, "--data", album)
    assert ended.code == 0, ended.err
    assert len(ended.steps) == 8


@pytest.mark.parametrize("framework", ["mxnet", "pytorch"])
def test_one_image_is_no_batch(run: Run, tmp_path: Path, framework: str) -> None:
    """Neither loader makes one of two of it."""
    (tmp_path / "a").mkdir()
    cv2.imwrite(str(tmp_path / "a/only.jpg"), synthetic_image(1))
    ended = run("image_training", "--framework", framework, *NETWORK, "--data", tmp_path)
    assert ended.code == 2
    assert ended.err.splitlines()[-1] == (
        "image_training: the data set gives no batch: give --data one with more samples, or a smaller --batch-size"
    )


@pytest.mark.parametrize("program", ["image_training", "imagenet_preprocessing"])
def test_empty_class_folders_are_no_data_set(run: Run, tmp_path: Path, program: str) -> None:
    """Exit 2, with nothing written."""
    (tmp_path / "data/empty").mkdir(parents=True)
    options = NETWORK if program == "image_training" else ("--output", tmp_path / "out")
    ended = run(program, *options, "--data", tmp_path / "data")
    assert (ended.code, "has no JPEG in any folder of it" in ended.err) == (2, True)
    assert not (tmp_path / "out").exists()


def test_a_file_that_is_no_jpeg_is_named(run: Run, album: Path, tmp_path: Path) -> None:
    """It is skipped by preprocessing and by what packs a folder for MXNet; in PyTorch's loader each image is a part of
    a batch, and it ends the program."""
    data = tmp_path / "data"
    shutil.copytree(album / "a", data / "a")
    (data / "a/notes.jpg").write_text("no image")
    options = (("imagenet_preprocessing", "--output", tmp_path / "out"), ("image_inference", *NETWORK))
    for program, *rest in options:
        ended = run(program, *rest, "--data", data)
        assert ended.code == 0, ended.err
        assert "notes.jpg: not a readable image" in ended.err
    ended = run("image_training", "--framework", "pytorch", *NETWORK, "--data", data)
    assert (ended.code, ended.err.count("\n")) == (2, 1)
    assert "notes.jpg is no image that can be read" in ended.err


@pytest.fixture(params=["tmpfs", "ext4"])
def small_disk(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Path]:
    """A file system with room for less than the output: one in memory, and one that finds room when it syncs."""
    place = tmp_path / "disk"
    place.mkdir()
    if request.param == "tmpfs":
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "none", place], check=True)
    else:
        image = tmp_path / "disk.img"
        image.touch()
        subprocess.run(["truncate", "-s", "2M", image], check=True)
        subprocess.run(["mkfs.ext4", "-q", "-O", "^has_journal", image], check=True)
        subprocess.run(["mount", "-o", "loop", image, place], check=True)
    yield place
    subprocess.run(["umount", place], check=True)


@pytest.fixture
def too_much(tmp_path: Path) -> Path:
    """Sixty images of noise, which no codec makes small enough for that disk."""
    data = tmp_path / "data"
    (data / "a").mkdir(parents=True)
    noise = np.random.default_rng(1)
    for number in range(60):
        pixels = noise.integers(0, 256, (256, 300, 3), dtype=np.uint8)
        cv2.imwrite(str(data / f"a/{number}.jpg"), pixels)
    return data


@pytest.mark.parametrize("form", ["recordio", "lmdb", "packed"])
def test_a_disk_that_fills_up_keeps_nothing(run: Run, too_much: Path, small_disk: Path, form: str) -> None:
    """One sentence, and no file that looks whole and is not; a folder is packed again by the next run."""
    if form == "packed":
        ended = run("image_training", *NETWORK, "--data", too_much, "--scratch", small_disk)
    else:
        options = ("--data", too_much, "--output", small_disk / "out", "--format", form, "--passes", 0)
        ended = run("imagenet_preprocessing", *options)
        assert "failed (No space left on device): make room or give another --output" in ended.err
        assert len(ended.err.splitlines()) == 1
    assert ended.code == 71
    assert "failed (No space left on device)" in ended.err
    assert not [path for path in small_disk.rglob("*") if path.is_file()]

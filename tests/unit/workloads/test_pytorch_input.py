"""PyTorch's loader over each form of data: every image once an epoch, and faults in a sentence."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import cv2
import lmdb
import numpy as np
import pytest

from workloads.backends.interface import Settings
from workloads.data_sets import data_set, datum, recordio
from workloads.faults import Fault, InputFault
from workloads.options import Reading

COUNT, BATCH = 10, 3


@pytest.fixture(scope="module", autouse=True)
def _with_pytorch() -> None:
    """It is imported where it is used: to collect this file, which every worker does, costs 2 s of CPU time less so."""
    pytest.importorskip("torch")


def jpeg(number: int) -> bytes:
    """An image all of one grey, by which it is known again."""
    return cv2.imencode(".png", np.full((40, 50, 3), 20 * number, np.uint8))[1].tobytes()


@pytest.fixture(scope="module", params=["folder", "recordio", "lmdb", "raw_lmdb"])
def images(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Ten images; number i in class i modulo 2."""
    root = tmp_path_factory.mktemp(request.param)
    if request.param == "folder":
        for number in range(COUNT):
            path = root / f"class{number % 2}" / f"{number}.png"
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(jpeg(number))
        return root
    if request.param == "recordio":
        records = root / "train.rec"
        framed = [recordio.framed(recordio.image_record(n % 2, n, jpeg(n))) for n in range(COUNT)]
        records.write_bytes(b"".join(framed))
        recordio.write_index(records, root / "train.idx")
        return records
    with lmdb.open(str(root), map_size=1 << 24) as environment, environment.begin(write=True) as transaction:
        for number in range(COUNT):
            transaction.put(f"{number:08d}".encode(), datum.encode(_datum(number, request.param == "raw_lmdb")))
    return root


def _datum(number: int, raw: bool) -> datum.Datum:
    if raw:
        return datum.Datum(3, 40, 50, np.full((3, 40, 50), 20 * number, np.uint8).tobytes(), number % 2)
    return datum.Datum(3, 40, 50, jpeg(number), number % 2, encoded=True)


@contextmanager
def loaded(path: Path, training: bool, **reading: Any) -> Iterator[Any]:
    from workloads.backends import pytorch_input

    settings = Settings("cpu", 1, 1, BATCH, reading=Reading(**reading))
    with data_set.open_images(path, None, None, 1, 1, reads_folders=True) as images:
        source = pytorch_input.LoadedImages(images, 32, training, settings)
        try:
            yield source
        finally:
            source.close()


def epoch(source: Any) -> list[tuple[int, int]]:
    """Number and class of the images of an epoch."""
    pairs = []
    while (batch := source.next_batch()) is not None:
        images, _labels = batch
        assert (tuple(images.shape), str(images.dtype)) == ((BATCH, 32, 32, 3), "torch.uint8")
        pairs += [(round(float(image.float().mean()) / 20), int(label)) for image, label in zip(*batch, strict=True)]
    return pairs


def epochs(source: Any, count: int) -> None:
    """Epochs whose images do not matter; the first may have been read ahead."""
    for _ in range(count):
        while source.next_batch() is not None:
            pass
        source.restart()


@pytest.mark.parametrize("workers", [0, 2])
def test_inference_reads_in_order_and_drops_what_is_no_whole_batch(images: Path, workers: int) -> None:
    """The same each epoch, and with each number of workers."""
    with loaded(images, training=False, workers=workers) as source:
        first = epoch(source)
        source.restart()
        assert epoch(source) == first
    assert sorted(first) == sorted(set(first))
    assert len(first) == COUNT // BATCH * BATCH
    assert all(number % 2 == label for number, label in first)


def test_training_has_a_new_order_each_epoch_and_the_same_with_the_same_seed(images: Path) -> None:
    """As a DataLoader with a seeded generator shuffles."""
    orders = []
    for _ in range(2):
        with loaded(images, training=True, workers=1) as source:
            first = epoch(source)
            source.restart()
            orders.append((first, epoch(source)))
    assert orders[0] == orders[1]
    assert orders[0][0] != orders[0][1]
    assert len(set(orders[0][0])) == COUNT // BATCH * BATCH


def test_it_states_how_it_loads(images: Path) -> None:
    """What a record has to tell: workers of the threads that there are, unless the study says how many."""
    with loaded(images, training=True) as source:
        stated = source.stated
    assert stated["workers"] == 1
    assert stated["drop_last"] is True
    assert stated["prefetch"] == 2
    # Mapped pages cannot be evicted, so no worker of an LMDB lives on.
    assert stated["persistent_workers"] is (images.suffix == ".rec" or (images / "class0").is_dir())
    with loaded(images, training=True, workers=0, decoder="pillow") as source:
        assert source.stated == {
            "decoder": "pillow",
            "workers": 0,
            "persistent_workers": False,
            "drop_last": True,
            "pin_memory": False,
        }


@pytest.mark.parametrize("workers", [0, 1])
def test_an_image_that_cannot_be_read_is_named(tmp_path: Path, workers: int) -> None:
    """In one sentence, from a worker too."""
    (tmp_path / "class0").mkdir()
    for number in range(COUNT):
        (tmp_path / "class0" / f"{number}.jpg").write_bytes(jpeg(number))
    (tmp_path / "class0" / "4.jpg").write_text("no image")
    with (
        loaded(tmp_path, training=False, workers=workers) as source,
        pytest.raises(InputFault, match=r"class0/4\.jpg is no image that can be read: [^\n]*$"),
    ):
        epoch(source)
    with loaded(tmp_path, training=False, workers=workers) as source:
        shutil.rmtree(tmp_path / "class0")
        with pytest.raises(InputFault, match="is no longer there: put it back"):
            epochs(source, 2)


def test_a_worker_that_dies_is_told_in_a_sentence() -> None:
    """DataLoader tells it over several lines."""
    from workloads.backends import pytorch_input

    for text, sentence in (
        ("DataLoader worker (pid 12) is killed by signal: Killed. ", "died, mostly of too little memory"),
        ("DataLoader worker (pid 12) is killed by signal: Bus error. It is possible\nthat shared memory", "/dev/shm"),
    ):
        assert sentence in str(pytorch_input._dead_worker(RuntimeError(text)))
        assert isinstance(pytorch_input._dead_worker(RuntimeError(text)), Fault)
    with pytest.raises(RuntimeError, match="something else"):
        pytorch_input._dead_worker(RuntimeError("something else"))


def test_random_crops_lie_inside_and_cover_the_areas_of_the_paper() -> None:
    """8 % to all of the area, three to four."""
    from workloads.backends import pytorch_input

    crops = [pytorch_input.random_crop(300, 400) for _ in range(2000)]
    assert all(0 <= c.top <= c.top + c.height <= 300 and 0 <= c.left <= c.left + c.width <= 400 for c in crops)
    shares = [c.height * c.width / 120_000 for c in crops]
    assert 0.07 < min(shares) < 0.1
    assert max(shares) > 0.85
    assert 0.4 < sum(c.mirrored for c in crops) / 2000 < 0.6
    # A strip has none of these ratios in it: the largest square in its centre is taken.
    strip = pytorch_input.random_crop(10, 4000)
    assert (strip.height, strip.width, strip.left) == (10, 10, 1995)


def test_pixels_are_normalised_with_channels_last_in_memory() -> None:
    """ImageNet's mean is 0."""
    import torch

    from workloads.backends import pytorch_input

    images = torch.tensor([[[[124, 116, 104]]]], dtype=torch.uint8).expand(2, 4, 4, 3)
    pixels = pytorch_input.normalised(images, torch.device("cpu"))
    assert tuple(pixels.shape) == (2, 3, 4, 4)
    assert pixels.abs().max() < 0.02
    assert pixels.is_contiguous(memory_format=torch.channels_last)


pytestmark = pytest.mark.skipif(find_spec("torch") is None, reason="PyTorch is not installed")

PROGRAM = """
import torch
from workloads.backends.interface import Settings, open_backend
before = bool((torch.tensor([1e-30]) * 1e-12).any())
backend = open_backend("pytorch", Settings("cpu", 2, 0, 8))
numbers = torch.full((1 << 20,), 1e-30)
print(before, bool((numbers * 1e-12).any()), backend.stated["denormals_flushed"], backend.stated["freed_memory_kept"])
"""


def test_numbers_too_small_to_matter_take_no_longer_than_others() -> None:
    """They become 0 in every thread, and the run says so."""
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True", "False", "True", "True"]


COPIES = """
import torch
from workloads.backends import pytorch_input, pytorch_training

class OnGpu:
    type = "cuda"

asked = []
class Tensor:
    pinned = False
    def pin_memory(self):
        self.pinned = True
        return self
    def to(self, device, **how):
        asked.append((self.pinned, how))
        return self

pytorch_training.placed(Tensor(), OnGpu())
torch_tensor, made = torch.tensor, []
torch.tensor = lambda *args, **how: made.append(args) or torch_tensor(*args, **how)
for _ in range(3):
    pytorch_input.normalised(torch.zeros(2, 4, 4, 3, dtype=torch.uint8), "cpu")
print(asked, len(made))
"""


def test_what_goes_to_a_gpu_waits_for_nothing() -> None:
    """From pinned memory, not blocking; what is the same for every batch is copied once."""
    done = subprocess.run([sys.executable, "-c", COPIES], capture_output=True, text=True, check=True)
    assert done.stdout.split("\n")[0] == "[(True, {'non_blocking': True})] 2"

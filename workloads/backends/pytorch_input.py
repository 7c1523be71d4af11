"""Images from the disk for PyTorch, by its DataLoader: read, decoded and cropped in its workers."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import cv2
import torch
from torch.utils.data import DataLoader, Dataset, default_collate
from torch.utils.data.distributed import DistributedSampler

from ..data_sets.data_set import DataSet
from ..data_sets.image_codecs import Codec, Crop, fastest, open_codec
from ..data_sets.loaded_images import StoredImages, stored_images
from ..faults import Fault, InputFault
from ..process import die_with_parent, leave_to_parent
from .interface import Settings

MEAN = (123.675, 116.28, 103.53)
DEVIATION = (58.395, 57.12, 57.375)
"""ImageNet's in RGB, on the scale of 0 to 255, as torchvision gives them."""
CENTRE_SHARE = 0.875
"""The centre crop's side over the image's shorter side: 224 of 256."""
AREA_SHARES = (0.08, 1.0)
ASPECT_RATIOS = (3 / 4, 4 / 3)
"""Of the crop in training: Szegedy et al. 2014, arXiv:1409.4842, section 6."""
CROP_TRIALS = 10
"""How often a crop is drawn that does not fit into the image, before the centre is taken, as torchvision does."""
PREFETCH = 2
"""DataLoader's own default: batches ahead of each worker."""


@dataclass(frozen=True)
class _Unreadable:
    """Why an image cannot be read, in the place of its batch: DataLoader would wrap an error into its own words."""

    sentence: str


class _Pixels(Dataset):  # type: ignore[misc]
    """Pixels of side x side x 3 and the class of each image; `decoder` None leaves out what follows the reading."""

    def __init__(self, images: StoredImages, decoder: Codec | None, side: int, training: bool) -> None:
        self._images = images
        self._decoder = decoder
        self._side = side
        self._choose = random_crop if training else centre_crop

    def __len__(self) -> int:
        return len(self._images)

    def __getitem__(self, index: int) -> Any:
        try:
            stored = self._images.read(index)
        except InputFault as fault:
            return _Unreadable(str(fault))
        if self._decoder is None:
            return stored.bytes, stored.label
        pixels = stored.cropped(self._decoder, self._side, self._choose)
        if pixels is None:
            name = self._images.name(index)
            return _Unreadable(f"{name} is no image that can be read: make the data set again without it")
        return torch.from_numpy(pixels), stored.label


class LoadedImages:
    """Batches of a data set, uint8 of batch x side x side x 3 with their classes.

    In training they come in a new order each epoch, cropped and mirrored at random, else in their own order with the
    centre. What an epoch has beyond whole batches is left out. Of several ranks each has its share of them. `stated` is
    what a record has to tell of the loader.
    """

    def __init__(
        self, data_set: DataSet, side: int, training: bool, settings: Settings, read_only: bool = False
    ) -> None:
        reading = settings.reading
        decoder = reading.decoder or fastest()
        workers = settings.threads if reading.workers is None else reading.workers
        pinned = settings.device != "cpu" if reading.pin_memory is None else reading.pin_memory
        # A worker keeps the pages of an LMDB mapped, and mapped ones cannot be evicted between epochs.
        persistent = workers > 0 and data_set.format != "lmdb"
        self.stated: dict[str, str | int | bool] = {
            "decoder": decoder,
            "workers": workers,
            "persistent_workers": persistent,
            "drop_last": True,
            "pin_memory": pinned,
        }
        # Before the fork: OpenCV would wait for ever in a worker for the threads of its pool, which are not forked.
        cv2.setNumThreads(1)
        random.seed(settings.seed)
        self._images = stored_images(data_set)
        options: dict[str, Any] = {}
        if workers:
            self.stated["prefetch"] = reading.prefetch or PREFETCH
            options = {
                "prefetch_factor": reading.prefetch or PREFETCH,
                "persistent_workers": persistent,
                "multiprocessing_context": "fork",
                "worker_init_fn": _begin_worker,
            }
        pixels = _Pixels(self._images, None if read_only else open_codec(decoder), side, training)
        rank, self._epoch = settings.rank, 0
        self._share: DistributedSampler[Any] | None = None
        if rank.count > 1:
            self._share = DistributedSampler(
                pixels, rank.count, rank.number, shuffle=training, seed=settings.seed, drop_last=True
            )
        self._loader: DataLoader[Any] | None = DataLoader(
            pixels,
            batch_size=settings.batch_size,
            shuffle=training and self._share is None,
            sampler=self._share,
            num_workers=workers,
            collate_fn=_collate,
            pin_memory=pinned,
            drop_last=True,
            generator=torch.Generator().manual_seed(settings.seed),
            **options,
        )
        self._batches: Iterator[Any] | None = iter(self._loader)

    def next_batch(self) -> Any:
        """Images and labels; None at the end of an epoch. Raises InputFault for what cannot be read."""
        assert self._batches is not None, "restart after the end of an epoch"
        try:
            batch = next(self._batches, None)
        except RuntimeError as error:
            raise _dead_worker(error) from None
        if isinstance(batch, _Unreadable):
            raise InputFault(batch.sentence)
        if batch is None:
            self._batches = None
            self._images.close()
        return batch

    def restart(self) -> None:
        """Begin the next epoch."""
        assert self._loader is not None
        self._epoch += 1
        if self._share is not None:
            self._share.set_epoch(self._epoch)
        self._batches = iter(self._loader)

    def close(self) -> None:
        """End the workers and close the files."""
        self._batches = self._loader = None
        self._images.close()


def normalised(images: Any, device: Any) -> Any:
    """float32 of batch x 3 x side x side on `device`, channels last in memory, from uint8 of n x side x side x 3."""
    there = images.to(device, non_blocking=True).float()
    mean, deviation = _on(torch.device(device))
    return there.sub_(mean).div_(deviation).permute(0, 3, 1, 2)


@cache
def _on(device: Any) -> tuple[Any, Any]:
    """MEAN and DEVIATION there, copied once: a copy from memory that is not pinned waits for what a GPU still does."""
    return torch.tensor(MEAN, device=device), torch.tensor(DEVIATION, device=device)


def centre_crop(height: int, width: int) -> Crop:
    """The centre square of CENTRE_SHARE of the shorter side."""
    extent = max(1, round(min(height, width) * CENTRE_SHARE))
    return Crop((height - extent) // 2, (width - extent) // 2, extent, extent)


def random_crop(height: int, width: int) -> Crop:
    """A rectangle of random area, aspect ratio and place, mirrored half of the time."""
    mirrored = random.random() < 0.5
    for _ in range(CROP_TRIALS):
        area = height * width * random.uniform(*AREA_SHARES)
        ratio = math.exp(random.uniform(*map(math.log, ASPECT_RATIOS)))
        tall, wide = round(math.sqrt(area / ratio)), round(math.sqrt(area * ratio))
        if 0 < tall <= height and 0 < wide <= width:
            return Crop(random.randint(0, height - tall), random.randint(0, width - wide), tall, wide, mirrored)
    extent = min(height, width)
    return Crop((height - extent) // 2, (width - extent) // 2, extent, extent, mirrored)


def _collate(items: list[Any]) -> Any:
    unreadable = next((item for item in items if isinstance(item, _Unreadable)), None)
    return unreadable or default_collate(items)


def _begin_worker(_number: int) -> None:
    """The parent alone decides when to stop, and none outlives it."""
    leave_to_parent()
    die_with_parent()


def _dead_worker(error: RuntimeError) -> Fault:
    """What DataLoader says over several lines, in one; any other error as it is."""
    text = str(error)
    if "DataLoader worker" not in text:
        raise error
    if "shared memory" in text or "Bus error" in text:
        return Fault(
            "a worker of the loader found no room in /dev/shm: make it larger (Docker: --shm-size), or give fewer "
            "--workers"
        )
    return Fault("a worker of the loader died, mostly of too little memory: give it more memory, or fewer --workers")

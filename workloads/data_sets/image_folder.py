"""A folder of class folders of images, as ImageNet is laid out."""

from __future__ import annotations

import os
import random
from dataclasses import dataclass
from pathlib import Path

from ..faults import InputFault

SUFFIXES = frozenset({".jpeg", ".jpg", ".png"})


@dataclass(frozen=True)
class LabelledImage:
    """An image file, its size, and its class: the rank of its folder's name."""

    path: Path
    bytes: int
    label: int


def list_images(folder: Path) -> list[LabelledImage]:
    """All images, in the order of class and name. Raises InputFault if there are none."""
    images = []
    classes = sorted(entry.path for entry in os.scandir(folder) if entry.is_dir())
    for label, class_folder in enumerate(classes):
        entries = sorted(os.scandir(class_folder), key=lambda entry: entry.name)
        images += [
            LabelledImage(Path(entry.path), entry.stat().st_size, label)
            for entry in entries
            if os.path.splitext(entry.name)[1].lower() in SUFFIXES and entry.is_file()
        ]
    if not images:
        raise InputFault(f"{folder} has no JPEG in any folder of it: give the folder that holds one folder a class")
    return images


def shuffled(images: list[LabelledImage], seed: int) -> list[LabelledImage]:
    """The same images in the order of `seed`: im2rec packs shuffled, so that reading in order mixes the classes."""
    ordered = list(images)
    random.Random(seed).shuffle(ordered)
    return ordered

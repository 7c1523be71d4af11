"""The kinds of workload, and what each takes where the study file says nothing."""

from __future__ import annotations

import os
from dataclasses import dataclass

COMMAND = "command"
IMPORTED = "imported"
"""What was measured elsewhere; only `sizer import` writes it, and nothing of it can be run."""
PREPROCESSING = "imagenet_preprocessing"
OPENCV = "opencv"
"""What decodes and encodes the images of preprocessing: no framework of the others takes part in it."""


@dataclass(frozen=True)
class Kind:
    """The defaults of one kind; None where it has no such thing."""

    framework: str
    network: str | None
    format: str | None
    batch_size: int


KINDS = {
    "image_training": Kind("mxnet", "resnet50", "recordio", 32),
    "image_inference": Kind("mxnet", "resnet50", "recordio", 32),
    # Zaremba et al. 2014, "Recurrent Neural Network Regularization": the small model and its batch.
    "lstm_training": Kind("mxnet", "small", "text", 20),
    PREPROCESSING: Kind(OPENCV, None, "recordio", 32),
    # Nothing is known of a command: a step is a sample until its file says how many samples a step has.
    COMMAND: Kind("other", None, None, 1),
    IMPORTED: Kind("other", None, None, 1),
}


def format_of(kind: str, data: str | None) -> str | None:
    """The form that data of this kind most likely has, by its name and by what lies there."""
    default = KINDS[kind].format
    if data is None or kind not in ("image_training", "image_inference"):
        return default
    if data.endswith((".rec", ".lmdb", ".mdb")):
        return "recordio" if data.endswith(".rec") else "lmdb"
    if not os.path.isdir(data):
        return default
    entries = os.listdir(data)
    if "data.mdb" in entries:
        return "lmdb"
    return "recordio" if any(entry.endswith(".rec") for entry in entries) else "folder"

"""The form of data that a kind of workload most likely has."""

from __future__ import annotations

import os

from sizer.records.kinds import KINDS


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

"""What form data has, seen from what lies at its path."""

from __future__ import annotations

from pathlib import Path

TEXTS = ("train.txt", "ptb.train.txt")
"""Names under which a text of PennTreeBank's form lies in a folder."""


def form_of(path: Path) -> str:
    """`recordio`, `lmdb`, `text`, or `folder` for one of class folders of images. `path` exists."""
    if path.is_file():
        return {".rec": "recordio", ".mdb": "lmdb"}.get(path.suffix, "text")
    if (path / "data.mdb").is_file():
        return "lmdb"
    if any((path / name).is_file() for name in TEXTS):
        return "text"
    return "recordio" if any(path.glob("*.rec")) else "folder"


def record_files(path: Path) -> list[Path]:
    """The RecordIO files that a path means: itself, or those in a folder as im2rec leaves it."""
    return [path] if path.is_file() else sorted(path.glob("*.rec"))

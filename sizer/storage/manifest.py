"""What a folder of the cache held when it was made, so that one which somebody or something changed is not believed.

A cleaner removes files that nobody has read for a while, a full disk leaves empty ones, a fault changes bytes. The
manifest lies beside its folder, because a program reads all that lies in it.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from sizer.files.codec import from_json, write_json
from sizer.records.domains import Count
from sizer.records.messages import InputError, Interrupted, Message
from sizer.records.units import format_bytes
from sizer.storage.page_cache import evict

BLOCK_BYTES = 1 << 20
MOST_BYTES = 1 << 30
"""Of content that are read to compare it, 1.2 GB a second of CPU time; of larger data evenly spaced blocks, as many."""


@dataclass(frozen=True)
class Manifest:
    """How many files lie below a folder, their bytes, and a digest of their names, sizes and content."""

    files: Count
    bytes: Count
    sha256: str


def write_manifest(made: Path, folder: Path, stop: Callable[[], bool]) -> None:
    """Note what `made` holds, which is about to become `folder`. Raises HostError, and Interrupted by `stop`."""
    write_json(_path(folder), _manifest(made, stop))


def damage(folder: Path, stop: Callable[[], bool]) -> Message | None:
    """What is wrong with a folder that was made, whose files are out of the page cache then; None where it is whole.

    Raises Interrupted as soon as `stop` says so.
    """
    try:
        made = from_json(Manifest, json.loads(_path(folder).read_bytes()), _path(folder).name)
    except (OSError, ValueError, RecursionError, InputError):
        return Message("the list of what it held, {path}, cannot be read", path=_path(folder))
    try:
        present = _manifest(folder, stop)
    except OSError as error:
        return Message("{error}", error=error)
    if (present.files, present.bytes) != (made.files, made.bytes):
        return Message(
            "it holds {bytes} (files: {files}), and held {made_bytes} (files: {made_files})",
            files=present.files,
            bytes=format_bytes(present.bytes),
            made_files=made.files,
            made_bytes=format_bytes(made.bytes),
        )
    return None if present == made else Message("the content of its files has changed")


def _path(folder: Path) -> Path:
    return folder.with_name(f"{folder.name}.manifest.json")


def _manifest(folder: Path, stop: Callable[[], bool]) -> Manifest:
    paths = sorted(_below(folder))
    sizes = [path.lstat().st_size for path in paths]
    whole, digest, block = sum(sizes), hashlib.sha256(), 0
    every = -(-whole // MOST_BYTES) or 1
    for path, size in zip(paths, sizes, strict=True):
        digest.update(json.dumps([str(path.relative_to(folder)), size]).encode())
        if path.is_symlink():
            # What it points to is the user's, and known by its size and time (`data_sets.py`).
            digest.update(os.fsencode(os.readlink(path)))
            continue
        with path.open("rb", buffering=0) as file:
            for start in range(0, size, BLOCK_BYTES):
                if stop():
                    raise Interrupted("Interrupted while {folder} was checked.", folder=folder)
                if block % every == 0:
                    file.seek(start)
                    digest.update(file.read(BLOCK_BYTES))
                block += 1
        evict([path])
    return Manifest(len(paths), whole, digest.hexdigest())


def _below(folder: Path) -> Iterator[Path]:
    """The files below a folder, and links as what they are."""
    for place, folders, names in os.walk(folder, onerror=_refuse):
        yield from (Path(place, name) for name in names)
        yield from (path for name in folders if (path := Path(place, name)).is_symlink())


def _refuse(error: OSError) -> None:
    raise error

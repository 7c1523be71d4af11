"""What a program reads: a data set on disk, found by its path, checked, and made readable."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from ..faults import InputFault
from ..progress import counted
from . import recordio
from .image_folder import LabelledImage, list_images

FORMATS = ("recordio", "lmdb", "folder")


@dataclass(frozen=True)
class DataSet:
    """Files, their bytes and their samples.

    `index` is a RecordIO file's index, which may lie elsewhere; `labels` are the classes of a folder's files.
    """

    format: str
    files: tuple[Path, ...] = ()
    bytes: int = 0
    samples: int = 0
    index: Path | None = None
    labels: tuple[int, ...] = ()


NO_DATA = DataSet("synthetic")
"""The data set of a program that reads nothing."""


def image_format(path: Path) -> str:
    """What lies at `path`: `recordio`, `lmdb` or `folder`."""
    if path.is_file():
        return "lmdb" if path.name == "data.mdb" else "recordio"
    if (path / "data.mdb").is_file():
        return "lmdb"
    return "recordio" if any(path.glob("*.rec")) else "folder"


@contextmanager
def open_images(
    path: Path | None,
    format_name: str | None,
    scratch: Path | None,
    workers: int,
    seed: int,
    reads_folders: bool = False,
) -> Iterator[DataSet]:
    """The image data set at `path`; NO_DATA without one.

    Unless who asks `reads_folders`, a folder of JPEGs is packed into RecordIO in `scratch` first, and a `.rec` without
    `.idx` is indexed there; without `scratch` that is done in a temporary folder and done again next time. Raises
    InputFault for what cannot be read.
    """
    if path is None:
        yield NO_DATA
        return
    with tempfile.TemporaryDirectory(prefix="image-data-") as temporary:
        derived = scratch or Path(temporary)
        kind = format_name or image_format(path)
        if kind == "lmdb":
            yield _lmdb(path)
        elif kind == "folder" and reads_folders:
            yield _folder(path)
        elif kind == "folder":
            yield _recordio(_packed(path, derived, workers, seed), derived)
        else:
            yield _recordio(_record_file(path), derived)


def _record_file(path: Path) -> Path:
    if path.is_file():
        return path
    files = sorted(path.glob("*.rec"))
    if len(files) != 1:
        raise InputFault(f"{path} holds {len(files)} .rec files, so give --data the path of one .rec file")
    return files[0]


def _recordio(records: Path, derived: Path) -> DataSet:
    index = records.with_suffix(".idx")
    if not index.is_file():
        index = derived / f"{_name_of(records)}.idx"
    if not index.is_file():
        print(f"{records} has no index beside it: making {index}", flush=True)
        recordio.write_index(records, index)
    offsets = recordio.read_index(index)
    recordio.check_index(records, offsets)
    recordio.check_images(records, offsets)
    return DataSet("recordio", (records,), records.stat().st_size, len(offsets), index)


def _folder(path: Path) -> DataSet:
    images = _listed(path)
    files, labels = tuple(image.path for image in images), tuple(image.label for image in images)
    return DataSet("folder", files, sum(image.bytes for image in images), len(images), labels=labels)


def _listed(folder: Path) -> list[LabelledImage]:
    if not folder.is_dir():
        raise InputFault(
            f"{folder} is no folder: give --data a folder of class folders of JPEGs, or leave --format out"
        )
    return list_images(folder)


def _packed(folder: Path, derived: Path, workers: int, seed: int) -> Path:
    from .image_folder import shuffled
    from .preprocessing import run_pass
    from .transform_workers import Task, TransformWorkers

    images = shuffled(_listed(folder), seed)
    target = derived / f"packed-{_name_of(folder, len(images), sum(image.bytes for image in images))}"
    if not (target / "train.rec").is_file():
        print(
            f"packing {counted(len(images), 'image')} of {folder} into {target}/train.rec, shorter side 256", flush=True
        )
        with TransformWorkers(Task(images, "recordio", False, seed), workers) as pool:
            run_pass(pool, target, lambda _result: None, lambda: False)
    return target / "train.rec"


def _name_of(path: Path, *facts: int) -> str:
    """A short name that changes when the data at `path` does."""
    status = path.stat()
    text = repr((str(path.resolve()), status.st_size, status.st_mtime_ns, facts))
    return f"{path.stem}-{hashlib.sha256(text.encode()).hexdigest()[:12]}"


def _lmdb(path: Path) -> DataSet:
    from .lmdb_images import measure

    folder = path.parent if path.is_file() else path
    size, samples = measure(folder)
    return DataSet("lmdb", (folder / "data.mdb",), size, samples)

"""The embedded data set, made on this machine from shipped photographs and text: never ImageNet, never PennTreeBank."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from functools import partial
from multiprocessing import get_context
from pathlib import Path

from .faults import Fault, InputFault, run_program
from .options import OneSentenceParser, count, positive_integer
from .process import available_cpus, die_with_parent, limit_threads
from .progress import counted

VERSION = 1
"""Of what is made: a change of any file for the same arguments raises it."""
MANIFEST = "embedded.json"
NOTE = (
    "embedded data set, made by sizer from shipped photographs and public-domain text; not ImageNet, not PennTreeBank"
)


def main() -> None:
    """Read the options and make what they ask for."""
    given = _parser().parse_args(sys.argv[1:])
    if given.kind == "images":
        make_images(given.out, given.count, given.seed, given.workers or available_cpus())
    else:
        make_text(given.out)


def make_images(out: Path, count: int, seed: int, workers: int) -> None:
    """Write `count` JPEGs in class folders; image i is the same whatever the count and the number of workers."""
    wanted: dict[str, object] = {"kind": "images", "version": VERSION, "count": count, "seed": seed}
    if _is_made(out, wanted):
        return
    limit_threads(1)
    with _aside(out) as folder:
        sizes = _write_images(folder, count, seed, workers)
        _finish(folder, out, wanted, sizes)


def make_text(out: Path) -> None:
    """Write train.txt, valid.txt and test.txt."""
    wanted: dict[str, object] = {"kind": "text", "version": VERSION}
    if _is_made(out, wanted):
        return
    from .data_sets.public_domain_text import make_parts

    with _aside(out) as folder:
        parts = make_parts()
        for name, text in parts.items():
            (folder / name).write_text(text, encoding="ascii")
        words = {name: len(text.split()) + text.count("\n") for name, text in parts.items()}
        _finish(folder, out, {**wanted, "words": words}, [len(text) for text in parts.values()])


def _write_images(folder: Path, count: int, seed: int, workers: int) -> list[int]:
    """Write all images by forked processes, which share the decoded photographs; returns the files' sizes."""
    import cv2

    from .data_sets.photograph_crops import image_name, load_photographs

    cv2.setNumThreads(1)
    load_photographs()
    for class_folder in sorted({(folder / image_name(index)).parent for index in range(count)}):
        class_folder.mkdir(parents=True)
    try:
        with ProcessPoolExecutor(min(workers, count), get_context("fork"), die_with_parent) as pool:
            return list(pool.map(partial(_write_image, folder, seed), range(count), chunksize=4))
    except BrokenProcessPool:
        raise Fault(
            f"a process that writes images into {folder} died: make room on the disk, or give fewer --workers"
        ) from None


def _write_image(folder: Path, seed: int, index: int) -> int:
    from .data_sets.photograph_crops import image_name, load_photographs, make_image

    return (folder / image_name(index)).write_bytes(make_image(load_photographs(), seed, index))


def _is_made(out: Path, wanted: dict[str, object]) -> bool:
    """Whether `out` already is what is wanted. Raises InputFault if it is anything else."""
    if not out.exists():
        return False
    try:
        manifest = json.loads((out / MANIFEST).read_text())
    except (OSError, ValueError):
        raise InputFault(f"{out} exists and holds no embedded data set: give --out a new folder") from None
    if any(manifest.get(key) != value for key, value in wanted.items()):
        raise InputFault(f"{out} holds another embedded data set: remove it or give --out a new folder")
    print(f"{out} is there already: {counted(manifest['files'], 'file')}, {manifest['bytes'] / 1e6:.1f} MB")
    return True


@contextmanager
def _aside(out: Path) -> Iterator[Path]:
    """A folder beside `out`, renamed to it when it is whole and removed when something goes wrong."""
    folder = out.with_name(f"{out.name}.tmp")
    try:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        yield folder
        folder.rename(out)
    except OSError as error:
        raise Fault(f"cannot write {out} ({error.strerror}): make room or give another --out") from None
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _finish(folder: Path, out: Path, wanted: dict[str, object], sizes: Sequence[int]) -> None:
    facts = {**wanted, "files": len(sizes), "bytes": sum(sizes), "mean_bytes": sum(sizes) / len(sizes), "note": NOTE}
    (folder / MANIFEST).write_text(json.dumps(facts, indent=1) + "\n")
    os.sync()
    total = sum(sizes)
    print(f"made {out}: {counted(len(sizes), 'file')}, {total / 1e6:.1f} MB, mean {total / len(sizes) / 1e3:.1f} kB")


def _parser() -> OneSentenceParser:
    parser = OneSentenceParser(prog=f"python -m {__package__}.embedded_data", description=__doc__)
    kinds = parser.add_subparsers(dest="kind", required=True, parser_class=OneSentenceParser)
    images = kinds.add_parser("images", help="ImageNet-like JPEGs in class folders")
    images.add_argument("--count", type=positive_integer, default=2000, metavar="N", help="default: %(default)s")
    images.add_argument("--seed", type=count, default=1, metavar="N", help="default: %(default)s")
    images.add_argument("--workers", type=positive_integer, metavar="N", help="default: the CPUs this process may use")
    text = kinds.add_parser("text", help="a text of PennTreeBank's form")
    for kind in (images, text):
        kind.add_argument("--out", type=Path, required=True, metavar="DIR", help="the folder to make")
    return parser


if __name__ == "__main__":
    raise SystemExit(run_program("embedded_data", main))

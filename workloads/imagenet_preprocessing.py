"""Preprocessing: a folder of class folders of JPEGs -> shorter side 256 -> RecordIO or LMDB, by several processes."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from .data_sets.image_folder import LabelledImage, list_images, shuffled
from .faults import run_program
from .options import DECODERS, OneSentenceParser, count, given_source, positive_integer, program_parser
from .page_cache import CacheState
from .process import StopRequest, available_cpus, keep_freed_memory, limit_threads
from .progress import Events, Extent, Progress, Step, counted

SYNTHETIC_IMAGES = 1024
"""Images of a pass that reads nothing."""

LARGEST_KEPT_BYTES = 32 << 20
"""Of freed memory: ten megapixels. What an image needs that is larger is given back, as each worker would keep it."""


def main() -> None:
    """Read the options and run the passes."""
    given = read_options(sys.argv[1:])
    events, stop = Events.from_environment(), StopRequest.on_signals()
    limit_threads(1)
    preprocess(given, events, stop)


def preprocess(given: argparse.Namespace, events: Events, stop: StopRequest) -> None:
    """All passes, with their events and printed rate."""
    from .data_sets.image_codecs import fastest
    from .data_sets.preprocessing import StepAccount, read_pass, run_pass
    from .data_sets.record_writers import remove_output
    from .data_sets.transform_workers import Task, TransformWorkers

    # Each image takes an array of half a megabyte, which the kernel would fill with zeros anew, page by page.
    kept = keep_freed_memory(LARGEST_KEPT_BYTES)
    images, decoder = _images(given), given.decoder or fastest()
    read_only = given.source == "replay"
    task = Task(images, given.format, given.data is None, given.seed, read_only, decoder)
    cache = CacheState(
        tuple(image.path for image in images) if given.data else (),
        "warm" if given.source == "cached" else given.cache,
    )
    extent = Extent(given.steps, given.seconds)
    progress = Progress(f"imagenet_preprocessing to {given.format}", "image", events, stop, extent)
    with TransformWorkers(task, given.workers) as workers:
        cache.before_run(progress.reading)
        _start(progress, given, images, {"decoder": decoder, "freed_memory_kept": kept})
        epoch, size = 0, 0
        files: tuple[Path, ...] = ()
        while not progress.over and (given.passes == 0 or epoch < given.passes):
            if epoch:
                remove_output(files)
                cache.between_epochs()
            account = StepAccount(
                given.batch_size,
                given.workers,
                lambda samples, wait, epoch=epoch: progress.step(Step(samples, wait, epoch)),  # type: ignore[misc]
            )
            if read_only:
                read_pass(workers, account.add, lambda: progress.over)
            else:
                files, size = run_pass(workers, given.output, account.add, lambda: progress.over)
            account.flush()
            epoch += 1
    if given.passes == 0:
        remove_output(files)
    if read_only:
        progress.end("; nothing written, for --input replay only reads")
    elif given.passes == 0:
        progress.end("; output removed, for --passes 0 only measures")
    elif not files:
        progress.end("; output removed, for the pass was stopped")
    else:
        progress.end(f"; wrote {size / 1e6:.1f} MB to " + " and ".join(map(str, files)))


def _images(given: argparse.Namespace) -> list[LabelledImage]:
    if given.data is None:
        return [LabelledImage(Path(f"synthetic_{index}"), 0, index % 1000) for index in range(SYNTHETIC_IMAGES)]
    return shuffled(list_images(given.data), given.seed)


def _start(
    progress: Progress, given: argparse.Namespace, images: list[LabelledImage], stated: dict[str, str | bool]
) -> None:
    size, source = sum(image.bytes for image in images), "synthetic images"
    if given.data:
        source = f"{counted(len(images), 'image')}, {size / 1e6:.1f} MB, of {given.data}"
    print(f"imagenet_preprocessing: {source} -> {given.output}, {counted(given.workers, 'worker')}", flush=True)
    about = {"program": "imagenet_preprocessing", "format": given.format, "workers": given.workers, "stated": stated}
    progress.start(size, len(images) if given.data else 0, given.batch_size, **about)


def parser() -> OneSentenceParser:
    """The command line."""
    result = program_parser(
        "imagenet_preprocessing",
        "Resize a folder of class folders of JPEGs to a shorter side of 256 and pack it as RecordIO (JPEG, quality 95) "
        "or LMDB (raw, centre 256 x 256).",
        "image",
    )
    result.add_argument(
        "--output", type=Path, required=True, metavar="DIR", help="where train.rec and train.idx, or train.lmdb, go"
    )
    result.add_argument("--format", choices=("recordio", "lmdb"), default="recordio", help="default: %(default)s")
    result.add_argument(
        "--batch-size", type=positive_integer, default=32, metavar="B", help="images a step (default: %(default)s)"
    )
    result.add_argument("--workers", type=positive_integer, metavar="N", help="worker processes (default: --threads)")
    result.add_argument(
        "--decoder",
        choices=DECODERS,
        help="what decodes images; pillow resizes and encodes them, too, opencv does for the other two (default: the "
        "first of these that is installed)",
    )
    result.add_argument(
        "--passes",
        type=count,
        default=1,
        metavar="N",
        help="0: until stopped, and leave nothing (default: %(default)s)",
    )
    return result


def read_options(arguments: list[str]) -> argparse.Namespace:
    """Parse and cross-check; ends with exit 2 and one sentence where options do not fit together. `data` is None where
    nothing is read; `passes` 0 goes on until stopped."""
    command_line = parser()
    given = command_line.parse_args(arguments)
    given.source = given_source(command_line, given)
    if given.source == "synthetic":
        given.data = None
    elif not given.data.is_dir():
        command_line.error(f"{given.data} is no folder, so give --data a folder that holds one folder of JPEGs a class")
    if given.device != "cpu":
        command_line.error(f"preprocessing runs on the CPU, not on {given.device}, so leave --device out")
    given.workers = given.workers or given.threads or available_cpus()
    return given


if __name__ == "__main__":
    raise SystemExit(run_program("imagenet_preprocessing", main))

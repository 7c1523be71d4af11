"""Preprocessing: a folder of class folders of JPEGs -> shorter side 256 -> RecordIO or LMDB, by several processes."""

from __future__ import annotations

import sys
from dataclasses import dataclass, fields
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


@dataclass(frozen=True)
class Request:
    """What a person asked for; `passes` 0 goes on until stopped."""

    data: Path | None
    output: Path
    format: str
    batch_size: int
    workers: int
    passes: int
    cache_state: str
    seed: int
    extent: Extent
    read_only: bool = False
    decoder: str | None = None


def main() -> None:
    """Read the options and run the passes."""
    request = read_request(sys.argv[1:])
    events, stop = Events.from_environment(), StopRequest.on_signals()
    limit_threads(1)
    preprocess(request, events, stop)


def preprocess(request: Request, events: Events, stop: StopRequest) -> None:
    """All passes, with their events and printed rate."""
    from .data_sets.image_codecs import fastest
    from .data_sets.preprocessing import NO_OUTPUT, StepAccount, read_pass, run_pass
    from .data_sets.record_writers import remove_output
    from .data_sets.transform_workers import Task, TransformWorkers

    # Each image takes an array of half a megabyte, which the kernel would fill with zeros anew, page by page.
    kept = keep_freed_memory(LARGEST_KEPT_BYTES)
    images, decoder = _images(request), request.decoder or fastest()
    task = Task(images, request.format, request.data is None, request.seed, request.read_only, decoder)
    cache = CacheState(tuple(image.path for image in images) if request.data else (), request.cache_state)
    progress = Progress(f"imagenet_preprocessing to {request.format}", "image", events, stop, request.extent)
    with TransformWorkers(task, request.workers) as workers:
        cache.before_run(progress.reading)
        _start(progress, request, images, {"decoder": decoder, "freed_memory_kept": kept})
        epoch, output = 0, NO_OUTPUT
        while not progress.over and (request.passes == 0 or epoch < request.passes):
            if epoch:
                remove_output(output.files)
                cache.between_epochs()
            account = StepAccount(
                request.batch_size,
                request.workers,
                lambda samples, wait, epoch=epoch: progress.step(Step(samples, wait, epoch)),  # type: ignore[misc]
            )
            if request.read_only:
                output = read_pass(workers, account.add, lambda: progress.over)
            else:
                output = run_pass(workers, request.output, account.add, lambda: progress.over)
            account.flush()
            epoch += 1
    if request.passes == 0:
        remove_output(output.files)
    _finish(progress, request, output.files, output.bytes)


def _images(request: Request) -> list[LabelledImage]:
    if request.data is None:
        return [LabelledImage(Path(f"synthetic_{index}"), 0, index % 1000) for index in range(SYNTHETIC_IMAGES)]
    return shuffled(list_images(request.data), request.seed)


def _start(progress: Progress, request: Request, images: list[LabelledImage], stated: dict[str, str | bool]) -> None:
    size = sum(image.bytes for image in images)
    source = (
        f"{counted(len(images), 'image')}, {size / 1e6:.1f} MB, of {request.data}"
        if request.data
        else "synthetic images"
    )
    print(f"imagenet_preprocessing: {source} -> {request.output}, {counted(request.workers, 'worker')}", flush=True)
    progress.start(
        size,
        len(images) if request.data else 0,
        request.batch_size,
        program="imagenet_preprocessing",
        format=request.format,
        workers=request.workers,
        stated=stated,
    )


def _finish(progress: Progress, request: Request, files: tuple[Path, ...], size: int) -> None:
    if request.read_only:
        remark = "; nothing written, for --input replay only reads"
    elif request.passes == 0 or not files:
        remark = "; output removed, for " + (
            "--passes 0 only measures" if request.passes == 0 else "the pass was stopped"
        )
    else:
        remark = f"; wrote {size / 1e6:.1f} MB to " + " and ".join(map(str, files))
    progress.end(remark)


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


def read_request(arguments: list[str]) -> Request:
    """Parse and cross-check; ends with exit 2 and one sentence where options do not fit together."""
    command_line = parser()
    given = command_line.parse_args(arguments)
    source = given_source(command_line, given)
    if source != "synthetic" and not given.data.is_dir():
        command_line.error(f"{given.data} is no folder, so give --data a folder that holds one folder of JPEGs a class")
    if given.device != "cpu":
        command_line.error(f"preprocessing runs on the CPU, not on {given.device}, so leave --device out")
    own = {field.name: getattr(given, field.name) for field in fields(Request) if hasattr(given, field.name)}
    return Request(
        **own
        | {
            "data": None if source == "synthetic" else given.data,
            "workers": given.workers or given.threads or available_cpus(),
            "cache_state": "warm" if source == "cached" else given.cache,
            "extent": Extent(given.steps, given.seconds),
            "read_only": source == "replay",
        }
    )


if __name__ == "__main__":
    raise SystemExit(run_program("imagenet_preprocessing", main))

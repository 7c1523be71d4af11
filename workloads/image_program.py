"""What image training and image inference have in common: everything but the step."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace

from . import data_parallel, data_set, replay, threads
from .backends import (
    FORWARD,
    READ_FOLDERS,
    TRAIN,
    TRAINING_MODES,
    Backend,
    Input,
    Settings,
    image_side,
    open_backend,
)
from .data_parallel import Rank
from .data_set import DataSet
from .events import Events
from .faults import Unavailable
from .measured_loop import Loop, SameBatch, TimedCompute, timed
from .network_program import announce, array_device, emulated_step
from .networks import IMAGE_TRANSFORMERS, NETWORKS, TAKES_VECTORS
from .options import (
    OneSentenceParser,
    Options,
    add_computing_options,
    add_image_options,
    add_network_options,
    program_parser,
    read_options,
)
from .page_cache import CacheState
from .progress import Progress
from .stop import StopRequest

BATCH_SIZE = 32


def run(program: str, description: str, training: bool) -> None:
    """Read the options, prepare the input and the network, and measure."""
    parser = _parser(program, description, TRAINING_MODES if training else (FORWARD,))
    options = read_options(parser, sys.argv[1:])
    if _takes_vectors(options) and options.data is not None:
        parser.error(f"{options.network} takes vectors and not images, so give --input synthetic")
    if not training and options.gpu_count > 1 and options.device != "emulated":
        raise Unavailable("devices that infer do not work together: run a program on each of them")
    events, stop = Events.from_environment(), StopRequest.on_signals()
    with data_parallel.joined(options) as (own, rank):
        _measure(program, own, rank, training, events, stop)


def _measure(program: str, options: Options, rank: Rank, training: bool, events: Events, stop: StopRequest) -> None:
    threads.limit_threads(options.threads)
    computing = replace(options.computing, channels_last=None) if _takes_vectors(options) else options.computing
    settings = Settings(
        array_device(options), options.threads, options.seed, options.batch_size, computing, options.reading, rank
    )
    backend = None if options.input == "replay" else open_backend(options.framework, settings)
    with _opened(options) as images:
        cache = CacheState(() if rank.number else images.files, options.cache_state)
        unit = "vector" if _takes_vectors(options) else "image"
        progress = Progress(f"{program} {options.network}", unit, events, stop, options.extent)
        cache.before_run(progress.reading)
        with _source(backend, images, options, settings, training) as source:
            version, stated = ("not used", {}) if backend is None else (backend.version, backend.stated)
            announce(program, options, images, version, stated, progress, "image")
            compute = _compute(backend, options)
            latency = not training and backend is not None
            clock = backend.clock if backend is not None else None
            Loop(source, compute, cache, options.samples_a_step, latency, clock).run(progress)
        progress.end(_remark(options))


def _takes_vectors(options: Options) -> bool:
    return options.network in TAKES_VECTORS


def _parser(program: str, description: str, modes: Sequence[str]) -> OneSentenceParser:
    parser = program_parser(program, description, "image")
    parser.add_argument(
        "--format",
        choices=data_set.FORMATS,
        help="what --data is: a .rec file, an LMDB of Caffe, a folder of class folders of JPEGs (default: found out)",
    )
    add_network_options(parser, dict.fromkeys((*NETWORKS, *IMAGE_TRANSFORMERS), BATCH_SIZE), "resnet50", modes)
    add_computing_options(parser)
    add_image_options(parser)
    return parser


def _opened(options: Options) -> AbstractContextManager[DataSet]:
    reads_folders = options.framework in READ_FOLDERS
    return data_set.open_images(
        options.data, options.format, options.scratch, options.threads, options.seed, reads_folders
    )


@contextmanager
def _source(
    backend: Backend | None, images: DataSet, options: Options, settings: Settings, training: bool
) -> Iterator[Input]:
    side = image_side(options.network)
    source: Input
    if backend is None:
        source = replay.replayed(options.framework, images, side, training, settings)
    elif images.format == "synthetic":
        source = SameBatch(backend.synthetic_samples(options.network))
    else:
        source = backend.images(images, side, training)
    try:
        yield source
    finally:
        source.close()


def _compute(backend: Backend | None, options: Options) -> TimedCompute:
    if backend is None:
        return lambda _batch: 0.0
    waiting = emulated_step(options, options.batch_size)
    if waiting is not None:
        return waiting
    if options.mode == FORWARD:
        return timed(backend.image_inference(options.network))
    return timed(backend.image_training(options.network, updates=options.mode == TRAIN))


def _remark(options: Options) -> str:
    if options.input == "replay":
        return " (read only)"
    return " (emulated device)" if options.device == "emulated" else ""

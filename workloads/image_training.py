"""Image training: forward, backward and update by SGD with momentum, on images cropped and mirrored at random."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial

from .backends import replay
from .backends.interface import FORWARD, READ_FOLDERS, TRAIN, TRAINING_MODES, Backend, Compute, Epochs, Input, Settings
from .data_sets import data_set
from .faults import Unavailable, run_program
from .network_program import Job, run_network, same_batch
from .networks import IMAGE_TRANSFORMERS, NETWORKS, TAKES_VECTORS, image_side
from .options import (
    Options,
    add_computing_options,
    add_image_options,
    add_network_options,
    program_parser,
    read_options,
)

BATCH_SIZE = 32


def run(program: str, description: str, training: bool) -> None:
    """Read the options and measure: training or inference, which differ in the step alone."""
    parser = program_parser(program, description, "image")
    parser.add_argument(
        "--format",
        choices=data_set.FORMATS,
        help="what --data is: a .rec file, an LMDB of Caffe, a folder of class folders of JPEGs (default: found out)",
    )
    modes = TRAINING_MODES if training else (FORWARD,)
    add_network_options(parser, dict.fromkeys((*NETWORKS, *IMAGE_TRANSFORMERS), BATCH_SIZE), "resnet50", modes)
    add_computing_options(parser)
    add_image_options(parser)
    options = read_options(parser, sys.argv[1:])
    if options.network in TAKES_VECTORS:
        if options.data is not None:
            parser.error(f"{options.network} takes vectors and not images, so give --input synthetic")
        options = replace(options, computing=replace(options.computing, channels_last=None))
    if not training and options.gpu_count > 1 and options.device != "emulated":
        raise Unavailable("devices that infer do not work together: run a program on each of them")
    run_network(program, options, _job)


@contextmanager
def _job(options: Options, settings: Settings, backend: Backend | None) -> Iterator[Job]:
    side, training = image_side(options.network), options.mode != FORWARD
    folders = options.framework in READ_FOLDERS

    def source() -> Input:
        if backend is None:
            return replay.replayed(options.framework, images, side, training, settings)
        if images.format == "synthetic":
            return Epochs(partial(same_batch, backend.synthetic_samples(options.network)))
        return backend.images(images, side, training)

    def compute() -> Compute:
        assert backend is not None, "a replay computes nothing"
        if training:
            return backend.image_training(options.network, updates=options.mode == TRAIN)
        return backend.image_inference(options.network)

    given = options.data, options.format, options.scratch, options.threads, options.seed, folders
    with data_set.open_images(*given) as images:
        unit = "vector" if options.network in TAKES_VECTORS else "image"
        latency = not training and backend is not None
        yield Job(unit, images, options.batch_size, source, compute, report_latency=latency)


def main() -> None:
    """Run the program."""
    run("image_training", "Train an image network: forward, backward, update by SGD with momentum.", training=True)


if __name__ == "__main__":
    raise SystemExit(run_program("image_training", main))

"""What argparse calls to read an option: the parsers of records, with their sentence put behind the option's name."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial
from typing import TypeVar

from sizer.cli.printing import sentence
from sizer.records.messages import InputError, Message
from sizer.records.units import (
    parse_batch_size,
    parse_count,
    parse_data_size,
    parse_factor,
    parse_gpu_count,
    parse_iops,
    parse_latency,
    parse_mbps,
    parse_memory,
    parse_rate,
    parse_seconds,
    parse_share,
    parse_vcpus,
    parse_wait,
    parse_whole,
)

Value = TypeVar("Value")


def _typed(parse: Callable[[str], Value]) -> Callable[[str], Value]:
    """The same parser, raising what argparse shows to a person."""

    def read(text: str) -> Value:
        try:
            return parse(text)
        except InputError as error:
            raise argparse.ArgumentTypeError(sentence(error)) from None

    return read


MOST_REPEATS = 1000
MOST_RUNS = 20_000
HIGHEST_PORT = 65_535


def _parse_repeats(text: str) -> int:
    return parse_whole(text, 1, MOST_REPEATS, Message("a number of repeats"), "2")


def _parse_runs(text: str) -> int:
    return parse_whole(text, 1, MOST_RUNS, Message("a number of runs"), "12")


def _parse_port(text: str) -> int:
    return parse_whole(text, 1, HIGHEST_PORT, Message("a port"), "8765")


def _parse_batch_sizes(text: str) -> tuple[int, ...]:
    """Each of `32,64` once, in their order."""
    return tuple(dict.fromkeys(parse_batch_size(each) for each in text.split(",")))


def _parse_gpus(text: str) -> tuple[str, ...]:
    names = tuple(dict.fromkeys(name.strip() for name in text.split(",")))
    if not all(names):
        raise InputError("A name is missing in `{text}`; write GPUs with commas between them: T4,V100.", text=text)
    return names


vcpus = _typed(parse_vcpus)
gpus = _typed(_parse_gpus)
speedup = _typed(parse_factor)
seconds = _typed(parse_wait)
share = _typed(parse_share)
duration = _typed(parse_seconds)
samples = _typed(parse_count)
rate = _typed(parse_rate)
batch_size = _typed(parse_batch_size)
gpu_count = _typed(partial(parse_gpu_count, fewest=1))
iops = _typed(parse_iops)
mbps = _typed(parse_mbps)
milliseconds = _typed(parse_latency)
data_size = _typed(parse_data_size)
memory = _typed(parse_memory)
repeats = _typed(_parse_repeats)
runs = _typed(_parse_runs)
port = _typed(_parse_port)
batch_sizes = _typed(_parse_batch_sizes)

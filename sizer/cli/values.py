"""What may stand for a value on the command line and in a table, with the bounds of a study file.

Each function raises argparse.ArgumentTypeError, whose one sentence argparse puts behind the name of the option.
"""

from __future__ import annotations

import argparse
import math

from sizer.records import InputError, format_bytes, parse_bytes, parse_count, parse_seconds

LARGEST_VCPUS = 4096.0
LARGEST_BATCH = 2**20
SMALLEST_MEMORY = 2**20
LARGEST_MEMORY = 2**60
LARGEST_SPEEDUP = 1e6
LARGEST_GPUS = 4096
LARGEST_DISK_FIGURE = 1e9
BYTES_PER_MB = 10**6
LARGEST_SECONDS = 3600.0


def vcpus(text: str) -> float:
    """A number of vCPUs; any fraction, since a prediction needs no quota that can be set."""
    return _between(text, LARGEST_VCPUS, "a number of vCPUs")


def speedup(text: str) -> float:
    """How many times as fast."""
    return _between(text, LARGEST_SPEEDUP, "a factor")


def seconds(text: str) -> float:
    """A duration that somebody waits for."""
    return _between(text, LARGEST_SECONDS, "a number of seconds")


def share(text: str) -> float:
    """A share of something, above 0 and up to 1."""
    value = _number(text)
    if value is None or not 0 < value <= 1:
        raise argparse.ArgumentTypeError(f"`{text}` is not a share; give a number above 0 and up to 1, such as 0.95")
    return value


def duration(text: str) -> float:
    """Seconds of a time with its unit, such as 6h."""
    try:
        return parse_seconds(text)
    except InputError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def samples(text: str) -> float:
    """How many samples a job has, such as 1.2M."""
    try:
        return parse_count(text)
    except InputError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def batch_size(text: str) -> int:
    """A whole number of samples; a table may write it as 32.0."""
    value = _number(text)
    if value is None or not value.is_integer() or not 1 <= value <= LARGEST_BATCH:
        raise argparse.ArgumentTypeError(
            f"`{text}` is not a batch size; give a whole number from 1 to {LARGEST_BATCH}, such as 32"
        )
    return int(value)


def gpu_count(text: str) -> int:
    """How many accelerators."""
    value = _number(text)
    if value is None or not value.is_integer() or not 1 <= value <= LARGEST_GPUS:
        raise argparse.ArgumentTypeError(
            f"`{text}` is not a number of GPUs; give a whole number from 1 to {LARGEST_GPUS}, such as 2"
        )
    return int(value)


def iops(text: str) -> float:
    """What a disk gives, IOs a second."""
    return _between(text, LARGEST_DISK_FIGURE, "a number of IOs a second")


def mbps(text: str) -> float:
    """Bytes a second of a number of MB (10^6)."""
    return _between(text, LARGEST_DISK_FIGURE, "a number of MB (10^6) a second") * BYTES_PER_MB


def data_size(text: str) -> int:
    """Bytes of a data set, such as 600GiB."""
    try:
        count = parse_bytes(text)
    except InputError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    if not 1 <= count <= LARGEST_MEMORY:
        raise argparse.ArgumentTypeError(f"`{text}` is no size of a data set; give one up to {LARGEST_MEMORY >> 50}PiB")
    return count


def memory(text: str) -> int:
    """Bytes of a size with its unit, such as 30GiB."""
    try:
        count = parse_bytes(text)
    except InputError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    return round(_size(count, text))


def memory_gibibytes(text: str) -> int:
    """Bytes of a number of GiB, as measurements.csv has it."""
    value = _number(text)
    if value is None:
        raise argparse.ArgumentTypeError(f"`{text}` is not a number of GiB; give one such as 7.5")
    return round(_size(value * 2**30, f"{text} GiB"))


def _size(count: float, text: str) -> float:
    if not SMALLEST_MEMORY <= count <= LARGEST_MEMORY:
        bounds = f"{format_bytes(SMALLEST_MEMORY)} to {format_bytes(LARGEST_MEMORY)}"
        raise argparse.ArgumentTypeError(f"`{text}` is no memory that a machine has; give {bounds}")
    return count


def _between(text: str, largest: float, what: str) -> float:
    value = _number(text)
    if value is None or not 1 / largest <= value <= largest:
        raise argparse.ArgumentTypeError(f"`{text}` is not {what}; give one above 0, up to {largest:g}")
    return value


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None

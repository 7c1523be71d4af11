"""Cells as people write them, `16 GB`, `8 vCPU`, `1,077`, `$3.06`, as the plain number that their column holds."""

from __future__ import annotations

import re

from sizer.exchange.headers import (
    BATCH_PER_GPU,
    GPUS_PER_NODE,
    LATENCY,
    NODES,
    TIMES,
    UNSAID,
    USD_PER_GPU_HOUR,
    USD_PER_GPU_HOUR_SPOT,
    Meaning,
    meaning,
    time_unit,
)
from sizer.records.errors import InputError
from sizer.records.units import GIB, RELATIVE, parse_bytes

NUMBERS = frozenset(
    {
        "vcpus",
        "memory_gib",
        "batch_size",
        BATCH_PER_GPU,
        "gpu_count",
        "throughput",
        "throughput_low",
        "throughput_high",
        "dataset_samples",
        "usd_per_hour",
        "usd_per_hour_spot",
        USD_PER_GPU_HOUR,
        USD_PER_GPU_HOUR_SPOT,
        NODES,
        GPUS_PER_NODE,
        *TIMES,
        LATENCY,
        "latency_p99_ms",
    }
)
"""Columns whose cells may have a unit or separated thousands."""
_NUMBER = re.compile(r"(?P<number>[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?)\s*(?P<unit>\D.*)?", re.ASCII)
SECONDS = {"us": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0}
_LATENCIES = (LATENCY, "latency_p99_ms")
_COUNTS = {
    "vcpus": re.compile(r"(?:v?cpus?|v?cores?|threads?)", re.IGNORECASE),
    "gpu_count": re.compile(r"(?:gpus?|x|×)", re.IGNORECASE),
    "dataset_samples": re.compile(r"(?:images?|samples?)", re.IGNORECASE),
}
_THOUSANDS_OF = {"k": 1e3, "K": 1e3, "万": 1e4, "M": 1e6}
"""What a letter behind a count means: `1.2k` samples. `m` would be thousandths."""
_SHORTENED = re.compile(r"(?P<number>\d+(?:\.\d*)?|\.\d+)\s?(?P<letter>[kKM万])(?![a-zA-Z])\s*(?P<rest>\D*)", re.ASCII)
_SHORTENABLE = ("throughput", "throughput_low", "throughput_high", "dataset_samples")
_PRICE = re.compile(
    r"(?:US)?\$?\s*(?P<number>[\d.]+)(?:\s*(?:\$|USD))?(?:\s*(?:/|per)\s*(?:h|hr|hour))?\s*", re.IGNORECASE
)


def plain(means: Meaning, text: str) -> tuple[str, str]:
    """The number in a cell in the column's own unit, and what a rate in it counts.

    The unit that the column means holds where the cell has none. Text that is no number with a known unit stays as it
    is, for its reader to refuse.
    """
    column, unit = means.column, means.unit
    if column.startswith("usd_"):
        price = _PRICE.fullmatch(text)
        return (price["number"] if price else text), ""
    found = _NUMBER.fullmatch(text)
    if found is None:
        return text, ""
    number, own = found["number"], (found["unit"] or "").strip()
    if column == "memory_gib":
        return _gibibytes(number, own or unit, text), ""
    if means.inverse and not own and float(number) > 0:
        return f"{SECONDS[unit] / float(number):.15g}", ""
    if column in TIMES or column in _LATENCIES:
        usual = "s" if column in TIMES else "ms"
        return _duration(number, time_unit(own or unit or usual), SECONDS[usual], text), ""
    if not own:
        return (_a_second(number, unit) if column.startswith("throughput") else text), ""
    if column in _SHORTENABLE:
        shortened = _SHORTENED.fullmatch(text)
        if shortened is not None:
            whole = f"{float(shortened['number']) * _THOUSANDS_OF[shortened['letter']]:.15g} {shortened['rest']}"
            return plain(means, whole.strip())
    if column.startswith("throughput"):
        return _rate(number, own, text)
    counted = _COUNTS.get(column)
    return (number if counted is not None and counted.fullmatch(own) else text), ""


def _gibibytes(number: str, unit: str, text: str) -> str:
    if unit in ("", UNSAID, "GiB"):
        return number
    try:
        return repr(parse_bytes(f"{number} {unit}") / GIB)
    except InputError:
        return text


def _duration(number: str, unit: str | None, whole: float, text: str) -> str:
    """In units of so many seconds; as it is where it has that unit already, so that no digit changes."""
    if unit is None:
        return text
    factor = SECONDS[unit] / whole
    return number if factor == 1 else f"{float(number) * factor:.15g}"


def _rate(number: str, own: str, text: str) -> tuple[str, str]:
    """With the cell's own unit, `380 images/s`; what a word alone counts, `380 images`, is not read."""
    if own in ("x", "×"):
        return number, RELATIVE
    means = meaning(own)
    if means is None or means.column != "throughput" or not means.sample_unit or means.per_gpu or not means.unit:
        return text, ""
    return _a_second(number, means.unit), means.sample_unit


def _a_second(number: str, unit: str) -> str:
    """A rate in so much time as one a second; as it is where it is one, so that no digit changes."""
    return number if unit in ("", "s") else f"{float(number) / SECONDS[unit]:.15g}"

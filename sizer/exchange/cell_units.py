"""Cells as people write them, `16 GB`, `8 vCPU`, `1,077`, `$3.06`, as the plain number that their column holds."""

from __future__ import annotations

import re

from sizer.exchange.headers import LATENCY, TIMES, sample_unit, time_unit
from sizer.records import GIB, RELATIVE, InputError, parse_bytes

NUMBERS = frozenset(
    {
        "vcpus",
        "memory_gib",
        "batch_size",
        "gpu_count",
        "throughput",
        "throughput_low",
        "throughput_high",
        "dataset_samples",
        "usd_per_hour",
        "usd_per_hour_spot",
        *TIMES,
        LATENCY,
        "latency_p99_ms",
    }
)
"""Columns whose cells may have a unit or separated thousands."""
THOUSANDS = re.compile(r"(\d{1,3}(?:,\d{3})+)(\.\d+)?(?!\d)", re.ASCII)
_NUMBER = re.compile(r"(?P<number>[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)\s*(?P<unit>\D.*)?", re.ASCII)
_SECONDS = {"us": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0}
_LATENCIES = (LATENCY, "latency_p99_ms")
_COUNTS = {
    "vcpus": re.compile(r"(?:v?cpus?|v?cores?|threads?)", re.IGNORECASE),
    "gpu_count": re.compile(r"(?:gpus?|x|×)", re.IGNORECASE),
    "dataset_samples": re.compile(r"(?:images?|samples?)", re.IGNORECASE),
}
_PRICE = re.compile(r"(?:US)?\$?\s*(?P<number>[\d.]+)\s*(?:\$|USD)?\s*(?:(?:/|per)\s*(?:h|hr|hour))?", re.IGNORECASE)
_RATE = re.compile(r"(?P<what>[A-Za-z]+)\s*(?:/|per)\s*(?:s|sec|second)", re.IGNORECASE)


def without_thousands(text: str, delimiter: str) -> str:
    """The cell without the commas between its thousands: `1077` for `1,077`.

    In a table whose cells are separated by semicolons or tabs one comma may be a decimal one, so only two tell.
    """
    found = THOUSANDS.search(text)
    if found is None or found[1].startswith("0"):
        return text
    certain = delimiter == "," or found[1].count(",") > 1 or found[2] is not None
    whole = found.start() == 0 or not (text[found.start() - 1].isdigit() or text[found.start() - 1] in ".,")
    return text.replace(found[1], found[1].replace(",", ""), 1) if certain and whole else text


def plain(column: str, text: str, unit: str) -> tuple[str, str]:
    """The number in a cell in the column's own unit, and what a rate in it counts.

    `unit` holds where the cell has none. Text that is no number with a known unit stays as it is, for its reader to
    refuse.
    """
    if column.startswith("usd_"):
        price = _PRICE.fullmatch(text)
        return (price["number"] if price else text), ""
    found = _NUMBER.fullmatch(text)
    if found is None:
        return text, ""
    number, own = found["number"], (found["unit"] or "").strip()
    if column == "memory_gib":
        return _gibibytes(number, own or unit, text), ""
    if column in TIMES or column in _LATENCIES:
        usual = "s" if column in TIMES else "ms"
        return _duration(number, time_unit(own or unit or usual), _SECONDS[usual], text), ""
    if not own:
        return text, ""
    if column.startswith("throughput"):
        return _rate(number, own, text)
    counted = _COUNTS.get(column)
    return (number if counted is not None and counted.fullmatch(own) else text), ""


def _gibibytes(number: str, unit: str, text: str) -> str:
    if unit in ("", "GiB"):
        return number
    try:
        return repr(parse_bytes(f"{number} {unit}") / GIB)
    except InputError:
        return text


def _duration(number: str, unit: str | None, whole: float, text: str) -> str:
    """In units of so many seconds; as it is where it has that unit already, so that no digit changes."""
    if unit is None:
        return text
    factor = _SECONDS[unit] / whole
    return number if factor == 1 else f"{float(number) * factor:.15g}"


def _rate(number: str, unit: str, text: str) -> tuple[str, str]:
    if unit in ("x", "×"):
        return number, RELATIVE
    rate = _RATE.fullmatch(unit)
    counted = sample_unit(rate["what"]) if rate else None
    return (number, counted) if counted else (text, "")

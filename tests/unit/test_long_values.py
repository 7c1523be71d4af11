"""A value of a megabyte, which a stranger's file may hold, takes no parser long: none looks at it from each of its
characters on."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from sizer.analysis.log_lines.recognising import read_log
from sizer.catalog import importing
from sizer.catalog.catalog import Catalog
from sizer.catalog.gpus import read_gpu_name
from sizer.exchange.imported import read_measurements
from sizer.exchange.measurements import COLUMNS
from sizer.records.messages import SizerError
from sizer.records.units import parse_bytes, parse_count, parse_number, parse_rate, parse_seconds
from sizer.runner.time_limit import at_most
from sizer.study.parse import parse_study
from sizer.study.presets import HostSize

pytestmark = pytest.mark.slow

MIB = 2**20
SECONDS = 5.0
"""Of CPU time, in which each is done many times over; what looks at a megabyte from each of its places takes hours."""

REPEATED = (
    *("1", " ", "a", ",", "-", "(", "[", ".", "1,000", "1 000 ", "+", "*", "1 [1] ", "x "),
    *("V100 x", "1 x ", "$", "/", ":", "1% ", "e", "cpu ", "per ", "_", "{", "'", "\u541e"),
)
AROUND = (("", ""), ("1", "!"), ("a", "!"))
"""What a value begins with decides what reads on, and what it ends with that this was in vain."""

TYPED: dict[str, Callable[[str], object]] = {
    "number": parse_number,
    "bytes": parse_bytes,
    "seconds": parse_seconds,
    "count": parse_count,
    "rate": parse_rate,
    "GPU": read_gpu_name,
    **{f"column {name}": read for name, read in COLUMNS.items()},
}


def long(one: str, length: int) -> list[str]:
    """Texts of so many characters, of one repeated."""
    return [f"{front}{one * (length // len(one))}{end}" for front, end in AROUND]


def read_or_refused(read: Callable[[str], object], text: str) -> None:
    with at_most(SECONDS), suppress(SizerError):
        read(text)


@pytest.mark.parametrize("read", TYPED.values(), ids=TYPED)
def test_a_value_that_is_typed(read: Callable[[str], object]) -> None:
    """On the command line, or in a cell."""
    for one in REPEATED:
        for text in long(one, MIB // 30):
            read_or_refused(read, text)
    read_or_refused(read, "1" * MIB)


@pytest.mark.parametrize("one", REPEATED)
def test_a_cell(one: str, tmp_path: Path) -> None:
    """In each column that is read; the table may be one of a page, whose cells are as long as they like."""
    path = tmp_path / "table.md"

    def imported(table: str) -> None:
        path.write_text(table, encoding="utf-8")
        read_measurements(path, Catalog.load())

    def offered(table: str) -> None:
        path.write_text(table, encoding="utf-8")
        importing.read([path])

    for text in long(one, MIB // 30):
        for header in ("throughput", "price per hour", "dataset", "seconds per epoch", "gpu"):
            read_or_refused(imported, f"| workload | {header} | gpus | rate |\n| train | {text} | 1 | 100 |\n")
    for text in long(one, MIB)[:2]:
        read_or_refused(imported, f"| workload | throughput |\n| train | {text} |\n")
        read_or_refused(imported, f"| workload | {text} | throughput |\n| train | 1 | 100 |\n")
        read_or_refused(offered, f"| provider | instance_type | vcpus | usd_per_hour |\n| a | b | {text} | {text} |\n")


@pytest.mark.parametrize("one", REPEATED)
def test_a_line_of_a_log(one: str) -> None:
    """Which may be one of a known format until its end."""
    for text in long(one, MIB):
        read_or_refused(lambda log: read_log(log, None), f"{text} loss it/s\n" * 2)


@pytest.mark.parametrize("text", ["1" * 900_000, "0x" + "f" * 900_000, "1:" * 400_000, "1_" * 400_000])
@pytest.mark.parametrize("field", ["name", "measure: {seed", "axes: {vcpus", "objective: {at_least"])
def test_a_value_of_a_study_file(field: str, text: str) -> None:
    """A number with any base, too."""
    read_or_refused(
        lambda value: parse_study(
            f"workloads: [{{kind: image_training}}]\n{field}: {value}{'}' * ('{' in field)}\n",
            "study.yaml",
            None,
            HostSize(4, 2**34),
            None,
        ),
        text,
    )

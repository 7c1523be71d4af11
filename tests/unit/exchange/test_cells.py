"""What a cell of an imported table may be: each text has a value, or one sentence that says what to type."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from sizer.exchange import values as cells
from sizer.exchange.cells import Comma, comma_in, cpu_in, unmarked, with_point
from sizer.exchange.headers import meanings
from sizer.records.device import Device
from sizer.records.messages import InputError
from sizer.records.prediction import Bottleneck
from sizer.records.run import Run
from sizer.records.run_kinds import Outcome
from sizer.records.study import Workload
from sizer.records.units import GIB
from sizer.words.language import in_words


@pytest.mark.parametrize(
    ("read", "text", "sentence"),
    [
        (cells.amount, "1e19", "`1e19` is not an amount; write a number from 0 to 1e18."),
        (cells.amount, "1e-61", "`1e-61` is not an amount; write a number from 0 to 1e18."),
        (cells.rate, "0", "`0` is not the rate of a run that completed; write samples a second, above 0."),
        (cells.end_of_interval, "1e19", "`1e19` is not an end of a rate's interval; write samples a second."),
        (cells.end_of_interval, "1e-61", "`1e-61` is not an end of a rate's interval; write samples a second."),
        (cells.gib, "1e12", "`1e12 GiB` is not a size of data; write GiB (2^30 bytes)."),
        (cells.device, "tpu", "`tpu` is not a device; write cpu, cuda:0, emulated:P100 or emulated:300/s."),
        (
            cells.device,
            "emulated:1e-5/s",
            "`emulated:1e-5/s` is not a device; write cpu, cuda:0, emulated:P100 or emulated:300/s.",
        ),
        (cells.disk_class, "tape", "`tape` is not a class of disk; write nvme, ssd or standard."),
        (cells.truth, "perhaps", "`perhaps` is not yes or no; write yes or no."),
        (
            cells.moment,
            "yesterday",
            "`yesterday` is not a time; write one such as 2026-11-21T10:00:00+00:00, or leave the cell empty.",
        ),
        (cells.stage, "network", "`network` is not a stage; write step, pipeline, disk or cache."),
    ],
)
def test_a_cell_that_means_nothing_says_what_to_write(read: Callable[[str], object], text: str, sentence: str) -> None:
    """The sentence quotes the cell and names what would be right."""
    with pytest.raises(InputError) as refused:
        read(text)
    assert in_words(refused.value) == sentence


def test_a_long_text_is_refused_by_its_length() -> None:
    """A hundred characters are kept; one more is said to be too many."""
    assert cells.short_text("x" * 100) == "x" * 100
    with pytest.raises(InputError, match="is longer than 100 characters; shorten it"):
        cells.short_text("x" * 101)


def test_a_name_is_printable_text() -> None:
    """Any kind of space in it is one, and what is longer than a name is refused."""
    name = cells.of_domain(Workload, "name")
    assert name("train / resnet") == "train / resnet"
    assert name("图像\u3000训练") == "图像 训练"
    with pytest.raises(InputError) as refused:
        name("x" * 101)
    assert "must be printable text of up to 100 characters" in in_words(refused.value)


def test_a_field_without_bounds_has_no_cells() -> None:
    """A reader for such a field is a mistake in the program, found when it is imported."""
    with pytest.raises(TypeError, match=r"Run\.outcome has no domain"):
        cells.of_domain(Run, "outcome")


@pytest.mark.parametrize(
    ("read", "text", "value"),
    [
        (cells.amount, "0", 0.0),
        (cells.end_of_interval, "-inf", float("-inf")),
        (cells.end_of_interval, "180.2", 180.2),
        (cells.gib, "1.5", 3 * GIB // 2),
        (cells.repeat, "1", 0),
        (cells.outcome, "Timed out", Outcome.TIMEOUT),
        (cells.outcome, "out of memory", Outcome.OUT_OF_MEMORY),
        (cells.bottleneck, "CPU", Bottleneck.CPU),
        (cells.gpu, "None", None),
        (cells.gpu, "V100", "V100"),
        (cells.device, "GPU", Device("cuda", 0)),
        (cells.device, "cuda:1", Device("cuda", 1)),
        (cells.device, "emulated:300/s", Device("emulated", samples_per_second=300.0)),
        (cells.device, "emulated:P100", Device("emulated", gpu="P100")),
        (cells.disk_class, "NVMe", "nvme"),
        (cells.truth, "True", True),
        (cells.truth, "0", False),
        (cells.moment, "2026-11-21T10:00:00+00:00", "2026-11-21T10:00:00+00:00"),
        (cells.moment, "2026-11-21 10:00Z", "2026-11-21T10:00:00+00:00"),
        (cells.moment, "2026-11-21 10:00+01:00", "2026-11-21T10:00:00+01:00"),
        (cells.stage, "pipeline", "pipeline"),
        (cells.data_format, "LMDB", "lmdb"),
    ],
)
def test_a_cell_is_read_as_people_write_it(read: Callable[[str], Any], text: str, value: object) -> None:
    """Case, a Z for UTC and spreadsheet words make no difference."""
    assert read(text) == value


@pytest.mark.parametrize(
    ("texts", "delimiter", "comma"),
    [
        (["1,077", "2000"], ",", Comma.THOUSANDS),
        (["1,077", "2000"], "\t", Comma.THOUSANDS),
        (["1,077", "2000"], ";", Comma.UNKNOWN),
        (["1,077", "38.5"], ";", Comma.THOUSANDS),
        (["1,077.5"], ";", Comma.THOUSANDS),
        (["96,5", "1,077"], "\t", Comma.DECIMALS),
        (["0,096"], ";", Comma.DECIMALS),
        (["1.077,5"], ",", Comma.DECIMALS),
        (["96,5", "38.5"], ";", Comma.UNKNOWN),
    ],
)
def test_what_a_comma_separates_follows_from_the_cells_that_leave_no_doubt(
    texts: list[str], delimiter: str, comma: Comma
) -> None:
    assert comma_in([texts], delimiter) is comma


@pytest.mark.parametrize(
    ("text", "comma", "expected"),
    [
        ("1,281,167", Comma.UNKNOWN, "1281167"),
        ("1 281 167", Comma.UNKNOWN, "1281167"),
        ("1'281’167", Comma.UNKNOWN, "1281167"),
        ("0,096", Comma.THOUSANDS, "0,096"),
        ("12,34", Comma.THOUSANDS, "12,34"),
        ("16,5 GB", Comma.DECIMALS, "16.5 GB"),
        ("96,125", Comma.DECIMALS, "96.125"),
        ("1.342", Comma.DECIMALS, "1342"),
        ("1,077", Comma.UNKNOWN, "1,077"),
    ],
)
def test_a_number_is_written_with_a_point_alone(text: str, comma: Comma, expected: str) -> None:
    assert with_point(text, comma) == expected


def pairs(text: str) -> list[list[str]]:
    """Cases that stand in lines, `cell > what it is`, with a bar between them."""
    return [case.strip().split(" > ") for line in text.strip().splitlines() for case in line.split(" | ")]


MARKED = """
1,077* > 1,077 | 219† > 219 | 52 [1] > 52 | 52¹ > 52 | ~150 > 150 | ≈ 150 > 150 | 10 (a) > 10 | 96 ± 2 > 96
187±3.5 img/s > 187 | 342 +/- 7 > 342 | -3 > -3 | 16 GB > 16 GB | 1e5 > 1e5
"""


@pytest.mark.parametrize(("text", "expected"), pairs(MARKED))
def test_marks_around_a_figure_are_not_read(text: str, expected: str) -> None:
    assert unmarked(text) == expected


HEADERS = """
Hourly Cost (USD) > usd_per_hour | On-demand price (USD/hour) > usd_per_hour | US$/hour > usd_per_hour
价格(美元/小时) > usd_per_hour | Spot price ($/h) > usd_per_hour_spot | Cost ($) > - | Price (EUR/h) > - | 价格 > -
usd per month > - | Cost per 1M images ($) > - | hourly > - | GPU mem (GB) > gpu_memory_gb | VRAM > gpu_memory_gb
img/s/GPU > throughput | Throughput > throughput | Training throughput* > throughput | 推理吞吐量(请求/秒) > throughput
延迟(ms) > latency_p50_ms | p99 (ms) > latency_p99_ms | p95 latency (ms) > - | # of GPUs > gpu_count
System memory > memory_gib
"""


@pytest.mark.parametrize(("header", "column"), pairs(HEADERS))
def test_headers_with_units_and_those_of_something_else(header: str, column: str) -> None:
    """What is bought by the month or in another currency is not what a machine costs."""
    understood = meanings(header)
    assert (understood[-1].column if understood else "-") == column


CPUS = """
cpu > it | CPU only > it | cpu:0 > it | CPU c4.8xlarge > c4.8xlarge | CPU (Skylake, 16 cores) > Skylake, 16 cores
Intel CPU: i7-12700H > i7-12700H | Xeon Gold 6148 > Xeon Gold 6148 | 2x AMD EPYC 7763 > 2x AMD EPYC 7763
Xeon Phi 7120P > none | V100 > none | GTX 1080 + Xeon E5 > none | cuda:0 > none | emulated:P100 > none
"""


@pytest.mark.parametrize(("cell", "name"), pairs(CPUS))
def test_which_cells_say_a_cpu(cell: str, name: str) -> None:
    """By a name of it, or without one."""
    assert cpu_in(cell) == {"it": "", "none": None}.get(name, name)

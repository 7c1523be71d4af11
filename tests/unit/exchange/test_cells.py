"""What a cell of an imported table may be: each text has a value, or one sentence that says what to type."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from sizer.exchange import table_cells as cells
from sizer.records.configuration import Bottleneck
from sizer.records.device import Device
from sizer.records.errors import InputError
from sizer.records.run import Run
from sizer.records.run_kinds import Outcome
from sizer.records.study import Workload
from sizer.records.units import GIB
from sizer.words.language import in_words


@pytest.mark.parametrize(
    ("read", "text", "sentence"),
    [
        (cells.amount, "1e19", "`1e19` is not an amount that can be measured; write a number from 0 to 1e+18."),
        (cells.amount, "-1", "`-1` is not an amount that can be measured; write a number from 0 to 1e+18."),
        (cells.amount, "1e-61", "`1e-61` is not an amount that can be measured; write a number from 0 to 1e+18."),
        (cells.rate, "0", "`0` is not the rate of a run that completed; write samples a second, above 0."),
        (cells.end_of_interval, "1e19", "`1e19` is not an end of a rate's interval; write samples a second."),
        (cells.end_of_interval, "1e-61", "`1e-61` is not an end of a rate's interval; write samples a second."),
        (cells.gib, "1e12", "`1e12 GiB` is more than 1,020 PiB; write GiB (2^30 bytes)."),
        (
            cells.outcome,
            "exploded",
            "`exploded` is not an outcome; write completed, out_of_memory, timeout, crashed, interrupted, unsupported "
            "or refused.",
        ),
        (
            cells.bottleneck,
            "network",
            "`network` is not a bottleneck; write cpu, serial, disk_bandwidth, disk_iops, disk_write, accelerator, "
            "memory or ambiguous.",
        ),
        (cells.device, "tpu", "`tpu` is not a device; write cpu, cuda:0, emulated:P100 or emulated:300/s."),
        (
            cells.device,
            "emulated:1e-5/s",
            "`emulated:1e-5/s` is not a device; write cpu, cuda:0, emulated:P100 or emulated:300/s.",
        ),
        (
            cells.device,
            "emulated:",
            "`emulated:` is not a device; write cpu, cuda:0, emulated:P100 or emulated:300/s.",
        ),
        (cells.disk_class, "tape", "`tape` is not a class of disk; write nvme, ssd or standard, or nothing."),
        (cells.truth, "perhaps", "`perhaps` is neither yes nor no; write one of them."),
        (
            cells.moment,
            "yesterday",
            "`yesterday` is not a time; write one such as 2026-11-21T10:00:00+00:00, or nothing.",
        ),
        (cells.stage, "network", "`network` is not a stage; write step, pipeline, disk or cache."),
        (
            cells.data_format,
            "zip",
            "`zip` is not a form of data; write recordio, lmdb, folder or text, or nothing.",
        ),
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


@pytest.mark.parametrize("text", ["100", "0.1", "123.456789", "0"])
def test_megabytes_are_written_again_as_they_were_read(text: str) -> None:
    """A table that is exported and imported again does not change by a rounding."""
    assert cells.in_megabytes(cells.megabytes(text)) == text

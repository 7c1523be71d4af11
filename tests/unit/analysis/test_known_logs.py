"""Real lines of each known format, in its variants: which format they are, and how many batches or samples they count.

Each log says where its lines were printed; a format's own source is named in `log_lines`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sizer.analysis.log_lines.line_formats import LINE_FORMATS
from sizer.analysis.log_lines.recognising import BARS, LogLines
from sizer.analysis.log_rates import LogRates
from sizer.records.frameworks import LOG_FORMATS
from tests import ROOT


@dataclass(frozen=True)
class Read:
    """What was read of a log: its format, what its counter grew by from line to line, and how many epochs began."""

    name: str | None
    grown: list[int]
    epochs: int


def read(text: str, pattern: str | None = None) -> Read:
    """A log as a run reads it."""
    lines = LogLines(pattern)
    readings = [reading for line in text.replace("\r", "\n").split("\n") if (reading := lines.read(line)) is not None]
    return Read(
        lines.recognised,
        [reading.grown for reading in readings if reading.grown],
        readings[-1].epoch if readings else 0,
    )


LOGS = sorted((Path(__file__).parent / "logs").iterdir())
"""Each begins with what its lines count from one to the next and how many epochs begin after the first one, then where
it was printed. What programs wrote into a terminal of 80 or 200 columns has its carriage returns and colours."""


def parsed(path: Path) -> tuple[Read, str]:
    """What is expected of a log, whose format is in the name of its file, and the log."""
    text = path.read_bytes().decode("utf-8")
    head = re.match(r"#: ([\d ]*); (\d+)\n(?:#:.*\n)*", text)
    name = path.stem.partition("-")[0]
    return Read(name, [int(number) for number in head[1].split()], int(head[2])), text[head.end() :]


@pytest.mark.parametrize("path", LOGS, ids=lambda path: path.stem)
def test_each_log_is_recognised_and_counts_its_training(path: Path) -> None:
    """By itself, and by its name: no evaluation is a step, and several processes that print count once."""
    expected, text = parsed(path)
    assert read(text) == expected


def test_every_known_name_is_tested_and_can_be_read() -> None:
    """What a study may name is what is read."""
    assert {parsed(path)[0].name for path in LOGS} == set(LOG_FORMATS)
    assert {line_format.name for line_format in LINE_FORMATS} | BARS | {"keras"} == set(LOG_FORMATS)
    table = (ROOT / "docs" / "logs.md").read_text("utf-8").partition("## A pattern")[0]
    assert set(re.findall(r"^\| `(\w+)`", table, re.MULTILINE)) == set(LOG_FORMATS)


@pytest.mark.parametrize(
    "text",
    [
        "Downloading: 45%|████▌     | 12/30 [00:01<00:02, 12.0MB/s]\n"
        "Downloading: 60%|████▌ | 18/30 [00:01<00:02, 12.0MB/s]\n",
        "12:01:02 3/4 done\n12:01:03 4/4 done\n",
        "loss: 0.5\nloss: 0.4\nTime 0.3\n",
        "Epoch 1/3 took 4s\nEpoch 2/3 took 4s\n",
    ],
)
def test_other_lines_are_no_steps(text: str) -> None:
    """A download, a count of files, a loss."""
    assert read(text) == Read(None, [], 0)


PIECES = sorted({piece for path in LOGS for piece in re.split(r"(?<=[\[ (/,:|=])", parsed(path)[1]) if piece})
ODD = ["", "9" * 5000, "1.2.3", "-1", "٣", "nan", "1e999", "\r", "\n", "\x1b[A", "\x08", "::", "Epoch 1/2\n"]


@given(st.lists(st.sampled_from(PIECES + ODD), max_size=40), st.sampled_from([None, *LOG_FORMATS]))
def test_whatever_is_printed_nothing_breaks(pieces: list[str], pattern: str | None) -> None:
    """Lines of all formats cut apart and put together, with numbers that are none: no step is negative."""
    text = "".join(pieces)
    assert all(grown >= 0 for grown in read(text, pattern).grown)
    now = iter(range(10**6))
    steps = LogRates(pattern, 8, lambda: float(next(now))).feed(f"{text}\n".encode() * 3)
    assert all(step.samples >= 0 for step in steps)

"""Events that a healthy host does not send, and predictions for data of an unknown size, as the terminal shows."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from sizer import api
from sizer.cli import main
from sizer.cli.progress import EventPrinter
from sizer.records.errors import HostError


@pytest.mark.parametrize(
    ("event", "line"),
    [
        (
            api.events.DiskUnusable("nvme", HostError("/mnt cannot be written.")),
            "disk `nvme` cannot be used: /mnt cannot be written.",
        ),
        (
            api.events.NotConcluded(HostError("model.json cannot be written.")),
            "the answer could not be written: model.json cannot be written.",
        ),
        (
            api.events.NotShown(HostError("report.html cannot be written.")),
            "the page that is being served could not be written: report.html cannot be written.",
        ),
        (
            api.events.StoodStill(3.21),
            "sizer itself stood still for 3.2 s (stopped, suspended, or without CPU time); the run is made again",
        ),
    ],
)
def test_what_went_wrong_is_a_line(event: api.events.Event, line: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The study goes on after it, so it is no error of its own."""
    EventPrinter()(event)
    said = capsys.readouterr()
    assert line in [each.strip() for each in (said.out + said.err).splitlines()]


def test_data_of_an_unknown_size_is_not_compared(
    store_knee: Callable[[Path], Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The line of the prediction says why there is none, and what to type instead."""
    folder = store_knee(tmp_path / "s")
    code = main(["predict", str(folder), "--vcpus", "4", "--data-size", "40GiB"])
    said = capsys.readouterr()
    assert code == 5
    assert said.err == (
        "sizer: The data set size of `train` was not recorded, so it cannot be compared with 40 GiB. Say how many "
        "times as large it is with --data-factor.\n"
    )

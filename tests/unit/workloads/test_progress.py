from __future__ import annotations

import pytest

from workloads.events import Events
from workloads.progress import Extent, Progress
from workloads.stop import StopRequest


def progress(extent: Extent) -> Progress:
    return Progress("job", "image", Events(None), StopRequest(), extent)


def test_the_closing_line_tells_samples_wait_and_latency(capsys: pytest.CaptureFixture[str]) -> None:
    """One line: what ran, the rate, the totals; the latency leaves the first step out."""
    account = progress(Extent())
    account.start(0, 0, 4)
    for latency in (9.0, 0.1, 0.2):
        account.step(4, 0.5, 0, latency)
    account.end(" (emulated device)")
    line = capsys.readouterr().out
    assert line.startswith("job: ")
    assert "3 steps, 12 images" in line
    assert "1.5 s of them waiting for input" in line
    assert "p50 100.0 ms, p99 200.0 ms (emulated device)" in line


def test_one_is_not_said_as_many(capsys: pytest.CaptureFixture[str]) -> None:
    """A job of a single step of a single image."""
    account = progress(Extent())
    account.start(0, 0, 1)
    account.step(1, 0.0, 0)
    account.end()
    assert "1 step, 1 image in " in capsys.readouterr().out

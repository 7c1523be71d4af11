from __future__ import annotations

import pytest

from workloads.events import Events
from workloads.progress import Extent, Progress, percentile
from workloads.stop import StopRequest


def progress(extent: Extent) -> Progress:
    return Progress("job", "image", Events(None), StopRequest(), extent)


def test_a_run_is_over_after_its_steps() -> None:
    """--steps counts steps, and one without an end goes on."""
    counted, endless = progress(Extent(steps=2)), progress(Extent())
    for account in (counted, endless):
        account.start(0, 0, 4)
        account.step(4, 0.0, 0)
        assert not account.over
        account.step(4, 0.0, 0)
    assert counted.over
    assert not endless.over


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


@pytest.mark.parametrize(("share", "value"), [(0.5, 50), (0.99, 99), (1.0, 100), (0.001, 1)])
def test_percentiles_by_nearest_rank(share: float, value: int) -> None:
    """The p-th percentile of 1 to 100 is p."""
    assert percentile([float(number) for number in range(100, 0, -1)], share) == value

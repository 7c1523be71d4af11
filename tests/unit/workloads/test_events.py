from __future__ import annotations

import json
import os

import pytest

from workloads import progress as progress_module
from workloads.faults import InputFault
from workloads.process import StopRequest
from workloads.progress import Events, Extent, Progress, Step


def written(write: object) -> list[dict[str, object]]:
    receiver, sender = os.pipe()
    write(Events(sender))  # type: ignore[operator]
    os.close(sender)
    with open(receiver) as lines:
        return [json.loads(line) for line in lines]


def test_start_carries_the_data_set_and_what_the_program_adds() -> None:
    """`start` tells size and count of the data set, bytes a sample, and any further facts."""
    (event,) = written(
        lambda events: events.start(
            sample_unit="image", batch_size=4, dataset_bytes=1000, dataset_samples=10, network="vgg16"
        )
    )
    assert event == {
        "event": "start",
        "sample_unit": "image",
        "batch_size": 4,
        "dataset_bytes": 1000,
        "dataset_samples": 10,
        "bytes_per_sample": 100.0,
        "network": "vgg16",
    }


def test_without_a_descriptor_nothing_is_written(monkeypatch: pytest.MonkeyPatch) -> None:
    """A program run by a person writes no events."""
    monkeypatch.delenv("SIZER_EVENTS_FD", raising=False)
    Events.from_environment().end()


@pytest.mark.parametrize("value", ["no number", "987654"])
def test_a_descriptor_that_is_not_open_is_named(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    """A wrong SIZER_EVENTS_FD is one sentence that names it."""
    monkeypatch.setenv("SIZER_EVENTS_FD", value)
    with pytest.raises(InputFault, match=f"SIZER_EVENTS_FD={value}"):
        Events.from_environment()


def test_a_reader_that_has_gone_ends_the_program() -> None:
    """A closed pipe is a fault, not a traceback."""
    receiver, sender = os.pipe()
    os.close(receiver)
    with pytest.raises(InputFault, match="nobody reads"):
        Events(sender).end()
    os.close(sender)


def test_short_steps_are_written_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """A step is written at once unless a write was just before it; what waits goes with a later one, in order."""
    receiver, sender = os.pipe()
    events = Events(sender)
    seen = []
    for now in (10.0, 10.1, 10.4, 10.6, 12.0):
        monkeypatch.setattr(progress_module.time, "monotonic", lambda now=now: now)
        events.step(Step(1, 0.0, 0))
        os.set_blocking(receiver, False)
        try:
            lines = os.read(receiver, 4096).splitlines()
        except BlockingIOError:
            lines = []
        seen.append([json.loads(line)["time"] for line in lines])
    os.close(sender)
    os.close(receiver)
    assert seen == [[10.0], [], [], [10.1, 10.4, 10.6], [12.0]]


def test_the_end_leaves_no_step_behind() -> None:
    """Steps that still wait are written before the end."""

    def two_steps_and_an_end(events: Events) -> None:
        events.step(Step(1, 0.0, 0))
        events.step(Step(1, 0.0, 0))
        events.end()

    assert [event["event"] for event in written(two_steps_and_an_end)] == ["step", "step", "end"]


def progress(extent: Extent) -> Progress:
    return Progress("job", "image", Events(None), StopRequest(), extent)


def test_the_closing_line_tells_samples_wait_and_latency(capsys: pytest.CaptureFixture[str]) -> None:
    """One line: what ran, the rate, the totals; the latency leaves the first step out."""
    account = progress(Extent())
    account.start(0, 0, 4)
    for latency in (9.0, 0.1, 0.2):
        account.step(Step(4, 0.5, 0, latency))
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
    account.step(Step(1, 0.0, 0))
    account.end()
    assert "1 step, 1 image in " in capsys.readouterr().out

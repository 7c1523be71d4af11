"""Records of many processes become the steps of one job."""

from __future__ import annotations

import json
from typing import Any

import pytest

from sizer.analysis.events import EventError
from sizer.analysis.ranks import PATIENCE_SECONDS, RankReader, Told
from sizer.records.run import Meter, MeterKind, Step

HOOKED = Meter(MeterKind.HOOK, "torch")


def record(pid: int = 1, event: str = "step", phase: str | None = "train", **fields: Any) -> bytes:
    """One line, as the hook writes it."""
    known = {"event": event, "pid": pid, "parent": 7, "rank": None, "ranks": None, "source": "torch", "phase": phase}
    return json.dumps({**known, **fields}).encode() + b"\n"


def rank(number: int, *steps: tuple[float, int | None, float, int], pid: int | None = None, ranks: int = 2) -> bytes:
    """Steps of one of two ranks: time, samples, waiting and epoch of each."""
    return record(number + 1 if pid is None else pid, rank=number, ranks=ranks, steps=steps)


def test_the_steps_of_one_process() -> None:
    """As they were told, cut wherever the reads fall."""
    reader = RankReader(1)
    line = record(steps=[(1.0, 8, 0.5, 0), (2.0, 8, 0.25, 1)])
    assert reader.feed(line[:50], 2.0).steps == ()
    told = reader.feed(line[50:], 2.0)
    assert told.steps == (Step(1.0, 8, 0.5, 0), Step(2.0, 8, 0.25, 1))
    assert told.anew
    assert reader.meter == HOOKED


def test_ranks_make_a_step_together() -> None:
    """Samples are summed, and it ends with the last of them, which waited longest."""
    reader = RankReader(1)
    assert reader.feed(rank(0, (1.0, 8, 0.1, 0), (2.0, 8, 0.1, 0)), 2.0).steps == ()
    assert reader.feed(rank(1, (1.5, 8, 0.3, 0)), 2.1).steps == (Step(1.5, 16, 0.3, 0),)
    assert reader.feed(rank(1, (2.5, 8, 0.0, 0)), 2.6).steps == (Step(2.5, 16, 0.1, 0),)


def test_a_silent_rank_is_waited_for_only_so_long() -> None:
    """What it brings later belongs to a later step, so that no sample is lost."""
    reader = RankReader(1)
    reader.feed(rank(0, (1.0, 8, 0.0, 0)), 1.0)
    assert reader.feed(b"", 1.0 + PATIENCE_SECONDS / 2).steps == ()
    assert reader.feed(b"", 1.0 + PATIENCE_SECONDS).steps == (Step(1.0, 8, 0.0, 0),)
    told = reader.feed(rank(0, (9.0, 8, 0.0, 0)) + rank(1, (1.0, 8, 0.0, 0), (9.0, 8, 0.0, 0)), 9.0)
    assert sum(step.samples for step in told.steps) == 24


def test_a_rank_that_has_ended_is_not_waited_for() -> None:
    """And at the end of the run nobody is."""
    reader = RankReader(1)
    reader.feed(rank(0, (1.0, 8, 0.0, 0)) + rank(1, (1.0, 8, 0.0, 0)), 1.0)
    assert len(reader.feed(record(2, "end", rank=1, ranks=2) + rank(0, (2.0, 8, 0.0, 0)), 2.0).steps) == 1
    reader.feed(rank(0, (3.0, 8, 0.0, 0), pid=5), 3.0)
    assert len(reader.finish().steps) == 1


def test_processes_without_ranks_count_each_by_itself() -> None:
    """In the order of time, and never before what was told."""
    reader = RankReader(1)
    told = reader.feed(record(1, steps=[(2.0, 8, 0.0, 1)]) + record(2, steps=[(1.0, 4, 0.0, 0)]), 2.0)
    assert [(step.time, step.samples) for step in told.steps] == [(1.0, 4), (2.0, 8)]
    assert reader.feed(record(2, steps=[(1.5, 4, 0.0, 0)]), 2.5).steps == (Step(2.0, 4, 0.0, 1),)


def test_training_takes_the_place_of_what_came_before() -> None:
    """A program that infers first, such as to see where it stands, and one whose helper does."""
    reader = RankReader(1)
    assert reader.feed(record(phase="infer", steps=[(1.0, 8, 0.0, 0)]), 1.0).steps
    told = reader.feed(record(steps=[(2.0, 8, 0.0, 0)]), 2.0)
    assert told.anew
    assert told.steps == (Step(2.0, 8, 0.0, 0),)
    assert reader.feed(record(9, phase="infer", steps=[(3.0, 8, 0.0, 0)]), 3.0).steps == ()


def test_the_studys_samples_per_step_count_before_what_the_hook_saw() -> None:
    """In each process, seen or not; what a program tells of itself stays."""
    reader = RankReader(32, samples_per_step=5)
    told = reader.feed(record(steps=[(1.0, 39, 0.0, 0), (2.0, None, 0.0, 0)]), 2.0)
    assert [step.samples for step in told.steps] == [5, 5]
    assert reader.counts_samples
    own = reader.feed(record(phase=None, time=3.0, samples=4, input_wait=0.0, epoch=0), 3.0)
    assert [step.samples for step in own.steps] == [4]


def test_what_a_program_tells_of_itself_counts_before_the_hook() -> None:
    """One step a record is the form of the event pipe; the unit comes with its start."""
    reader = RankReader(1)
    reader.feed(record(steps=[(1.0, 8, 0.0, 0)]), 1.0)
    told = reader.feed(record(event="start", phase=None, sample_unit="image", batch_size=4), 1.5)
    assert told.anew
    assert told.start is not None
    assert told.start.sample_unit == "image"
    line = record(phase=None, time=2.0, samples=4, input_wait=0.0, epoch=0)
    assert reader.feed(line + record(steps=[(2.0, 8, 0.0, 0)]), 2.0).steps == (Step(2.0, 4, 0.0, 0),)
    assert reader.meter == Meter(MeterKind.EVENTS)


@pytest.mark.parametrize(
    "line",
    [
        b"nonsense\n",
        b"[1]\n",
        b'{"event": "step"}\n',
        record(phase="rest"),
        record(rank="first"),
        record(pid="me"),  # type: ignore[arg-type]
        record(steps=[1]),
        record(steps=[(1.0, 8, 0.0)]),
        record(steps=[(1.0, 8.5, 0.0, 0)]),
        record(steps=[(-1.0, 8, 0.0, 0)]),
        record(steps=[("now", 8, 0.0, 0)]),
        record(steps=[(1.0, 8, float("nan"), 0)]),
        record(steps=[(float("inf"), 8, 0.0, 0)]),
        record(steps=[(1.0, True, 0.0, 0)]),
        record(time=1.0, samples="many", input_wait=0.0, epoch=0),
        record(event="pause"),
        b"x" * 70_000,
    ],
)
def test_what_breaks_the_form_is_named(line: bytes) -> None:
    """Nobody but a program that means to write there comes upon the FIFO."""
    with pytest.raises(EventError):
        RankReader(1).feed(line, 1.0)


def test_the_hook_says_that_it_is_there() -> None:
    """Before any step, and of no phase; and with steps that several loaders are read."""
    reader = RankReader(1)
    assert reader.feed(record(event="hooked", phase=None), 1.0) == Told()
    assert (reader.hooked, reader.meter) == (True, None)
    reader.feed(record(steps=[(1.0, 8, 0.0, 0)]), 1.0)
    assert not reader.side_by_side
    reader.feed(record(beside=True, steps=[(2.0, 8, 0.0, 0)]), 2.0)
    assert reader.side_by_side

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sizer.analysis.events import RANK_SECONDS, End, EventError, EventReader, RankReader, Reading, Records, Start
from sizer.records.run import Meter, MeterKind, Step

START = (
    b'{"event":"start","sample_unit":"image","batch_size":8,"dataset_bytes":100,"dataset_samples":10,'
    b'"bytes_per_sample":10}\n'
)
STEP = b'{"event":"step","time":1.5,"samples":8,"input_wait":0.1,"epoch":0}\n'


def test_a_stream_in_the_form_becomes_records() -> None:
    """Start, steps and end arrive as records, wherever the pipe cuts them."""
    reader = EventReader()
    stream = START + STEP + b'{"event":"end"}\n'
    events = [event for byte in stream for event in reader.feed(bytes([byte]))]
    assert events == [Start("image", 8, 100, 10), Step(1.5, 8, 0.1, 0), End()]
    reader.close()


def test_a_workload_may_state_its_options() -> None:
    """By name: truths, numbers and short texts."""
    stated = {"compile": False, "workers": 2, "precision": "fp32"}
    line = json.dumps({**json.loads(START), "stated": stated}).encode() + b"\n"
    assert EventReader().feed(line) == [Start("image", 8, 100, 10, stated)]


READING = b'{"event":"reading","bytes":4,"whole":10}\n'


def test_before_its_loop_a_workload_tells_how_far_it_has_read() -> None:
    """As often as it likes."""
    assert EventReader().feed(READING + READING) == [Reading(4, 10), Reading(4, 10)]


def step_with(**fields: str) -> bytes:
    """A start and a step with other fields, as they are written."""
    written = {"time": "1", "samples": "8", "input_wait": "0", "epoch": "0"} | fields
    cells = ",".join(f'"{name}":{cell}' for name, cell in written.items() if cell)
    return START + f'{{"event":"step",{cells}}}\n'.encode()


def start_with(stated: object) -> bytes:
    return json.dumps({**json.loads(START), "stated": stated}).encode() + b"\n"


@pytest.mark.parametrize(
    ("stream", "problem"),
    [
        (START + b"hello\n", "not a line of JSON: 'hello'"),
        (START + b"[]\n", "no event named reading, start, step, out_of_memory or end: '[]'"),
        (
            START + b'{"event":"stop"}\n',
            """no event named reading, start, step, out_of_memory or end: '{"event":"stop"}'""",
        ),
        (START + b"\xff\xfe\n", r"not a line of JSON: '\\xff\\xfe'"),
        (START + b"[" * 5000 + b"\n", "not a line of JSON: '[[["),
        (step_with(time='"1"'), "`time` is not a number"),
        (step_with(samples="8.5"), "`samples` is not a whole number"),
        (step_with(samples="-8"), "`samples` is not a number from 0"),
        (step_with(time="NaN"), "`time` is not a number"),
        (step_with(time="1e999"), "`time` is not a number"),
        (step_with(time="true"), "`time` is not a number"),
        (step_with(time=""), "`time` is not a number"),
        (step_with(time="9" * 400), "`time` is not a number"),
        (step_with(time="-1"), "`time` is not a number"),
        (step_with(epoch="-1"), "`epoch` is not a number"),
        # Steps 1e-300 s apart would make an infinite rate, which no file could hold.
        *((step_with(time=time), "`time` is nearer to 0 than any clock") for time in ("5e-324", "1e-300", "1e-10")),
        *(
            (start_with(stated), "`stated` is not a mapping")
            for stated in (["fp32"], {"workers": None}, {"": 1}, {"decoder": {}}, {"rate": 1e300})
        ),
        (START + READING, "out of order"),
        (START + STEP + STEP + STEP.replace(b"1.5", b"1.4"), "before that of the one before"),
        (b"x" * 70_000 + b"\n", "longer than"),
        (b"x" * 70_000, "longer than"),
        (START + STEP[:20], "inside a line"),
    ],
)
def test_a_stream_that_breaks_the_form_is_named(stream: bytes, problem: str) -> None:
    """With the line, so that the author of a workload can find it; a line without an end takes no memory of ours."""

    def read() -> None:
        reader = EventReader()
        reader.feed(stream)
        reader.close()

    with pytest.raises(EventError) as broken:
        read()
    assert problem in str(broken.value)


@given(st.binary(max_size=300))
def test_garbage_is_an_event_error_and_nothing_else(garbage: bytes) -> None:
    """Whatever a pipe holds, the parser ends in events or in an EventError."""
    reader = EventReader()
    with suppress(EventError):
        reader.feed(garbage + b"\n")
        reader.close()


HOOKED = Meter(MeterKind.HOOK, "torch")


def record(pid: int = 1, event: str = "step", phase: str | None = "train", **fields: Any) -> bytes:
    """One line, as the hook writes it."""
    usual = {"event": event, "pid": pid, "parent": 7, "rank": None, "ranks": None, "source": "torch", "phase": phase}
    return json.dumps({**usual, **fields}).encode() + b"\n"


def rank(number: int, *steps: tuple[float, int | None, float, int], pid: int | None = None, ranks: int = 2) -> bytes:
    """Steps of one of two ranks: time, samples, waiting and epoch of each."""
    return record(number + 1 if pid is None else pid, rank=number, ranks=ranks, steps=steps)


def test_the_steps_of_one_process() -> None:
    """As they were told, cut wherever the reads fall."""
    reader = RankReader(1)
    line = record(steps=[(1.0, 8, 0.5, 0), (2.0, 8, 0.25, 1)])
    assert reader.feed(line[:50], 2.0).steps == ()
    records = reader.feed(line[50:], 2.0)
    assert records.steps == (Step(1.0, 8, 0.5, 0), Step(2.0, 8, 0.25, 1))
    assert records.anew
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
    assert reader.feed(b"", 1.0 + RANK_SECONDS / 2).steps == ()
    assert reader.feed(b"", 1.0 + RANK_SECONDS).steps == (Step(1.0, 8, 0.0, 0),)
    records = reader.feed(rank(0, (9.0, 8, 0.0, 0)) + rank(1, (1.0, 8, 0.0, 0), (9.0, 8, 0.0, 0)), 9.0)
    assert sum(step.samples for step in records.steps) == 24


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
    records = reader.feed(record(1, steps=[(2.0, 8, 0.0, 1)]) + record(2, steps=[(1.0, 4, 0.0, 0)]), 2.0)
    assert [(step.time, step.samples) for step in records.steps] == [(1.0, 4), (2.0, 8)]
    assert reader.feed(record(2, steps=[(1.5, 4, 0.0, 0)]), 2.5).steps == (Step(2.0, 4, 0.0, 1),)


def test_training_takes_the_place_of_what_came_before() -> None:
    """A program that infers first, such as to see where it stands, and one whose helper does."""
    reader = RankReader(1)
    assert reader.feed(record(phase="infer", steps=[(1.0, 8, 0.0, 0)]), 1.0).steps
    records = reader.feed(record(steps=[(2.0, 8, 0.0, 0)]), 2.0)
    assert records.anew
    assert records.steps == (Step(2.0, 8, 0.0, 0),)
    assert reader.feed(record(9, phase="infer", steps=[(3.0, 8, 0.0, 0)]), 3.0).steps == ()


def test_the_studys_samples_per_step_count_before_what_the_hook_saw() -> None:
    """In each process, seen or not; what a program tells of itself stays."""
    reader = RankReader(32, samples_per_step=5)
    records = reader.feed(record(steps=[(1.0, 39, 0.0, 0), (2.0, None, 0.0, 0)]), 2.0)
    assert [step.samples for step in records.steps] == [5, 5]
    assert reader.counts_samples
    own = reader.feed(record(phase=None, time=3.0, samples=4, input_wait=0.0, epoch=0), 3.0)
    assert [step.samples for step in own.steps] == [4]


def test_what_a_program_tells_of_itself_counts_before_the_hook() -> None:
    """One step a record is the form of the event pipe; the unit comes with its start."""
    reader = RankReader(1)
    reader.feed(record(steps=[(1.0, 8, 0.0, 0)]), 1.0)
    records = reader.feed(record(event="start", phase=None, sample_unit="image", batch_size=4), 1.5)
    assert records.anew
    assert records.start.sample_unit == "image"
    line = record(phase=None, time=2.0, samples=4, input_wait=0.0, epoch=0)
    assert reader.feed(line + record(steps=[(2.0, 8, 0.0, 0)]), 2.0).steps == (Step(2.0, 4, 0.0, 0),)
    assert reader.meter == Meter(MeterKind.EVENTS)


@pytest.mark.parametrize(
    "line",
    [
        b"nonsense\n",
        b'{"event": "step"}\n',
        record(phase="rest"),
        record(rank="first"),
        record(pid="me"),  # type: ignore[arg-type]
        record(steps=[(1.0, 8, 0.0)]),
        record(steps=[(1.0, 8.5, 0.0, 0)]),
        record(steps=[("now", 8, 0.0, 0)]),
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
    assert reader.feed(record(event="hooked", phase=None), 1.0) == Records()
    assert (reader.hooked, reader.meter) == (True, None)
    reader.feed(record(steps=[(1.0, 8, 0.0, 0)]), 1.0)
    assert not reader.side_by_side
    reader.feed(record(beside=True, steps=[(2.0, 8, 0.0, 0)]), 2.0)
    assert reader.side_by_side

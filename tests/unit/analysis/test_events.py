from __future__ import annotations

import json
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sizer.analysis.events import End, EventError, EventReader, Reading, Start
from sizer.records.run import Step

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


@pytest.mark.parametrize("stated", [["fp32"], {"workers": None}, {"": 1}, {"decoder": {}}, {"rate": 1e300}])
def test_options_of_another_form_break_the_form(stated: object) -> None:
    """They are stored and shown as they are."""
    line = json.dumps({**json.loads(START), "stated": stated}).encode() + b"\n"
    with pytest.raises(EventError, match="`stated` is not a mapping"):
        EventReader().feed(line)


@pytest.mark.parametrize(
    "line",
    [
        b"hello\n",
        b"[]\n",
        b'{"event":"stop"}\n',
        b'{"event":"step","time":"1","samples":8,"input_wait":0,"epoch":0}\n',
        b'{"event":"step","time":1,"samples":8.5,"input_wait":0,"epoch":0}\n',
        b'{"event":"step","time":1,"samples":-8,"input_wait":0,"epoch":0}\n',
        b'{"event":"step","time":NaN,"samples":8,"input_wait":0,"epoch":0}\n',
        b'{"event":"step","time":1e999,"samples":8,"input_wait":0,"epoch":0}\n',
        b'{"event":"step","time":true,"samples":8,"input_wait":0,"epoch":0}\n',
        b'{"event":"step","samples":8,"input_wait":0,"epoch":0}\n',
        b'{"event":"step","time":' + b"9" * 400 + b',"samples":8,"input_wait":0,"epoch":0}\n',
        b"\xff\xfe\n",
        b"[" * 5000 + b"\n",
    ],
)
def test_a_line_that_breaks_the_form_is_named(line: bytes) -> None:
    """The error holds the line, so that the author of a workload can find it."""
    reader = EventReader()
    reader.feed(START)
    with pytest.raises(EventError) as caught:
        reader.feed(line)
    assert repr(line.rstrip()[:10].decode("utf-8", "backslashreplace"))[1:-1] in str(caught.value)


def test_before_its_loop_a_workload_tells_how_far_it_has_read() -> None:
    """As often as it likes; afterwards there is nothing to be read."""
    reader, reading = EventReader(), b'{"event":"reading","bytes":4,"whole":10}\n'
    assert reader.feed(reading + reading) == [Reading(4, 10), Reading(4, 10)]
    reader.feed(START)
    with pytest.raises(EventError, match="out of order"):
        reader.feed(reading)


@pytest.mark.parametrize(
    "step", [STEP.replace(b"1.5", b"1.4"), STEP.replace(b'"epoch":0', b'"epoch":-1'), STEP.replace(b"1.5", b"-1")]
)
def test_time_and_epochs_do_not_run_backwards(step: bytes) -> None:
    """A step before the one before it is named; one at the same time is none too many."""
    reader = EventReader()
    reader.feed(START + STEP + STEP)
    with pytest.raises(EventError):
        reader.feed(step)


def test_a_whole_line_may_be_too_long_too() -> None:
    """However it comes out of the pipe."""
    with pytest.raises(EventError, match="longer than"):
        EventReader().feed(b"x" * 70_000 + b"\n")


def test_a_pipe_that_ends_inside_a_line_breaks_the_form() -> None:
    """A workload that died while it wrote is noticed."""
    reader = EventReader()
    reader.feed(START + STEP[:20])
    with pytest.raises(EventError, match="inside a line"):
        reader.close()


def test_a_line_without_end_is_refused_before_it_fills_memory() -> None:
    """A workload that writes a gigabyte to the pipe does not take ours with it."""
    reader = EventReader()
    reader.feed(b"x" * 60_000)
    with pytest.raises(EventError, match="longer than"):
        reader.feed(b"x" * 60_000)


@pytest.mark.parametrize("time", ["5e-324", "1e-300", "1e-10"])
def test_a_time_that_no_clock_shows_is_refused(time: str) -> None:
    """Steps 1e-300 s apart would make an infinite rate, which no file could hold."""
    reader = EventReader()
    reader.feed(START)
    with pytest.raises(EventError, match="`time` is nearer to 0 than any clock"):
        reader.feed(f'{{"event":"step","time":{time},"samples":1,"input_wait":0,"epoch":0}}\n'.encode())


@pytest.mark.parametrize("shown", ["5e-324", "1e-70", "1e-10", "0"])
def test_a_waiting_that_no_clock_shows_is_none(shown: str) -> None:
    """What is left where two equal times are subtracted is 0; its share of a sample could be no number of a record."""
    line = f'{{"event":"step","time":1,"samples":8,"input_wait":{shown},"epoch":0,"latency":{shown}}}\n'
    reader = EventReader()
    assert reader.feed(START + line.encode())[1:] == [Step(1.0, 8, 0.0, 0, 0.0)]


@given(st.binary(max_size=300))
def test_garbage_is_an_event_error_and_nothing_else(garbage: bytes) -> None:
    """Whatever a pipe holds, the parser ends in events or in an EventError."""
    reader = EventReader()
    with suppress(EventError):
        reader.feed(garbage + b"\n")
        reader.close()

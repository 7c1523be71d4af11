"""The event pipe: lines that a workload writes become records, or the line that broke the form is named."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from typing import Any

from sizer.records.run import Step
from sizer.records.run_kinds import MemoryPlace

LINE_LIMIT = 64 * 1024
"""Longest line of an event in bytes; a workload that writes more is not writing events."""

LARGEST = 1e18
"""Larger than any time, count or size that a workload can mean, all of its samples together, too; so a sum of them is a
count that a record holds (`domains.LARGEST_COUNT`). Also keeps nan and inf out."""

SMALLEST_TIME = 1e-9
"""Seconds; clocks count from 0 in nanoseconds or more. Floats from there on are 2e-25 apart or more.

A waiting or latency that is shorter is what is left of a difference of two times, and is taken for 0: with as many as
LARGEST samples, its share of one still is a number that a record holds (`domains.SMALLEST`)."""


class EventError(Exception):
    """A line of the event pipe breaks the form; the message holds the beginning of the line."""

    def __init__(self, problem: str, line: bytes | None = None) -> None:
        super().__init__(problem, line)
        self._problem = problem
        self._line = line

    def __str__(self) -> str:
        return self.sentence(bytes)

    def sentence(self, hidden: Callable[[bytes], bytes]) -> str:
        """The message, in which `hidden` has made of the whole line what anybody may see."""
        return self._problem if self._line is None else f"{self._problem}: {shown(hidden(self._line))}"


@dataclass(frozen=True)
class Start:
    """What a workload says of itself before its first step; `stated` are the options that it runs with."""

    sample_unit: str
    batch_size: int
    dataset_bytes: int
    dataset_samples: int
    stated: dict[str, bool | int | float | str] = field(default_factory=dict)


@dataclass(frozen=True)
class Reading:
    """Before its loop the workload reads its data into memory: so many `bytes` of `whole` by now."""

    bytes: int
    whole: int


@dataclass(frozen=True)
class OutOfMemory:
    """The workload was refused memory and ends: whose it was."""

    where: MemoryPlace


@dataclass(frozen=True)
class End:
    """The workload ended by itself."""


ChildEvent = Reading | Start | Step | OutOfMemory | End


class EventReader:
    """Cuts the bytes of a pipe into lines and each line into an event, in the order the form asks for."""

    def __init__(self) -> None:
        self._rest = b""
        self._started = False
        self._ended = False
        self._last: Step | None = None
        self._samples = 0

    def feed(self, data: bytes) -> list[ChildEvent]:
        """The events that these bytes complete. Raises EventError at the first line that breaks the form."""
        *lines, self._rest = (self._rest + data).split(b"\n")
        if len(self._rest) > LINE_LIMIT:
            raise EventError(f"an event longer than {LINE_LIMIT} bytes", self._rest)
        return [self._in_order(parse_event(line), line) for line in lines if line.strip()]

    def close(self) -> None:
        """The pipe is closed. Raises EventError if it ended inside a line."""
        if self._rest.strip():
            raise EventError("the event pipe ended inside a line", self._rest)

    def _in_order(self, event: ChildEvent, line: bytes) -> ChildEvent:
        if isinstance(event, OutOfMemory) and not self._ended:
            return event  # a framework may refuse memory before the loop begins
        if isinstance(event, Reading) and not self._started:
            return event
        if isinstance(event, Start) == self._started or isinstance(event, Reading) or self._ended:
            raise EventError("an event out of order (reading, start, then steps, then end)", line)
        self._started = True
        self._ended = isinstance(event, End)
        if isinstance(event, Step):
            last, self._last = self._last, event
            if last is not None and (event.time < last.time or event.epoch < last.epoch):
                raise EventError("a step whose time or epoch is before that of the one before", line)
            self._samples += event.samples
            if self._samples > LARGEST:
                raise EventError(f"more than {LARGEST:g} samples in all", line)
        return event


def parse_event(line: bytes) -> ChildEvent:
    """The event in one line of JSON. Raises EventError; keys that the form does not know are left alone."""
    if len(line) > LINE_LIMIT:
        raise EventError(f"an event longer than {LINE_LIMIT} bytes", line)
    try:
        content = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise EventError("not a line of JSON", line) from error
    return event_of(content, line)


def event_of(content: Any, line: bytes) -> ChildEvent:
    """The event that a line of JSON says; raises EventError as `parse_event` does."""
    kind = content.get("event") if isinstance(content, dict) else None
    if kind not in EVENTS:
        raise EventError("no event named reading, start, step, out_of_memory or end", line)
    event, names = EVENTS[kind]
    values = {}
    for name in names:
        try:
            values[name] = READERS[name](content.get(name))
        except ValueError as error:
            raise EventError(f"`{name}` is {error}", line) from None
    return event(**values)


def _text(value: object) -> str:
    if not _is_short(value):
        raise ValueError("not a short text")
    return str(value)


def _place(value: object) -> MemoryPlace:
    places = {place.value: place for place in MemoryPlace}
    if not isinstance(value, str) or value not in places:
        raise ValueError("neither host nor gpu")
    return places[value]


def _stated(value: object) -> dict[str, bool | int | float | str]:
    """Options by their names; none where the workload states none."""
    options: Any = {} if value is None else value
    if not isinstance(options, dict) or not all(_is_short(name) and _is_option(it) for name, it in options.items()):
        raise ValueError("not a mapping from short names to numbers, texts and truths")
    return options


def _is_option(value: object) -> bool:
    return isinstance(value, bool) or (isinstance(value, int | float) and abs(value) <= LARGEST) or _is_short(value)


def _is_short(value: object) -> bool:
    return isinstance(value, str) and 0 < len(value) <= 40 and value.isprintable()


def _number(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= LARGEST:
        raise ValueError(f"not a number from 0 to {LARGEST:g}")
    return float(value)


def _time(value: object) -> float:
    """Steps that lie closer together than a clock can show would make a rate that no number holds."""
    if 0 < _number(value) < SMALLEST_TIME:
        raise ValueError("nearer to 0 than any clock")
    return _number(value)


def _duration(value: object) -> float:
    seconds = _number(value)
    return seconds if seconds >= SMALLEST_TIME else 0.0


def _if_stated(value: object) -> float | None:
    return None if value is None else _duration(value)


def _count(value: object) -> int:
    number = _number(value)
    if number != int(number):
        raise ValueError("not a whole number")
    return int(number)


_COUNTS = ("bytes", "whole", "batch_size", "dataset_bytes", "dataset_samples", "samples", "epoch")
READERS: dict[str, Callable[[object], Any]] = {
    **dict.fromkeys(_COUNTS, _count),
    **dict.fromkeys(("latency", "accelerator_seconds"), _if_stated),
    **{"sample_unit": _text, "stated": _stated, "time": _time, "input_wait": _duration, "where": _place},
}
"""How each field of an event is read; others are left alone."""
_KINDS = {"reading": Reading, "start": Start, "step": Step, "out_of_memory": OutOfMemory, "end": End}
EVENTS: dict[object, tuple[Callable[..., ChildEvent], tuple[str, ...]]] = {
    kind: (event, tuple(part.name for part in fields(event))) for kind, event in _KINDS.items()
}
"""By its name what an event becomes, and its fields."""


def shown(line: bytes) -> str:
    """The beginning of a line, for a message."""
    text = line[:200].decode("utf-8", "backslashreplace")
    return repr(text if len(line) <= 200 else text + "...")

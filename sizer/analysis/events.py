"""What a workload writes on its event pipe or through the FIFO of its hook becomes records and steps of the whole job,
or the line that broke the form is named. Pure.

Ranks that are started together make a step together: each brings its samples, and the step ends with the last of them.
Processes that know of no ranks count each by itself. What a process told before it began to train, such as an
evaluation before the first epoch, is not of the job's steps; one that only evaluates or infers is counted by its
batches.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, fields
from math import inf
from typing import Any

from sizer.records.run import Meter, MeterKind, Step
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
    if not isinstance(options, dict) or not all(
        _is_short(name) and (_is_short(it) or (isinstance(it, bool | int | float) and abs(it) <= LARGEST))
        for name, it in options.items()
    ):
        raise ValueError("not a mapping from short names to numbers, texts and truths")
    return options


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


def _count(value: object) -> int:
    number = _number(value)
    if number != int(number):
        raise ValueError("not a whole number")
    return int(number)


_COUNTS = ("bytes", "whole", "batch_size", "dataset_bytes", "dataset_samples", "samples", "epoch")
READERS: dict[str, Callable[[object], Any]] = {
    **dict.fromkeys(_COUNTS, _count),
    **dict.fromkeys(("latency", "accelerator_seconds"), lambda value: None if value is None else _duration(value)),
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


# The steps of all processes of a run become those of the whole job.

PHASES = ("evaluate", "prepare", "infer", "learn", "optimize", "train", None)
"""What the hook saw steps of (`sizer/hook/sizer_steps.py`), the weakest first; None is a program that tells its own.
As soon as there is a stronger one, what the weaker ones told is forgotten."""

PREPARE = PHASES.index("prepare")
"""Up to this one it may be that the program has yet to train."""

RANK_SECONDS = 5.0
"""A step waits so long for a rank that has not told of it: records come twice a second."""


@dataclass(frozen=True)
class Records:
    """What some records of processes say. `anew`: it takes the place of all that was said before."""

    start: Start | None = None
    steps: tuple[Step, ...] = ()
    anew: bool = False


@dataclass
class _Rank:
    pid: int
    waiting: deque[tuple[tuple[int, int], Step, float]] = field(default_factory=deque)
    """Epoch and place in it, the step, and when it came."""
    latest: tuple[int, int] = (-1, 0)
    ended: bool = False

    def add(self, step: Step, now: float) -> None:
        epoch, place = self.latest
        self.latest = (step.epoch, place + 1 if step.epoch == epoch else 0)
        self.waiting.append((self.latest, step, now))


@dataclass
class _Group:
    """The ranks that were started together."""

    size: int
    ranks: dict[int, _Rank] = field(default_factory=dict)

    def ready(self, now: float) -> Iterable[Step]:
        """The steps that all ranks have made, or have been waited for. In the end, `now` is infinite: a rank that was
        killed had steps that it did not come to tell, and those of the others alone are none of the whole job's."""
        if self.size < 2 and len(self.ranks) == 1:
            (alone,) = self.ranks.values()
            yield from [step for _, step, _ in alone.waiting]
            alone.waiting.clear()
            return
        while True:
            heads = [rank.waiting[0] for rank in self.ranks.values() if rank.waiting]
            if not heads:
                return
            place, came = min(head[0] for head in heads), min(head[2] for head in heads)
            awaited = self._lacking(place) or len(self.ranks) < self.size
            if (now - came < RANK_SECONDS and awaited) or (now == inf and self._lacking(place)):
                return
            yield self._step(place)

    def _lacking(self, place: tuple[int, int]) -> bool:
        """Whether one that has told of steps has not told of this one."""
        return any(not rank.ended and not rank.waiting and rank.latest < place for rank in self.ranks.values())

    def _step(self, place: tuple[int, int]) -> Step:
        parts = []
        for rank in self.ranks.values():
            while rank.waiting and rank.waiting[0][0] <= place:
                parts.append(rank.waiting.popleft()[1])
        busy = [part.accelerator_seconds for part in parts]  # side by side; one of them may not tell
        return Step(
            time=max(part.time for part in parts),
            samples=sum(part.samples for part in parts),
            input_wait=max(part.input_wait for part in parts),
            epoch=place[0],
            accelerator_seconds=None if None in busy else max(filter(None, busy), default=0.0),
        )


class RankReader:
    """Cuts what came through a run's FIFO into records, and makes steps of the whole job of them.

    `batch_size` is what a step counts where the program's samples are not seen, and `samples_per_step`, where the study
    gives them, what each one counts that the program does not tell itself. `meter` says what the steps are of,
    None before there is one; `counts_samples` is False where the samples are only the batch size that the study gives.
    `hooked` says whether a process loaded the hook, `side_by_side` whether one read several loaders at once.
    """

    def __init__(self, batch_size: int, samples_per_step: int | None = None) -> None:
        self.meter: Meter | None = None
        self.counts_samples = True
        self.hooked = False
        self.side_by_side = False
        self._batch_size = batch_size
        self._samples_per_step = samples_per_step
        self._rest = b""
        self._phase = -1
        self._groups: dict[object, _Group] = {}
        self._of_process: dict[int, tuple[_Group, _Rank]] = {}
        self._last: Step | None = None
        self._withheld: list[Step] = []
        self._samples = 0

    def feed(self, data: bytes, now: float) -> Records:
        """What these bytes complete, and what has been waited for until `now`. Raises EventError for a broken line."""
        *lines, self._rest = (self._rest + data).split(b"\n")
        if len(self._rest) > LINE_LIMIT:
            raise EventError(f"an event longer than {LINE_LIMIT} bytes came through its FIFO")
        start, anew = None, False
        for line in lines:
            if line.strip():
                first, stronger = self._read(line, now)
                start = first or start
                anew |= stronger
        steps = self._in_order(step for group in self._groups.values() for step in group.ready(now))
        if self._phase <= PREPARE:
            self._withheld += steps
            return Records()
        return Records(start, tuple(steps), anew)

    def finish(self, otherwise: bool = False) -> Records:
        """What was still waited for, now that the run is over.

        A program that has an optimizer and never used it did evaluate: its batches count if nothing else (`otherwise`).
        """
        steps = self._in_order(step for group in self._groups.values() for step in group.ready(inf))
        if self._phase > PREPARE:
            return Records(steps=tuple(steps))
        return Records(steps=(*self._withheld, *steps), anew=True) if otherwise else Records()

    def _read(self, line: bytes, now: float) -> tuple[Start | None, bool]:
        """Take one record; the start that it is, and whether it is stronger than all before."""
        fields = _fields(line)
        if fields.get("event") == "hooked":
            self.hooked = True
            return None, False
        if fields.get("phase") not in PHASES:
            raise EventError("through the FIFO: `phase` is not known", line)
        phase = PHASES.index(fields.get("phase"))
        if fields.get("event") == "start" and phase == len(PHASES) - 1:
            about = {"dataset_bytes": 0, "dataset_samples": 0, **fields}
            start = event_of(about, line)
            assert isinstance(start, Start)
            stronger = phase > self._phase
            if stronger:
                self._begin(phase, fields)
            return start, stronger
        if fields.get("event") == "end":
            process = self._of_process.get(fields["pid"])
            if process:
                process[1].ended = True
            return None, False
        if phase < self._phase:
            return None, False
        stronger = phase > self._phase
        if stronger:
            self._begin(phase, fields)
        self.side_by_side |= fields.get("beside") is True
        _, rank = self._process(fields)
        for step in self._steps(fields, line):
            rank.add(step, now)
        return None, stronger

    def _begin(self, phase: int, fields: dict[str, Any]) -> None:
        self._phase = phase
        self._groups, self._of_process, self._withheld, self._last, self._samples = {}, {}, [], None, 0
        own = PHASES[phase] is None
        self.meter = Meter(MeterKind.EVENTS) if own else Meter(MeterKind.HOOK, str(fields["source"]))
        self.counts_samples, self.side_by_side = True, False

    def _process(self, fields: dict[str, Any]) -> tuple[_Group, _Rank]:
        """The process that a record is of. A second one with a rank that is taken begins a group of its own."""
        pid, number, size = fields["pid"], fields.get("rank"), fields.get("ranks")
        process = self._of_process.get(pid)
        if process is not None:
            return process
        if number is None or size is None or size < 2:
            group, number = self._groups.setdefault(("process", pid), _Group(1)), 0
        else:
            key = ("parent", fields.get("parent"))
            group = self._groups.setdefault(key, _Group(size))
            if number in group.ranks:
                self._groups[key, group.ranks[number].pid] = group
                for rank in group.ranks.values():
                    rank.ended = True
                group.size = 0
                group = self._groups[key] = _Group(size)
        self._of_process[pid] = group, group.ranks.setdefault(number, _Rank(pid))
        return self._of_process[pid]

    def _steps(self, fields: dict[str, Any], line: bytes) -> list[Step]:
        """The steps of one record: one of its own fields, or a list of time, samples, waiting and epoch."""
        if "steps" not in fields:
            step = event_of(fields | {"event": "step", "samples": self._counted(fields.get("samples"), fields)}, line)
            assert isinstance(step, Step)
            return [step]
        rows = fields["steps"]
        if not isinstance(rows, list) or not all(isinstance(row, list) and len(row) == 4 for row in rows):
            raise EventError("through the FIFO: `steps` is not a list of time, samples, input_wait and epoch", line)
        return [self._row(row, fields) for row in rows]

    def _row(self, row: list[Any], fields: dict[str, Any]) -> Step:
        """One of many steps: those of a program that makes ten thousand a second come through here."""
        time, samples, input_wait, epoch = row
        samples = self._counted(samples, fields)
        kinds = (type(time) in (int, float), type(samples) is int, type(input_wait) in (int, float), type(epoch) is int)
        # Each by itself: a NaN among others hides from min and max.
        if not all(kinds) or not (
            0 <= time <= LARGEST and 0 <= samples <= LARGEST and 0 <= input_wait <= LARGEST and 0 <= epoch <= LARGEST
        ):
            raise EventError(
                f"of process {fields['pid']}, through the FIFO: {json.dumps(row)[:200]} is no step "
                f"(time, samples, input_wait, epoch, each a number from 0 to {LARGEST:g})"
            )
        return Step(time, samples, input_wait, epoch)

    def _counted(self, samples: Any, fields: dict[str, Any]) -> Any:
        """What is counted where a record tells so many, or None."""
        if self._samples_per_step is not None and fields.get("phase") is not None:
            return self._samples_per_step
        if samples is None:
            self.counts_samples = False
            return self._batch_size
        return samples

    def _in_order(self, steps: Iterable[Step]) -> list[Step]:
        """By time, none before what was told already: groups tell theirs at moments of their own."""
        ready = []
        for step in sorted(steps, key=lambda step: step.time):
            last = self._last
            self._samples += step.samples
            if self._samples > LARGEST:
                raise EventError(f"more than {LARGEST:g} samples in all came through the FIFO")
            if last is not None and (step.time < last.time or step.epoch < last.epoch):
                step = Step(max(last.time, step.time), step.samples, step.input_wait, max(last.epoch, step.epoch))
            self._last = step
            ready.append(step)
        return ready


def _fields(line: bytes) -> dict[str, Any]:
    try:
        fields = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise EventError("through the FIFO: not a line of JSON", line) from error
    if not isinstance(fields, dict) or not isinstance(fields.get("pid"), int):
        raise EventError("through the FIFO: an event without its `pid`", line)
    for key in ("rank", "ranks"):
        if not isinstance(fields.get(key), int | None):
            raise EventError(f"through the FIFO: `{key}` is not a whole number", line)
    return fields

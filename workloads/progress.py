"""The account of a run: JSON lines to the file descriptor named by SIZER_EVENTS_FD, for whoever measures this program,
and a printed rate and a closing line for a person."""

from __future__ import annotations

import json
import math
import os
import time
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from .accelerator import StepTime
from .faults import DESCRIPTOR_VARIABLE, InputFault
from .process import StopRequest

WRITE_SECONDS = 0.5
"""Steps that end sooner after the last write wait for each other. Each has its own time, and between two steps of a
framework nothing of us is in the processor's caches: an event encoded by itself takes 50-110 us, among others 6 us, and
each write wakes whoever reads, for another 130 us (2 vCPU AMD EPYC)."""


class Step(NamedTuple):
    """A step that has ended; `input_wait` and `latency` are seconds. `time` is that of an accelerator which tells it
    itself, perhaps later."""

    samples: int
    input_wait: float
    epoch: int
    latency: float | None = None
    time: StepTime | None = None


class Events:
    """Writes `reading`, `start`, `step` and `end`; without a descriptor it writes nothing."""

    def __init__(self, descriptor: int | None) -> None:
        self._descriptor = descriptor
        self._steps: deque[tuple[float, Step]] = deque()
        self._written = -math.inf

    @classmethod
    def from_environment(cls) -> Events:
        """The writer that SIZER_EVENTS_FD asks for. Raises InputFault if it names no open descriptor."""
        text = os.environ.get(DESCRIPTOR_VARIABLE)
        if not text:
            return cls(None)
        try:
            descriptor = int(text)
            os.fstat(descriptor)
        except (ValueError, OSError):
            raise InputFault(
                f"{DESCRIPTOR_VARIABLE}={text} names no open file descriptor: unset it, or open that descriptor"
            ) from None
        os.set_inheritable(descriptor, False)
        return cls(descriptor)

    def reading(self, done: int, whole: int) -> None:
        """Tell how many bytes of the data set have been read into memory, which comes before the loop."""
        self._write({"event": "reading", "bytes": done, "whole": whole})

    def start(
        self, sample_unit: str, batch_size: int, dataset_bytes: int, dataset_samples: int, **about: object
    ) -> None:
        """Tell what is about to be measured. The data set's figures are 0 where nothing is read."""
        self._write(
            {
                "event": "start",
                "sample_unit": sample_unit,
                "batch_size": batch_size,
                "dataset_bytes": dataset_bytes,
                "dataset_samples": dataset_samples,
                "bytes_per_sample": dataset_bytes / dataset_samples if dataset_samples else 0,
                **about,
            }
        )

    def step(self, step: Step) -> None:
        """Tell that a step has ended now.

        It is written at once, or with the first step that ends WRITE_SECONDS after the last write, or with the end;
        and not before the accelerator has told its time, nor before the steps that came before it.
        """
        if self._descriptor is None:
            return
        now = time.monotonic()
        self._steps.append((now, step))
        if now - self._written >= WRITE_SECONDS:
            self._write()
            self._written = now

    def end(self) -> None:
        """Tell that the program has ended in good order, once the accelerator is done with its last step."""
        last = next((step.time for _, step in reversed(self._steps) if step.time is not None), None)
        if last is not None:
            last.wait()
        self._write({"event": "end"})

    def _write(self, *after: dict[str, object]) -> None:
        """The steps that wait and whose times are known, then the events after them, at once."""
        if self._descriptor is None:
            return
        events = [*self._known_steps(), *map(json.dumps, after)]
        lines = memoryview("".join(f"{event}\n" for event in events).encode())
        try:
            while lines:
                lines = lines[os.write(self._descriptor, lines) :]
        except BrokenPipeError:
            raise InputFault(
                f"nobody reads the descriptor {self._descriptor} of {DESCRIPTOR_VARIABLE} any more"
            ) from None

    def _known_steps(self) -> Iterator[str]:
        """The events of the steps that wait, up to the first that the accelerator has not done."""
        while self._steps:
            end, step = self._steps[0]
            seconds = None if step.time is None else step.time.seconds()
            if step.time is not None and seconds is None:
                return
            self._steps.popleft()
            yield _event(end, step, seconds)


def _event(end: float, step: Step, accelerator: float | None) -> str:
    """The event of a step, with what was measured of it. An encoder would take ten times as long."""
    measured = "" if step.latency is None else f', "latency": {step.latency:.6f}'
    measured += "" if accelerator is None else f', "accelerator_seconds": {accelerator:.7f}'
    return (
        f'{{"event": "step", "time": {end:.6f}, "samples": {step.samples}, "input_wait": {step.input_wait:.6f}, '
        f'"epoch": {step.epoch}{measured}}}'
    )


def counted(number: int, thing: str) -> str:
    """`1 thread`, `2 threads`: for names whose plural ends in s."""
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"


PRINT_SECONDS = 2.0


@dataclass(frozen=True)
class Extent:
    """When a run is over: after `steps` steps or `seconds` seconds of stepping; None is no such end."""

    steps: int | None = None
    seconds: float | None = None


class Progress:
    """Counts steps, writes their events, prints the rate, and says when the run is over."""

    def __init__(self, title: str, sample_unit: str, events: Events, stop: StopRequest, extent: Extent) -> None:
        self._title = title
        self._unit = sample_unit
        self._events = events
        self._stop = stop
        self._extent = extent
        self._begin = self._first = self._last = self._printed = time.monotonic()
        self._steps = self._samples = self._first_samples = self._printed_samples = 0
        self._input_wait = 0.0
        self._latencies: list[float] = []

    @property
    def over(self) -> bool:
        """Whether the step that has just ended was the last one."""
        elapsed = self._last - self._begin
        return (
            bool(self._stop)
            or (self._extent.steps is not None and self._steps >= self._extent.steps)
            or (self._extent.seconds is not None and elapsed >= self._extent.seconds)
        )

    def reading(self, done: int, whole: int) -> None:
        """So many bytes of the data set are in memory by now: told now and then, and when it is the last of them."""
        now = time.monotonic()
        if done < whole and now - self._printed < PRINT_SECONDS:
            return
        self._events.reading(done, whole)
        print(f"read {done / 2**20:.1f} of {whole / 2**20:.1f} MiB into memory", flush=True)
        self._printed = now

    def start(self, dataset_bytes: int, dataset_samples: int, batch_size: int, **about: object) -> None:
        """The loop begins now."""
        self._events.start(self._unit, batch_size, dataset_bytes, dataset_samples, **about)
        self._begin = self._last = self._printed = time.monotonic()

    def step(self, step: Step) -> None:
        """A step has ended now, or was handed to an accelerator that tells its own time."""
        self._events.step(step)
        self._last = time.monotonic()
        self._steps += 1
        self._samples += step.samples
        self._input_wait += step.input_wait
        if step.latency is not None:
            self._latencies.append(step.latency)
        if self._steps == 1:
            self._first, self._first_samples = self._last, step.samples
        if self._last - self._printed >= PRINT_SECONDS:
            self._print_rate()

    def end(self, remark: str = "") -> None:
        """Write `end` and print the closing line."""
        self._events.end()
        print(f"{self._title}: {self._rate():.4g} {self._unit}s/s, {self._account()}{remark}", flush=True)

    def _print_rate(self) -> None:
        seconds = self._last - self._printed
        rate = (self._samples - self._printed_samples) / seconds
        print(f"step {self._steps}: {rate:.4g} {self._unit}s/s", flush=True)
        self._printed, self._printed_samples = self._last, self._samples

    def _rate(self) -> float:
        """Without the first step, which costs up to 19 s where a framework prepares its kernels."""
        if self._steps > 1:
            return (self._samples - self._first_samples) / max(self._last - self._first, 1e-9)
        return self._samples / max(self._last - self._begin, 1e-9)

    def _account(self) -> str:
        seconds = self._last - self._begin
        account = f"{counted(self._steps, 'step')}, {counted(self._samples, self._unit)} in {seconds:.1f} s"
        account += f", {self._input_wait:.1f} s of them waiting for input"
        if self._latencies:
            steady = self._latencies[1:] or self._latencies
            p50, p99 = percentile(steady, 0.50), percentile(steady, 0.99)
            account += f", latency of a batch p50 {p50 * 1000:.1f} ms, p99 {p99 * 1000:.1f} ms"
        return account


def percentile(values: list[float], share: float) -> float:
    """The smallest of `values` that is not below `share` of them (nearest rank)."""
    ordered = sorted(values)
    rank = -int(-share * len(ordered) // 1)
    return ordered[max(rank, 1) - 1]

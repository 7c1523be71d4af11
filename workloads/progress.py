"""The account of a run: each step as an event and, for a person, a printed rate and a closing line."""

from __future__ import annotations

import time
from dataclasses import dataclass

from .counted import counted
from .events import Events, Step
from .stop import StopRequest

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
        self._events.start(
            sample_unit=self._unit,
            batch_size=batch_size,
            dataset_bytes=dataset_bytes,
            dataset_samples=dataset_samples,
            **about,
        )
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

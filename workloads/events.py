"""Events: JSON lines to the file descriptor named by SIZER_EVENTS_FD, for whoever measures this program."""

from __future__ import annotations

import json
import math
import os
import time

from .faults import DESCRIPTOR_VARIABLE, InputFault

WRITE_SECONDS = 0.5
"""Steps that end sooner after the last write wait for each other. Each has its own time, and between two steps of a
framework nothing of us is in the processor's caches: an event encoded by itself takes 50-110 us, among others 6 us, and
each write wakes whoever reads, for another 130 us (2 vCPU AMD EPYC)."""


class Events:
    """Writes `start`, `step` and `end`; without a descriptor it writes nothing."""

    def __init__(self, descriptor: int | None) -> None:
        self._descriptor = descriptor
        self._steps: list[tuple[float, int, float, int, float | None]] = []
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

    def start(
        self, *, sample_unit: str, batch_size: int, dataset_bytes: int, dataset_samples: int, **about: object
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

    def step(self, *, samples: int, input_wait: float, epoch: int, latency: float | None = None) -> None:
        """Tell that a step has ended now; `input_wait` and `latency` are seconds.

        It is written at once, or with the first step that ends WRITE_SECONDS after the last write, or with the end.
        """
        if self._descriptor is None:
            return
        now = time.monotonic()
        self._steps.append((now, samples, input_wait, epoch, latency))
        if now - self._written >= WRITE_SECONDS:
            self._write()
            self._written = now

    def end(self) -> None:
        """Tell that the program has ended in good order."""
        self._write({"event": "end"})

    def _write(self, *after: dict[str, object]) -> None:
        """The steps that wait, then the events after them, at once."""
        if self._descriptor is None:
            return
        events = [*(_step(*step) for step in self._steps), *map(json.dumps, after)]
        self._steps.clear()
        lines = memoryview("".join(f"{event}\n" for event in events).encode())
        try:
            while lines:
                lines = lines[os.write(self._descriptor, lines) :]
        except BrokenPipeError:
            raise InputFault(
                f"nobody reads the descriptor {self._descriptor} of {DESCRIPTOR_VARIABLE} any more"
            ) from None


def _step(end: float, samples: int, input_wait: float, epoch: int, latency: float | None) -> str:
    """The event of a step; `latency` only where it is measured. An encoder would take ten times as long."""
    measured = "" if latency is None else f', "latency": {latency:.6f}'
    return (
        f'{{"event": "step", "time": {end:.6f}, "samples": {samples}, "input_wait": {input_wait:.6f}, '
        f'"epoch": {epoch}{measured}}}'
    )

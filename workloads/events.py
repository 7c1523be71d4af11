"""Events: JSON lines to the file descriptor named by SIZER_EVENTS_FD, for whoever measures this program."""

from __future__ import annotations

import json
import os
import time

from .faults import InputFault

DESCRIPTOR_VARIABLE = "SIZER_EVENTS_FD"


class Events:
    """Writes `start`, `step` and `end`; without a descriptor it writes nothing."""

    def __init__(self, descriptor: int | None) -> None:
        self._descriptor = descriptor

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
        self, *, sample_unit: str, batch_size: int, dataset_bytes: int, dataset_samples: int, **about: str | int | float
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
        """Tell that a step has ended now; `input_wait` and `latency` are seconds."""
        event = {
            "event": "step",
            "time": time.monotonic(),
            "samples": samples,
            "input_wait": round(input_wait, 6),
            "epoch": epoch,
        }
        if latency is not None:
            event["latency"] = round(latency, 6)
        self._write(event)

    def end(self) -> None:
        """Tell that the program has ended in good order."""
        self._write({"event": "end"})

    def _write(self, event: dict[str, object]) -> None:
        if self._descriptor is None:
            return
        line = memoryview(json.dumps(event).encode() + b"\n")
        try:
            while line:
                line = line[os.write(self._descriptor, line) :]
        except BrokenPipeError:
            raise InputFault(
                f"nobody reads the descriptor {self._descriptor} of {DESCRIPTOR_VARIABLE} any more"
            ) from None

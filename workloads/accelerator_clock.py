"""How long an accelerator took for each step, by its own clock, without waiting for it.

A framework hands work to a GPU and goes on, so when a call returns says little of when its work is done. Two marks in
the GPU's queue, before the step and behind it, are stamped by the GPU itself when it comes to them; what lies between
is read once it has, some steps later. A GPU that waits for its next batch has passed the mark behind the last one and
not yet found the mark before the next, so that waiting for input counts for no step.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

ROOM = 64
"""Steps that may be under way at once. A GPU takes some 1,000 kernels ahead, which are no more than a few dozen steps
of the smallest networks; a step that finds no room is not timed."""


class Mark(Protocol):
    """A place in the queue of a GPU, such as torch.cuda.Event(enable_timing=True)."""

    def record(self) -> None:
        """Put it behind what was asked for so far."""

    def query(self) -> bool:
        """Whether the GPU has come to it."""

    def synchronize(self) -> None:
        """Wait until it has."""

    def elapsed_time(self, end_event: Any) -> float:
        """Milliseconds from here to another mark."""


class StepTime:
    """The time of one step: begun now, ended by `end`, and known some time later."""

    def __init__(self, begin: Mark, end: Mark, give_back: Callable[[tuple[Mark, Mark]], None]) -> None:
        self._begin, self._end, self._give_back = begin, end, give_back
        self._seconds: float | None = None
        begin.record()

    def end(self) -> None:
        """All of the step was asked for."""
        self._end.record()

    def wait(self) -> None:
        """Wait until the accelerator is done with it, and so with all steps before."""
        if self._seconds is None:
            self._end.synchronize()

    def seconds(self) -> float | None:
        """How long the accelerator took; None as long as it is not done."""
        if self._seconds is None and self._end.query():
            self._seconds = self._begin.elapsed_time(self._end) / 1000
            self._give_back((self._begin, self._end))
        return self._seconds


class AcceleratorClock:
    """Times steps by pairs of marks, which are used again once they were read."""

    def __init__(self, new_mark: Callable[[], Mark], room: int = ROOM) -> None:
        self._free = [(new_mark(), new_mark()) for _ in range(room)]

    def begin(self) -> StepTime | None:
        """A step begins now; None where as many as there is room for are under way."""
        if not self._free:
            return None
        return StepTime(*self._free.pop(), self._free.append)

"""As many steps as can be judged and stored: where a program makes more, neighbours are joined to one. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from sizer.records import Step

MOST_STEPS = 1 << 15
"""4 MB of a run's file, and 0.1 s of a judgement. A run of a minute has as many with steps of 2 ms."""


class JoinedSteps:
    """Adds steps to a list that never has more than MOST_STEPS: from there on each stands for twice as many calls.

    A joined step ends when its last one does and has that one's epoch and latency, so that the latencies kept are an
    even choice of all; samples and waiting are sums, so that no rate changes.
    """

    def __init__(self, steps: list[Step]) -> None:
        self.calls = 1
        """How many of the program's steps each of these stands for."""
        self._steps = steps
        self._in_last = 0

    def add(self, step: Step) -> None:
        """One more step of the program."""
        if self._steps and self._in_last < self.calls:
            self._steps[-1] = _joined(self._steps[-1], step)
            self._in_last += 1
        else:
            self._steps.append(step)
            self._in_last = 1
        if len(self._steps) >= MOST_STEPS and self._in_last == self.calls:
            self._steps[:] = _halved(self._steps)
            self.calls *= 2
            self._in_last = self.calls


def _joined(first: Step, second: Step) -> Step:
    samples, waited = first.samples + second.samples, first.input_wait + second.input_wait
    return Step(second.time, samples, waited, second.epoch, second.latency)


def _halved(steps: Sequence[Step]) -> list[Step]:
    return [_joined(first, second) for first, second in zip(steps[::2], steps[1::2], strict=True)]

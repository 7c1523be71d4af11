"""What is a step of a program whose batches and optimizer steps are seen from outside. Knows no framework.

A batch of the training loader is a step, however many optimizers it is given to or over how many batches gradients are
accumulated. Which loader trains is seen by what comes after its batches: an optimizer step belongs to the loader that
was asked last, and a way through a loader in which no optimizer step falls was an evaluation. A wrapper that asks for
batches ahead of the program is seen by its first optimizer step, which comes later by as many batches.
"""

from __future__ import annotations

import weakref
from collections import deque
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    # Only read by type checkers: Python 3.8 knows no such expressions.
    Tell = Callable[[str, tuple[float, int | None, float, int]], None]

TRAIN = "train"
"""Batches of a loader that an optimizer step followed."""

OPTIMIZE = "optimize"
"""Optimizer steps of a program whose batches come from no loader that is seen."""

INFER = "infer"
"""Batches of a loader in a program that has made no optimizer."""

EVALUATE = "evaluate"
"""The same in a program that has an optimizer and has not used it yet: it may come to train."""

MOST_HELD = 4096
"""Batches that one optimizer step may be made of."""


class Pass:
    """One way through a loader."""

    def __init__(self, counter: StepCounter) -> None:
        self.counter = counter
        self.count: Callable[[Any], int | None] | None = None
        """How the samples of its batches are counted, once the first is there."""
        self.open: tuple[int | None, float, bool] | None = None
        self.held: deque[tuple[float, int | None, float]] = deque(maxlen=MOST_HELD)
        self.over = False
        self.steps = 0
        """Optimizer steps so far."""
        self.since = 0
        """Batches since the last one."""
        self.first = 0
        """Batches before the first one, with those that were asked for ahead."""
        self.each = 0
        """Batches of one optimizer step."""
        self.ahead = 0
        """Batches that were asked for before the one that is trained on."""
        self.last: float | None = None
        """When the last optimizer step ended that was told, or the first batch was asked for."""
        self.optimized: float = 0.0
        """When the last optimizer step ended."""


class StepCounter:
    """Makes steps of what is seen in one process, and tells each one with its phase. Times are those of its caller."""

    def __init__(self, tell: Tell) -> None:
        self.has_optimizer = False
        self._tell = tell
        self._optimized = False
        self._trained = False
        self._epoch = 0
        self._finished = False
        self._current: Pass | None = None
        self._inferring: Callable[[], Pass | None] = lambda: None
        self._led = False
        self._optimizer: Callable[[], Any] = lambda: None

    def asked(self, going: Pass, now: float) -> None:
        """The program asks for the next batch, so it is done with the one before."""
        batch, going.open = going.open, None
        if going.last is None:
            going.last = now
        if batch is None:
            return
        samples, waited, learning = batch
        if learning:
            going.held.append((now, samples, waited))
        if not self._optimized:
            self._inferred(going, now, samples, waited)

    def got(self, going: Pass, samples: int | None, waited: float, learning: bool) -> None:
        """It was given one; with gradients switched off (not `learning`) it will not train on it."""
        going.open = samples, waited, learning
        if learning:
            going.since += 1
            if self._current is not going:
                self._settle()
                self._current = going

    def ended(self, going: Pass) -> None:
        """The loader has no more."""
        going.over = True
        if going.steps:
            self._tell_first(going)
            # Those that were asked for ahead are still to be trained on.
            self._tell_left(going, len(going.held) - going.ahead)
            self._finished = True
        else:
            going.held.clear()

    def optimized(self, optimizer: Any, now: float, samples: int | None = None) -> None:
        """An optimizer has made a step; `samples` where the program said how many it was for."""
        if not self._optimized:
            self._optimized, self._epoch = True, 0
        going = self._current
        if going is None or (going.over and not going.steps):
            if not self._trained:
                self._without_a_loader(optimizer, now, samples)
            return
        if going.open is not None:
            self.asked(going, now)
        if going.over:
            self._tell_trained(going, min(going.each, len(going.held)), now)
            return
        if not going.since:
            return
        going.steps += 1
        if going.steps == 1:
            self._begin(going)
        else:
            if going.steps == 2:
                going.each, going.ahead = going.since, max(0, going.first - going.since)
                self._tell_first(going)
            self._tell_trained(going, len(going.held) - going.ahead, now)
        going.since, going.optimized = 0, now

    def finish(self) -> None:
        """The program is over."""
        self._settle()

    def _begin(self, going: Pass) -> None:
        """The first optimizer step in this way through the loader: it may turn out that batches are asked for ahead."""
        going.first = going.since
        self._trained = True
        if self._finished:
            self._finished = False
            self._epoch += 1

    def _settle(self) -> None:
        """Another loader, or none, comes now: a single optimizer step leaves no doubt any more."""
        going, self._current = self._current, None
        if going is None or not going.steps:
            return
        if going.steps == 1 and not going.over:
            self._tell_first(going)
        if going.steps == 1 or going.over:
            self._tell_left(going, len(going.held))

    def _tell_first(self, going: Pass) -> None:
        """The batches of the first optimizer step, once it is known how many of them were asked for ahead."""
        if going.first:
            self._tell_trained(going, min(going.first - going.ahead, len(going.held)), going.optimized)
            going.first = 0

    def _tell_trained(self, going: Pass, count: int, ended: float) -> None:
        """So many batches that one optimizer step was made of.

        They end evenly from the optimizer step before to this one: when they are asked for says nothing where all of
        them are asked for at once, as Trainer does, or ahead.
        """
        began = ended if going.last is None else going.last
        for number in range(1, count + 1):
            _, samples, waited = going.held.popleft()
            self._tell(TRAIN, (began + (ended - began) * number / count, samples, waited, self._epoch))
        if count > 0:
            going.last = ended

    def _tell_left(self, going: Pass, count: int) -> None:
        """Batches that no optimizer step followed: each ended when the next one was asked for."""
        for _ in range(count):
            end, samples, waited = going.held.popleft()
            self._tell(TRAIN, (end, samples, waited, self._epoch))

    def _inferred(self, going: Pass, now: float, samples: int | None, waited: float) -> None:
        """One loader at a time makes the steps: of two that are read side by side each has a part of the batch."""
        lead = self._inferring()
        if lead is None or lead.over:
            self._epoch += self._led
            self._led = True
            self._inferring = weakref.ref(going)
            lead = going
        if lead is going:
            self._tell(EVALUATE if self.has_optimizer else INFER, (now, samples, waited, self._epoch))

    def _without_a_loader(self, optimizer: Any, now: float, samples: int | None) -> None:
        """Of several optimizers the first one's steps count."""
        first = self._optimizer()
        if first is None:
            self._optimizer = weakref.ref(optimizer)
            first = optimizer
        if first is optimizer:
            self._tell(OPTIMIZE, (now, samples, 0.0, 0))

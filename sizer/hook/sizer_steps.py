"""What is a step of a program whose batches and optimizer steps are seen from outside. Knows no framework.

A batch of the training loader is a step, however many optimizers it is given to or over how many batches gradients are
accumulated. Which loader trains is seen by what comes after its batches: a way through a loader in which no optimizer
step falls was an evaluation, and of several that are read side by side the one leads that was asked first and is asked
again. A wrapper that asks for batches ahead of the program is seen by its first optimizer step, which comes later by as
many batches.
"""

from __future__ import annotations

import weakref
from collections import deque
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    # Only read by type checkers: Python 3.8 knows no such expressions.
    Step = tuple[float, int | None, float, int]
    Tell = Callable[[str, Step], None]

TRAIN = "train"
"""Batches of a loader that an optimizer step followed."""

OPTIMIZE = "optimize"
"""Optimizer steps of a program whose batches come from no loader that is seen."""

LEARN = "learn"
"""Batches that were asked for with gradients, in a program that has made no optimizer."""

INFER = "infer"
"""The same without gradients."""

PREPARE = "prepare"
"""As LEARN, in a program that has an optimizer and has not used it yet: it may come to train."""

EVALUATE = "evaluate"
"""As INFER, in such a program."""

MOST_HELD = 4096
"""Batches that one optimizer step may be made of."""

MOST_REUSES = 16
"""Optimizer steps beyond the first with one batch, such as those of several optimizers or of an inner loop; with more,
each is a step."""

MOST_ASIDE = 64
"""Batches of a second loader with an optimizer of its own, after which the first loader is taken for given up."""

MOST_ASKED = 16
"""Ways through loaders that are kept in mind between two optimizer steps."""


class Pass:
    """One way through a loader. `loader` tells it from others, if it is given; `whole` is one of a single batch."""

    def __init__(self, counter: StepCounter, loader: Any = None, whole: bool = False) -> None:
        self.counter = counter
        self.count: Callable[[Any, int | None], int | None] | None = None
        """How the samples of its batches are counted, once the first is there."""
        self.loader = _reference(loader)
        self.whole = whole
        self.open: tuple[int | None, float, bool] | None = None
        self.held: deque[tuple[float, int | None, float]] = deque(maxlen=MOST_HELD)
        self.over = False
        self.again = False
        """Asked for a batch since it became one of several rivals."""
        self.lost_partner = False
        """Another one that was read beside it is over."""
        self.optimizer: Callable[[], Any] = _nothing
        """Whose step was its first."""
        self.reuses: list[float] = []
        """When that one made steps since with the same batch."""
        self.samples: int | None = None
        """Of the last batch."""
        self.steps = 0
        """Optimizer steps so far."""
        self.since = 0
        """Batches since the last one."""
        self.first = 0
        """Batches before the first one, with those that were asked for ahead."""
        self.a_step = 0
        """Batches of one optimizer step."""
        self.ahead = 0
        """Batches that were asked for before the one that is trained on."""
        self.last: float | None = None
        """When the last optimizer step ended that was told, or the first batch was asked for."""
        self.optimized: float = 0.0
        """When the last optimizer step ended."""

    def is_of_the_loader_of(self, other: Pass) -> bool:
        """Whether both are ways through one loader."""
        loader = self.loader()
        return loader is not None and loader is other.loader()


class StepCounter:
    """Makes steps of what is seen in one process, and tells each one with its phase. Times are those of its caller."""

    def __init__(self, tell: Tell) -> None:
        self.has_optimizer = False
        self.side_by_side = False
        """Whether another loader was read beside the one whose batches are the steps."""
        self._tell = tell
        self._optimized = False
        self._trained = False
        self._epoch = 0
        self._finished = False
        self._lead: Pass | None = None
        self._asked: list[Pass] = []
        self._rivals: list[Pass] = []
        self._beside: list[Pass] = []
        self._aside: list[Step] = []
        self._batches = 0
        self._reuses = False
        self._inferring: Callable[[], Pass | None] = _nothing
        self._led = False
        self._learned = False
        self._optimizer: Callable[[], Any] = _nothing

    def asked(self, going: Pass, now: float) -> None:
        """The program asks for the next batch, so it is done with the one before."""
        self._close(going, now)
        if self._rivals:
            going.again = True
        elif self._aside and going is self._lead:
            self._aside_is_part()

    def got(self, going: Pass, samples: int | None, waited: float, learning: bool) -> None:
        """It was given one; with gradients switched off (not `learning`) it will not train on it."""
        going.open = samples, waited, learning
        if not learning:
            return
        going.since += 1
        self._batches += 1
        if going.reuses:
            going.reuses.clear()
        if going not in self._asked:
            self._asked.append(going)
            if len(self._asked) > MOST_ASKED:
                del self._asked[1 if self._asked[0] is self._lead else 0]

    def ended(self, going: Pass) -> None:
        """The loader has no more."""
        going.over = True
        if going in self._rivals:
            self._choose()
        if going.steps and going is self._lead:
            self._tell_first(going)
            # Those that were asked for ahead are still to be trained on.
            self._tell_left(going, len(going.held) - going.ahead)
            self._finished = True
        elif going is not self._lead:
            going.held.clear()
            if self._lead is not None and going in self._beside:
                self._lead.lost_partner = True

    def optimized(self, optimizer: Any, now: float, samples: int | None = None) -> None:
        """An optimizer has made a step; `samples` where the program said how many it was for."""
        if not self._optimized:
            self._optimized, self._epoch = True, 0
        asked, self._asked = self._asked, []
        if self._rivals:
            if not asked:
                return
            self._choose()
        lead = self._lead
        live = [loop for loop in asked if not loop.over]
        if lead in live and lead.lost_partner and any(loop.is_of_the_loader_of(lead) for loop in live if loop != lead):
            # Both begin again, and the last batch of the longer one was left out.
            live.remove(lead)
        if lead is not None and (not live or lead in live):
            self._go_on(lead, optimizer, now)
        elif not live:
            if not self._trained:
                self._without_a_loader(optimizer, now, samples)
        elif lead is not None and len(live) == 1 and self._is_beside(live[0], lead, optimizer):
            self._set_aside(live[0], optimizer, now)
        else:
            self._take_over(live, optimizer, now)

    def finish(self) -> None:
        """The program is over."""
        if self._rivals:
            self._choose()
        lead = self._lead
        if lead is not None and self._batches == 1:
            # It had no time for more, or wanted none.
            self._tell_reuses(lead)
        self._settle()
        if not self.side_by_side:
            self._tell_aside()

    def _close(self, going: Pass, now: float) -> None:
        batch, going.open = going.open, None
        if going.last is None:
            going.last = now
        if batch is None:
            return
        samples, waited, learning = batch
        if learning:
            going.samples = samples
            going.held.append((now, samples, waited))
        if not self._optimized:
            self._inferred(going, now, samples, waited, learning)

    def _go_on(self, going: Pass, optimizer: Any, now: float) -> None:
        """An optimizer step for the loader that leads."""
        if going.open is not None:
            self._close(going, now)
        if going.over:
            self._tell_trained(going, min(going.a_step, len(going.held)), now)
        elif not going.since:
            self._reuse(going, optimizer, now)
        else:
            going.steps += 1
            if going.steps == 2:
                going.a_step, going.ahead = going.since, max(0, going.first - going.since)
                self._tell_first(going)
            self._tell_trained(going, len(going.held) - going.ahead, now)
            going.since, going.optimized = 0, now

    def _take_over(self, live: list[Pass], optimizer: Any, now: float) -> None:
        """The first optimizer step in this way through the loader: it may turn out that batches are asked for ahead.

        Of several, what they are asked for next shows which one it was for: until then it is each one's.
        """
        before = self._lead
        same = [loop for loop in live if before is not None and loop.is_of_the_loader_of(before)]
        self._beside = [loop for loop in live if same and loop not in same]
        live = same or live
        if self._aside:
            if same:
                self._aside_is_part()
            else:
                self._tell_aside()
        self._settle()
        # A program may go through a part of the loader only, each time from its beginning.
        if before is not None and same and not before.over and before.steps > 1:
            self._finished = True
        self._trained = True
        if self._finished:
            self._finished = False
            self._epoch += 1
        for loop in live:
            self._close(loop, now)
            loop.steps, loop.first, loop.since, loop.optimized = 1, loop.since, 0, now
            loop.optimizer, loop.again = _reference(optimizer), False
        if len(live) == 1:
            self._lead = live[0]
        else:
            self._rivals = live

    def _choose(self) -> None:
        """Of several loaders that were asked before one optimizer step, the first of those that are asked again."""
        rivals, self._rivals = self._rivals, []
        again = [rival for rival in rivals if rival.again]
        self._lead = (again or rivals)[0]
        self.side_by_side |= len(again) > 1
        self._beside = [rival for rival in rivals if rival is not self._lead]
        for loop in self._beside:
            loop.steps = loop.first = 0
            loop.held.clear()

    def _is_beside(self, going: Pass, lead: Pass, optimizer: Any) -> bool:
        """Whether it may have a part in the lead's steps: another loader for another optimizer, while that one goes on,
        such as those of a generator and a discriminator."""
        own = lead.optimizer()
        return not lead.over and own is not None and own is not optimizer and not going.is_of_the_loader_of(lead)

    def _set_aside(self, going: Pass, optimizer: Any, now: float) -> None:
        """Keep its batches until the lead is asked again, and they are part of that one's, or given up."""
        self._close(going, now)
        self._aside += [(now, samples, waited, self._epoch) for _, samples, waited in going.held]
        going.held.clear()
        going.a_step, going.since, going.last, going.optimized = going.since, 0, now, now
        if len(self._aside) > MOST_ASIDE:
            self._tell_aside()
            self._settle()
            going.steps, going.optimizer = 2, _reference(optimizer)
            self._lead = going

    def _aside_is_part(self) -> None:
        self._aside.clear()
        self.side_by_side = True

    def _tell_aside(self) -> None:
        for step in self._aside:
            self._tell(TRAIN, step)
        self._aside.clear()

    def _reuse(self, going: Pass, optimizer: Any, now: float) -> None:
        """One more optimizer step with the same batch: a second optimizer's, or the program asks for no other one."""
        if going.optimizer() is optimizer:
            going.reuses.append(now)
            if self._reuses or len(going.reuses) > MOST_REUSES:
                self._reuses = True
                self._tell_reuses(going)

    def _tell_reuses(self, going: Pass) -> None:
        if not going.reuses:
            return
        if going.whole:
            # All of the data in one batch, of which the program most likely makes its own.
            going.samples = None
            going.held = deque([(end, None, waited) for end, _, waited in going.held], MOST_HELD)
        self._tell_first(going)
        for end in going.reuses:
            self._tell(TRAIN, (end, going.samples, 0.0, self._epoch))
        going.last = going.reuses[-1]
        going.reuses.clear()

    def _settle(self) -> None:
        """Another loader, or none, comes now: a single optimizer step leaves no doubt any more."""
        going, self._lead = self._lead, None
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

    def _inferred(self, going: Pass, now: float, samples: int | None, waited: float, learning: bool) -> None:
        """One loader at a time makes the steps: of two that are read side by side each has a part of the batch.

        A program that reads some with gradients makes its own updates, and evaluates what it reads without.
        """
        if learning and not self._learned:
            self._learned, self._led, self._epoch, self._inferring = True, False, 0, _nothing
        if self._learned and not learning:
            return
        lead = self._inferring()
        if lead is None or lead.over:
            self._epoch += self._led
            self._led = True
            self._inferring = weakref.ref(going)
            lead = going
        if lead is going:
            made, none = (PREPARE, LEARN) if learning else (EVALUATE, INFER)
            self._tell(made if self.has_optimizer else none, (now, samples, waited, self._epoch))

    def _without_a_loader(self, optimizer: Any, now: float, samples: int | None) -> None:
        """Of several optimizers the first one's steps count."""
        first = self._optimizer()
        if first is None:
            self._optimizer = _reference(optimizer)
            first = optimizer
        if first is optimizer:
            self._tell(OPTIMIZE, (now, samples, 0.0, 0))


def _nothing() -> None:
    return None


def _reference(something: Any) -> Callable[[], Any]:
    try:
        return weakref.ref(something)
    except TypeError:
        # None, or of a kind that nothing can refer to, such as a list.
        return _nothing

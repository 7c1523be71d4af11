"""Which epochs a run is measured over: all of it, or the whole epochs after the first. Pure.

Under a memory cap and with shuffled reading the page cache serves more at the start of an epoch than at its end (what
was read last is still there), so a part of a later epoch has a rate that no whole one has.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from sizer.analysis.steady_state import SteadyState, mean_rate, steady_state
from sizer.records.run import Step
from sizer.records.study import Workload


class Epochs(str, Enum):
    """Which epochs a throughput was measured in."""

    ANY = "any"
    """Steady steps of any epoch, or of any later one where it is not known how long an epoch is."""
    WHOLE = "whole"
    """Whole epochs after the first, as asked for."""
    PART = "part"
    """Part of the second epoch, because the run ended in it."""
    FIRST = "first"
    """The first epoch, because no later one had enough steps."""
    NOT_KNOWN = "not_known"
    """The epoch that a log's lines are counted to, because none of them names another."""


@dataclass(frozen=True)
class Shown:
    """What a run has shown: its steady state, None while there are too few steps, and what that is based on."""

    steady: SteadyState | None
    epochs: Epochs

    @property
    def sufficient(self) -> bool:
        """Whether it is based on what was asked for."""
        return self.epochs in (Epochs.ANY, Epochs.WHOLE, Epochs.NOT_KNOWN)


def measured_from_epoch(workload: Workload) -> int:
    """`natural` gives the rate of the later epochs, when the page cache holds what it can."""
    return 1 if workload.cache == "natural" and workload.input == "disk" else 0


def shown(steps: Sequence[Step], workload: Workload, epoch_samples: int, by_log: bool = False) -> Shown:
    """What these steps show of the workload; `epoch_samples` is the length of an epoch, 0 where it is not known, and
    `by_log` says that they are lines of a log, which may name no epoch."""
    if measured_from_epoch(workload) == 0 or not steps:
        return Shown(steady_state(steps), Epochs.ANY)
    if not epoch_samples:
        later = steady_state(steps, 1)
        first = Epochs.NOT_KNOWN if by_log else Epochs.FIRST
        return Shown(later, Epochs.ANY) if later else Shown(steady_state(steps), first)
    began = steps[0].time
    whole = mean_rate(_later(steps, _last_whole(steps, epoch_samples)), began)
    if whole:
        return Shown(whole, Epochs.WHOLE)
    part = mean_rate(_later(steps, steps[-1].epoch), began)
    return Shown(part, Epochs.PART) if part else Shown(steady_state(steps), Epochs.FIRST)


def two_epochs_seconds(steps: Sequence[Step], epoch_samples: int) -> float:
    """How long two epochs take at the mean rate so far, with what came before the first step's end left out."""
    done = sum(step.samples for step in steps[1:])
    return 2 * epoch_samples * (steps[-1].time - steps[0].time) / done if done else 0.0


def _later(steps: Sequence[Step], last: int) -> Sequence[Step]:
    """Steps of epoch 1 to `last`, behind the step that ends epoch 0 and starts their clock."""
    start = next((index for index, step in enumerate(steps) if step.epoch > 0), len(steps))
    return [step for step in steps[max(0, start - 1) :] if step.epoch <= last]


def _last_whole(steps: Sequence[Step], epoch_samples: int) -> int:
    """The last epoch that is over: a later one has begun, or less than a batch of it is left."""
    last = steps[-1].epoch
    done = [step.samples for step in steps if step.epoch == last]
    return last if sum(done) > epoch_samples - max(done) else last - 1

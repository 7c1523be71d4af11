from __future__ import annotations

from typing import Any

import pytest

from workloads.accelerator import EmulatedAccelerator
from workloads.network_program import Loop, emulated
from workloads.page_cache import CacheState
from workloads.progress import Step


class Clock:
    """A clock that only sleeping and `pass_time` move; every sleep ends `late` seconds late."""

    def __init__(self, late: float = 0.0) -> None:
        self.now = 100.0
        self.late = late

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds + self.late

    def pass_time(self, seconds: float) -> None:
        self.now += seconds


def test_input_prepared_meanwhile_costs_nothing() -> None:
    """Input overlaps with the step: the rate is the slower of both, not their sum."""
    clock = Clock()
    accelerator = EmulatedAccelerator(10, clock, clock.sleep)
    for _ in range(10):
        clock.pass_time(1.5)
        accelerator.accept(20)
    accelerator.drain()
    assert clock.now == pytest.approx(100 + 1.5 + 10 * 2.0)


def test_late_wake_ups_do_not_add_up() -> None:
    """The rate is exact although every sleep ends late."""
    clock = Clock(late=0.1)
    accelerator = EmulatedAccelerator(10, clock, clock.sleep)
    for _ in range(101):
        accelerator.accept(20)
    assert clock.now - 100.0 == pytest.approx(200.1)


def test_several_step_when_each_has_its_batch() -> None:
    """Nothing is waited for until the last one has its own; then they exchange after the slowest."""
    clock = Clock()
    accelerator = EmulatedAccelerator(10, clock, clock.sleep, count=3, exchange=0.1)
    assert accelerator.accept(20) is None
    clock.pass_time(0.5)
    assert accelerator.accept(20) is None
    assert clock.now == 100.5
    assert accelerator.accept(20) == pytest.approx(2.2)
    assert clock.now == 100.5
    accelerator.drain()
    assert clock.now == pytest.approx(102.7)


class Batches:
    """Three batches an epoch."""

    def __init__(self) -> None:
        self.given = 0

    def next_batch(self) -> Any:
        self.given += 1
        return None if self.given % 4 == 0 else object()

    def restart(self) -> None:
        """The next epoch begins by itself."""

    def close(self) -> None:
        """Holds nothing."""


class Steps:
    """Keeps the steps, and is over after `most` of them."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.found: list[tuple[int, int]] = []

    @property
    def over(self) -> bool:
        return len(self.found) >= self.most

    def step(self, step: Step) -> None:
        self.found.append((step.samples, step.epoch))


def test_a_step_of_several_accelerators_counts_all_their_batches() -> None:
    """Two batches of 8 are a step of 16 samples; what an epoch leaves over begins the next one's first step."""
    source, steps = Batches(), Steps(3)
    accelerator = EmulatedAccelerator(1e6, count=2)
    Loop(source, emulated(accelerator, 8), CacheState((), "warm"), 16, report_latency=False).run(steps)  # type: ignore[arg-type]
    assert steps.found == [(16, 0), (16, 1), (16, 1)]

from __future__ import annotations

import pytest

from workloads.accelerator import EmulatedAccelerator


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


def test_the_first_step_is_accepted_at_once() -> None:
    """An idle accelerator keeps nobody waiting."""
    clock = Clock()
    assert EmulatedAccelerator(10, clock, clock.sleep).accept(20) == 2.0
    assert clock.now == 100.0


def test_a_step_waits_for_the_one_before() -> None:
    """The second step is accepted when the first is done."""
    clock = Clock()
    accelerator = EmulatedAccelerator(10, clock, clock.sleep)
    accelerator.accept(20)
    accelerator.accept(20)
    assert clock.now == 102.0


def test_input_prepared_meanwhile_costs_nothing() -> None:
    """Input overlaps with the step: the rate is the slower of both, not their sum."""
    clock = Clock()
    accelerator = EmulatedAccelerator(10, clock, clock.sleep)
    for _ in range(10):
        clock.pass_time(1.5)
        accelerator.accept(20)
    accelerator.drain()
    assert clock.now == pytest.approx(100 + 1.5 + 10 * 2.0)


def test_slow_input_sets_the_rate() -> None:
    """An accelerator that waits for input never sleeps."""
    clock = Clock()
    accelerator = EmulatedAccelerator(10, clock, clock.sleep)
    for _ in range(10):
        clock.pass_time(3.0)
        accelerator.accept(20)
    assert clock.now == pytest.approx(130.0)


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


def test_several_that_are_fed_make_as_many_samples_less_their_loss() -> None:
    """A step takes as much longer as they exchange."""
    clock = Clock()
    accelerator = EmulatedAccelerator(10, clock, clock.sleep, count=4, exchange=0.15)
    for _ in range(4 * 10):
        accelerator.accept(20)
    accelerator.drain()
    assert 4 * 10 * 20 / (clock.now - 100) == pytest.approx(10 * 4 / 1.15)


def test_batches_for_the_next_step_are_taken_meanwhile() -> None:
    """Each accelerator has a queue of one batch, so input of all of them overlaps with the step."""
    clock = Clock()
    accelerator = EmulatedAccelerator(10, clock, clock.sleep, count=2)
    for _ in range(2 * 10):
        clock.pass_time(0.9)
        accelerator.accept(20)
    accelerator.drain()
    assert clock.now == pytest.approx(100 + 1.8 + 10 * 2.0)

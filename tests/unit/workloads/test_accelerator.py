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

"""What counts as a step of what a program is seen to do: loaders, optimizers, and the order in which it uses them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import pytest
from sizer_steps import EVALUATE, INFER, OPTIMIZE, TRAIN, Pass, StepCounter


class Optimizer:
    """Something that can be told from another one of its kind."""


class Program:
    """Uses loaders and optimizers as a program does, one second for each thing; `told` is what was counted."""

    def __init__(self) -> None:
        self.told: list[tuple[str, float, int | None, int]] = []
        self.counter = StepCounter(lambda phase, step: self.told.append((phase, step[0], step[1], step[3])))
        self.now = 0.0

    def loader(self, batches: int, samples: int = 8, learning: bool = True) -> Iterator[int]:
        """One way through a loader."""
        going = Pass(self.counter)
        for number in range(batches):
            self.counter.asked(going, self.tick())
            self.counter.got(going, samples, 0.25, learning)
            yield number
        self.counter.asked(going, self.tick())
        self.counter.ended(going)

    def step(self, optimizer: Optimizer, samples: int | None = None) -> None:
        self.counter.optimized(optimizer, self.tick(), samples)

    def tick(self) -> float:
        self.now += 1
        return self.now

    def count(self, phase: str = TRAIN) -> int:
        """How many steps of this phase were told; all that came after a weaker one."""
        return sum(told[0] == phase for told in self.told)


@pytest.fixture
def program() -> Program:
    return Program()


def test_a_batch_is_a_step_that_ends_with_the_optimizer(program: Program) -> None:
    """With its samples, in its epoch."""
    optimizer = Optimizer()
    for _ in range(2):
        for _ in program.loader(3):
            program.step(optimizer)
    assert program.told == [
        (TRAIN, 2, 8, 0),
        (TRAIN, 4, 8, 0),
        (TRAIN, 6, 8, 0),
        (TRAIN, 9, 8, 1),
        (TRAIN, 11, 8, 1),
        (TRAIN, 13, 8, 1),
    ]


def test_two_optimizers_make_one_step_a_batch(program: Program) -> None:
    """As a generator and a discriminator do."""
    one, other = Optimizer(), Optimizer()
    for _ in program.loader(5):
        program.step(one)
        program.step(other)
    assert program.count() == len(program.told) == 5


@pytest.mark.parametrize(("batches", "together"), [(8, 4), (10, 4), (3, 4), (9, 2)])
def test_accumulated_gradients_are_a_step_for_each_batch(program: Program, batches: int, together: int) -> None:
    """Also those at the end of an epoch that no optimizer step follows, if one came before in it."""
    optimizer = Optimizer()
    for number in program.loader(batches):
        if number % together == together - 1:
            program.step(optimizer)
    assert program.count() == (batches if batches >= together else 0)


@pytest.mark.parametrize("ahead", [0, 1])
def test_batches_that_are_asked_for_at_once_end_one_after_the_other(program: Program, ahead: int) -> None:
    """As Trainer asks for all those of an optimizer step, through a loader of accelerate's that holds one back."""
    optimizer, loader, held = Optimizer(), program.loader(13), []
    ends = []
    held += [next(loader) for _ in range(ahead)]
    for _ in range(3):
        held += [next(loader) for _ in range(4)]
        program.now += 80.0
        program.step(optimizer)
        ends.append(program.now)
    told = [told[1] for told in program.told if told[0] == TRAIN]
    assert len(told) == 12
    assert told[3::4] == ends
    apart = [after - before for before, after in pairwise(told)]
    assert max(apart) < 1.1 * min(apart)


def test_a_last_optimizer_step_after_the_loop_is_none_of_its_own(program: Program) -> None:
    """It is for the batches that were left over, which count already."""
    optimizer = Optimizer()
    for number in program.loader(10):
        if number % 4 == 3:
            program.step(optimizer)
    program.step(optimizer)
    assert program.count() == 10


@pytest.mark.parametrize("learning", [True, False])
def test_evaluations_between_epochs_and_in_them_count_nothing(program: Program, learning: bool) -> None:
    """Whether gradients are switched off around their loop or inside of it."""
    optimizer = Optimizer()
    for _ in range(2):
        for number in program.loader(6):
            program.step(optimizer)
            if number == 3:
                list(program.loader(4, learning=learning))
        list(program.loader(4, learning=learning))
    assert program.count() == len(program.told) == 12


def test_batches_before_the_first_optimizer_step_are_of_a_weaker_phase(program: Program) -> None:
    """Whoever reads forgets them when the training begins; its epochs are counted from 0."""
    program.counter.has_optimizer = True
    list(program.loader(4))
    list(program.loader(4))
    for _ in program.loader(2):
        program.step(Optimizer())
    assert (program.count(EVALUATE), program.count(TRAIN)) == (8, 2)
    assert [epoch for phase, _, _, epoch in program.told if phase == TRAIN] == [0, 0]


def test_a_program_without_an_optimizer_infers(program: Program) -> None:
    """One step for each batch that it is done with."""
    list(program.loader(5, learning=False))
    list(program.loader(5, learning=False))
    assert [told[0] for told in program.told] == [INFER] * 10
    assert [told[3] for told in program.told] == [0] * 5 + [1] * 5


def test_of_two_loaders_side_by_side_one_counts(program: Program) -> None:
    """In inference and in training: each has a part of the batch."""
    for _ in zip(program.loader(5), program.loader(5), strict=False):
        pass
    assert program.count(INFER) == 5
    program.told.clear()
    for _ in zip(program.loader(5), program.loader(6), strict=False):
        program.step(Optimizer())
    assert program.count() == 5


def test_a_loader_that_asks_ahead_is_not_counted_before_its_turn(program: Program) -> None:
    """A program that stops in the middle has trained on one batch less than were asked for; in the end all count."""
    optimizer, loader = Optimizer(), program.loader(10)
    next(loader)
    for _ in range(4):
        next(loader)
        program.step(optimizer)
    assert program.count() == 4
    for _ in loader:
        program.step(optimizer)
    program.step(optimizer)
    assert program.count() == 10


def test_a_batch_that_was_asked_for_ahead_ends_when_it_was_trained_on(program: Program) -> None:
    """As accelerate's loaders do, which hold one back: its step is not over when the next one is asked for, nor when
    the loader has no more. The evaluation behind an epoch is no part of its last step."""
    optimizer = Optimizer()

    def holding_one_back() -> Iterator[int]:
        loader = program.loader(4)
        held = next(loader)
        for batch in loader:
            yield held
            held = batch
        yield held

    for _ in range(2):
        ends = []
        for _ in holding_one_back():
            program.step(optimizer)
            ends.append(program.now)
        list(program.loader(3, learning=False))
        assert [told[1] for told in program.told[-4:]] == ends
    assert [epoch for phase, _, _, epoch in program.told if phase == TRAIN] == [0] * 4 + [1] * 4


def test_two_that_were_asked_for_ahead_are_told_one_by_one_or_at_the_end(program: Program) -> None:
    """A loop that leaves them out has them counted when another loader comes."""
    optimizer = Optimizer()
    for leave_out in (False, True):
        loader = program.loader(6)
        next(loader), next(loader)
        for _ in loader:
            program.step(optimizer)
        assert program.count() == 4 + 6 * leave_out
        if not leave_out:
            program.step(optimizer)
            assert program.count() == 5
            program.step(optimizer)
            assert program.count() == 6
    program.counter.finish()
    assert program.count() == 12


def test_one_batch_of_each_way_through_a_loader(program: Program) -> None:
    """`next(iter(loader))` at every step."""
    optimizer = Optimizer()
    for _ in range(5):
        next(program.loader(3))
        program.step(optimizer)
    program.counter.finish()
    assert program.count() == 5


def test_without_a_loader_the_first_optimizers_steps_count(program: Program) -> None:
    """With the samples that it was told, or none."""
    one, other = Optimizer(), Optimizer()
    for _ in range(3):
        program.step(one)
        program.step(other, 4)
    assert program.told == [(OPTIMIZE, 1, None, 0), (OPTIMIZE, 3, None, 0), (OPTIMIZE, 5, None, 0)]
    program.told.clear()
    del one
    program.step(other, 4)
    assert program.told == [(OPTIMIZE, 7, 4, 0)]


def test_a_batch_that_was_not_trained_on_is_none(program: Program) -> None:
    """A loop that ends with `break` before it uses its batch."""
    optimizer = Optimizer()
    for number in program.loader(10):
        if number == 6:
            break
        program.step(optimizer)
    program.counter.finish()
    assert program.count() == 6


def test_what_is_held_of_a_loader_that_is_never_trained_on_is_bounded(program: Program) -> None:
    """An evaluation may have millions of batches."""
    going = Pass(program.counter)
    for _ in range(10_000):
        program.counter.asked(going, program.tick())
        program.counter.got(going, 8, 0.0, True)
    assert len(going.held) <= 4096

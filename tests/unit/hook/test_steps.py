"""What the hook counts: steps, and the samples in them."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from sizer_hook import BATCH_SIZE_VARIABLE, given_size, named_size, samples_of
from sizer_steps import EVALUATE, INFER, LEARN, MOST_ASIDE, MOST_REUSES, OPTIMIZE, PREPARE, TRAIN, Pass, StepCounter

# What counts as a step of what a program is seen to do: loaders, optimizers, and the order in which it uses them.


class Optimizer:
    """Something that can be told from another one of its kind."""


class Loader:
    """The same: what its ways through have in common."""


class Program:
    """Uses loaders and optimizers as a program does, one second for each thing; `counted` is what the counter told."""

    def __init__(self) -> None:
        self.counted: list[tuple[str, float, int | None, int]] = []
        self.counter = StepCounter(lambda phase, step: self.counted.append((phase, step[0], step[1], step[3])))
        self.now = 0.0

    def loader(
        self, batches: int, samples: int = 8, learning: bool = True, of: Loader | None = None, whole: bool = False
    ) -> Iterator[int]:
        """One way through a loader."""
        going = Pass(self.counter, of, whole)
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
        return sum(step[0] == phase for step in self.counted)


@pytest.fixture
def program() -> Program:
    return Program()


def test_a_batch_is_a_step_that_ends_with_the_optimizer(program: Program) -> None:
    """With its samples, in its epoch."""
    optimizer = Optimizer()
    for _ in range(2):
        for _ in program.loader(3):
            program.step(optimizer)
    assert program.counted == [
        (TRAIN, 2, 8, 0),
        (TRAIN, 4, 8, 0),
        (TRAIN, 6, 8, 0),
        (TRAIN, 9, 8, 1),
        (TRAIN, 11, 8, 1),
        (TRAIN, 13, 8, 1),
    ]


@pytest.mark.parametrize(("batches", "together"), [(8, 4), (10, 4), (3, 4), (9, 2)])
def test_accumulated_gradients_are_a_step_for_each_batch(program: Program, batches: int, together: int) -> None:
    """Also those at the end of an epoch that no optimizer step follows, if one came before in it."""
    optimizer = Optimizer()
    for number in program.loader(batches):
        if number % together == together - 1:
            program.step(optimizer)
    assert program.count() == (batches if batches >= together else 0)


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
    assert program.count() == len(program.counted) == 12


def test_a_program_without_an_optimizer_infers(program: Program) -> None:
    """One step for each batch that it is done with."""
    list(program.loader(5, learning=False))
    list(program.loader(5, learning=False))
    assert [step[0] for step in program.counted] == [INFER] * 10
    assert [step[3] for step in program.counted] == [0] * 5 + [1] * 5


def test_of_two_loaders_side_by_side_one_counts(program: Program) -> None:
    """In inference and in training: each has a part of the batch."""
    for _ in zip(program.loader(5, learning=False), program.loader(5, learning=False), strict=False):
        pass
    assert program.count(INFER) == 5
    program.counted.clear()
    for _ in zip(program.loader(5), program.loader(6), strict=False):
        program.step(Optimizer())
    assert program.count() == 5


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
        assert [step[1] for step in program.counted[-4:]] == ends
    assert [epoch for phase, _, _, epoch in program.counted if phase == TRAIN] == [0] * 4 + [1] * 4


def test_without_a_loader_the_first_optimizers_steps_count(program: Program) -> None:
    """With the samples that it was told, or none."""
    one, other = Optimizer(), Optimizer()
    for _ in range(3):
        program.step(one)
        program.step(other, 4)
    assert program.counted == [(OPTIMIZE, 1, None, 0), (OPTIMIZE, 3, None, 0), (OPTIMIZE, 5, None, 0)]
    program.counted.clear()
    del one
    program.step(other, 4)
    assert program.counted == [(OPTIMIZE, 7, 4, 0)]


@pytest.mark.parametrize("made", [True, False])
def test_a_program_with_updates_of_its_own_evaluates_without_gradients(program: Program, made: bool) -> None:
    """What it reads with gradients counts, in a phase of its own, whether or not an optimizer was made."""
    program.counter.has_optimizer = made
    list(program.loader(2, learning=False))
    for _ in range(2):
        list(program.loader(5))
        list(program.loader(3, learning=False))
    stronger, weaker = (PREPARE, EVALUATE) if made else (LEARN, INFER)
    assert [step[0] for step in program.counted] == [weaker] * 2 + [stronger] * 10
    assert [step[3] for step in program.counted[2:]] == [0] * 5 + [1] * 5


@pytest.mark.parametrize(("whole", "samples"), [(False, 8), (True, None)])
def test_one_batch_that_is_used_again_and_again(program: Program, whole: bool, samples: int | None) -> None:
    """Each step of its optimizer counts, with the batch's samples unless the program has all of the data there; with
    one optimizer of two, and from the start of what was held back."""
    one, other = Optimizer(), Optimizer()
    next(program.loader(3, whole=whole))
    ends = []
    for _ in range(MOST_REUSES + 5):
        program.step(one)
        ends.append(program.now)
        program.step(other)
    assert program.counted == [(TRAIN, end, samples, 0) for end in ends]


@pytest.mark.parametrize("uses", [4, MOST_REUSES + 1])
def test_an_inner_loop_over_one_batch_is_one_step(program: Program, uses: int) -> None:
    """As long as another batch comes."""
    optimizer = Optimizer()
    for _ in program.loader(6):
        for _ in range(uses):
            program.step(optimizer)
    program.counter.finish()
    assert program.count() == len(program.counted) == 6


def test_a_program_that_ends_with_its_first_batch_has_used_it_again(program: Program) -> None:
    """There was no other that would show what its steps are."""
    optimizer = Optimizer()
    next(program.loader(3))
    for _ in range(5):
        program.step(optimizer)
    program.counter.finish()
    assert program.counted == [(TRAIN, 2 + number, 8, 0) for number in range(5)]


@pytest.mark.parametrize("named", [True, False])
@pytest.mark.parametrize("kept", [True, False])
def test_a_loader_that_is_asked_between_a_batch_and_its_step(program: Program, named: bool, kept: bool) -> None:
    """An evaluation on one batch, of a new way through its loader or of one that is kept."""
    optimizer = Optimizer()
    train, test = (Loader(), Loader()) if named else (None, None)
    one = program.loader(100, 16, of=test)
    for _ in range(3):
        for _ in program.loader(4, of=train):
            next(one if kept else program.loader(3, 16, of=test))
            program.step(optimizer)
    program.counter.finish()
    assert [step[2:] for step in program.counted] == [(8, epoch) for epoch in (0, 1, 2) for _ in range(4)]
    assert program.counter.side_by_side == kept


def test_of_two_loaders_with_an_optimizer_each_the_first_leads(program: Program) -> None:
    """An iteration of a generator's and discriminator's loop is one step."""
    optimizers, loaders = (Optimizer(), Optimizer()), (Loader(), Loader())
    for _ in range(2):
        other = program.loader(9, 16, of=loaders[1])
        for _ in program.loader(5, of=loaders[0]):
            program.step(optimizers[0])
            next(other)
            program.step(optimizers[1])
    program.counter.finish()
    assert [step[2:] for step in program.counted] == [(8, epoch) for epoch in (0, 1) for _ in range(5)]
    assert program.counter.side_by_side


@pytest.mark.parametrize("batches", [10, MOST_ASIDE + 10])
def test_a_loader_that_was_given_up_for_another_one(program: Program, batches: int) -> None:
    """With an optimizer of its own, as in a second phase of training: all of both count."""
    first, second = Optimizer(), Optimizer()
    for number in program.loader(6, of=Loader()):
        program.step(first)
        if number == 4:
            break
    for _ in program.loader(batches, 16, of=Loader()):
        program.step(second)
    program.counter.finish()
    assert [step[2] for step in program.counted] == [8] * 5 + [16] * batches
    assert not program.counter.side_by_side


def test_zipped_loaders_have_the_epochs_of_the_shorter_one(program: Program) -> None:
    """The batch that the longer one gave for nothing is none."""
    optimizer, loaders = Optimizer(), (Loader(), Loader())
    for _ in range(2):
        for _ in zip(program.loader(5, of=loaders[0]), program.loader(3, 16, of=loaders[1]), strict=False):
            program.step(optimizer)
    program.counter.finish()
    assert [step[2:] for step in program.counted] == [(8, 0)] * 3 + [(8, 1)] * 3


# How many samples a batch has: what its loader names, and arrays only where nobody names a size and all agree.


def array(*shape: int) -> Any:
    return SimpleNamespace(shape=shape)


PICTURE = {"image": array(3, 64, 64), "camera": array(3, 3)}

NAMED = [
    ([array(32, 10), array(32)], 32),
    # YOLO: what is on the pictures, which is more than there are, comes first.
    ({"cls": array(39, 1), "bboxes": array(39, 4), "img": array(8, 3, 64, 64)}, 8),
    # One picture at a time: its colour channels are no samples.
    (PICTURE, 1),
    (array(3, 64, 64), 1),
    # Detection: lists of pictures of different sizes, of mappings, and as mmengine collates.
    (((array(3, 300, 400), array(3, 200, 100)), ({"boxes": array(4, 4)}, {"boxes": array(1, 4)})), 2),
    ([PICTURE, PICTURE], 2),
    ({"inputs": [array(3, 8, 8)] * 4, "data_samples": [object()] * 4}, 4),
    # Text with time first, and no arrays at all.
    ([array(35, 20), array(35, 20)], 20),
    (["a line", "another", "a third"], 3),
    (SimpleNamespace(num_graphs=12), 12),
    (SimpleNamespace(data=(array(16, 3, 28, 28),), label=(array(16),)), 16),
    ("nothing", 4),
]

NAMELESS = [
    ([array(32, 10), array(32)], 32),
    ({"input_ids": array(16, 128), "attention_mask": array(16, 128), "labels": array(16)}, 16),
    ([array(8, 3, 64, 64), array(8), array()], 8),
    (SimpleNamespace(num_graphs=12, x=array(700, 5), y=array(12)), 12),
    (SimpleNamespace(data=[array(32, 3)], label=[array(32)]), 32),
    # One array agrees with nobody; those of boxes not with the pictures; those of one sample agree by chance.
    (array(32, 10), None),
    ({"cls": array(39, 1), "bboxes": array(39, 4), "img": array(8, 3, 64, 64)}, None),
    (PICTURE, None),
    ({"image": array(480, 640, 3), "depth": array(480, 640)}, None),
    ([PICTURE, PICTURE], None),
    ({"inputs": [array(3, 8, 8)] * 4, "data_samples": [object()] * 4}, None),
    (["a line", "another"], None),
    (array(), None),
    (None, None),
]


@pytest.mark.parametrize(("batch", "size"), NAMED)
def test_the_size_that_a_loader_names_is_believed_before_any_array(batch: Any, size: int) -> None:
    assert samples_of(batch, size)(batch, size) == size


@pytest.mark.parametrize(("batch", "samples"), NAMELESS)
def test_without_a_size_all_arrays_must_agree(batch: Any, samples: int | None) -> None:
    """Where they do not, or may be those of one sample, nothing is known."""
    assert samples_of(batch, None)(batch, None) == samples


def test_a_size_is_found_behind_what_a_sampler_is_wrapped_in() -> None:
    """ultralytics wraps a batch sampler to repeat it, accelerate to share it; gluon's keeps its size for itself."""
    own = SimpleNamespace(batch_size=8, sampler=SimpleNamespace())
    assert named_size(own) == 8
    assert named_size(SimpleNamespace(sampler=own)) == 8
    assert named_size(SimpleNamespace(batch_sampler=SimpleNamespace(sampler=own))) == 8
    assert named_size(SimpleNamespace(batch_size=None, sampler=own)) == 8
    assert named_size(SimpleNamespace(_batch_size=4)) == 4
    assert named_size(SimpleNamespace(batch_size=0)) is None
    endless = SimpleNamespace()
    endless.sampler = endless
    assert named_size(endless) is None


@pytest.mark.parametrize(("stated", "size"), [("64", 64), ("", None), ("many", None)])
def test_the_size_that_the_study_gives_counts_next(monkeypatch: pytest.MonkeyPatch, stated: str, size: int) -> None:
    monkeypatch.setenv(BATCH_SIZE_VARIABLE, stated)
    assert given_size() == size

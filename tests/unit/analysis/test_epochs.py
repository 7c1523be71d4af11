"""Which epochs a throughput is that of."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from sizer.analysis.epochs import Epochs, shown
from sizer.records.run import Step
from sizer.records.study import Workload

Steps = Callable[..., list[Step]]
NATURAL = Workload("train", "image_training", cache="natural")
EPOCH = 160
"""Samples: twenty steps of eight."""


@pytest.fixture
def reading(make_steps: Steps) -> Callable[..., list[Step]]:
    """Epochs of twenty steps: the first at 0.2 s, later ones at 0.1 s in their first half and 0.3 s in their second."""

    def make(*counts: int) -> list[Step]:
        steps: list[Step] = []
        for epoch, count in enumerate(counts):
            durations = [0.2] * count if epoch == 0 else ([0.1] * 10 + [0.3] * 10)[:count]
            steps += make_steps(durations, epoch=epoch, start=steps[-1].time if steps else 100.0)
        return steps

    return make


def test_a_memory_study_is_measured_over_whole_later_epochs(reading: Steps) -> None:
    """The start of the third epoch is faster than any whole one, so it does not count."""
    found = shown(reading(20, 20, 5), NATURAL, EPOCH)
    assert found.epochs is Epochs.WHOLE
    assert found.sufficient
    assert found.steady is not None
    assert found.steady.throughput.value == pytest.approx(40)
    assert (found.steady.measured_seconds, found.steady.intervals) == (pytest.approx(4.0), 20)
    assert found.steady.warm_up_seconds == pytest.approx(3.8)


def test_an_epoch_is_over_when_less_than_a_batch_of_it_is_left(reading: Steps) -> None:
    """A program that ends after its second epoch never shows the third; loaders may drop a last, smaller batch."""
    assert shown(reading(20, 20), NATURAL, EPOCH).epochs is Epochs.WHOLE
    assert shown(reading(20, 20), NATURAL, EPOCH + 7).epochs is Epochs.WHOLE
    assert shown(reading(20, 20), NATURAL, EPOCH + 8).epochs is Epochs.PART


@pytest.mark.parametrize("later", [(), (2,)])
def test_the_first_epoch_serves_where_no_later_one_was_reached(reading: Steps, later: tuple[int, ...]) -> None:
    """Two steps of the second are not a rate."""
    found = shown(reading(20, *later), NATURAL, EPOCH)
    assert found.epochs is Epochs.FIRST
    assert found.steady is not None
    assert found.steady.throughput.value == pytest.approx(40, rel=0.1)

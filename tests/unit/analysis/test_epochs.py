"""Which epochs a throughput is that of."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from sizer.analysis.epochs import Epochs, shown, two_epochs_seconds
from sizer.analysis.stopping import Stop, enough
from sizer.records.run import Step
from sizer.records.study import Measure, Workload

Steps = Callable[..., list[Step]]
NATURAL = Workload("train", "image_training", cache="natural")
COLD = Workload("train", "image_training")
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


def test_part_of_an_epoch_is_told_from_a_whole_one(reading: Steps) -> None:
    """What there is, is given; that it is not what was asked for, is said."""
    found = shown(reading(20, 10), NATURAL, EPOCH)
    assert found.epochs is Epochs.PART
    assert not found.sufficient
    assert found.steady is not None
    assert found.steady.throughput.value == pytest.approx(80)


@pytest.mark.parametrize("later", [(), (2,)])
def test_the_first_epoch_serves_where_no_later_one_was_reached(reading: Steps, later: tuple[int, ...]) -> None:
    """Two steps of the second are not a rate."""
    found = shown(reading(20, *later), NATURAL, EPOCH)
    assert found.epochs is Epochs.FIRST
    assert found.steady is not None
    assert found.steady.throughput.value == pytest.approx(40, rel=0.1)


def test_other_runs_are_measured_over_any_steps(reading: Steps) -> None:
    """A cold run does not wait for an epoch's end."""
    assert shown(reading(20, 10), COLD, EPOCH).epochs is Epochs.ANY


def test_epochs_of_unknown_length_are_measured_from_the_second(reading: Steps) -> None:
    """A command that does not tell its data set's size."""
    found = shown(reading(20, 10), NATURAL, 0)
    assert found.epochs is Epochs.ANY
    assert found.steady is not None
    assert found.steady.throughput.value == pytest.approx(80)
    assert shown(reading(20), NATURAL, 0).epochs is Epochs.FIRST
    assert shown([], NATURAL, EPOCH).steady is None


def test_lines_of_a_log_tell_no_epochs(reading: Steps) -> None:
    """No later epoch can be waited for where the program reports none."""
    found = shown(reading(20), replace(NATURAL, kind="command"), 0, by_log=True)
    assert (found.epochs, found.sufficient) == (Epochs.NOT_KNOWN, True)
    assert enough(found, Measure(seconds=60), now=105.0) is None
    assert enough(found, Measure(seconds=2, precision=0.5), now=105.0) is Stop.TIME


def test_two_epochs_are_projected_from_the_rate_so_far(reading: Steps) -> None:
    """40 samples/s: 320 samples take 8 s."""
    assert two_epochs_seconds(reading(10), EPOCH) == pytest.approx(8.0)
    assert two_epochs_seconds(reading(1), EPOCH) == 0.0

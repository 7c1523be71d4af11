"""What the reads and the products beside a run cost, from the counters of a run."""

from __future__ import annotations

import pytest

from sizer.analysis.probe_cost import probe_cost
from sizer.records.run import Sample


def samples(costs: list[float | None]) -> list[Sample]:
    """A sampling each half second; between two of them a look of two rounds of reads of this cost, and of products of a
    tenth of it, or none."""
    found, seconds, rounds = [Sample(10.0)], 0.0, 0
    for number, cost in enumerate(costs, start=1):
        seconds, rounds = seconds + 2 * (cost or 0.0), rounds + (2 if cost else 0)
        found.append(
            Sample(
                10 + number / 2,
                number / 2,
                probe_core_seconds=seconds,
                probe_rounds=rounds,
                product_core_seconds=seconds / 10,
            )
        )
    return found


def test_mean_and_share_are_of_the_steady_state_alone() -> None:
    """What was read during warm-up does not count."""
    found = probe_cost(samples([0.005, 0.005, 0.001, 0.001, None, 0.001]), 11.0, 13.0, (0.0008, 0.00009))
    assert (found.rounds, found.idle) == (6, 0.0008)
    assert found.during == pytest.approx(0.001)
    assert found.share == pytest.approx(0.0066 / 2)
    assert found.error == pytest.approx(0.0, abs=1e-9)
    assert found.product is not None
    assert (found.product.during, found.product.idle) == (pytest.approx(0.0001), 0.00009)
    assert len(found.kinds) == 2


def test_an_interrupted_look_counts_for_no_more_than_a_third() -> None:
    """A round that was interrupted says nothing of the host."""
    found = probe_cost(samples([0.001] * 9 + [0.02]), 10.0, 15.0, None)
    assert found.during is not None
    assert found.during < 0.00104
    assert found.error is not None
    assert found.error > 0.01


def test_a_slow_spell_is_no_error() -> None:
    """The host moved, and the mean of it is known."""
    found = probe_cost(samples([0.001] * 10 + [0.0012] * 10), 10.0, 20.0, None)
    assert found.error is not None
    assert found.error < 0.008


def test_of_none_nothing_is_known_but_the_idle_host() -> None:
    """Where the run left no room for a look."""
    found = probe_cost(samples([None, None]), 10.0, 11.0, (0.0007, 0.0002))
    assert (found.rounds, found.during, found.error, found.idle) == (0, None, None, 0.0007)

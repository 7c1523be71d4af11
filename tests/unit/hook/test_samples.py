"""How many samples a batch has, whatever its form."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from sizer_hook import samples_of


def array(*shape: int) -> Any:
    return SimpleNamespace(shape=shape)


FORMS = [
    (array(32, 3, 8, 8), 32, 32),
    ([array(32, 10), array(32)], 32, 32),
    ([array(2, 10), array(2)], 2, 2),
    ({"input_ids": array(16, 128), "labels": array(16)}, 16, 16),
    ({"meta": ["a", "b"], "image": array(2, 3)}, 2, 2),
    ([[array(8, 3), array(8, 5)], array(8)], 8, 8),
    # Detection: a tuple of images of different sizes and one of what is on each.
    (((array(3, 300, 400), array(3, 200, 100)), ({"boxes": array(4, 4)}, {"boxes": array(1, 4)})), 2, 2),
    # Text with time first.
    ([array(35, 20), array(35, 20)], 20, 20),
    # Ready batches, of which the loader knows no size.
    ([array(35, 20), array(35, 20)], None, 35),
    (SimpleNamespace(num_graphs=12), 12, 12),
    (SimpleNamespace(data=[array(32, 3)], label=[array(32)]), 32, 32),
    # MXNet's SyntheticDataIter (example/image-classification/common/data.py) gives tuples.
    (SimpleNamespace(data=(array(16, 3, 28, 28),), label=(array(16),)), 16, 16),
    (["a line", "another", "a third"], 3, 3),
    ("nothing", 4, None),
    (array(), 1, None),
    (None, None, None),
]


@pytest.mark.parametrize(("batch", "size", "samples"), FORMS)
def test_samples(batch: Any, size: int | None, samples: int | None) -> None:
    """The first dimension, or what fits the loader's batch size."""
    assert samples_of(batch, size)(batch) == samples


def test_a_last_batch_is_smaller() -> None:
    """It is counted in the way that the first one showed."""
    count = samples_of([array(32, 10), array(32)], 32)
    assert count([array(8, 10), array(8)]) == 8
    assert count("something else") is None

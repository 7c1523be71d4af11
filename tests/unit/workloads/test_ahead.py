from __future__ import annotations

import threading
from collections.abc import Iterator

from workloads.ahead import Ahead


def test_items_come_in_their_order_and_end_with_none() -> None:
    """All items, then None, however often one asks."""
    with Ahead(range(100), depth=3) as ahead:
        assert [ahead.next() for _ in range(102)] == [*range(100), None, None]


def test_no_more_than_the_depth_is_prepared_and_close_ends_the_thread() -> None:
    """Memory is bounded, and nothing is left running."""
    prepared = []
    enough = threading.Event()

    def items() -> Iterator[int]:
        for number in range(1000):
            prepared.append(number)
            if number == 3:
                enough.set()
            yield number

    ahead = Ahead(items(), depth=3)
    assert enough.wait(100)
    ahead.close()
    assert prepared == [0, 1, 2, 3]

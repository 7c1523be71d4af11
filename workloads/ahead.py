"""Run an iterator ahead of its consumer, in one thread and to a bounded depth."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from queue import Empty, Queue
from typing import Generic, TypeVar

Item = TypeVar("Item")


class Ahead(Generic[Item]):
    """Up to `depth` items wait before they are asked for; an error in `items` is raised to the consumer."""

    def __init__(self, items: Iterator[Item], depth: int) -> None:
        self._items = items
        self._ready: Queue[Item | BaseException | None] = Queue(depth)
        self._closed = False
        self._thread = threading.Thread(target=self._run, name="ahead", daemon=True)
        self._thread.start()

    def next(self) -> Item | None:
        """The next item, waiting for it if need be; None when there are no more."""
        item = self._ready.get()
        if isinstance(item, BaseException):
            raise item
        return item

    def close(self) -> None:
        """Ask for no more and wait until the thread has ended."""
        self._closed = True
        while self._thread.is_alive():
            try:
                self._ready.get(timeout=0.01)
            except Empty:
                continue
        self._thread.join()

    def _run(self) -> None:
        end: BaseException | None = None
        try:
            for item in self._items:
                self._ready.put(item)
                if self._closed:
                    return
        except BaseException as error:
            end = error
        self._ready.put(end)

"""Run an iterator ahead of its consumer, in one thread and to a bounded depth."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterable
from types import TracebackType
from typing import Generic, TypeVar

Item = TypeVar("Item")


class Ahead(Generic[Item]):
    """Up to `depth` items are ready before they are asked for; an error in `items` is raised to the consumer."""

    def __init__(self, items: Iterable[Item], depth: int) -> None:
        self._items = items
        self._depth = depth
        self._ready: deque[Item] = deque()
        self._changed = threading.Condition()
        self._ended = self._closed = False
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name="ahead", daemon=True)
        self._thread.start()

    def __enter__(self) -> Ahead[Item]:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def next(self) -> Item | None:
        """The next item, waiting for it if need be; None when there are no more."""
        with self._changed:
            self._changed.wait_for(lambda: self._ready or self._ended)
            if self._ready:
                item = self._ready.popleft()
                self._changed.notify_all()
                return item
            if self._error is not None:
                raise self._error
            return None

    def close(self) -> None:
        """Ask for no more and wait until the thread has ended."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        self._thread.join()

    def _run(self) -> None:
        error: BaseException | None = None
        try:
            for item in self._items:
                if not self._put(item):
                    break
        except BaseException as raised:
            error = raised
        with self._changed:
            self._error, self._ended = error, True
            self._changed.notify_all()

    def _put(self, item: Item) -> bool:
        with self._changed:
            self._changed.wait_for(lambda: len(self._ready) < self._depth or self._closed)
            if self._closed:
                return False
            self._ready.append(item)
            self._changed.notify_all()
            return True

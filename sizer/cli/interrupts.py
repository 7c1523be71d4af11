"""Ctrl-C: the first one lets the run in hand finish, the second one stops it now."""

from __future__ import annotations

import signal
import sys
from types import FrameType, TracebackType

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Interrupts:
    """Counts signals while it is entered; `finish` and `now` say what they ask for."""

    def __init__(self) -> None:
        self._count = 0

    def __enter__(self) -> Interrupts:
        self._before = {number: signal.signal(number, self._take) for number in SIGNALS}
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def finish(self) -> bool:
        """No further run should start."""
        return self._count > 0

    def now(self) -> bool:
        """The run in hand should stop, too. A hang-up or a request to terminate does not wait."""
        return self._count > 1

    def _take(self, number: int, _: FrameType | None) -> None:
        self._count += 1 if number == signal.SIGINT else 2
        if self._count == 1:
            print("\nfinishing what is in hand; press Ctrl-C again to stop it now", file=sys.stderr, flush=True)

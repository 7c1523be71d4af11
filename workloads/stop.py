"""A request to stop: SIGTERM or Ctrl-C lets the present step finish; a second one ends the program at once."""

from __future__ import annotations

import signal
from types import FrameType


class StopRequest:
    """True once the process has been asked to stop."""

    def __init__(self) -> None:
        self._requested = False

    def __bool__(self) -> bool:
        return self._requested

    @classmethod
    def on_signals(cls) -> StopRequest:
        """Listen to SIGTERM and SIGINT from now on."""
        request = cls()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, request._receive)
        return request

    def _receive(self, number: int, _frame: FrameType | None) -> None:
        self._requested = True
        signal.signal(number, signal.SIG_DFL)

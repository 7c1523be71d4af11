"""A request to stop: SIGTERM or Ctrl-C lets the present step finish; a second one ends the program at once."""

from __future__ import annotations

import ctypes
import signal
from types import FrameType

PR_SET_PDEATHSIG = 1
"""prctl(2): the signal that a process gets when its parent dies."""


def leave_to_parent() -> None:
    """From now on the parent alone decides when this process stops."""
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, signal.SIG_IGN)


def die_with_parent() -> None:
    """From now on this process is killed when its parent dies."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


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

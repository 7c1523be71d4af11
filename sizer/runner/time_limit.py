"""An expression of a user's own is given so much CPU time: one that backtracks would take hours for a line."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager


class TimeLimit(Exception):
    """The work took longer than it was given."""


@contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """Raises TimeLimit in the block once it has used so many seconds of this process's CPU time.

    Python looks for signals inside of a regular expression's match, too (`_sre.c`, every 4096 steps), so one that
    backtracks without end is stopped. Only the main thread hears signals; in another one nothing is bounded.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    armed = True

    def over(*_: object) -> None:
        if armed:
            raise TimeLimit(f"more than {seconds:g} s of CPU time")

    before = signal.signal(signal.SIGVTALRM, over)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        armed = False
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)

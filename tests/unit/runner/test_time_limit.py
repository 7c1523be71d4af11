from __future__ import annotations

import re
import signal
import time
from threading import Thread

import pytest

from sizer.analysis.log_rates import LogRates
from sizer.runner.watching import TimeLimit, at_most


def test_an_expression_that_backtracks_without_end_is_stopped() -> None:
    """Forty characters would take hours."""
    began = time.monotonic()
    with pytest.raises(TimeLimit, match=r"0\.1 s"), at_most(0.1):
        re.search(r"(a+)+$", "a" * 40 + "!")
    assert time.monotonic() - began < 5


def test_a_line_of_megabytes_is_not_looked_at_as_a_whole() -> None:
    """A known pattern of digits would be tried from each of a million places."""
    rates = LogRates("neon", 1, lambda: 0.0)
    with at_most(5.0):
        assert rates.feed(b"1" * 1_000_000 + b"\n") == []


def test_what_is_quick_is_left_alone_and_nothing_is_left_armed() -> None:
    """The signal's handler and the timer are those of before."""
    before = signal.getsignal(signal.SIGVTALRM)
    with at_most(10.0):
        pass
    assert signal.getsignal(signal.SIGVTALRM) is before
    assert signal.getitimer(signal.ITIMER_VIRTUAL) == (0.0, 0.0)


def test_in_another_thread_nothing_is_bounded_and_nothing_breaks() -> None:
    """Signals are the main thread's."""
    seen: list[str] = []

    def work() -> None:
        with at_most(10.0):
            seen.append("done")

    thread = Thread(target=work)
    thread.start()
    thread.join()
    assert seen == ["done"]

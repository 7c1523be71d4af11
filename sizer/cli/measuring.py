"""Measuring until it is done or interrupted: the first Ctrl-C lets the run finish, the second one stops it now."""

from __future__ import annotations

import math
import signal
import sys
import time
from contextlib import suppress
from types import FrameType, TracebackType

from sizer import api
from sizer.cli.progress import EventPrinter
from sizer.plan.run_order import FAILED
from sizer.records.messages import Interrupted
from sizer.records.run_kinds import FAULTS
from sizer.words.terminal import interrupted, runs_failed, waiting_for_run

SIGNALS = (
    signal.SIGINT,
    signal.SIGTERM,
    signal.SIGHUP,
    signal.SIGQUIT,
    signal.SIGUSR1,
    signal.SIGUSR2,
    signal.SIGXCPU,
)
"""What terminals, spot machines and batch systems end a program with; by default each would end it on the spot."""


class Interrupts:
    """Counts signals while it is entered; `finish` and `now` say what they ask for."""

    def __init__(self) -> None:
        self._count = 0
        self._until: float | None = None

    def __enter__(self) -> Interrupts:
        # An ignored hang-up stays so, which is what `nohup` is for. An ignored Ctrl-C does not: the background jobs of
        # every script would be deaf to `kill -INT`.
        nohup = signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
        heeded = [number for number in SIGNALS if number != signal.SIGHUP or not nohup]
        self._before = {number: signal.signal(number, self._take) for number in heeded}
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
        """The current run should stop, too. A hang-up or a request to terminate does not wait."""
        return self._count > 1

    def expect(self, seconds: float | None) -> None:
        """The run that begins now takes about so many seconds; None between two runs."""
        self._until = None if seconds is None else time.monotonic() + seconds

    def _take(self, number: int, _: FrameType | None) -> None:
        self._count += 1 if number == signal.SIGINT else 2
        if self._count > 1:
            return
        # The signal may have come in the middle of another line, where nothing more can be written.
        with suppress(RuntimeError):
            print(f"\n{waiting_for_run(self._seconds_left())}", file=sys.stderr, flush=True)

    def _seconds_left(self) -> float | None:
        return None if self._until is None else math.ceil(self._until - time.monotonic())


def measure(measuring: api.Measurement | api.ProfileMeasurement, printer: EventPrinter, early: str = "") -> int:
    """Measure what is left, and conclude: the exit code.

    `early` is what is said of an interruption before a profile has chosen its axes.
    """
    with Interrupts() as interrupts:
        printer.expect = interrupts.expect
        outcomes = measuring.run(interrupts.finish, interrupts.now)
        was_interrupted = interrupts.finish()
    has_axes = measuring.chosen if isinstance(measuring, api.ProfileMeasurement) else True
    if was_interrupted:
        say(interrupted(measuring.folder.path) if has_axes else early)
        return Interrupted.exit_code
    if has_axes and outcomes & FAILED:
        say(runs_failed(measuring.folder.path))
    return 4 if outcomes & FAULTS else 0


def say(text: str) -> None:
    """A line on stderr."""
    print(text, file=sys.stderr, flush=True)

"""How far an import is, said from the third second on: on stderr, a line that changes on a terminal.

A timer's signal says when, and no thread: where one runs, `sizer.parallel` forks nothing.
"""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import TextIO

from sizer import api
from sizer.cli.event_lines import EventPrinter
from sizer.cli.printing import controls
from sizer.records.plain_text import printable
from sizer.words.terminal import step_in_words

QUIET_SECONDS = 3.0
"""An import that is done by then says nothing of how far it is."""
TICK_SECONDS = 1.0
EVERY_SECONDS = 10.0
"""Between two plain lines of one step; a step that begins has its own unless one was said in the last second."""


class ImportProgress:
    """Prints the events of an import; while it is entered, a timer says once a second how far it is."""

    def __init__(self, clock: Callable[[], float] = time.monotonic, stream: TextIO | None = None) -> None:
        self._clock = clock
        self._stream = stream or sys.stderr
        self._is_terminal = self._stream.isatty()
        self._printer = EventPrinter()
        self._began = clock()
        self._step: api.events.StepBegun | None = None
        self._said: tuple[api.events.StepBegun, float] | None = None
        self._is_printing = False

    def __enter__(self) -> ImportProgress:
        self._before = signal.signal(signal.SIGALRM, lambda *_: self.tick())
        signal.setitimer(signal.ITIMER_REAL, TICK_SECONDS, TICK_SECONDS)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, self._before or signal.SIG_DFL)
        self._clear()

    def __call__(self, event: api.events.Event) -> None:
        with self._printing():
            if isinstance(event, api.events.StepBegun):
                self._step = event
                self._say()
            else:
                self._clear()
                self._printer(event)

    def tick(self) -> None:
        """Say how far it is, where it is time to, and nothing is just being printed."""
        if not self._is_printing:
            with self._printing():
                self._say()

    @contextmanager
    def _printing(self) -> Iterator[None]:
        self._is_printing = True
        try:
            yield
        finally:
            self._is_printing = False

    def _say(self) -> None:
        now = self._clock()
        if self._step is None or now - self._began < QUIET_SECONDS:
            return
        line = step_in_words(self._step.stage.value, self._step.share, now - self._began, *self._place())
        if self._is_terminal:
            self._clear()
            self._stream.write(printable(line))
            self._stream.flush()
        elif self._said is None or now - self._said[1] >= (EVERY_SECONDS if self._said[0] == self._step else 1.0):
            print(line, file=self._stream, flush=True)
            self._said = self._step, now

    def _place(self) -> tuple[str, int, int]:
        assert self._step is not None, "asked for only where there is one"
        return self._step.workload, self._step.number, self._step.of

    def _clear(self) -> None:
        if self._is_terminal:
            controls(self._stream, "\r\x1b[K")

"""How far an import is, said from the third second on: on stderr, a line that changes on a terminal."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from types import TracebackType
from typing import TextIO

from sizer import api
from sizer.cli.event_lines import EventPrinter
from sizer.cli.printing import controls
from sizer.records import printable
from sizer.words import step_in_words

QUIET_SECONDS = 3.0
"""An import that is done by then says nothing of how far it is."""
EVERY_SECONDS = 10.0
"""Between two plain lines of one step; a step that begins has its own unless one was said in the last second."""


class ImportProgress:
    """Prints the events of an import; while it is entered, a thread says once a second how far it is."""

    def __init__(self, clock: Callable[[], float] = time.monotonic, stream: TextIO | None = None) -> None:
        self._clock = clock
        self._stream = stream or sys.stderr
        self._is_terminal = self._stream.isatty()
        self._printer = EventPrinter()
        self._began = clock()
        self._step: api.events.StepBegun | None = None
        self._said: tuple[api.events.StepBegun, float] | None = None
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._tick_on, daemon=True)

    def __enter__(self) -> ImportProgress:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ended.set()
        self._thread.join()
        self._clear()

    def __call__(self, event: api.events.Event) -> None:
        with self._lock:
            if isinstance(event, api.events.StepBegun):
                self._step = event
                self._say()
            else:
                self._clear()
                self._printer(event)

    def tick(self) -> None:
        """Say how far it is, where it is time to."""
        with self._lock:
            self._say()

    def _tick_on(self) -> None:
        while not self._ended.wait(1.0):
            self.tick()

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

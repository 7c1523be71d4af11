"""What a person sees while runs go on: a bar on a terminal, plain lines anywhere else. Always on stderr."""

from __future__ import annotations

import math
import shutil
import sys
import time
from collections.abc import Collection
from pathlib import Path
from typing import TextIO

from sizer.analysis.monitor import Live
from sizer.cli.columns import within
from sizer.cli.printing import controls
from sizer.records.adaptive import RunReason
from sizer.records.plain_text import printable
from sizer.records.run import Run
from sizer.records.run_kinds import Purpose
from sizer.records.study import RunSpec
from sizer.words.language import rate_in_words
from sizer.words.planning import chosen_in_words
from sizer.words.runs import result_and_doubts, run_in_words
from sizer.words.terminal import (
    ended_line,
    no_step_yet,
    progress_begun,
    progress_chosen,
    progress_line,
    reading_now,
    reading_yet,
    reference_again,
)

BAR_WIDTH = 8
"""Narrow, and the rate right after it, since a terminal of 80 columns cuts the end of the line."""


SILENT_SECONDS = 60.0
"""Without a step, after which whoever waits is told how long it may go on; of one that reads its data each time that
it has taken twice as long."""


class RunProgress:
    """Counts finished runs; the total grows with runs that no plan could name before.

    `left` is what the runs not yet finished are expected to take, in seconds; `emulated` names the
    disks of the study that are emulated.
    """

    def __init__(
        self, total: int, finished: int, left: float, stream: TextIO | None = None, emulated: Collection[str] = ()
    ) -> None:
        self._total = total
        self._finished = finished
        self._left = left
        self._stream = stream or sys.stderr
        self._emulated = emulated
        self._is_terminal = self._stream.isatty()
        self._tell_at = SILENT_SECONDS
        self._began = time.monotonic()

    def say(self, text: str) -> None:
        """A line that stays."""
        self._clear()
        print(text, file=self._stream, flush=True)

    def begin(self, spec: RunSpec, left: float, why: RunReason | None = None) -> None:
        """A run begins; `why` an adaptive plan chose it is a line that stays, also on a terminal."""
        self._left = left
        self._total = max(self._total, self._finished + 1)
        self._began = time.monotonic()
        self._tell_at = SILENT_SECONDS
        if why is not None:
            self.say(
                progress_chosen(
                    self._finished + 1,
                    self._total,
                    chosen_in_words(run_in_words(spec, self._emulated), why),
                )
            )
        elif not self._is_terminal:
            self.say(progress_begun(self._finished + 1, self._total, self._words(spec), left))

    def watch(self, live: Live) -> None:
        given_up = live.given_up_seconds
        if given_up is not None and self._tell_at <= live.seconds < given_up:
            told = live.reading
            if told is None:
                self._tell_at = math.inf
                self.say(no_step_yet(live.seconds, given_up))
            else:
                self._tell_at = 2 * live.seconds
                self.say(reading_yet(live.seconds, told.bytes, told.whole, given_up))
        if not self._is_terminal:
            return
        done = round(BAR_WIDTH * self._finished / max(1, self._total))
        bar = "#" * done + "." * (BAR_WIDTH - done)
        rate = rate_in_words(live.throughput, live.unit) if live.throughput is not None else None
        rate = reading_now(live.reading.bytes, live.reading.whole) if live.reading is not None else rate
        left = max(0.0, self._left - (time.monotonic() - self._began))
        used = live.cores, live.read_bytes_per_second, live.written_bytes_per_second
        line = progress_line(bar, self._finished, self._total, left, rate, self._words(live.spec), used)
        self._clear()
        self._stream.write(within(printable(line), shutil.get_terminal_size().columns - 1))
        self._stream.flush()

    def end(self, run: Run, log: Path | None = None) -> None:
        """The result of a run, and its `log` where that says more."""
        self._finished += 1
        known = {run.disk.tier.name} if run.disk is not None and run.disk.tier.emulated is not None else self._emulated
        self.say(ended_line(run_in_words(run.spec, known), result_and_doubts(run, log)))

    def _words(self, spec: RunSpec) -> str:
        run = run_in_words(spec, self._emulated)
        return reference_again(run) if spec.purpose is Purpose.REFERENCE else run

    def _clear(self) -> None:
        if self._is_terminal:
            controls(self._stream, "\r\x1b[K")

"""Keras prints a bar for an epoch of its training, and one that looks the same for an evaluation or a prediction."""

from __future__ import annotations

import re

from sizer.analysis.log_lines.reading import EVALUATION, LogReading

HEADER = re.compile(r"\s*Epoch (\d{1,15})/\d+:?\s*$")
TRAINS_ON_SAMPLES = re.compile(r"\bTrain on \d+ samples\b")
BAR = re.compile(
    r"(?<![\d./])(?P<step>\d{1,15})/(?P<total>\d{1,15}|Unknown)\s+"
    r"(?:\[[=>.]+\]|━+)?\s*(?:- )?(?:ETA: )?\d[\d:]*s?(?= |$)"
)
"""`12/100 [==>...] - ETA: 3s - loss: 0.5`, `98/98 [====] - 4s 41ms/step`, `95/95 ━━━━ 2s 6ms/step`, `12/Unknown 3s`,
and with `verbose=2` `98/98 - 4s - loss: 0.5 - 4s/epoch - 41ms/step`."""

TIME = re.compile(r"(?<![\d.])(?P<time>\d{1,15})(?P<unit>us|ms|s)/(?P<what>step|sample|iter)\b")
UNITS = {"us": 1e-6, "ms": 1e-3, "s": 1.0}


class KerasBars:
    """A bar is of the training from the line `Epoch 3/10` on until it is full; there is no such line before others.

    Before TensorFlow 2.0 the bar counted samples, as the line `Train on 60000 samples` says, though it wrote /step.
    """

    name = "keras"

    def __init__(self) -> None:
        self._epoch: int | None = None
        self._of_samples = False

    def read(self, line: str) -> LogReading | None:
        header = HEADER.match(line)
        if header:
            self._epoch = int(header[1])
        elif TRAINS_ON_SAMPLES.search(line):
            self._of_samples = True
        bars = list(BAR.finditer(line))
        if not bars:
            return None
        # A bar that a narrow terminal cut off has the next one behind it: the last one counts.
        bar = bars[-1]
        if self._epoch is None:
            return EVALUATION
        epoch, done = self._epoch, int(bar["step"])
        total = int(bar["total"]) if bar["total"] != "Unknown" else None
        if total is not None and done >= total:
            self._epoch = None
        duration = TIME.search(line, bar.end())
        if self._of_samples or (duration and duration["what"] == "sample"):
            return LogReading(samples=done, total=total, epoch=epoch)
        seconds = int(duration["time"]) * UNITS[duration["unit"]] if duration else 0.0
        return LogReading(step=done, total=total, epoch=epoch, seconds=seconds or None)

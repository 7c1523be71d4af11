"""tqdm's bars, of which one is that of the training, and those of Trainer, Lightning and Ultralytics, which use them.

A program has several: of its epochs, of a validation after each, of what it downloads. The training's is the first that
counts and is none of those by its description or unit; another one takes its place if it goes on for longer after the
first has ended, as the training does after the data were read.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from sizer.analysis.log_lines.reading import EVALUATION, LogReading

COUNT = r"\d{1,3}(?:\.\d{1,2})?[kMGTP]|\d{1,15}"
BAR = re.compile(
    rf"(?<![\d.])(?P<done>{COUNT})(?:/(?P<total>{COUNT}|\?)"
    r"|(?P<counted>[^\d\s/\[]{1,20}| [^\d\s/\[]{1,20}))"
    r" \[(?P<elapsed>(?:\d{1,9} days?, )?[\d:]{1,15})(?:<[^,\]]*)?,"
    r" *(?P<speed>\?|\d{1,15}(?:\.\d{1,15})?) ?(?P<unit>[^,\]\s]+)"
)
"""`45%|███ | 45/100 [00:12<00:15,  3.60it/s, loss=2.3]`, and without a total `12it [00:01, 10.21it/s]`; where its unit
is scaled `5.00k/100k [00:12<03:48, 415it/s]`, to three digits."""

SCALES = {"k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15}

ULTRALYTICS_BAR = re.compile(
    r"\d{1,3}% [━╸─]+ (?P<done>\d{1,15})/(?P<total>\d{1,15}) (?P<speed>\d{1,15}(?:\.\d{1,15})?)(?P<unit>\S+/s|s/\S+)"
    r" (?P<elapsed>[\d:]{1,15}(?:\.\d{1,15})?)s?"
)
"""`640: 45% ━━━━━╸────── 45/100 3.6it/s 12.3s<15.2s`: its own bar since 2025 (ultralytics/utils/tqdm.py)."""

RICH_BAR = re.compile(
    r"(?P<done>\d{1,15})/(?P<total>\d{1,15}) +(?P<elapsed>[\d:]{1,15}) • [\d:-]+"
    r" +(?P<speed>\d{1,15}(?:\.\d{1,15})?)(?P<unit>it/s)"
)
"""`Epoch 0/9 ━━━━ 450/1000 0:00:12 • 0:00:15 36.01it/s`: Lightning's RichProgressBar."""

FRONT = re.compile(r"(?::\s*)?\d{1,3}%.*$", re.DOTALL)
"""From a bar's share on: what is before is its description."""

EVALUATES = re.compile(
    r"\b(?:val|valid|validat\w*|eval\w*|test\w*|sanity|dev)(?:\b|_)|\bClass\s+Images\b", re.IGNORECASE
)
INFERS = re.compile(r"\b(?:predict\w*|infer\w*|generat\w*)(?:\b|_)", re.IGNORECASE)
PREPARES = re.compile(
    r"\b(?:download|load|read|map|filter|token|process|pre-?process|extract|cach|scan|build|prepar|resolv|fetch|sav|"
    r"writ|import|upload|check|collect|convert|index|unpack|pack|copy|creat|comput)\w*",
    re.IGNORECASE,
)
SAMPLES = re.compile(r"(?:samples?|examples?|ex|imgs?|im|images?|sentences?|tok|tokens?|words?|seq)")
NO_BATCHES = re.compile(r"[kKMGT]?i?B|bytes?|files?|epochs?|ep|trials?|folds?", re.ASCII)
EPOCH = re.compile(r"\bepoch\W{0,3}(\d{1,15})", re.IGNORECASE)
TRAINER = re.compile(r"\{'(?:loss|train_runtime)': .*'epoch': ")
ULTRALYTICS = re.compile(r"\bGPU_mem\b|\bClass\s+Images\s+Instances\b")
LIGHTNING = re.compile(r"\b(?:Sanity Checking|(?:Validation|Testing) DataLoader \d|v_num=)")


@dataclass
class _Bar:
    """How far a bar came, and the most seconds that it has told. `after`: first seen when that of the training had
    ended, so that it is not the one of the epochs around it."""

    done: int = 0
    total: int | None = None
    elapsed: float = 0.0
    infers: bool = False
    after: bool = False

    @property
    def ended(self) -> bool:
        return self.total is not None and self.done >= self.total


class ProgressBars:
    """Reads the bars of a program, and knows by what else it prints whose they are."""

    def __init__(self) -> None:
        self._bars: dict[tuple[str, int | None], _Bar] = {}
        self._training: tuple[str, int | None] | None = None
        self._evaluating = False
        self._name = "tqdm"

    @property
    def name(self) -> str:
        """`tqdm`, or the program that draws its bars with it."""
        return self._name

    def read(self, line: str) -> LogReading | None:
        self._look(line)
        match = _last(BAR, line) or _last(ULTRALYTICS_BAR, line)
        if match is None:
            match = _last(RICH_BAR, line)
            self._name = "lightning" if match else self._name
        if match is None:
            return None
        front = line[: match.start()]
        described = FRONT.sub("", front).strip() if "%" in front else front.rstrip(" |━╸─").strip()
        unit, inverse = _unit(match["unit"])
        done = _count(match["done"])
        total = _count(match["total"]) if match.groupdict().get("total") not in (None, "?") else None
        if EVALUATES.search(described):
            self._evaluating = total is not None and done < total
            return EVALUATION
        if NO_BATCHES.fullmatch(unit) or PREPARES.search(described):
            return None
        seen = replace(_Bar(done, total, _seconds(match["elapsed"])), infers=bool(INFERS.search(described)))
        key = (re.sub(r"\d+", "#", re.sub(r"\s+", " ", described)), total)
        before = self._training
        if not self._is_training(key, seen):
            return None
        # Lightning before 2.0 counts the batches of a validation in the bar of its epoch, too.
        counts = not self._evaluating
        self._evaluating = False
        epoch = EPOCH.search(described)
        speed = float(match["speed"]) if match["speed"] != "?" else 0.0
        if unit[0] in SCALES and (unit[1:] == "it" or SAMPLES.fullmatch(unit[1:])):
            unit, speed = unit[1:], speed * SCALES[unit[0]]
        counter = {"samples": done} if SAMPLES.fullmatch(unit) else {"step": done}
        reading = LogReading(
            **counter, total=total, epoch=int(epoch[1]) if epoch else None, training=counts, first=before != key
        )
        if not speed:
            return reading
        if reading.samples is not None:
            return replace(reading, rate=1 / speed if inverse else speed)
        return replace(reading, seconds=speed) if inverse else replace(reading, batches=speed)

    def _look(self, line: str) -> None:
        """Whose bars these are."""
        if ULTRALYTICS.search(line):
            self._name = "ultralytics"
        elif self._name == "tqdm" and TRAINER.search(line):
            self._name = "hugging_face_trainer"
        elif self._name == "tqdm" and LIGHTNING.search(line):
            self._name = "lightning"

    def _is_training(self, key: tuple[str, int | None], seen: _Bar) -> bool:
        """Whether this is the bar of the training, as far as it can be known by now."""
        before = self._bars.get(key)
        lead = self._bars[self._training] if self._training is not None else None
        elapsed = max(seen.elapsed, before.elapsed if before else 0.0)
        after = before.after if before else lead is not None and lead.ended
        self._bars[key] = replace(seen, elapsed=elapsed, after=after)
        if key == self._training:
            return True
        if not seen.done or (before is not None and seen.done == before.done):
            return False
        longer = lead is not None and lead.ended and after and elapsed > lead.elapsed
        if lead is None or longer or (lead.infers and not seen.infers):
            self._training = key
            return True
        return False


def _last(expression: re.Pattern[str], line: str) -> re.Match[str] | None:
    """The last bar in a line: one may have been written over another."""
    matches = list(expression.finditer(line))
    return matches[-1] if matches else None


def _count(text: str) -> int:
    """`5.00k` is 5,000."""
    return round(float(text[:-1]) * SCALES[text[-1]]) if text[-1] in SCALES else int(text)


def _unit(text: str) -> tuple[str, bool]:
    """What a bar counts, and whether it tells seconds of one of them instead of how many a second."""
    if text.startswith("s/"):
        return text.removeprefix("s/"), True
    return text.removesuffix("/s"), False


def _seconds(clock: str) -> float:
    """`1:02:03` in seconds, and `1 day, 2:03:04`."""
    days, _, rest = clock.rpartition(", ")
    seconds = 0.0
    for part in rest.rstrip("s").split(":"):
        seconds = 60 * seconds + float(part or 0)
    return seconds + 86400 * int(days.split()[0]) if days else seconds

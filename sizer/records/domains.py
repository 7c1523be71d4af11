"""What a field of a record may hold: the bounds of each kind of number, closed lists of words, names.

Records say in their type hints which of these a field is, and what reads them from a file refuses all else. So nothing
behind the reader has to expect 1e308 samples/s, a batch of 10**30, or a name that is a path.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from types import MappingProxyType
from typing import Annotated, Any, Protocol

from sizer.records.kinds import KINDS, MODES
from sizer.records.messages import AnyOf, Message

SCHEMA_VERSION = 2
"""Version of every JSON file in a study folder."""

FLATTENED = MappingProxyType({"flattened": True})
"""Marks a field that is a record and whose fields a file has beside the others of the record that holds it."""

NOT_STORED = MappingProxyType({"stored": False})
"""Marks a field that no file has: a secret."""

LARGEST = 1e60
"""Of an amount. A workload may name 1e18 samples a step (`events.LARGEST`), and sums and rates are made of these."""

SMALLEST = 1e-60
"""Of an amount that is not 0: one over it, and its square, are numbers still."""

LARGEST_COUNT = 2**63
LARGEST_BYTES = 2**60
LARGEST_VCPUS = 4096.0
LARGEST_BATCH = 2**20
LARGEST_GPUS = 100_000
LONGEST_NAME = 100
READABLE = 1e20
"""Larger whole numbers are written with an exponent."""


class Domain(Protocol):
    """The values that a field may hold, of those that are of its type."""

    def holds(self, value: Any) -> bool:
        """Whether this is one."""

    @property
    def wanted(self) -> Message:
        """What it must be, for a person: `a number of 0 or more`."""


@dataclass(frozen=True)
class Between:
    """Numbers between two bounds, both included; `open_ended`: infinity is one, too."""

    low: float
    high: float
    open_ended: bool = False

    def holds(self, value: float) -> bool:
        """Whether the value lies within, and is 0 or no smaller than SMALLEST."""
        if isinstance(value, float) and math.isinf(value):
            return self.open_ended
        return self.low <= value <= self.high and (value == 0 or abs(value) >= SMALLEST)

    @property
    def wanted(self) -> Message:
        if self.low == 0 and self.high == LARGEST:
            return Message("0 or a number from {low} to {high}", low=_shown(SMALLEST), high=_shown(self.high))
        if self.low == SMALLEST:
            return Message("a number above 0, up to {high}", high=_shown(self.high))
        return Message("a number from {low} to {high}", low=_shown(self.low), high=_shown(self.high))


def _shown(value: float) -> str:
    return f"{int(value)}" if value == int(value) and abs(value) < READABLE else f"{value:g}"


@dataclass(frozen=True)
class OneOf:
    """Words of a closed list."""

    choices: tuple[str, ...]

    def holds(self, value: str) -> bool:
        return value in self.choices

    @property
    def wanted(self) -> Message:
        return Message("one of {choices}", choices=AnyOf(*self.choices))


@dataclass(frozen=True)
class Matching:
    """Text of a form."""

    pattern: str
    wanted: Message

    def holds(self, value: str) -> bool:
        return len(value) <= LONGEST_NAME and re.fullmatch(self.pattern, value, re.ASCII) is not None


@dataclass(frozen=True)
class Printed:
    """Text that a person sees as it is: printable, in one line, and with no spaces around it."""

    @property
    def wanted(self) -> Message:
        return Message("printable text of up to {longest} characters, without spaces around it", longest=LONGEST_NAME)

    def holds(self, value: str) -> bool:
        return 0 < len(value) <= LONGEST_NAME and value.isprintable() and value == value.strip()


@dataclass(frozen=True)
class Filled:
    """Any text but none."""

    @property
    def wanted(self) -> Message:
        return Message("a text")

    def holds(self, value: str) -> bool:
        return bool(value)


Amount = Annotated[float, Between(0, LARGEST)]
"""Seconds, bytes, cores, samples, rates and their shares: never below 0."""

Signed = Annotated[float, Between(-LARGEST, LARGEST)]
"""What may grow or shrink."""

Bound = Annotated[float, Between(-LARGEST, LARGEST, open_ended=True)]
"""An end of an interval; infinite where too little was measured to have one."""

Rate = Annotated[float, Between(SMALLEST, LARGEST)]
"""Of a thing that is there: above 0."""

Probability = Annotated[float, Between(0, 1)]

Vcpus = Annotated[float, Between(1 / LARGEST_VCPUS, LARGEST_VCPUS)]

Count = Annotated[int, Between(0, LARGEST_COUNT)]

Nodes = Annotated[int, Between(1, LARGEST_GPUS)]
"""Machines that run a job together."""

Bytes = Annotated[int, Between(1, LARGEST_BYTES)]
"""The size of a memory or a disk: at least one byte."""

Batch = Annotated[int, Between(1, LARGEST_BATCH)]

Year = Annotated[int, Between(2000, 2100)]

SafeName = Annotated[
    str,
    Matching(
        "[A-Za-z0-9\u00a1-\U0010ffff][A-Za-z0-9._\u00a1-\U0010ffff-]*",
        Message("a name of letters of any script, digits, `.`, `_` and `-` that begins with a letter or digit"),
    ),
]
"""Safe on a shell's line, in a cell of a table and on a page; the same as in the study file's schema, whose reader has
refused what cannot be printed. It is never part of a path, so beyond ASCII nothing in it can do harm."""

Name = Annotated[str, Printed()]
"""What people call a workload or a disk. It is never part of a path: files are named by ids."""

Label = Name
"""The same of a framework, a network or a GPU."""

Text = Annotated[str, Filled()]
"""Text that says something."""

Moment = Annotated[
    str,
    Matching(r"\d{4}-\d\d-\d\dT[0-9:.+-]+Z?", Message("a time such as {example}", example="2026-11-21T10:00:00+00:00")),
]

Kind = Annotated[str, OneOf(tuple(KINDS))]
Mode = Annotated[str, OneOf(MODES)]
Input = Annotated[str, OneOf(("disk", "cached", "synthetic", "replay"))]
"""`replay` reads the data as the loader does and makes nothing of it: no workload is asked for so, a part of one is."""

Stage = Annotated[str, OneOf(("step", "pipeline", "disk", "cache"))]
"""What a run isolates of a workload: its step, its input pipeline without the disk, the disk alone, the page cache."""

MeterChoice = Annotated[str, OneOf(("auto", "hook", "log"))]
"""What counts the steps of a command; `auto`: what it tells itself, else the hook, else its log."""

Decoder = Annotated[str, OneOf(("simplejpeg", "opencv", "pillow"))]
"""What decodes JPEGs."""

Cache = Annotated[str, OneOf(("cold", "natural", "warm"))]
DeviceKind = Annotated[str, OneOf(("cpu", "cuda", "emulated"))]
RateBasis = Annotated[str, OneOf(("published", "interpolated", "extrapolated", "transferred"))]
"""How the rate of an accelerator follows from published ones."""

Preference = Annotated[str, OneOf(("cheapest", "fastest", "balanced"))]
Status = Annotated[str, OneOf(("recommended", "at_least", "refused"))]
EdgeState = Annotated[str, OneOf(("settled", "rising", "unsettled"))]

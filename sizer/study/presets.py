"""How thoroughly to measure: what `quick`, `standard` and `full` fill in where a study file says nothing."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from itertools import pairwise
from typing import Any

from sizer.records.study import Measure

SMALLEST_VCPUS = 0.25
DISTINCT_VALUES = 3
"""An axis needs three distinct values before the model predicts along it."""


class Preset(str, Enum):
    """A level of thoroughness; its value is what a person types."""

    QUICK = "quick"
    STANDARD = "standard"
    FULL = "full"


@dataclass(frozen=True)
class HostSize:
    """What the defaults of a study need to know of a host: its usable vCPUs and its memory in bytes."""

    vcpus: int
    memory_bytes: int


def recorded_size(host: Mapping[str, Any]) -> HostSize:
    """Of the host.json of a study folder, which may be that of another machine."""
    return HostSize(int(host.get("cpus", 1)), int(host.get("memory_bytes", 1)))


MEASURE = {
    Preset.QUICK: Measure(repeats=2, seconds=10.0, precision=0.05),
    Preset.STANDARD: Measure(),
    Preset.FULL: Measure(repeats=5, seconds=60.0, precision=0.01),
}


SECONDS_OF_MODES = 60.0
"""Of a study that names a mode and says neither `seconds` nor a preset: a mini-batch of a large network takes a CPU
several seconds, and the interval of its mean is asked for."""

ISOLATED = frozenset({Preset.FULL})
"""Presets that isolate the stages of each workload."""


def vcpus_axis(preset: Preset, host_vcpus: int) -> tuple[float, ...]:
    """vCPU limits from the host's own downwards by halves, ascending.

    quick: the three largest; standard: down to one vCPU, three at least; full: down to half a vCPU, with the
    middles between.
    """
    halves = _halves(host_vcpus)
    if preset is Preset.QUICK:
        chosen = halves[:DISTINCT_VALUES]
    elif preset is Preset.STANDARD:
        whole = [value for value in halves if value >= 1]
        chosen = halves[: max(len(whole), DISTINCT_VALUES)]
    else:
        upper = [value for value in halves if value >= 0.5] if host_vcpus > 1 else halves
        # Quarters can be limited.
        chosen = upper + [math.floor((high + low) / 2 * 4) / 4 for high, low in pairwise(upper)]
    return tuple(sorted(set(chosen)))


def _halves(host_vcpus: int) -> list[float]:
    """The host's vCPUs, half of them and so on: whole numbers above one, then a half and a quarter."""
    values = [float(max(host_vcpus, 1))]
    while values[-1] > SMALLEST_VCPUS:
        half = values[-1] / 2
        values.append(float(math.ceil(half)) if half > 1 else half)
    return values

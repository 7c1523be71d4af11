"""Which runs of a study were measured while the host drifted, as its reference configuration shows. Pure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import median

from sizer.records import Outcome, Run, RunSpec
from sizer.reference import is_measurement
from sizer.units import format_rate, format_share

DRIFT_SHARE = 0.05
"""A host whose reference changes by more has drifted; on a quiet one fresh processes differ by 0.3 to 2 %."""
MARK = "drifting"
"""The first word of the warning."""


@dataclass(frozen=True)
class Spread:
    """The reference configuration through a study: how often it completed, its lowest and its highest samples/s."""

    count: int
    low: float
    high: float
    unit: str

    @property
    def share(self) -> float:
        """By how much the highest exceeds the lowest."""
        return self.high / self.low - 1

    @property
    def sentence(self) -> str:
        """`the reference configuration was measured 4 times: 655 to 742 images/s, a spread of 13.3 %`."""
        rates = f"{format_rate(self.low, self.unit)} to {format_rate(self.high, self.unit)}"
        spread = format_share(self.share, 1)
        return f"the reference configuration was measured {self.count} times: {rates}, a spread of {spread}"


def spread(runs: Sequence[Run], reference: RunSpec | None) -> Spread | None:
    """How far the reference spread over the whole study; None where it did not complete twice."""
    measured = [] if reference is None else [run for run in runs if _is_reference(run, reference)]
    if len(measured) < 2:
        return None
    rates = [_rate(run) for run in measured]
    return Spread(len(rates), min(rates), max(rates), measured[0].sample_unit)


def changed_marks(runs: Sequence[Run], reference: RunSpec | None) -> tuple[Run, ...]:
    """The runs whose mark is not what these runs say, with the mark that it should be; `runs` as they started.

    Marked are the runs between two measurements of the reference that differ by more than DRIFT_SHARE, and those with
    the reference around them outside the band of that width that holds most of its measurements: a host that creeps
    is found, too. So is a measurement of the reference outside that band, if two others agree. Runs before the first
    and after the last measurement are not judged.
    """
    sentences = {} if reference is None else _sentences(runs, reference)
    marked = (_with_mark(run, sentences.get(index)) for index, run in enumerate(runs))
    return tuple(new for old, new in zip(runs, marked, strict=True) if new != old)


def _sentences(runs: Sequence[Run], reference: RunSpec) -> dict[int, str]:
    """The warning of each run, by its place, where it has one."""
    measured = [index for index, run in enumerate(runs) if _is_reference(run, reference)]
    rates = {index: _rate(runs[index]) for index in measured}
    if len(measured) < 2:
        return {}
    band, unit = _band(list(rates.values())), runs[measured[0]].sample_unit
    agree = sum(_inside(rate, band) for rate in rates.values()) > 1
    found = {
        index: f"{MARK}: the reference configuration made {format_rate(rate, unit)} here, {_outside(band, unit)}"
        for index, rate in rates.items()
        if agree and not _inside(rate, band)
    }
    for before, after in pairwise(measured):
        sentence = _between(rates[before], rates[after], band, unit)
        if sentence:
            found |= {index: sentence for index in range(before + 1, after) if _has_rate(runs[index])}
    return found


def _between(before: float, after: float, band: tuple[float, float], unit: str) -> str | None:
    """What is to be said of the runs between two measurements of the reference."""
    change, level = after / before - 1, (before + after) / 2
    if abs(change) > DRIFT_SHARE:
        rates = f"{format_rate(before, unit)} to {format_rate(after, unit)} ({100 * change:+.1f} %)"
        return f"{MARK}: the reference configuration went from {rates} while this run was measured between"
    if not _inside(level, band):
        rate = format_rate(level, unit)
        return f"{MARK}: around this run the reference configuration made {rate}, {_outside(band, unit)}"
    return None


def _band(rates: Sequence[float]) -> tuple[float, float]:
    """The band, DRIFT_SHARE wide, that holds most of the rates; of several the one nearest to their median."""
    centre = median(rates)
    bands = [(low, low * (1 + DRIFT_SHARE)) for low in rates]
    return max(bands, key=lambda band: (sum(_inside(rate, band) for rate in rates), -abs(sum(band) / 2 - centre)))


def _inside(rate: float, band: tuple[float, float]) -> bool:
    return band[0] <= rate <= band[1]


def _outside(band: tuple[float, float], unit: str) -> str:
    low, high = band
    return f"outside the {format_rate(low, unit)} to {format_rate(high, unit)} of most of its measurements"


def _is_reference(run: Run, reference: RunSpec) -> bool:
    return _has_rate(run) and is_measurement(run.spec, reference)


def _has_rate(run: Run) -> bool:
    return run.outcome is Outcome.COMPLETED and run.throughput is not None and 0 < _rate(run) < math.inf


def _rate(run: Run) -> float:
    return run.throughput.value if run.throughput else 0.0


def _with_mark(run: Run, sentence: str | None) -> Run:
    others = tuple(warning for warning in run.warnings if warning.partition(":")[0] != MARK)
    return replace(run, warnings=(*others, sentence) if sentence else others)

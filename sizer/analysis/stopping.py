"""When a run has shown enough. Pure."""

from __future__ import annotations

from enum import Enum

from sizer.analysis.epochs import Epochs, Shown
from sizer.records.study import Measure

LOOKS = ((0.5, 0.5), (0.75, 1.0), (1.0, 1.0))
"""When a run is judged, as a share of its seconds, and the share of the asked half-width that is enough then.

Each look is a chance to stop at an interval that is narrow by luck (optional stopping): looks every half second cost up
to 3 % of coverage, these 1 %. The first asks for more, so that no run is near both bounds (as in O'Brien, Fleming 1979,
"A multiple testing procedure for clinical trials"). None is earlier, however short the steps: what comes now and then,
such as a stall every few seconds, is missed with no doubt shown. One more look at a quarter of 30 s, for a quarter of
the half-width, took the coverage of steps of 5 ms with stalls every 3 s from 94 to 89.5 %, and that of a drift of 10 %
from 95 to 91.5 % (200 simulated runs each; autocorrelated noise lost nothing).
"""

FEWEST_PRECISE = 10
"""Intervals of steps below which no run is taken for precise."""

EPOCHS_LOOK = 0.05
"""A run that is measured by whole epochs is judged again when it has become longer by this share."""


class Stop(str, Enum):
    """Why a run was ended."""

    PRECISION = "precision"
    TIME = "time"
    ENDED = "ended"
    DEADLINE = "deadline"
    INTERRUPTED = "interrupted"
    BROKEN_EVENTS = "broken_events"
    SLOW_PATTERN = "slow_pattern"
    CONTAINER = "container"
    ABSENT = "absent"
    ESCAPED = "escaped"
    WRONG_UNIT = "wrong_unit"
    STOOD_STILL = "stood_still"


BY_TIME = frozenset({None, Stop.PRECISION, Stop.TIME, Stop.DEADLINE, Stop.ABSENT, Stop.WRONG_UNIT})
"""What is judged by when things came, so that it means nothing where sizer stood still meanwhile; None goes on."""


def enough(shown: Shown, measure: Measure, now: float) -> Stop | None:
    """PRECISION or TIME once the steady state is good enough; None while the run should go on.

    `now` is the time of the last step. A run that is measured by whole epochs needs one, and ends with the first that
    is over when its time is up; where no epoch is reported, none can be waited for, and the time alone ends the run.
    None ends before it is measured over the steps that were asked for.
    """
    steady = shown.steady
    if steady is None or not shown.sufficient or steady.intervals < measure.steps:
        return None
    if now - steady.start >= measure.seconds:
        return Stop.TIME
    passed = [width for share, width in LOOKS if steady.measured_seconds >= share * measure.seconds]
    if not passed or steady.intervals < FEWEST_PRECISE or shown.epochs is Epochs.NOT_KNOWN:
        return None
    return Stop.PRECISION if steady.relative_half_width <= passed[-1] * measure.precision else None


def next_look(shown: Shown, measure: Measure, began: float, now: float) -> float:
    """The time at which a run that has not shown enough is judged again; `began` is the time of its first step."""
    if shown.steady is None:
        return now
    if shown.epochs not in (Epochs.ANY, Epochs.NOT_KNOWN):
        return now + EPOCHS_LOOK * (now - began)
    looks = (shown.steady.start + share * measure.seconds for share, _ in LOOKS)
    return next((look for look in looks if look > now), now)

"""What a curve does where measuring stopped: how much the last step gained, and what follows from it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import Enum

GAIN = 0.05
"""A gain smaller than this is not worth a size."""
CLEAR = 0.8
"""The rate counts as rising if a gain above GAIN is expected, was measured, and is at least this likely."""
DOUBT = 0.1
"""A gain above GAIN that is at least this likely is said, because it leaves open whether the rate still rises."""
UNLIKELY = 0.3
"""Where no gain above GAIN is expected and one is no likelier than this, the doubt is reported and the size is kept."""


class Trend(Enum):
    """What the measurements say of more than the most measured."""

    FLAT = "flat"
    UNSETTLED = "unsettled"
    RISING = "rising"


@dataclass(frozen=True)
class SeenGain:
    """The relative gain straight from the runs of two sizes, on the host as it usually was, with its standard deviation
    in ln; `raw` is that of the medians of their rates, whatever the host did to each."""

    gain: float
    deviation: float
    raw: float

    @property
    def is_clear(self) -> bool:
        """Whether it is more than what the runs may be off, up or down."""
        return abs(math.log1p(self.gain)) > self.deviation


@dataclass(frozen=True)
class Edge:
    """The relative gain of the last doubling within what was measured, and P(gain > GAIN).

    `seen` is the same gain by the runs alone, None where the two sizes were not both measured. `predicted` where
    the gain is not of the last doubling but of the next, because a known ceiling says what it can be; `agreed` where
    accounting, too, names what has that ceiling.
    """

    gain: float = 0.0
    probability: float = 0.0
    seen: SeenGain | None = None
    predicted: bool = False
    agreed: bool = False

    @property
    def trend(self) -> Trend:
        """Rising where fit, runs and probability all say so, and the runs clearly; flat where none of them does."""
        if self.rises_likely and (self.seen is None or self.seen.is_clear):
            return Trend.RISING
        return Trend.FLAT if self.saturated and self.probability <= DOUBT else Trend.UNSETTLED

    @property
    def rises_likely(self) -> bool:
        """Whether fit and probability say so and the runs do not say otherwise, though not clearly: how far the curve
        may go on is held by its last gain then, too."""
        return min(self.gain, self._seen) > GAIN and self.probability >= CLEAR

    @property
    def saturated(self) -> bool:
        """Whether there is evidence, if not certainty, that more would gain nothing that counts."""
        if self.predicted:
            return self.gain <= (2 * GAIN if self.agreed else GAIN)
        # The fit smooths what the runs saw: up to twice the gain in them may be its noise.
        return self.gain <= GAIN and self._seen <= 2 * GAIN and self.probability <= UNLIKELY

    @property
    def _seen(self) -> float:
        return self.gain if self.seen is None else self.seen.gain

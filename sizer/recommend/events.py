"""What the probability of an answer is that of, by the same rules along a curve and among machines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sizer.recommend.scoring import rounded
from sizer.records import Configuration, Event, Objective, Spec


def known(probability: float, event: Event) -> dict[str, Any]:
    """The two fields of an answer."""
    return {"probability": rounded(probability), "probability_of": event}


UNKNOWN: dict[str, Any] = {"probability": None, "probability_of": None}
"""Where there was nothing to choose from."""


def less_too_little(chances: Sequence[float]) -> dict[str, Any]:
    """Of a lower bound, from the probabilities that each of what is smaller is enough; there must be one."""
    return known(1 - max(chances), Event.LESS_TOO_LITTLE)


def is_less(one: Spec | Configuration, other: Spec | Configuration) -> bool:
    """Fewer vCPUs, or as many with less memory, whatever the disk."""
    fewer = (one.vcpus or 0.0) - (other.vcpus or 0.0)
    return fewer < 0 or (fewer == 0 and (one.memory_bytes or 0) < (other.memory_bytes or 0))


def of_rate(objective: Objective) -> Event:
    """Where a rate is asked for, by itself or by a deadline."""
    return Event.GIVES_RATE if objective.deadline is None else Event.IN_TIME

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


def less_too_little(
    chances: Sequence[tuple[Spec | Configuration, float]], taken: Spec | Configuration, in_memory: bool = True
) -> dict[str, Any]:
    """Of a lower bound, from the probabilities that each of what was compared is enough; empty if nothing is smaller.

    Smaller are fewer vCPUs and, if it is a bound `in_memory`, as many with less memory; whatever the disk.
    """
    vcpus, memory = taken.vcpus or 0.0, taken.memory_bytes or 0
    fewer = [chance for each, chance in chances if (each.vcpus or 0.0) < vcpus]
    less = [chance for each, chance in chances if (each.vcpus or 0.0) == vcpus and (each.memory_bytes or 0) < memory]
    if in_memory and less:
        return known(1 - max(fewer + less), Event.LESS_TOO_LITTLE)
    event = Event.LESS_TOO_LITTLE if taken.memory_bytes is None else Event.FEWER_TOO_FEW
    return known(1 - max(fewer), event) if fewer else {}


def of_rate(objective: Objective) -> Event:
    """Where a rate is asked for, by itself or by a deadline."""
    return Event.GIVES_RATE if objective.deadline is None else Event.IN_TIME

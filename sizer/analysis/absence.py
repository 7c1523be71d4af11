"""Whether steps are made outside of the group of a run, where nothing of them is limited or counted. Pure."""

from __future__ import annotations

ARRIVAL_CORE_SECONDS = 1e-5
"""No process tells of steps, or passes on a line that does, in less: a write and a wake-up take as long."""

FEWEST_ARRIVALS = 10
FEWEST_SECONDS = 5.0


def is_absent(core_seconds: float, resolution: float, arrivals: int, seconds: float) -> bool:
    """Whether steps were told so many times while the group used no more CPU time than its count cannot show.

    How many steps were told each time does not matter, nor does a wait for an accelerator: that is submitted from here.
    """
    enough = arrivals >= FEWEST_ARRIVALS and seconds >= FEWEST_SECONDS
    return enough and core_seconds + resolution < ARRIVAL_CORE_SECONDS * arrivals

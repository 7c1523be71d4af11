"""Whether steps are made outside of the group of a run, where nothing of them is limited or counted. Pure."""

from __future__ import annotations

STEP_CORE_SECONDS = 1e-5
"""No process makes a step, or passes on a line that tells of one, in less: a write and a wake-up take as long."""

FEWEST_STEPS = 10
FEWEST_SECONDS = 5.0


def is_absent(core_seconds: float, resolution: float, steps: int, seconds: float) -> bool:
    """Whether so many steps came while the group used no more CPU time than what is below the resolution of its count.

    A wait for an accelerator is no absence: each step is still submitted from here.
    """
    enough = steps >= FEWEST_STEPS and seconds >= FEWEST_SECONDS
    return enough and core_seconds + resolution < STEP_CORE_SECONDS * steps

"""Which runs of a workload are the whole job, and which isolate one stage of it. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from sizer.model.feeds import REPLAY
from sizer.model.floor_runs import ordinary

if TYPE_CHECKING:
    from sizer.records.run import Run

INPUTS = ("disk", "cached", "synthetic")
"""The whole job is the one that does most: rates without reading or decoding answer for no job that has to."""
CACHES = ("cold", "natural", "warm")


def end_to_end(runs: Sequence[Run]) -> tuple[Run, ...]:
    """The runs of one workload that predictions are about; none where all of them isolate a stage.

    A run that was planned to isolate a stage says so. Of the others, which may be somebody else's, it is those of the
    input that does most, however few they are, and of its cache states the one with the most configurations. Never a
    replay.
    """
    places: dict[tuple[str, str], set[object]] = {}
    for run in runs:
        if not isolates(run):
            places.setdefault(_fed(run), set()).add(run.configuration)
    if not places:
        return ()
    main = max(places, key=lambda fed: (-INPUTS.index(fed[0]), len(places[fed]), -CACHES.index(fed[1])))
    return tuple(run for run in runs if not isolates(run) and _fed(run) == main)


def isolating(runs: Sequence[Run]) -> tuple[Run, ...]:
    """The others."""
    whole = {id(run) for run in end_to_end(runs)}
    return tuple(run for run in runs if id(run) not in whole)


def isolates(run: Run) -> bool:
    """Whether a run shows one stage alone, whatever else was measured."""
    return run.spec.stage is not None or run.spec.workload.input == REPLAY


def as_asked(runs: Iterable[Run]) -> tuple[Run, ...]:
    """The runs that were made to show the rate of their workload as asked for: no search, and no stage of it."""
    return tuple(run for run in ordinary(runs) if not isolates(run))


def _fed(run: Run) -> tuple[str, str]:
    return run.spec.workload.assumed_input, run.spec.workload.assumed_cache

"""Pure: a Study and the runs known so far become the next RunSpecs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sizer.lazily import exports

if TYPE_CHECKING:
    from sizer.plan.axes_of_first_run import Abilities, Needs, chosen_axes, needs_of
    from sizer.plan.batch_search import BatchSearch, batch_searches
    from sizer.plan.configurations import configurations as configurations_of
    from sizer.plan.configurations import position, repeated
    from sizer.plan.floor_search import Search, searches
    from sizer.plan.following import Following
    from sizer.plan.reference_runs import (
        DRIFT_SHARE,
        MOST_BETWEEN,
        Spread,
        changed_marks,
        is_measurement,
        reference,
        spread,
        usual_band,
    )
    from sizer.plan.run_order import (
        FAILED,
        UNFINISHED,
        estimate_seconds,
        guessed_workloads,
        of_older_form,
        plan,
        remaining,
        seconds_of_each,
    )
    from sizer.plan.seen_times import SeenTimes
    from sizer.plan.two_epochs import Obstacle, ObstacleKind, PassResult, TwoEpochs, two_epoch_passes
else:
    __getattr__ = exports(__name__, __file__)

__all__ = [
    "DRIFT_SHARE",
    "FAILED",
    "MOST_BETWEEN",
    "UNFINISHED",
    "Abilities",
    "BatchSearch",
    "Following",
    "Needs",
    "Obstacle",
    "ObstacleKind",
    "PassResult",
    "Search",
    "SeenTimes",
    "Spread",
    "TwoEpochs",
    "batch_searches",
    "changed_marks",
    "chosen_axes",
    "configurations_of",
    "estimate_seconds",
    "guessed_workloads",
    "is_measurement",
    "needs_of",
    "of_older_form",
    "plan",
    "position",
    "reference",
    "remaining",
    "repeated",
    "searches",
    "seconds_of_each",
    "spread",
    "two_epoch_passes",
    "usual_band",
]

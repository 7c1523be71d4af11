"""Pure: a Study and the runs known so far become the next RunSpecs."""

from __future__ import annotations

from sizer.plan.floor_search import MOST_RUNS, TYPICAL_RUNS, Search, marked, searches
from sizer.plan.reference_runs import DRIFT_SHARE, changed_marks, is_extra, is_measurement, reference, spread
from sizer.plan.run_order import FAILED, UNFINISHED, estimate_seconds, plan, remaining
from sizer.plan.two_epochs import TwoEpochs, two_epoch_passes

__all__ = [
    "DRIFT_SHARE",
    "FAILED",
    "MOST_RUNS",
    "TYPICAL_RUNS",
    "UNFINISHED",
    "Search",
    "TwoEpochs",
    "changed_marks",
    "estimate_seconds",
    "is_extra",
    "is_measurement",
    "marked",
    "plan",
    "reference",
    "remaining",
    "searches",
    "spread",
    "two_epoch_passes",
]

"""Pure: runs -> Model; what binds each workload, and what throughput other limits would give.

The numerical part is imported at the first fit or prediction, so that importing this package is cheap.
"""

from __future__ import annotations

from collections.abc import Sequence

from sizer.model.memory import memory_floor
from sizer.model.model import (
    MeasuredDisk,
    MeasuredRate,
    MemoryFloor,
    Model,
    Parameter,
    WhatIf,
    WorkloadModel,
)
from sizer.records import Run

__all__ = [
    "MeasuredDisk",
    "MeasuredRate",
    "MemoryFloor",
    "Model",
    "Parameter",
    "WhatIf",
    "WorkloadModel",
    "fit",
    "memory_floor",
]


def fit(runs: Sequence[Run]) -> Model:
    """The model of every workload among the runs; deterministic, and a workload it cannot carry says `refused`."""
    from sizer.model.fitting import fit_workload

    names = dict.fromkeys(run.spec.workload.name for run in runs)
    return Model(tuple(fit_workload([run for run in runs if run.spec.workload.name == name]) for name in names))

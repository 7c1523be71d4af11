"""Pure: runs -> Model; what binds each workload, and what throughput other limits would give."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sizer.lazily import exports

if TYPE_CHECKING:
    from sizer.model.advice import ENOUGH, counted_outcomes, few_values, memory_matters, vcpus_to_measure
    from sizer.model.batch_curve import batch_curves, nearest
    from sizer.model.batch_runs import (
        CLOSE,
        MOST_BATCH_RUNS,
        Tried,
        is_bound,
        largest_batch,
        tried,
        unfinished_end,
        whole_data,
    )
    from sizer.model.coordinates import batch_of, disk_of, gpus_of, memory_of, name_of_disk, vcpus_of
    from sizer.model.drift import Drift, drift_of, measured_after
    from sizer.model.edge import (
        GAIN,
        Edge,
        accelerators_alone,
        batch_edge,
        best_measured,
        best_place,
        doubled,
        gain,
        loader_waits,
        memory_edge,
        tells_apart,
        vcpus_edge,
        vcpus_of_ceiling,
    )
    from sizer.model.feeds import CPU_LABEL, label_at, label_of, labelled
    from sizer.model.filling import filled
    from sizer.model.fitting import fit
    from sizer.model.floor_runs import (
        LEAST_BYTES,
        MOST_RUNS,
        WITHIN,
        Bounds,
        GivenUp,
        GivenUpKind,
        SearchedFloor,
        bounds,
        caps,
        floor_from,
        is_floor_search,
        is_search,
        same_floor,
        searched_floor,
        too_slow,
    )
    from sizer.model.isolation import as_asked, end_to_end
    from sizer.model.memory import (
        MARGIN,
        anonymous_bytes,
        floor_at,
        memory_floor,
        needed_bytes,
        only_completed,
        undroppable_bytes,
    )
    from sizer.model.memory_sizes import MemoryCompared, asked_sizes, memory_compared
    from sizer.model.model import (
        Gpus,
        MeasuredDisk,
        MeasuredRange,
        Model,
        Parameter,
        Quantity,
        Source,
        WhatIf,
        WorkloadModel,
        deviation_of,
        of_new_run,
    )
    from sizer.model.observations import Noise, apart, beside_others, completed, measured_rate, noise_at, noise_of
    from sizer.model.plain_data import CONSTANTS, PLACE, as_data
    from sizer.model.prediction import LeftOut, left_out, predict, predict_several, predictions, rates, throughputs
    from sizer.model.stages import INSTANT, as_good
    from sizer.model.starved import is_starved
else:
    __getattr__ = exports(__name__, __file__)

__all__ = [
    "CLOSE",
    "CONSTANTS",
    "CPU_LABEL",
    "ENOUGH",
    "GAIN",
    "INSTANT",
    "LEAST_BYTES",
    "MARGIN",
    "MOST_BATCH_RUNS",
    "MOST_RUNS",
    "PLACE",
    "WITHIN",
    "Bounds",
    "Drift",
    "Edge",
    "GivenUp",
    "GivenUpKind",
    "Gpus",
    "LeftOut",
    "MeasuredDisk",
    "MeasuredRange",
    "MemoryCompared",
    "Model",
    "Noise",
    "Parameter",
    "Quantity",
    "SearchedFloor",
    "Source",
    "Tried",
    "WhatIf",
    "WorkloadModel",
    "accelerators_alone",
    "anonymous_bytes",
    "apart",
    "as_asked",
    "as_data",
    "as_good",
    "asked_sizes",
    "batch_curves",
    "batch_edge",
    "batch_of",
    "beside_others",
    "best_measured",
    "best_place",
    "bounds",
    "caps",
    "completed",
    "counted_outcomes",
    "deviation_of",
    "disk_of",
    "doubled",
    "drift_of",
    "end_to_end",
    "few_values",
    "filled",
    "fit",
    "floor_at",
    "floor_from",
    "gain",
    "gpus_of",
    "is_bound",
    "is_floor_search",
    "is_search",
    "is_starved",
    "label_at",
    "label_of",
    "labelled",
    "largest_batch",
    "left_out",
    "loader_waits",
    "measured_after",
    "measured_rate",
    "memory_compared",
    "memory_edge",
    "memory_floor",
    "memory_matters",
    "memory_of",
    "name_of_disk",
    "nearest",
    "needed_bytes",
    "noise_at",
    "noise_of",
    "of_new_run",
    "only_completed",
    "predict",
    "predict_several",
    "predictions",
    "rates",
    "same_floor",
    "searched_floor",
    "tells_apart",
    "throughputs",
    "too_slow",
    "tried",
    "undroppable_bytes",
    "unfinished_end",
    "vcpus_edge",
    "vcpus_of",
    "vcpus_of_ceiling",
    "vcpus_to_measure",
    "whole_data",
]

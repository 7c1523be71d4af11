"""Whether a workload will find the GPU that it is to compute on."""

from __future__ import annotations

import os
from collections.abc import Iterator

from sizer.host import gpus, has_driver, visible_gpus
from sizer.records import Doubt, DoubtKind, Workload
from sizer.runner import gpu_environment


def doubts_of_gpu(workload: Workload) -> Iterator[Doubt]:
    """Why it will not: there is no driver, no GPU of this index, or CUDA_VISIBLE_DEVICES does not show it."""
    device = workload.computes_on
    if device.kind != "cuda":
        return
    index = device.index or 0
    present, environment = gpus(), gpu_environment(workload, os.environ)
    if not has_driver():
        yield Doubt(DoubtKind.NO_DRIVER, workload.name, str(index))
    elif index >= len(present):
        yield Doubt(DoubtKind.GPU, workload.name, str(index))
    elif index >= len(visible_gpus(present, environment)) and "CUDA_VISIBLE_DEVICES" in environment:
        yield Doubt(DoubtKind.HIDDEN_GPU, workload.name, str(index), environment["CUDA_VISIBLE_DEVICES"])

"""Whether a workload will find the GPU that it is to compute on."""

from __future__ import annotations

import os
from collections.abc import Iterator

from sizer.host import gpus, gpus_seen, has_driver, interpreter, visible_gpus
from sizer.records import COMMAND, Doubt, DoubtKind, FrameworkPython, Workload
from sizer.runner import gpu_environment


def doubts_of_gpu(workload: Workload, count: int = 1, chosen: FrameworkPython | None = None) -> Iterator[Doubt]:
    """Why the last of `count` GPUs will not be found: there is no driver, no GPU of this index, CUDA_VISIBLE_DEVICES
    does not show it, or its framework, in the interpreter that the study chose, does not see it."""
    device, names = workload.computes_on, (workload.name,)
    if device.kind != "cuda":
        return
    index = (device.index or 0) + count - 1
    present, environment = gpus(), gpu_environment(workload, os.environ)
    if not has_driver():
        yield Doubt(DoubtKind.NO_DRIVER, names, str(index))
    elif index >= len(present):
        yield Doubt(DoubtKind.GPU, names, str(index))
    elif index >= len(visible_gpus(present, environment)) and "CUDA_VISIBLE_DEVICES" in environment:
        yield Doubt(DoubtKind.HIDDEN_GPU, names, str(index), environment["CUDA_VISIBLE_DEVICES"])
    elif workload.kind != COMMAND and workload.framework is not None:
        python = interpreter(workload.framework, chosen)
        seen = gpus_seen(workload.framework, python)
        if seen is not None and index >= len(seen):
            yield Doubt(DoubtKind.UNSEEN_GPU, names, str(index), str(python))

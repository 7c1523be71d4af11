"""Whether a workload will find the GPU that it is to compute on."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from sizer.host import gpus, gpus_seen, has_driver, interpreter, visible_gpus
from sizer.records import COMMAND, Doubt, DoubtKind, FrameworkPython, RunSpec, Workload
from sizer.runner import gpu_environment


def lacks_driver(workload: Workload) -> bool:
    """Whether it computes on a GPU and NVIDIA's driver is not here: its programs would only start to fail."""
    return _needs_driver(workload) and not has_driver()


def without_lacking(specs: Sequence[RunSpec]) -> list[RunSpec]:
    """Those whose workloads do not lack the driver, which is asked once for all of them."""
    lacking = any(_needs_driver(spec.workload) for spec in specs) and not has_driver()
    return [spec for spec in specs if not (lacking and _needs_driver(spec.workload))]


def _needs_driver(workload: Workload) -> bool:
    return workload.computes_on.kind == "cuda" and workload.input != "replay"


def doubts_of_gpu(workload: Workload, count: int = 1, chosen: FrameworkPython | None = None) -> Iterator[Doubt]:
    """Why it will not, of so many GPUs from its device on: there is no driver, no GPU of an index, CUDA_VISIBLE_DEVICES
    does not show it, or its framework, in the interpreter that the study chose, does not see it."""
    device, names = workload.computes_on, (workload.name,)
    if device.kind != "cuda":
        return
    first, needed = device.index or 0, (device.index or 0) + count
    present, environment = gpus(), gpu_environment(workload, os.environ)
    shown = len(visible_gpus(present, environment))
    if not has_driver():
        yield Doubt(DoubtKind.NO_DRIVER, names, str(first))
    elif needed > len(present):
        yield Doubt(DoubtKind.GPU, names, str(max(first, len(present))))
    elif needed > shown and "CUDA_VISIBLE_DEVICES" in environment:
        yield Doubt(DoubtKind.HIDDEN_GPU, names, str(max(first, shown)), environment["CUDA_VISIBLE_DEVICES"])
    elif workload.kind != COMMAND and workload.framework is not None:
        python = interpreter(workload.framework, chosen)
        seen = gpus_seen(workload.framework, python)
        if seen is not None and needed > len(seen):
            yield Doubt(DoubtKind.UNSEEN_GPU, names, str(max(first, len(seen))), str(python))

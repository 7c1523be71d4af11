"""Whether a workload will find the GPU that it is to compute on."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from sizer.host.cuda_devices import visible_gpus
from sizer.host.cuda_library import cuda_gpus
from sizer.host.frameworks import gpus_seen
from sizer.host.interpreters import interpreter
from sizer.host.nvml import gpus, has_driver
from sizer.limits.users import ME, run_user
from sizer.records.doubts import Doubt, DoubtKind
from sizer.records.kinds import COMMAND
from sizer.records.study import FrameworkPython, RunSpec, Workload
from sizer.runner.commands import gpu_environment


def lacks_driver(workload: Workload) -> bool:
    """Whether it computes on a GPU and NVIDIA's driver is not here: its programs would only start to fail."""
    return _needs_driver(workload) and not _has_gpus()


def without_lacking(specs: Sequence[RunSpec]) -> list[RunSpec]:
    """Those whose workloads do not lack the driver, which is asked once for all of them."""
    lacking = any(_needs_driver(spec.workload) for spec in specs) and not _has_gpus()
    return [spec for spec in specs if not (lacking and _needs_driver(spec.workload))]


def _needs_driver(workload: Workload) -> bool:
    return workload.computes_on.kind == "cuda" and workload.input != "replay"


def _has_gpus() -> bool:
    """By NVML, or by CUDA alone, which is all that a program needs."""
    return has_driver() or cuda_gpus() > 0


def doubts_of_gpu(
    workload: Workload, count: int = 1, chosen: FrameworkPython | None = None, run_as: str = ME
) -> Iterator[Doubt]:
    """Why it will not, of so many GPUs from its device on: there is no driver, no GPU of an index, CUDA_VISIBLE_DEVICES
    does not show it, or its framework, in the interpreter that the study chose, does not see it. Without NVML, which
    nothing but sizer's readings needs, that these will be missing."""
    device, names = workload.computes_on, (workload.name,)
    if device.kind != "cuda":
        return
    first, needed = device.index or 0, (device.index or 0) + count
    present, environment = gpus(), gpu_environment(workload, os.environ)
    readable = has_driver()
    there = len(present) if readable else cuda_gpus()
    shown = len(visible_gpus(present, environment)) if readable else there
    if not readable and there:
        yield Doubt(DoubtKind.NO_NVML, names, str(first))
    if not readable and not there:
        yield Doubt(DoubtKind.NO_DRIVER, names, str(first))
    elif needed > there and (readable or "CUDA_VISIBLE_DEVICES" not in environment):
        yield Doubt(DoubtKind.GPU, names, str(max(first, there)))
    elif needed > shown and "CUDA_VISIBLE_DEVICES" in environment:
        yield Doubt(DoubtKind.HIDDEN_GPU, names, str(max(first, shown)), environment["CUDA_VISIBLE_DEVICES"])
    elif workload.kind != COMMAND and workload.framework is not None:
        python = interpreter(workload.framework, chosen)
        # Who wrote the study has no rights of ours.
        seen = gpus_seen(workload.framework, python, () if chosen is None else run_user(run_as).becoming)
        if seen is not None and needed > len(seen):
            yield Doubt(DoubtKind.UNSEEN_GPU, names, str(max(first, len(seen))), str(python))

"""The command line and the environment of a run's child. Pure.

The environment is an allow-list, and every thread count in it is set from the limit on purpose: frameworks read the
host's CPU count and see neither a quota nor, some of them, a cpuset.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil
from pathlib import Path

from sizer.records import KINDS, OTHER, InputError, RunSpec, Workload

PASSED_ON = ("PATH", "HOME", "LANG", "LC_ALL", "TZ", "LD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES", "CUDA_HOME")
PASSED_ON_TO_COMMANDS = ("PYTHONPATH", "VIRTUAL_ENV", "CONDA_PREFIX", "USER")

THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "MKL_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "MXNET_CPU_WORKER_NTHREADS",
)


@dataclass(frozen=True)
class RunPaths:
    """Where a run finds things: the interpreter, the packages, its data, and folders that it may write to."""

    interpreter: Path
    packages: Path
    data: Path | None
    data_format: str | None
    scratch: Path
    output: Path


def threads(spec: RunSpec, host_vcpus: int) -> int:
    """Threads of the child: as many as whole vCPUs it may touch."""
    return ceil(spec.limits.vcpus if spec.limits.vcpus is not None else host_vcpus)


def argv(spec: RunSpec, paths: RunPaths, host_vcpus: int) -> list[str]:
    """The program of a run. A user's own command is taken as it is."""
    workload = spec.workload
    if workload.kind == "command":
        return list(workload.command)
    options: dict[str, object] = {
        "framework": workload.framework if workload.framework != OTHER else None,
        "network": workload.network,
        "batch-size": spec.batch_size,
        "data": paths.data,
        "format": paths.data_format or workload.format,
        "input": workload.input if KINDS[workload.kind].data_formats else "synthetic",
        "cache": workload.cache,
        "threads": threads(spec, host_vcpus),
        "seed": spec.measure.seed + spec.repeat,
        "device": "emulated" if workload.computes_on.kind == "emulated" else workload.computes_on.label,
        "rate": _rate(workload),
    }
    if workload.kind == "imagenet_preprocessing":
        options |= {
            "output": paths.output,
            "format": workload.format,
            "passes": 0,
            "framework": None,
            "network": None,
            "rate": None,
        }
    else:
        options["scratch"] = paths.scratch
    words = [str(paths.interpreter), "-m", f"workloads.{workload.kind}"]
    for name, value in options.items():
        words += [f"--{name}", str(value)] if value is not None else []
    return words


def environment(spec: RunSpec, paths: RunPaths, host_vcpus: int, ours: Mapping[str, str]) -> dict[str, str]:
    """The child's whole environment, from an allow-list of ours."""
    own_program = spec.workload.kind == "command"
    passed = (*PASSED_ON, *PASSED_ON_TO_COMMANDS) if own_program else PASSED_ON
    count = str(threads(spec, host_vcpus))
    return {
        **{name: ours[name] for name in passed if name in ours},
        **({"TERM": "dumb"} if own_program else {"PYTHONPATH": str(paths.packages), "PYTHONUNBUFFERED": "1"}),
        **dict.fromkeys(THREAD_VARIABLES, count),
        "TMPDIR": str(paths.scratch),
    }


def _rate(workload: Workload) -> float | None:
    if workload.computes_on.kind != "emulated":
        return None
    if workload.computes_on.samples_per_second is None:
        raise InputError(
            "workload `{workload}`: the emulated accelerator has no rate; write its samples_per_second.",
            workload=workload.name,
        )
    return workload.computes_on.samples_per_second

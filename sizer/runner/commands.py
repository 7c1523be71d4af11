"""The command line and the environment of a run's child, and how sizer's hook comes in. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from pathlib import Path

from sizer.host.gpus import BUS_ORDER
from sizer.records.frameworks import filled, placeholders_in
from sizer.records.kinds import KINDS, OTHER, PREPROCESSING
from sizer.records.messages import InputError
from sizer.records.study import RunSpec, Workload
from sizer.records.units import MIB

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


def placeholders(spec: RunSpec, paths: RunPaths, host_vcpus: int, host_memory_bytes: int) -> dict[str, str]:
    """What a run fills in for each; what is not limited is that of the host."""
    limits = spec.limits
    memory = limits.memory_bytes if limits.memory_bytes is not None else host_memory_bytes
    return {
        "vcpus": f"{limits.vcpus if limits.vcpus is not None else host_vcpus:g}",
        "threads": str(threads(spec, host_vcpus)),
        "memory_mib": str(memory // MIB),
        "batch_size": str(spec.batch_size),
        "data": str(paths.data or ""),
        "scratch": str(paths.scratch),
        "gpu_count": str(max(1, spec.gpu_count)) if spec.workload.computes_on.kind != "cpu" else "0",
        "repeat": str(spec.repeat + 1),
    }


def argv(spec: RunSpec, paths: RunPaths, host_vcpus: int, host_memory_bytes: int) -> list[str]:
    """The program of a run. A user's own command is taken as it is, with its placeholders filled in."""
    workload = spec.workload
    if workload.kind == "command":
        values = placeholders(spec, paths, host_vcpus, host_memory_bytes)
        return [filled(word, values) for word in workload.command]
    options: dict[str, object] = {
        "framework": workload.framework if workload.framework != OTHER else None,
        "network": workload.network,
        "mode": workload.mode,
        "batch-size": spec.batch_size,
        "data": paths.data,
        "format": paths.data_format or workload.format,
        "input": workload.input if KINDS[workload.kind].data_formats else "synthetic",
        "cache": workload.cache,
        "threads": threads(spec, host_vcpus),
        "seed": spec.measure.seed + spec.repeat,
        "device": "emulated" if workload.computes_on.kind == "emulated" else workload.computes_on.label,
        "rate": _rate(spec),
        "precision": workload.precision,
        **{
            name.replace("_", "-"): str(value).lower() if isinstance(value, bool) else value
            for name, value in vars(workload.options).items()
        },
        "gpu-count": spec.gpu_count if spec.gpu_count > 1 else None,
        "exchange": _exchange(spec),
        "scratch": paths.scratch,
    }
    if workload.kind == PREPROCESSING:
        options |= {"output": paths.output, "format": workload.format, "passes": 0}
    options = {name: value for name, value in options.items() if name not in KINDS[workload.kind].lacks}
    words = [str(paths.interpreter), "-m", f"workloads.{workload.kind}"]
    for name, value in options.items():
        words += [f"--{name}", str(value)] if value is not None else []
    return words


def environment(
    spec: RunSpec, paths: RunPaths, host_vcpus: int, host_memory_bytes: int, ours: Mapping[str, str]
) -> dict[str, str]:
    """The child's whole environment, from an allow-list of ours; what its `env` says goes before all else."""
    own_program = spec.workload.kind == "command"
    passed = (*PASSED_ON, *PASSED_ON_TO_COMMANDS) if own_program else PASSED_ON
    count = str(threads(spec, host_vcpus))
    values = placeholders(spec, paths, host_vcpus, host_memory_bytes)
    return {
        **{name: ours[name] for name in passed if name in ours},
        **passed_on(spec.workload, ours),
        **({"TERM": "dumb"} if own_program else {"PYTHONPATH": str(paths.packages), "PYTHONUNBUFFERED": "1"}),
        **dict.fromkeys(THREAD_VARIABLES, count),
        **(BUS_ORDER if spec.workload.computes_on.kind == "cuda" else {}),
        "TMPDIR": str(paths.scratch),
        **{name: filled(value, values) for name, value in _set(spec.workload, ours).items()},
    }


def gpu_environment(workload: Workload, ours: Mapping[str, str]) -> dict[str, str]:
    """The part of a child's environment that says which GPUs CUDA shows to it."""
    named = {name: ours[name] for name in ("CUDA_VISIBLE_DEVICES",) if name in ours}
    return {**named, **passed_on(workload, ours), **BUS_ORDER, **_set(workload, ours)}


def setup_environment(workload: Workload, scratch: Path, ours: Mapping[str, str]) -> dict[str, str]:
    """That of `setup`, which belongs to no run: without the variables that a run fills in, and with any threads."""
    return {
        **{name: ours[name] for name in (*PASSED_ON, *PASSED_ON_TO_COMMANDS) if name in ours},
        **passed_on(workload, ours),
        "TMPDIR": str(scratch),
        **{name: value for name, value in _set(workload, ours).items() if not placeholders_in([value])},
    }


def passed_on(workload: Workload, ours: Mapping[str, str]) -> dict[str, str]:
    """What `pass_env` takes from our environment."""
    names = [re.compile(re.escape(name).replace(r"\*", ".*"), re.DOTALL) for name in workload.pass_env]
    return {name: value for name, value in ours.items() if any(pattern.fullmatch(name) for pattern in names)}


def withheld(workload: Workload, ours: Mapping[str, str]) -> frozenset[str]:
    """The variables of our environment that a command gets neither from there nor otherwise."""
    given = {*PASSED_ON, *PASSED_ON_TO_COMMANDS, *THREAD_VARIABLES, "TERM", "TMPDIR", *passed_on(workload, ours)}
    return frozenset(ours) - given - {variable.name for variable in workload.env}


def hidden_values(workload: Workload, ours: Mapping[str, str]) -> dict[str, str]:
    """The values that nobody is shown, by their variables: those passed on, and those that are not stored."""
    unstored = {variable.name: variable.value_in(ours) or "" for variable in workload.env if variable.value is None}
    return {**passed_on(workload, ours), **unstored}


def _set(workload: Workload, ours: Mapping[str, str]) -> dict[str, str]:
    """What `env` sets. What is not to be had is left out: that it was missing is known before."""
    values = {variable.name: variable.value_in(ours) for variable in workload.env}
    return {name: value for name, value in values.items() if value is not None}


def _exchange(spec: RunSpec) -> float | None:
    """By how much of itself a step of several emulated accelerators is longer than that of one."""
    device = spec.workload.computes_on
    if device.kind != "emulated" or spec.gpu_count <= 1:
        return None
    speed_up = device.speed_up(spec.gpu_count)
    if speed_up is None:
        raise InputError(
            "workload `{workload}`: what several emulated accelerators lose to each other is not known; write a "
            "scaling_loss.",
            workload=spec.workload.name,
        )
    return spec.gpu_count / speed_up - 1


def _rate(spec: RunSpec) -> float | None:
    device = spec.device
    if device.kind != "emulated":
        return None
    if device.samples_per_second is None:
        raise InputError(
            "workload `{workload}`: the emulated accelerator has no rate; write its samples_per_second.",
            workload=spec.workload.name,
        )
    return device.samples_per_second


PATH_VARIABLE = "SIZER_EVENTS_PATH"
BATCH_SIZE_VARIABLE = "SIZER_BATCH_SIZE"

HOOK = Path(__file__).resolve().parent.parent / "hook"
"""Its `sitecustomize.py` is run by every Python that has this folder on its path."""

_PYTHON = re.compile(r"(python|pypy)[\d.]*t?")
_TAKES_A_WORD = frozenset({"-c", "-m", "-W", "-X", "--check-hash-based-pycs"})


def with_events(environment: Mapping[str, str], fifo: Path, hooked: bool, batch_size: int = 1) -> dict[str, str]:
    """The environment with the path of the run's FIFO; where it is `hooked` also with the hook on Python's path, and
    with the batch size, if the study gives one, which counts where no loader names its own."""
    added = {**environment, PATH_VARIABLE: str(fifo)}
    if hooked:
        if batch_size > 1:
            added[BATCH_SIZE_VARIABLE] = str(batch_size)
        own = environment.get("PYTHONPATH")
        added["PYTHONPATH"] = f"{HOOK}:{own}" if own else str(HOOK)
    return added


def shut_out_by(command: Sequence[str]) -> str | None:
    """The option, such as `-I`, with which Python passes over what its environment says or does not run `site`."""
    words = iter(command)
    if not any(_PYTHON.fullmatch(Path(word).name) for word in words):
        return None
    for word in words:
        if not word.startswith("-") or word == "-":
            return None
        flags = "" if word.startswith("--") else re.split("[cmWX]", word[1:], maxsplit=1)[0]
        flag = next((flag for flag in flags if flag in "ISE"), None)
        if flag is not None:
            return f"-{flag}"
        if word in ("-c", "-m") or word[1:2] in ("c", "m"):
            return None
        if word in _TAKES_A_WORD:
            next(words, None)
    return None

"""The quantities of a fitted model in physical units, in the workload's own samples."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from sizer.model import words
from sizer.model.equation import Array
from sizer.model.model import Member, Parameter, WorkloadModel
from sizer.model.stages import disk_is_free, read_seconds
from sizer.records import HOST_DISK, format_bytes, plural

CPU_ALONE = {
    "rate",
    "step",
    "exponent",
    "contention",
    "coherence",
    "knee",
    "yield",
    "slope",
    "quota",
    "batch",
    "sharpness",
}
"""With no stage beside the CPU there is nothing to overlap."""


def parameters_of(model: WorkloadModel) -> tuple[Parameter, ...]:
    """Demands of one sample, then what was fitted."""
    return (*_demands(model), *_fitted(model))


def _demands(model: WorkloadModel) -> list[Parameter]:
    facts = model.facts
    rows = [
        ("CPU time", "core-seconds", facts.core_seconds),
        ("bytes read", "bytes", facts.read_bytes),
        ("reads", "IOs", facts.read_ios),
        ("bytes written", "bytes", facts.written_bytes),
        ("writes", "IOs", facts.write_ios),
    ]
    source = "accounting" if facts.demand_accounted else "data set"
    return [
        Parameter(
            name, f"{unit}/{model.sample_unit}", value, value, value, "accounting" if name == "CPU time" else source
        )
        for name, unit, value in rows
        if value is not None
    ]


def _fitted(model: WorkloadModel) -> list[Parameter]:
    """The parameters of the heaviest member; the others differ in form, so theirs cannot be averaged with these."""
    member = model.members[0]
    draws = np.array(member.draws)
    found = []
    for index, name in enumerate(member.names):
        if name == "sharpness" and set(member.names) <= CPU_ALONE:
            continue
        if name == "rate" and not model.measured.vcpus:
            continue  # of how many vCPUs is not known
        named = _named(name, model, member)
        if named is not None:
            found.append(_parameter(*named, member.estimate[index], draws[:, index], VALUES.get(name, math.exp)))
    return [*found, *_capacities(model, member, draws)]


def _share(logit: float) -> float:
    return 1 / (1 + math.exp(-logit))


VALUES: dict[str, Callable[[float], float]] = {"exponent": float, "yield": float, "slope": float, "contention": _share}
"""From the value that is fitted to the one that is told; the others are logarithms."""


def _named(name: str, model: WorkloadModel, member: Member) -> tuple[str, str] | None:
    """Label and unit of one parameter of the equation; None for those of one disk or memory level."""
    kind, _, key = name.partition(":")
    device = words.accelerator(model.facts.device)
    if kind == "accelerator":
        return (key if len(model.measured.gpus) > 1 and key != "accelerator" else device, _per_second(model))
    if kind == "latency":
        return (f"a worker's wait for {words.disk(key)}", f"seconds/{model.sample_unit}")
    if kind == "missed":
        return (f"reads that still miss with {format_bytes(int(key))}, of those with the least memory", "")
    if kind == "slowed":
        return (f"time with {format_bytes(int(key))}, of that with the most memory", "")
    cap = device if member.structure.cap_stage == "accelerator" else "serial"
    launch = "CPU" if member.structure.batch_stage == "cpu" else device
    return {
        "rate": ("parallel rate of one vCPU", _per_second(model)),
        "step": ("CPU time of the step alone", f"core-seconds/{model.sample_unit}"),
        "exponent": ("exponent of vCPU scaling", ""),
        "contention": ("serial share", ""),
        "coherence": ("cost of coherence", ""),
        "knee": ("vCPUs up to which each counts in full", ""),
        "yield": ("yield of a vCPU beyond", ""),
        "slope": ("exponent of vCPU scaling beyond", ""),
        "quota": ("CPU time under a fraction of a vCPU, over that of a whole one", ""),
        "cap": (f"{cap} ceiling", _per_second(model)),
        "gpus": ("what each further accelerator loses", ""),
        "batch": (f"launch cost on the {launch}, relative to a batch of {model.facts.reference_batch}", ""),
        "sharpness": ("overlap exponent", ""),
    }.get(name)


def _capacities(model: WorkloadModel, member: Member, draws: Array) -> list[Parameter]:
    """What each disk or memory level carries, in samples/s."""
    found = []
    for index, name in enumerate(member.names):
        kind, _, key = name.partition(":")
        if kind == "memory":
            label, base = f"memory of {format_bytes(int(key))}", 0.0
        elif kind == "disk":
            label, base = words.disk(key), _log_capacity(model, key)
            label = label if key == HOST_DISK else f"disk {label}"
        else:
            continue
        centre, drawn = base + member.estimate[index], base + draws[:, index]
        found.append(_parameter(f"{label} carries", _per_second(model), centre, drawn, math.exp))
    return found


def _log_capacity(model: WorkloadModel, name: str) -> float:
    disk = model.measured.disk(name)
    read = read_seconds(model.facts, disk.rates) if disk else None
    if read is None or read[0] <= 0 or disk_is_free(model.facts, model.measured, name):
        return math.log(3.0 * model.facts.highest_rate)
    return -math.log(read[0])


def _per_second(model: WorkloadModel) -> str:
    return f"{plural(model.sample_unit)}/s"


def _parameter(label: str, unit: str, centre: float, draws: Array, to_value: Callable[[float], float]) -> Parameter:
    low, high = np.quantile(draws, [0.05, 0.95])
    low, high = min(float(low), centre), max(float(high), centre)
    return Parameter(label, unit, to_value(centre), to_value(low), to_value(high), "fit")

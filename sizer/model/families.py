"""The forms that compete for a workload, and what is believed of their parameters before any run is seen."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from sizer.model.equation import Array, parameter_names
from sizer.model.model import Facts, Measured, Structure
from sizer.model.observations import Observation
from sizer.model.stages import UNBINDING, disk_is_free, fitted_disks

SCALINGS = ("linear", "amdahl", "power", "usl")
"""How throughput grows with vCPUs: Amdahl 1967; USL, Gunther 2007; the power law stands for what neither foresees."""


@dataclass(frozen=True)
class Prior:
    """Normal beliefs about the parameters of a structure: means and standard deviations (k,)."""

    mean: Array
    deviation: Array


def structures(facts: Facts, measured: Measured) -> Iterator[Structure]:
    """Every form worth trying: scaling x (a cap or none) x (memory levels or none)."""
    base = {
        "accelerator": facts.accelerator_rate is not None,
        "batch": len(measured.batch_size) > 1,
        "disks": fitted_disks(facts, measured),
    }
    cap_stage = "accelerator" if facts.device.kind != "cpu" and facts.accelerator_rate is None else "serial"
    memory: list[tuple[int, ...]] = [()]
    page_cache_explains = facts.natural and facts.data_bytes and facts.read_bytes
    if len(measured.memory_bytes) > 1 and not page_cache_explains:
        memory.append(measured.memory_bytes)
    scalings = SCALINGS if len(measured.vcpus) > 2 else SCALINGS[:1]
    for scaling, capped, levels in itertools.product(scalings, (False, True), memory):
        yield Structure(scaling, capped, cap_stage, memory_levels=levels, **base)  # type: ignore[arg-type]


def prior(structure: Structure, facts: Facts, measured: Measured, observations: Sequence[Observation]) -> Prior:
    """Demands from accounting are beliefs with a narrow spread; what nothing is known of is wide."""
    beliefs = [_belief(name, facts, measured, observations) for name in parameter_names(structure)]
    return Prior(np.array([mean for mean, _ in beliefs]), np.array([deviation for _, deviation in beliefs]))


def _belief(name: str, facts: Facts, measured: Measured, observations: Sequence[Observation]) -> tuple[float, float]:
    if name == "rate":
        if facts.core_seconds:
            return -math.log(facts.core_seconds), 0.25  # waiting that spins and siblings that share a core
        return max(o.log_rate - math.log(o.configuration.vcpus) for o in observations), 1.5
    if name == "accelerator":
        assert facts.accelerator_rate is not None, "only structures with a known accelerator have this parameter"
        return math.log(facts.accelerator_rate), 0.03 if facts.device.kind == "emulated" else 0.15
    if name.startswith("disk:"):
        return 0.0, _disk_spread(name.removeprefix("disk:"), facts, measured)
    if name.startswith("memory:"):
        return math.log(UNBINDING * facts.highest_rate), 1.5
    return {
        "exponent": (1.0, 0.3),
        "contention": (math.log(0.05), 1.5),
        "coherence": (math.log(1e-3), 2.0),
        "cap": (math.log(1.5 * facts.highest_rate), 1.5),
        "batch": (math.log(0.1), 1.5),
        "sharpness": (math.log(6.0), 0.8),  # a closed network of 4 to 16 buffers loses 6-20 % at its knee
    }[name]


def _disk_spread(name: str, facts: Facts, measured: Measured) -> float:
    disk = measured.disk(name)
    if disk is None or disk_is_free(facts, measured, name):
        return 1.5
    return 0.1 if facts.demand_accounted and disk.emulated else 0.4


STARTS = {
    "cap": (0.05, 0.7),
    "sharpness": (math.log(3), math.log(12)),
    "contention": (-4.5, -1.0),
    "coherence": (-9.0, -5.0),
}
"""Where the search starts; `cap` is relative to the highest rate."""


def starting_points(structure: Structure, highest: float, belief: Prior) -> Array:
    """Starting vectors (S, k): the beliefs with every combination of STARTS; caps lie about `highest` ln throughput."""
    names = parameter_names(structure)
    varied = [name for name in names if name in STARTS]
    points = []
    for values in itertools.product(*(STARTS[name] for name in varied)):
        point = belief.mean.copy()
        for name, value in zip(varied, values, strict=True):
            point[names.index(name)] = value + (highest if name == "cap" else 0.0)
        points.append(point)
    return np.array(points)

"""The ceiling that is known apart from the curve: what accelerator and disk allow, whatever the vCPUs, and how many
vCPUs reach it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from sizer.model.equation import Array, solve
from sizer.model.feeds import label_at, with_usual_accelerator
from sizer.model.model import Member, WorkloadModel
from sizer.model.stages import Rows, build_rows, disk_is_free
from sizer.records import Bottleneck, Configuration

REACHED = 0.9
"""A ceiling counts as reached from this share of it: nothing can gain more than a ninth on top."""
FAR = 40.0
"""Ln of a rate that no machine has."""
UNKNOWN = ("rate", "cap")
CONTRADICTS = {Bottleneck.CPU, Bottleneck.SERIAL}


def known_ceilings(model: WorkloadModel, configurations: Sequence[Configuration]) -> Array:
    """Ln samples per second that the known stages alone would allow (n,); infinite where nothing but CPU is known.

    Known are an accelerator whose rate was given or accounted, and a disk with figures and accounted demands. A
    fitted cap is not: where the rate still rises, the curve cannot separate it from contention.
    """
    known = model.ceilings
    new = [configuration for configuration in dict.fromkeys(configurations) if configuration not in known]
    if new:
        known.update(zip(new, map(float, _ceilings(model, new)), strict=True))
    return np.array([known[configuration] for configuration in configurations])


def accelerators_alone(model: WorkloadModel, configuration: Configuration) -> float | None:
    """Samples per second that the accelerators of a configuration make together if nothing else takes time.

    None where no rate of theirs was given or accounted.
    """
    configuration = with_usual_accelerator(model.measured, configuration)
    if label_at(model.facts, configuration) not in model.facts.accelerator_rates:
        return None
    rows, logs = build_rows(model.facts, model.measured, [configuration]), []
    for member in model.members:
        seconds = solve(member.structure, member.vectors[:1], rows.design(member.structure)).accelerator[0, 0]
        logs.append(-member.weight * float(seconds))
    rate = math.exp(sum(logs)) if all(map(math.isfinite, logs)) else math.inf
    return rate if math.isfinite(rate) else None


def vcpus_of_ceiling(model: WorkloadModel, configuration: Configuration) -> tuple[float, float, float] | None:
    """(value, low, high) of the vCPUs that keep known accelerators busy, with the batch and as many accelerators as
    there: their rate x the core-seconds of a sample. None where the rate is not known apart from the curve."""
    alone = replace(with_usual_accelerator(model.measured, configuration), vcpus=1.0)
    label = label_at(model.facts, alone)
    if label not in model.facts.accelerator_rates or not model.members:
        return None
    found, weights = [], []
    for member in model.members:
        if f"accelerator:{label}" not in member.names:
            return None
        design = build_rows(model.facts, model.measured, [alone]).design(member.structure)
        solved = solve(member.structure, member.vectors[1:], design)
        found.append(np.exp(solved.cpu[:, 0] - solved.accelerator[:, 0]))
        weights.append(np.full(len(member.draws), member.weight))
    low, value, high = _quantiles(np.concatenate(found), np.concatenate(weights), (0.05, 0.5, 0.95))
    return value, low, high


def _quantiles(values: Array, weights: Array, at: Sequence[float]) -> list[float]:
    order = np.argsort(values)
    cumulated = np.cumsum(weights[order]) / weights.sum()
    return [float(values[order][min(int(np.searchsorted(cumulated, q)), len(values) - 1)]) for q in at]


def _ceilings(model: WorkloadModel, configurations: Sequence[Configuration]) -> Array:
    configurations = [with_usual_accelerator(model.measured, configuration) for configuration in configurations]
    rows = build_rows(model.facts, model.measured, configurations)
    parts = [member.weight * _alone(model, member, rows) for member in model.members]
    total: Array = np.sum(np.stack(parts), axis=0)
    return total


def _alone(model: WorkloadModel, member: Member, rows: Rows) -> Array:
    """The member's rate with all that is not known made so fast that it does not count."""
    theta = np.array([member.estimate])
    for index, name in enumerate(member.names):
        if name == "step" or name.startswith("latency:"):
            theta[0, index] -= FAR
        elif name in UNKNOWN or name.startswith("memory:") or _is_free(model, name):
            theta[0, index] += FAR
    rates: Array = solve(member.structure, theta, rows.design(member.structure)).log_rate[0]
    return np.where(rates > FAR / 2, np.inf, rates)


def _is_free(model: WorkloadModel, name: str) -> bool:
    """A disk without figures, or an accelerator which only the curve shows."""
    kind, _, key = name.partition(":")
    if kind == "accelerator":
        return key not in model.facts.accelerator_rates
    return kind == "disk" and disk_is_free(model.facts, model.measured, key)


def at_known_ceilings(model: WorkloadModel, configurations: Sequence[Configuration], log_rates: Array) -> list[bool]:
    """Whether a known ceiling is all but reached at each, by ln of its rate, and its own accounting agrees."""
    ceilings = known_ceilings(model, configurations)
    return [
        float(rate) >= float(ceiling) + math.log(REACHED)
        and model.measured.evidence_at(configuration) not in CONTRADICTS
        for configuration, rate, ceiling in zip(configurations, log_rates, ceilings, strict=True)
    ]

"""What a fitted model means: its quantities in physical units, and where more vCPUs stop paying."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from sizer.model.attribution import BENT, not_bought
from sizer.model.coordinates import batch_of, disk_of, gpus_of, memory_of, vcpus_of
from sizer.model.edge import reaches, vcpus_edge
from sizer.model.equation import Array
from sizer.model.model import Member, Parameter, Quantity, Source, WorkloadModel
from sizer.model.predicted_rates import mean_rates, predict_rates
from sizer.model.prediction import best_place, predict
from sizer.model.stages import disk_is_free, read_seconds
from sizer.model.trend import CLEAR, GAIN, Trend
from sizer.records import Configuration, Figure, Reason, ReasonCode, rate_unit, reason

CPU_ALONE = {
    "rate",
    "step",
    "contention",
    "coherence",
    "overhead",
    "knee",
    "yield",
    "quota",
    "batch",
    "sharpness",
}
"""With no stage beside the CPU there is nothing to overlap."""


OF_THE_CPU = {Quantity.RATE_OF_ONE_VCPU, Quantity.CPU_LAUNCH_COST, Quantity.SERIAL_CEILING}
"""Of a table that names no vCPU nobody knows whether it was the CPU."""


def explained(model: WorkloadModel) -> WorkloadModel:
    """The same model with its parameters, and with how it scales."""
    return replace(model, parameters=parameters_of(model), scaling=_scaling(model))


def parameters_of(model: WorkloadModel) -> tuple[Parameter, ...]:
    """Demands of one sample, then what was fitted."""
    return (*_demands(model), *_fitted(model))


def _demands(model: WorkloadModel) -> list[Parameter]:
    facts = model.facts
    read = Source.ACCOUNTING if facts.demand_accounted else Source.DATA_SET
    rows = [
        (Quantity.CPU_TIME, "core-seconds", facts.core_seconds, Source.ACCOUNTING),
        (Quantity.BYTES_READ, "bytes", facts.read_bytes, read),
        (Quantity.READS, "IOs", facts.read_ios, read),
        (Quantity.BYTES_WRITTEN, "bytes", facts.written_bytes, read),
        (Quantity.WRITES, "IOs", facts.write_ios, read),
    ]
    return [
        Parameter(quantity, f"{unit}/{model.sample_unit}", value, value, value, source)
        for quantity, unit, value, source in rows
        if value is not None
    ]


def _fitted(model: WorkloadModel) -> list[Parameter]:
    """The parameters of the heaviest member; the others differ in form, so theirs cannot be averaged with these."""
    member = model.members[0]
    draws = member.vectors[1:]
    found = []
    for index, name in enumerate(member.names):
        if name == "sharpness" and set(member.names) <= CPU_ALONE:
            continue
        named = _named(name, model, member)
        if named is not None and (model.measured.vcpus or named[0] not in OF_THE_CPU):
            found.append(_parameter(*named, member.estimate[index], draws[:, index], VALUES.get(name, math.exp)))
    return [*found, *_capacities(model, member, draws)]


def _share(logit: float) -> float:
    return 1 / (1 + math.exp(-logit))


VALUES: dict[str, Callable[[float], float]] = {"yield": float, "contention": _share}
"""From the value that is fitted to the one that is shown; the others are logarithms."""


def _named(name: str, model: WorkloadModel, member: Member) -> tuple[Quantity, str, str | None] | None:
    """What one parameter of the equation is, its unit, and of what; None for those of one disk or memory level."""
    kind, _, key = name.partition(":")
    per_sample = f"core-seconds/{model.sample_unit}"
    if kind == "accelerator":
        several = len(model.measured.gpus) > 1 and key != "accelerator"
        return Quantity.ACCELERATOR_RATE, _per_second(model), key if several else None
    if kind == "latency":
        return Quantity.WORKER_WAIT, f"seconds/{model.sample_unit}", key
    if kind == "missed":
        return Quantity.READS_MISSED, "", key
    if kind == "slowed":
        return Quantity.TIME_WITH_MEMORY, "", key
    accelerator_caps = member.structure.cap_stage == "accelerator"
    cpu_launches, batch = member.structure.batch_stage == "cpu", str(model.facts.reference_batch)
    quantities: dict[str, tuple[Quantity, str, str | None]] = {
        "rate": (Quantity.RATE_OF_ONE_VCPU, _per_second(model), None),
        "step": (Quantity.STEP_CPU_TIME, per_sample, None),
        "contention": (Quantity.SERIAL_SHARE, "", None),
        "coherence": (Quantity.COHERENCE_COST, "", None),
        "overhead": (Quantity.OVERHEAD, "", None),
        "knee": (Quantity.FULL_VCPUS, "", None),
        "yield": (Quantity.YIELD_BEYOND, "", None),
        "quota": (Quantity.FRACTION_COST, "", None),
        "cap": (
            Quantity.ACCELERATOR_CEILING if accelerator_caps else Quantity.SERIAL_CEILING,
            _per_second(model),
            None,
        ),
        "gpus": (Quantity.GPU_LOSS, "", None),
        "batch": (Quantity.CPU_LAUNCH_COST if cpu_launches else Quantity.ACCELERATOR_LAUNCH_COST, "", batch),
        "sharpness": (Quantity.OVERLAP_EXPONENT, "", None),
    }
    return quantities.get(name)


def _capacities(model: WorkloadModel, member: Member, draws: Array) -> list[Parameter]:
    """The most that each disk or memory level allows, in samples/s."""
    found = []
    for index, name in enumerate(member.names):
        kind, _, key = name.partition(":")
        if kind == "memory":
            quantity, base = Quantity.MEMORY_CAPACITY, 0.0
        elif kind == "disk":
            quantity, base = Quantity.DISK_CAPACITY, _log_capacity(model, key)
        else:
            continue
        centre, drawn = base + member.estimate[index], base + draws[:, index]
        found.append(_parameter(quantity, _per_second(model), key, centre, drawn, math.exp))
    return found


def _log_capacity(model: WorkloadModel, name: str) -> float:
    disk = model.measured.disk(name)
    read = read_seconds(model.facts, disk.rates) if disk else None
    if read is None or read[0] <= 0 or disk_is_free(model.facts, model.measured, name):
        return math.log(3.0 * model.facts.highest_rate)
    return -math.log(read[0])


def _per_second(model: WorkloadModel) -> str:
    return rate_unit(model.sample_unit)


def _parameter(
    quantity: Quantity, unit: str, of: str | None, centre: float, draws: Array, to_value: Callable[[float], float]
) -> Parameter:
    low, high = np.quantile(draws, [0.05, 0.95])
    low, high = min(float(low), centre), max(float(high), centre)
    return Parameter(quantity, unit, to_value(centre), to_value(low), to_value(high), Source.FIT, of)


def _scaling(model: WorkloadModel) -> Reason:
    """Where more vCPUs stop paying on the best of the measured disks."""
    known = model.measured.vcpus
    if len(known) < 3:
        return _best(model)
    top = best_place(model)
    rates = predict_rates(model, [top, replace(top, vcpus=known[-1])])
    if rates.mean[0] - rates.mean[1] > math.log(1 + GAIN):
        fallen = rates.draws[:, 0] - rates.draws[:, 1] - math.log(1 + GAIN)
        if reaches(fallen, rates.weights, math.sqrt(2) * model.misfit) < CLEAR:
            return reason(ReasonCode.GAIN_UNKNOWN, vcpus=known[-1])
        return reason(ReasonCode.FASTEST_AT, vcpus=_two_digits(vcpus_of(top)))
    edge = vcpus_edge(model, top)
    across_the_knee = False
    if edge.trend is Trend.RISING and not edge.predicted and edge.gain < BENT:
        most = predict(model, replace(top, vcpus=known[-1]))
        across_the_knee = not_bought(most.bottleneck, most.shares) is not None
    if edge.trend is Trend.RISING and not across_the_knee:
        return reason(ReasonCode.STILL_GAINS, vcpus=known[-1])
    if edge.trend is Trend.UNSETTLED or across_the_knee:
        return reason(ReasonCode.GAIN_UNKNOWN, vcpus=known[-1])
    knee = _knee(model, top)
    if knee <= known[0]:
        return reason(ReasonCode.GAINS_NOTHING, vcpus=known[0])
    return reason(ReasonCode.STOPS_SCALING, vcpus=_two_digits(knee))


def _two_digits(value: float) -> float:
    return float(f"{value:.2g}")


def _best(model: WorkloadModel) -> Reason:
    """Where vCPUs were not varied: the best that was measured, and with how much of what was."""
    measured = model.measured
    top = max(measured.rates, key=lambda rate: rate.throughput.value)
    place = top.configuration
    varied: dict[str, Figure] = {
        "memory_bytes": float(memory_of(place)) if len(measured.memory_bytes) > 1 else None,
        "disk": disk_of(place) if len(measured.disks) > 1 else None,
        "batch_size": float(batch_of(place)) if len(measured.batch_size) > 1 else None,
        "gpu": place.gpu if len(measured.gpus) > 1 else None,
        "gpu_count": float(max(1, gpus_of(place))) if len(measured.gpus) > 1 else None,
    }
    return reason(ReasonCode.BEST_MEASURED, rate=top.throughput.value, **varied)


def _knee(model: WorkloadModel, top: Configuration) -> float:
    """The fewest vCPUs that neither twice as many nor the most measured would gain on."""
    low, high = model.measured.vcpus[0], model.measured.vcpus[-1]
    grid = [low * (high / low) ** (step / 40) for step in range(41)]
    configurations = [replace(top, vcpus=vcpus) for vcpus in grid]
    doubled = [replace(configuration, vcpus=min(high, 2 * vcpus_of(configuration))) for configuration in configurations]
    rates = mean_rates(model, [*configurations, *doubled])
    here, twice, worth = rates[:41], rates[41:], math.log(1 + GAIN)
    knee: float = next(c for c, now, then in zip(grid, here, twice, strict=True) if max(here[-1], then) - now < worth)
    return knee

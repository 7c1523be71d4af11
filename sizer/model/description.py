"""A fitted model in words and physical units."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from sizer.model.equation import Array
from sizer.model.model import Member, Parameter, WorkloadModel
from sizer.model.rates import predict_rates
from sizer.model.stages import disk_is_free, read_seconds
from sizer.records import Configuration

UNITS = {
    "rate": ("parallel rate of one vCPU", "samples/s"),
    "exponent": ("exponent of vCPU scaling", ""),
    "contention": ("serial share", ""),
    "coherence": ("cost of coherence", ""),
    "cap": ("ceiling", "samples/s"),
    "accelerator": ("accelerator", "samples/s"),
    "batch": ("launch cost at the reference batch, relative", ""),
    "sharpness": ("overlap exponent", ""),
}
CPU_ALONE = {"rate", "exponent", "contention", "coherence", "batch", "sharpness"}
"""With no stage beside the CPU there is nothing to overlap."""
STILL_WORTH = 0.05
"""More vCPUs stop paying where doubling them gains less than this."""


def described(model: WorkloadModel) -> WorkloadModel:
    """The same model with its parameters and its summary written."""
    parameters = (*_demands(model), *_fitted(model))
    return replace(model, parameters=parameters, summary=_summary(model))


def _demands(model: WorkloadModel) -> list[Parameter]:
    facts = model.facts
    rows = [
        ("CPU time", "core-seconds/sample", facts.core_seconds),
        ("bytes read", "bytes/sample", facts.read_bytes),
        ("reads", "IOs/sample", facts.read_ios),
        ("bytes written", "bytes/sample", facts.written_bytes),
        ("writes", "IOs/sample", facts.write_ios),
    ]
    source = "accounting" if facts.demand_accounted else "data set"
    return [
        Parameter(name, unit, value, value, value, "accounting" if name == "CPU time" else source)
        for name, unit, value in rows
        if value is not None
    ]


def _fitted(model: WorkloadModel) -> list[Parameter]:
    """The parameters of the heaviest member; the others differ in form, so theirs cannot be averaged with these."""
    member = model.members[0]
    draws = np.array(member.draws)
    found = []
    for index, name in enumerate(member.names):
        if name in UNITS and not (name == "sharpness" and set(member.names) <= CPU_ALONE):
            label, unit = UNITS[name]
            to_value = float if name == "exponent" else math.exp
            if name == "cap":
                label = f"{member.structure.cap_stage} ceiling"
            found.append(_parameter(label, unit, member.estimate[index], draws[:, index], to_value))
    return [*found, *_capacities(model, member, draws)]


def _capacities(model: WorkloadModel, member: Member, draws: Array) -> list[Parameter]:
    """What each disk or memory level carries, in samples/s."""
    found = []
    for index, name in enumerate(member.names):
        kind, _, key = name.partition(":")
        if kind == "memory":
            label = f"memory of {int(key) / 2**30:g} GiB carries"
            found.append(_parameter(label, "samples/s", member.estimate[index], draws[:, index], math.exp))
        if kind == "disk":
            base = _log_capacity(model, key)
            label = f"disk {key} carries"
            found.append(
                _parameter(label, "samples/s", base + member.estimate[index], base + draws[:, index], math.exp)
            )
    return found


def _log_capacity(model: WorkloadModel, name: str) -> float:
    disk = model.measured.disk(name)
    read = read_seconds(model.facts, disk.rates) if disk else None
    if read is None or read[0] <= 0 or disk_is_free(model.facts, model.measured, name):
        return math.log(3.0 * model.facts.highest_rate)
    return -math.log(read[0])


def _parameter(label: str, unit: str, centre: float, draws: Array, to_value: object) -> Parameter:
    assert callable(to_value)
    low, high = np.quantile(draws, [0.05, 0.95])
    low, high = min(float(low), centre), max(float(high), centre)
    return Parameter(label, unit, to_value(centre), to_value(low), to_value(high), "fit")


def _summary(model: WorkloadModel) -> str:
    parts = [part for part in (_cost_words(model), _scaling_words(model)) if part]
    return "; ".join(parts)


def _cost_words(model: WorkloadModel) -> str:
    facts = model.facts
    costs = []
    if facts.core_seconds:
        costs.append(f"{milliseconds(facts.core_seconds)} of CPU")
    if facts.read_bytes and facts.read_bytes > 1:
        costs.append(f"{megabytes(facts.read_bytes)} of disk reading")
    if facts.written_bytes and facts.written_bytes > 1:
        costs.append(f"{megabytes(facts.written_bytes)} of disk writing")
    if facts.accelerator_rate:
        costs.append(f"{milliseconds(1 / facts.accelerator_rate)} of the accelerator")
    return f"one {model.sample_unit} costs {', '.join(costs)}" if costs else ""


def milliseconds(seconds: float) -> str:
    """For people: `6.1 ms`, `0.042 ms`, `1.3 s`."""
    return f"{seconds:.2g} s" if seconds >= 1 else f"{1000 * seconds:.3g} ms"


def megabytes(size: float) -> str:
    """For people: `0.11 MB`, `340 B`."""
    return f"{size / 1e6:.2g} MB" if size >= 10_000 else f"{size:.0f} B"


def _scaling_words(model: WorkloadModel) -> str:
    """Where more vCPUs stop paying on the best of the measured disks."""
    known = model.measured.vcpus
    if len(known) < 3:
        return ""
    top = max(model.measured.rates, key=lambda rate: rate.throughput.value).configuration
    low, high = known[0], known[-1]
    grid = [low * (high / low) ** (step / 40) for step in range(41)]
    stands = [Configuration(c, top.memory_bytes, top.disk, top.batch_size) for c in grid]
    doubled = [replace(stand, vcpus=min(high, 2 * stand.vcpus)) for stand in stands]
    rates = predict_rates(model, [*stands, *doubled]).mean
    here, twice = rates[:41], rates[41:]
    for vcpus, now, then in zip(grid, here, twice, strict=True):
        if vcpus < high / 1.5 and here[-1] - now < math.log(1 + STILL_WORTH) and then - now < math.log(1 + STILL_WORTH):
            return (
                f"it stops scaling at about {vcpus:.2g} vCPU"
                if vcpus > low
                else "more vCPUs than the fewest measured gain nothing"
            )
    return f"it still gains from vCPUs at {high:g}, the most measured"

"""Runs -> the model of each of their workloads: what is known and believed of it, and what the runs make of that."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from sizer.model.edge import DOUBT, GAIN, best_place, doubled, vcpus_edge
from sizer.model.equation import Array, Draws, Flags, disk_is_free, read_seconds
from sizer.model.host import NO_DRIFT, Drift, drift_of, one_thread
from sizer.model.memory import memory_floor
from sizer.model.model import (
    Model,
    Parameter,
    Quantity,
    Source,
    WorkloadFacts,
    WorkloadModel,
    batch_of,
    disk_of,
    gpus_of,
    memory_of,
    vcpus_of,
)
from sizer.model.observations import completed, gather_facts, measure, observe, on_usual_host
from sizer.model.posterior import posterior
from sizer.model.prediction import HIGH, LOW, rates
from sizer.model.refusals import of_runs
from sizer.model.runs import end_to_end, labelled, without_gaps
from sizer.records.device import Processor
from sizer.records.prediction import Configuration, Reason, ReasonCode, Spec, reason
from sizer.records.run import Run
from sizer.records.units import rate_unit

POINTS = 40
"""Sizes between the fewest and the most vCPUs measured at which the knee is looked for."""


@one_thread
def fit(runs: Sequence[Run], drift: Drift | None = None, measured_on: Sequence[Processor] = ()) -> Model:
    """The model of every workload among the runs; deterministic, and a workload that has too few runs is `refused`.

    `drift` is that of the whole study, where these are not all of its runs; `measured_on` is the machine that all were
    made on, or those that their configurations name, as far as their indices are known.
    """
    drift = drift_of(completed(runs)) if drift is None else drift
    names = dict.fromkeys(run.spec.workload.name for run in runs)
    own = ([run for run in runs if run.spec.workload.name == name] for name in names)
    return Model(tuple(fit_workload(some, drift, measured_on) for some in own))


def fit_workload(runs: Sequence[Run], drift: Drift = NO_DRIFT, measured_on: Sequence[Processor] = ()) -> WorkloadModel:
    """The model of one workload; refused, with the reason, where its runs are too few."""
    runs = without_gaps(labelled(runs))
    whole = end_to_end(runs)
    shown = set(map(id, whole))
    isolating = [run for run in runs if id(run) not in shown]
    measured, usable, aside = measure(whole, isolating), completed(whole), completed(isolating)
    first = (usable or whole or runs)[0]
    facts = WorkloadFacts(first.spec.workload.kind, first.spec.workload.computes_on)
    refused = of_runs(whole, usable, measured)
    empty = WorkloadModel(first.spec.workload.name, first.sample_unit, facts, measured, refused)
    empty = replace(empty, floor=memory_floor(whole))
    if not usable or (refused is not None and refused.reason.code is ReasonCode.MIXED_PROGRAMS):
        return replace(empty, measured=replace(measured, rates=()))
    observations, noise = observe([*usable, *aside], drift)
    machines = tuple(measured_on)
    named = {run.configuration.machine for run in usable} - {None}
    facts = replace(
        gather_facts(usable, aside, measured),
        measured_on=tuple(machine for machine in machines if machine.name in named) if named else machines,
        processors=machines,
    )
    measured = on_usual_host(measured, observations, facts.feed)
    after = posterior(facts, measured, observations, noise.run)
    fitted = replace(empty, facts=facts, measured=measured, posterior=after)
    return fitted if refused else explained(fitted)


def explained(model: WorkloadModel) -> WorkloadModel:
    """The same model with its parameters, whether memory counts, and how it scales."""
    counted = replace(model, memory_counts=_memory_counts(model))
    return replace(counted, parameters=(*_demands(counted), *_fitted(counted)), scaling=_scaling(counted))


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


@dataclass(frozen=True)
class _Shown:
    """How a quantity of the equation is shown: its unit (`s`: a sample), and its value from the one that is drawn."""

    quantity: Quantity
    unit: str = ""
    value: Callable[[Array], Array] = np.exp
    switch: str | None = None


SHOWN = {
    "work": _Shown(Quantity.RATE_OF_ONE_VCPU, "s/second", lambda value: np.asarray(np.exp(-value))),
    "step": _Shown(Quantity.STEP_CPU_TIME, "core-seconds/s"),
    "contention": _Shown(Quantity.CONTENTION),
    "coherence": _Shown(Quantity.COHERENCE, switch="coherence"),
    "handover": _Shown(Quantity.HANDOVER, switch="handover"),
    "yield": _Shown(Quantity.YIELD, value=np.asarray, switch="second threads"),
    "cap": _Shown(Quantity.SERIAL_CEILING, "s/second", switch="cap"),
    "quota": _Shown(Quantity.FRACTION_COST),
    "accelerator": _Shown(Quantity.ACCELERATOR_RATE, "s/second"),
    "gpus": _Shown(Quantity.GPU_LOSS),
    "launch": _Shown(Quantity.LAUNCH_COST),
    "latency": _Shown(Quantity.WORKER_WAIT, "seconds/s", switch="latency"),
    "held": _Shown(Quantity.MEMORY_HELD, "bytes", lambda value: np.asarray(1 / (1 + np.exp(-value)))),
    "data": _Shown(Quantity.MEMORY_OF_DATA, "bytes"),
    "pressure": _Shown(Quantity.MEMORY_PRESSURE, switch="pressure"),
    "sharpness": _Shown(Quantity.OVERLAP_EXPONENT),
}
OF_THE_CPU = {Quantity.RATE_OF_ONE_VCPU, Quantity.SERIAL_CEILING}
"""Of a table that names no vCPU nobody knows whether it was the CPU."""


def _fitted(model: WorkloadModel) -> Iterator[Parameter]:
    assert model.posterior is not None, "only fitted models are explained"
    draws = Draws(model.posterior.names, np.array(model.posterior.vectors))
    rate = rate_unit(model.sample_unit)
    for name in draws.names:
        kind, _, of = name.partition(":")
        if kind == "disk":
            yield _parameter(Quantity.DISK_CAPACITY, rate, _capacity(model, of, draws[name]), of)
        shown = SHOWN.get(kind)
        if shown is None or (not model.measured.vcpus and shown.quantity in OF_THE_CPU):
            continue
        values = shown.value(draws[name]) * (model.measured.memory_bytes[0] if kind == "held" else 1)
        unit = rate if shown.unit == "s/second" else shown.unit.replace("/s", f"/{model.sample_unit}")
        several = len(model.measured.gpus) > 1 and of != "accelerator"
        named = of if kind != "accelerator" or several else ""
        yield _parameter(shown.quantity, unit, values, named or None, draws.on(shown.switch) if shown.switch else None)


def _parameter(quantity: Quantity, unit: str, values: Array, of: str | None, on: Flags | None = None) -> Parameter:
    """Of draws (D, 1); where it may not be there, of those in which it is."""
    probability = None if on is None else float(on.mean())
    some = values[on] if on is not None and on.any() else values
    low, value, high = (float(f"{quantile:.6g}") for quantile in np.quantile(some, (LOW, 0.5, HIGH)))
    return Parameter(quantity, unit, value, low, high, Source.FIT, of, probability)


def _capacity(model: WorkloadModel, name: str, factor: Array) -> Array:
    """Samples a second that a disk allows, if all is read."""
    disk = model.measured.disk(name)
    read = None if disk is None or disk_is_free(model.facts, model.measured, name) else disk.rates
    seconds = read_seconds(model.facts, read) if read is not None else None
    seconds_a_sample = seconds[0] if seconds is not None and seconds[0] > 0 else 1 / model.facts.highest_rate
    return np.asarray(np.exp(-factor) / seconds_a_sample)


def _memory_counts(model: WorkloadModel) -> bool:
    """Whether the most memory measured gains anything that counts over the least, on any disk that was measured."""
    sizes = model.measured.memory_bytes
    if len(sizes) < 2:
        return False
    top = best_place(model)
    places = [replace(top, disk=disk.name) for disk in model.measured.disks] or [top]
    edges = [doubled(model, replace(at, memory_bytes=sizes[0]), replace(at, memory_bytes=sizes[-1])) for at in places]
    return any(edge.probability > DOUBT for edge in edges)


def _scaling(model: WorkloadModel) -> Reason:
    """Where more vCPUs stop paying on the best of the measured disks."""
    vcpus = model.measured.vcpus
    if len(vcpus) < 3:
        return _best(model)
    top = best_place(model)
    fallen = doubled(model, replace(top, vcpus=vcpus[-1]), top)
    if fallen.gain > GAIN:
        if fallen.probability < 1 - DOUBT:
            return reason(ReasonCode.GAIN_UNKNOWN, vcpus=vcpus[-1])
        return reason(ReasonCode.STOPS_SCALING, fastest_at=float(f"{vcpus_of(top):.2g}"))
    edge = vcpus_edge(model, top)
    if edge.rises:
        return reason(ReasonCode.RISES, vcpus=vcpus[-1])
    if edge.is_doubted:
        return reason(ReasonCode.GAIN_UNKNOWN, vcpus=vcpus[-1])
    knee = _knee(model, top)
    if knee <= vcpus[0]:
        return reason(ReasonCode.STOPS_SCALING, fewest=vcpus[0])
    return reason(ReasonCode.STOPS_SCALING, vcpus=float(f"{knee:.2g}"))


def _best(model: WorkloadModel) -> Reason:
    """Where vCPUs were not varied: the best that was measured, and with how much of what was."""
    measured = model.measured
    top = max(measured.rates, key=lambda rate: rate.throughput.value)
    place, several = top.configuration, len(measured.gpus) > 1
    varied = Spec(
        None,
        memory_of(place) if len(measured.memory_bytes) > 1 else None,
        disk_of(place) if len(measured.disks) > 1 else None,
        batch_of(place) if len(measured.batch_size) > 1 else None,
        place.gpu if several else None,
        max(1, gpus_of(place)) if several else 0,
    )
    return Reason(ReasonCode.BEST_MEASURED, {"rate": top.throughput.value}, varied)


def _knee(model: WorkloadModel, top: Configuration) -> float:
    """The fewest vCPUs that neither twice as many nor the most measured would gain on."""
    low, high = model.measured.vcpus[0], model.measured.vcpus[-1]
    grid = [low * (high / low) ** (step / POINTS) for step in range(POINTS + 1)]
    here = [replace(top, vcpus=vcpus) for vcpus in grid]
    twice = [replace(configuration, vcpus=min(high, 2 * vcpus_of(configuration))) for configuration in here]
    centre = rates(model, [*here, *twice]).centre
    now, then = centre[: len(grid)], centre[len(grid) :]
    worth = math.log1p(GAIN)
    return next(float(c) for c, a, b in zip(grid, now, then, strict=True) if max(now[-1], b) - a < worth)

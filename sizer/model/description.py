"""A fitted model in words: what one sample costs, and where more vCPUs stop paying."""

from __future__ import annotations

import math
from dataclasses import replace

from sizer.model import words
from sizer.model.coordinates import batch_of, disk_of, gpus_of, memory_of, vcpus_of
from sizer.model.edge import GAIN, Trend, vcpus_edge
from sizer.model.model import WorkloadModel
from sizer.model.parameters import parameters_of
from sizer.model.prediction import best_measured
from sizer.model.rates import predict_rates
from sizer.records import Configuration, format_bytes, format_number, format_rate, format_seconds, format_vcpus


def described(model: WorkloadModel) -> WorkloadModel:
    """The same model with its parameters and its summary written."""
    parts = [part for part in (_cost_words(model), _scaling_words(model)) if part]
    return replace(model, parameters=parameters_of(model), summary="; ".join(parts))


def _cost_words(model: WorkloadModel) -> str:
    facts = model.facts
    costs = []
    if facts.core_seconds:
        costs.append(f"{format_seconds(facts.core_seconds)} of CPU")
    if facts.read_bytes and facts.read_bytes > 1:
        costs.append(f"{megabytes(facts.read_bytes)} of disk reading")
    if facts.written_bytes and facts.written_bytes > 1:
        costs.append(f"{megabytes(facts.written_bytes)} of disk writing")
    if facts.accelerator_rate:
        costs.append(f"{format_seconds(1 / facts.accelerator_rate)} of the {words.accelerator(facts.device)}")
    return f"one {model.sample_unit} costs {', '.join(costs)}" if costs else ""


def megabytes(size: float) -> str:
    """For people: `0.11 MB`, `340 B`."""
    return f"{format_number(size / 1e6)} MB" if size >= 10_000 else f"{format_number(size)} B"


def _scaling_words(model: WorkloadModel) -> str:
    """Where more vCPUs stop paying on the best of the measured disks."""
    known = model.measured.vcpus
    if len(known) < 3:
        return _best_words(model)
    top = best_measured(model).configuration
    at_best, at_most = predict_rates(model, [top, replace(top, vcpus=known[-1])]).mean
    if at_best - at_most > math.log(1 + GAIN):
        return f"it is fastest at about {format_vcpus(float(f'{vcpus_of(top):.2g}'))}, and slower with more"
    trend = vcpus_edge(model, top).trend
    if trend is Trend.RISING:
        return f"it still gains from vCPUs at {known[-1]:g}, the most measured"
    if trend is Trend.UNSETTLED:
        return f"whether it gains from more than {format_vcpus(known[-1])}, the most measured, is not settled"
    knee = _knee(model, top)
    if knee <= known[0]:
        return "more vCPUs than the fewest measured gain nothing"
    return f"it stops scaling at about {format_vcpus(float(f'{knee:.2g}'))}"


def _best_words(model: WorkloadModel) -> str:
    """Where vCPUs were not varied: the best that was measured, and with how much of what was."""
    measured = model.measured
    top = max(measured.rates, key=lambda rate: rate.throughput.value)
    place = top.configuration
    varied = [
        (len(measured.memory_bytes) > 1, f"with {format_bytes(memory_of(place))}"),
        (len(measured.disks) > 1, f"on {words.disk(disk_of(place))}"),
        (len(measured.batch_size) > 1, f"at a batch of {batch_of(place)}"),
        (len(measured.gpus) > 1, f"with {max(1, gpus_of(place))} x {place.gpu or 'accelerator'}"),
    ]
    where = ", ".join(text for counts, text in varied if counts)
    return f"its best measured rate is {format_rate(top.throughput.value, model.sample_unit)} {where}".rstrip()


def _knee(model: WorkloadModel, top: Configuration) -> float:
    """The fewest vCPUs that neither twice as many nor the most measured would gain on."""
    low, high = model.measured.vcpus[0], model.measured.vcpus[-1]
    grid = [low * (high / low) ** (step / 40) for step in range(41)]
    stands = [replace(top, vcpus=vcpus) for vcpus in grid]
    doubled = [replace(stand, vcpus=min(high, 2 * vcpus_of(stand))) for stand in stands]
    rates = predict_rates(model, [*stands, *doubled]).mean
    here, twice, worth = rates[:41], rates[41:], math.log(1 + GAIN)
    knee: float = next(c for c, now, then in zip(grid, here, twice, strict=True) if max(here[-1], then) - now < worth)
    return knee

"""Rates with draws -> the throughput of a prediction with the interval of a new run."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sizer.model.ceilings import known_ceilings
from sizer.model.coordinates import batch_of, disk_of, gpus_of, memory_of, vcpus_of
from sizer.model.equation import ACCELERATOR, READ, WRITE, Array
from sizer.model.interplay import interplay_deviations
from sizer.model.machines_around import LEAST_NOISE, beyond_counts, held_by_machines, no_slower_than_less
from sizer.model.model import NEIGHBOURED, NORMAL_90, MeasuredRange, MeasuredRate, WhatIf, WorkloadModel, others_of
from sizer.model.onward import Onward
from sizer.model.predicted_rates import PredictedRates
from sizer.model.stages import disk_is_free
from sizer.records import Configuration, Estimate

BEYOND = 0.25
"""Standard deviation of ln throughput added for each e-fold outside the measured range, beside what the draws say."""
MOST_NOISE = 0.05
"""Of the noise of all runs beyond two neighbours: more of it is rather what the form does not explain."""
REACH = 0.5
"""Of the step in ln rate between two measured neighbours: how far beyond them an interval between them may reach."""
UNMEASURED_PAIR = 0.25
"""The same for a disk without figures and a memory size that were not measured together: how they work together is
what no run shows."""
UNMEASURED_DISK = 0.15
"""The same for a disk that no run was measured on: how exactly demands and rates predict a tier."""


@dataclass(frozen=True)
class Place:
    """One configuration as its interval sees it: how far outside what was measured it lies, and whether its memory, and
    its values together, were measured."""

    configuration: Configuration
    outside: float
    memory_unmeasured: bool
    together: bool

    @property
    def is_beyond(self) -> bool:
        return self.outside > 0 or self.memory_unmeasured or not self.together


def place_of(model: WorkloadModel, configuration: Configuration) -> Place:
    return Place(
        configuration,
        outside(model, configuration),
        _memory_unmeasured(model, configuration),
        model.measured_together(configuration),
    )


def throughputs(
    model: WorkloadModel,
    places: Sequence[Place],
    rates: PredictedRates,
    around: tuple[Array, Array],
    what_if: WhatIf,
    beyond: Sequence[Onward | None],
) -> list[Estimate]:
    """Of each place by its own rates, with the interval of a new run.

    `around` are the least and the most ln rate (n,) of what lies around it in memory, which the interval holds: the
    step between two levels may be anywhere. What its own runs gave of a refused model, and of a row of a table without
    accounting: a form that does not go through a row is no reason to doubt it.
    """
    at_its_word = model.refused is not None or model.facts.core_seconds is None
    plain, variance = what_if == WhatIf(), rates.variance()
    known = _known_shares(model, rates)
    apart = [place.configuration for place in places if not place.together]
    deviations = iter(interplay_deviations(model, apart) if apart else ())
    outer = [place.configuration for place in places if plain and place.outside > 0]
    ceilings = iter(known_ceilings(model, outer) if outer else ())
    found = []
    for row, place in enumerate(places):
        unseen = 0.0 if place.together else next(deviations)
        ceiling = float(next(ceilings)) if plain and place.outside > 0 else math.inf
        measured = model.measured.rate_at(place.configuration) if at_its_word and plain else None
        if measured is not None:
            found.append(measured.of_new_run)
            continue
        spread = float(variance[row]) + (BEYOND * place.outside * (1 - 0.8 * float(known[row]))) ** 2
        half = _half(model, place, spread, what_if, unseen)
        ends = float(around[0][row]), float(around[1][row])
        whole = _estimate(model, float(rates.mean[row]), half, ends, beyond[row], ceiling)
        found.append(_held(model, place, whole) if plain else whole)
    return found


def _half(model: WorkloadModel, place: Place, variance: float, what_if: WhatIf, unseen: float) -> float:
    """Half of the interval in ln, of the variance of the parameters and what is not known beside them."""
    if what_if.disk_rates is not None:
        variance += UNMEASURED_DISK**2
    if place.memory_unmeasured:
        variance += UNMEASURED_DISK**2
    if _pair_unmeasured(model, place.configuration):
        variance += UNMEASURED_PAIR**2
    noise = max(model.widening, model.noise_widening) * model.noise
    half = math.hypot(model.widening * math.sqrt(variance), noise)
    return half if place.together else math.hypot(half, NORMAL_90 * unseen)


def _estimate(
    model: WorkloadModel,
    centre: float,
    half: float,
    around: tuple[float, float],
    beyond: Onward | None,
    ceiling: float,
) -> Estimate:
    """Beyond a curve that still rises a doubling gains what the fit says, but no less than Amdahl's law leaves of the
    last gain and no more than that gain again, and the interval reaches from no gain to it; no more than a known
    ceiling, but for the noise of a run."""
    low, high = min(centre, around[0]) - half, max(centre, around[1]) + half
    if beyond is not None and not beyond.expected <= centre <= beyond.highest:
        centre = min(max(centre, beyond.expected), beyond.highest)
        low, high = min(beyond.now, centre - half), max(beyond.highest, centre + half)
    if math.isfinite(ceiling):
        centre, high = min(centre, ceiling), max(centre, min(high, ceiling + NORMAL_90 * model.noise))
        low = min(low, centre)
    return Estimate(math.exp(centre), math.exp(low), math.exp(high))


def _held(model: WorkloadModel, place: Place, found: Estimate) -> Estimate:
    """The same by what the measured machines around it, and its neighbours on each axis, show."""
    configuration = place.configuration
    beyond_most = beyond_counts(model, configuration)
    if beyond_most is not None:
        return beyond_most
    held = held_by_machines(model, configuration, found, place.together)
    held = _held_by_neighbours(model, configuration, held)
    return held if model.facts.core_seconds is not None else no_slower_than_less(model, configuration, held)


def _held_by_neighbours(model: WorkloadModel, configuration: Configuration, found: Estimate) -> Estimate:
    """The same, not reaching beyond two measured neighbours, or beyond the value where that lies beyond them, by more
    than REACH of the step between them, and the noise of a run: that of all, or these two's own, which is more where
    the host was busy."""
    for axis, below, above in measured_neighbours(model.measured, configuration):
        less, more = sorted((below.throughput.value, above.throughput.value))
        noise = LEAST_NOISE if axis == "gpu_count" else min(max(LEAST_NOISE, model.noise), MOST_NOISE)
        own = max(each.of_new_run.high / each.throughput.value for each in (below, above))
        beyond = (more / less) ** REACH * max(math.exp(NORMAL_90 * 2 * noise), own)
        low, high = min(less, found.value) / beyond, max(more, found.value) * beyond
        found = Estimate(found.value, max(found.low, low), min(found.high, high))
    return found


def measured_neighbours(
    measured: MeasuredRange, configuration: Configuration
) -> Iterator[tuple[str, MeasuredRate, MeasuredRate]]:
    """Each axis with the rates of the next measured values below and above on it, where all else is as here."""
    for name in NEIGHBOURED:
        here = getattr(configuration, name)
        if here is None:
            continue
        alike = measured.rates_along(name).get(others_of(configuration, name))
        if alike is None or here in alike:
            continue
        values = measured.values_along(name, others_of(configuration, name))
        place = bisect_left(values, here)
        if 0 < place < len(values):
            yield name, alike[values[place - 1]], alike[values[place]]


def _known_shares(model: WorkloadModel, rates: PredictedRates) -> Array:
    """The share of stages whose capacity is known beyond the measured range (n,): accelerator and disk do not see
    vCPUs."""
    shares: Array = rates.shares[:, READ] + rates.shares[:, WRITE]
    return shares + (rates.shares[:, ACCELERATOR] if model.facts.accelerator_rates else 0.0)


def outside(model: WorkloadModel, configuration: Configuration) -> float:
    """How far outside the measured range, in e-folds of vCPUs, batch size and accelerators; 0 inside."""
    measured = model.measured
    distance = 0.0
    axes = (
        (vcpus_of(configuration), measured.vcpus),
        (batch_of(configuration), measured.batch_size),
        (gpus_of(configuration), measured.counts),
    )
    for value, known in axes:
        if known and value and not known[0] <= value <= known[-1]:
            distance += max(0.0, math.log(known[0] / value), math.log(value / known[-1]))
    return distance


def _pair_unmeasured(model: WorkloadModel, configuration: Configuration) -> bool:
    measured = model.measured
    if min(len(measured.disks), len(measured.memory_bytes)) < 2 or not disk_is_free(
        model.facts, measured, disk_of(configuration)
    ):
        return False
    here = measured.memory_on_disks.get(disk_of(configuration))
    return here is not None and not here[0] <= memory_of(configuration) <= here[1]


def _memory_unmeasured(model: WorkloadModel, configuration: Configuration) -> bool:
    """Less memory than any run had, or more where more of it is more page cache."""
    known = model.measured.memory_bytes
    if not known or known[0] <= memory_of(configuration) <= known[-1]:
        return False
    matters = model.facts.natural or any(member.structure.memory_levels for member in model.members)
    return memory_of(configuration) < known[0] or (matters and len(known) > 1)

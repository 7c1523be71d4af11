"""Configurations -> predicted throughput with its interval, the share of each stage and the bottleneck."""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from sizer.model import advice
from sizer.model.attribution import bottleneck_of, shares_by_bottleneck, shown, shown_by_an_axis, with_accounted_cpu
from sizer.model.ceilings import known_ceilings
from sizer.model.coordinates import (
    batch_of,
    disk_of,
    fills_accelerators,
    gpus_of,
    memory_of,
    needs_no_less,
    or_unknown,
    vcpus_of,
)
from sizer.model.equation import STAGES
from sizer.model.feeds import with_usual_accelerator
from sizer.model.interplay import interplay_deviation
from sizer.model.machines_around import LEAST_NOISE, beyond_counts, held_by_machines, no_slower_than_less
from sizer.model.memory import anonymous_bytes, floor_at, needed_bytes
from sizer.model.model import NEIGHBOURED, NORMAL_90, MeasuredRange, WhatIf, WorkloadModel, others_of
from sizer.model.onward import Onward, is_open, onward, split_by_last_doubling
from sizer.model.predicted_rates import PredictedRates, predict_rates
from sizer.model.relief import headroom
from sizer.model.stages import as_good, disk_is_free
from sizer.records import Bottleneck, Configuration, Estimate, NoAnswer, Prediction

BEYOND = 0.25
"""Standard deviation of ln throughput added for each e-fold outside the measured range, beside what the draws say."""
MOST_NOISE = 0.05
"""Of the noise of a run beyond two neighbours: more of it is rather what the form does not explain."""
REACH = 0.5
"""Of the step in ln rate between two measured neighbours: how far beyond them an interval between them may reach."""
UNMEASURED_PAIR = 0.25
"""The same for a disk without figures and a memory size that were not measured together: how they work together is
what no run shows."""
UNMEASURED_DISK = 0.15
"""The same for a disk that no run was measured on: how exactly demands and rates predict a tier."""


def predict(model: WorkloadModel, configuration: Configuration, what_if: WhatIf = WhatIf()) -> Prediction:
    """The model's answer at one configuration.

    Raises Refused where the runs cannot say: an axis with fewer than three values between its measured ones, a disk
    without figures, a what-if about a stage that was not separated.
    """
    found = _answered(model, configuration, what_if)
    if found.out_of_memory:
        return found
    if what_if != WhatIf():
        return _held_by_measured_disks(model, found, what_if)
    return replace(found, headroom=headroom(model, found.configuration, found.bottleneck))


def _answered(model: WorkloadModel, configuration: Configuration, what_if: WhatIf) -> Prediction:
    """By the configuration's own disk alone, and without its headroom."""
    configuration = with_usual_accelerator(model.measured, configuration)
    if not _fits(model, configuration, what_if):
        return _out_of_memory(model, configuration)
    lower, upper, position = _between_levels(model, configuration)
    return _prediction(model, configuration, what_if, predict_rates(model, [lower, upper], what_if), position)


def _held_by_measured_disks(model: WorkloadModel, found: Prediction, what_if: WhatIf) -> Prediction:
    """The same, on a supposed disk no faster than on a measured one that is as good in every figure.

    Runs show of a disk what its figures do not: how long it makes a worker wait, and how much of its figures a job
    gets. Nothing is known of that for a supposed one, which must not look faster for it.
    """
    if what_if.disk_rates is None:
        return found
    rate, elsewhere = found.throughput, replace(what_if, disk_rates=None)
    for disk in model.measured.disks:
        if as_good(model.facts, disk.rates, what_if.disk_rates):
            with suppress(NoAnswer):
                there = _answered(model, replace(found.configuration, disk=disk.name), elsewhere).throughput.value
                factor = min(1.0, there / rate.value)
                rate = Estimate(rate.value * factor, rate.low * factor, rate.high * factor)
    return replace(found, throughput=rate)


def predict_several(model: WorkloadModel, configurations: Sequence[Configuration]) -> list[Prediction | None]:
    """What `predict` gives of many configurations at once, but for the headroom; None where it has no answer."""
    found: list[Prediction | None] = [None] * len(configurations)
    for index, configuration in enumerate(configurations):
        usual = with_usual_accelerator(model.measured, configuration)
        with suppress(NoAnswer):
            if not _fits(model, usual, WhatIf()):
                found[index] = _out_of_memory(model, usual)
    for index, usual, both, position in _together(model, configurations):
        found[index] = _prediction(model, usual, WhatIf(), both, position)
    return found


def _out_of_memory(model: WorkloadModel, configuration: Configuration) -> Prediction:
    nothing = Estimate(0.0, 0.0, 0.0)
    beyond = outside(model, configuration) > 0
    return Prediction(model.name, configuration, nothing, Bottleneck.MEMORY, {"memory": 1.0}, beyond, True)


def _prediction(
    model: WorkloadModel, configuration: Configuration, what_if: WhatIf, both: PredictedRates, position: float
) -> Prediction:
    """Without its headroom, from the rates of the two levels of memory that it lies between."""
    measured = model.measured.rate_at(configuration) if what_if == WhatIf() else None
    rates = both.between(position)
    shares = shares_by_bottleneck(rates.shares[0], float(rates.contention[0]), bool(rates.read_is_iops[0]))
    shares = shown_by_an_axis(
        model, configuration, split_by_last_doubling(model, configuration, shares), float(rates.mean[0])
    )
    shares = with_accounted_cpu(model, configuration, shares)
    beyond = onward(model, configuration) if what_if == WhatIf() else None
    throughput = _throughput(model, both, position, configuration, what_if, beyond)
    evidence = measured.evidence if measured else None
    bottleneck = Bottleneck.AMBIGUOUS if is_open(model, configuration, beyond) else bottleneck_of(shares, evidence)
    if not shown(model, configuration, bottleneck, shares):
        bottleneck, shares = Bottleneck.AMBIGUOUS, {}
    return Prediction(
        workload=model.name,
        configuration=configuration,
        throughput=throughput,
        bottleneck=bottleneck,
        shares=shares,
        extrapolated=what_if.disk_rates is not None or _is_beyond(model, configuration),
    )


@dataclass(frozen=True)
class LinePoint:
    """The throughput that `predict` gives at one configuration, and whether that is extrapolated."""

    throughput: Estimate
    extrapolated: bool


def predict_line(model: WorkloadModel, configurations: Sequence[Configuration]) -> list[LinePoint | None]:
    """The throughputs that `predict` gives, of many configurations at once, without what binds there.

    None where it has no answer, or a run would not complete. A chart asks for thousands of them.
    """
    found: list[LinePoint | None] = [None] * len(configurations)
    asked = list(_together(model, configurations))
    if beyond_all := [configuration for _, configuration, *_ in asked if outside(model, configuration) > 0]:
        known_ceilings(model, beyond_all)  # which keeps them: one by one they take longer
    for index, configuration, both, position in asked:
        beyond = onward(model, configuration)
        throughput = _throughput(model, both, position, configuration, WhatIf(), beyond)
        found[index] = LinePoint(throughput, _is_beyond(model, configuration))
    return found


def _together(
    model: WorkloadModel, configurations: Sequence[Configuration]
) -> Iterator[tuple[int, Configuration, PredictedRates, float]]:
    """Of each configuration that has an answer and enough memory: its number, itself with the usual accelerator, the
    rates of the two levels of memory around it and where between them it lies. All are computed at once."""
    asked: dict[int, Configuration] = {}
    for index, configuration in enumerate(configurations):
        usual = with_usual_accelerator(model.measured, configuration)
        with suppress(NoAnswer):
            if _fits(model, usual, WhatIf()):
                asked[index] = usual
    levels = {index: _between_levels(model, configuration) for index, configuration in asked.items()}
    # Draws of the residual are made for two levels at a time, as `predict` asks for them.
    each = 1 if model.residual is None and not any(position for *_, position in levels.values()) else 2
    places = [level for lower, upper, _ in levels.values() for level in (lower, upper)[:each]]
    rates = predict_rates(model, places, WhatIf(), together=2) if places else None
    for turn, (index, configuration) in enumerate(asked.items()):
        assert rates is not None, "there is one for each that is asked for"
        yield index, configuration, rates.of(each * turn, each), levels[index][2]


def _fits(model: WorkloadModel, configuration: Configuration, what_if: WhatIf) -> bool:
    """Whether a run would have enough memory; raises Refused where it would and the runs cannot say how fast it is."""
    advice.check_what_if(model, configuration, what_if)
    if _does_not_fit(model, configuration):
        return False
    if model.refused and (what_if != WhatIf() or model.measured.rate_at(configuration) is None):
        raise advice.not_fitted(model)
    advice.check_axes(model, configuration)
    if not model.members:
        raise advice.not_fitted(model)
    return True


def _is_beyond(model: WorkloadModel, configuration: Configuration) -> bool:
    beyond = outside(model, configuration) > 0 or _memory_unmeasured(model, configuration)
    return beyond or not model.measured_together(configuration)


def _throughput(
    model: WorkloadModel,
    both: PredictedRates,
    position: float,
    configuration: Configuration,
    what_if: WhatIf,
    beyond: Onward | None,
) -> Estimate:
    """Between two levels of memory. What its own runs gave of a refused model, and of a row of a table without
    accounting: a form that does not go through a row is no reason to doubt it."""
    at_its_word = model.refused is not None or model.facts.core_seconds is None
    measured = model.measured.rate_at(configuration) if at_its_word and what_if == WhatIf() else None
    if measured is not None:
        return measured.of_new_run
    rates = both.between(position)
    return _estimate(model, rates, configuration, what_if, beyond, both if 0 < position < 1 else rates)


def best_measured(model: WorkloadModel) -> Prediction:
    """The highest predicted throughput of the measured values, over every disk and batch size.

    Not between them: a peak that no run shows is the form's, and everything would be judged against it.
    """
    if model.refused or not model.members:
        raise advice.not_fitted(model)
    configurations = measured_values(model)
    mean = predict_rates(model, configurations).mean
    return predict(model, configurations[int(np.argmax(mean))], WhatIf())


def measured_values(model: WorkloadModel) -> list[Configuration]:
    """Every measured value of each axis with every one of the others that it was measured with, cheapest first."""
    measured = model.measured
    configurations = []

    @cache
    def holding(c: float | None, batch: int | None) -> list[int]:
        known = measured.memory_bytes
        return [m for m in known if len(known) == 1 or m >= (needed_bytes(measured, c, batch) or m)]

    axes = (or_unknown(measured.vcpus), or_unknown(measured.batch_size), measured.disks, measured.gpus)
    for c, batch, disk, gpus in itertools.product(*axes):
        fitting = holding(c, batch)
        configurations += [
            Configuration(c, memory, disk.name, batch, gpus.gpu, gpus.count)
            for memory in fitting or or_unknown(measured.memory_bytes[-1:])
        ]
    return [each for each in configurations if model.measured_together(each)] or configurations


def _between_levels(model: WorkloadModel, configuration: Configuration) -> tuple[Configuration, Configuration, float]:
    """The neighbours in memory where memory has levels, and where between them (0 to 1 in ln bytes) this one lies."""
    known = model.measured.memory_bytes
    levels = any(member.structure.memory_levels for member in model.members)
    if (
        not levels
        or not known
        or not known[0] < memory_of(configuration) < known[-1]
        or memory_of(configuration) in known
    ):
        return configuration, configuration, 0.0
    low = max(level for level in known if level < memory_of(configuration))
    high = min(level for level in known if level > memory_of(configuration))
    position = math.log(memory_of(configuration) / low) / math.log(high / low)
    return replace(configuration, memory_bytes=low), replace(configuration, memory_bytes=high), position


def _estimate(
    model: WorkloadModel,
    rates: PredictedRates,
    configuration: Configuration,
    what_if: WhatIf,
    beyond: Onward | None,
    around: PredictedRates,
) -> Estimate:
    """The interval of a new run; it holds what lies `around` in memory: the step between two levels may be anywhere.

    Beyond a curve that still rises it reaches from no more gain to the last gain again.
    """
    variance = float(rates.variance()[0])
    variance += (BEYOND * outside(model, configuration) * (1 - 0.8 * _known_share(model, rates))) ** 2
    if what_if.disk_rates is not None:
        variance += UNMEASURED_DISK**2
    if _memory_unmeasured(model, configuration):
        variance += UNMEASURED_DISK**2
    if _pair_unmeasured(model, configuration):
        variance += UNMEASURED_PAIR**2
    noise = max(model.widening, model.noise_widening) * model.noise
    half = math.hypot(model.widening * math.sqrt(variance), noise)
    if not model.measured_together(configuration):
        half = math.hypot(half, NORMAL_90 * interplay_deviation(model, configuration))
    centre = float(rates.mean[0])
    low, high = min(centre, float(around.mean.min())) - half, max(centre, float(around.mean.max())) + half
    if beyond is not None and beyond.expected > centre:
        centre = beyond.expected
        low, high = min(beyond.now, centre - half), max(beyond.highest, centre + half)
    if (
        outside(model, configuration) > 0 and what_if == WhatIf()
    ):  # no more than a known ceiling, but for the noise of a run
        ceiling = float(known_ceilings(model, [configuration])[0])
        centre, high = min(centre, ceiling), max(centre, min(high, ceiling + NORMAL_90 * model.noise))
        low = min(low, centre)
    found = Estimate(math.exp(centre), math.exp(low), math.exp(high))
    if what_if != WhatIf():
        return found
    beyond_most = beyond_counts(model, configuration)
    if beyond_most is not None:
        return beyond_most
    held = _held_by_neighbours(model, configuration, held_by_machines(model, configuration, found))
    return held if model.facts.core_seconds is not None else no_slower_than_less(model, configuration, held)


def _held_by_neighbours(model: WorkloadModel, configuration: Configuration, found: Estimate) -> Estimate:
    """The same, not reaching beyond two measured neighbours by more than REACH of the step between them."""
    for axis, below, above in measured_neighbours(model.measured, configuration):
        low, high = sorted((below, above))
        noise = LEAST_NOISE if axis == "gpu_count" else min(max(LEAST_NOISE, model.noise), MOST_NOISE)
        beyond = math.exp(REACH * math.log(high / low) + NORMAL_90 * 2 * noise)
        low, high = low / beyond, high * beyond
        if low <= found.value <= high:
            found = Estimate(found.value, max(found.low, low), min(found.high, high))
    return found


def measured_neighbours(measured: MeasuredRange, configuration: Configuration) -> Iterator[tuple[str, float, float]]:
    """Each axis with the rates of the next measured values below and above on it, where all else is as here."""
    for name in NEIGHBOURED:
        here = getattr(configuration, name)
        if here is None:
            continue
        alike = measured.rates_along(name).get(others_of(configuration, name), {})
        below, above = ([value for value in alike if side(value, here)] for side in (operator.lt, operator.gt))
        if below and above and here not in alike:
            yield name, alike[max(below)], alike[min(above)]


def _known_share(model: WorkloadModel, rates: PredictedRates) -> float:
    """The share of stages whose capacity is known beyond the measured range: accelerator and disk do not see vCPUs."""
    accelerator, read, write = (float(rates.shares[0, STAGES.index(name)]) for name in ("accelerator", "read", "write"))
    return read + write + (accelerator if model.facts.accelerator_rates else 0.0)


def outside(model: WorkloadModel, configuration: Configuration) -> float:
    """How far outside the measured range, in e-folds of vCPUs, batch size and accelerators; 0 inside."""
    measured = model.measured
    distance = 0.0
    counts = sorted({gpus.count for gpus in measured.gpus if gpus.count})
    axes = (
        (vcpus_of(configuration), measured.vcpus),
        (batch_of(configuration), measured.batch_size),
        (gpus_of(configuration), counts),
    )
    for value, known in axes:
        if known and value:
            distance += max(0.0, math.log(known[0] / value), math.log(value / known[-1]))
    return distance


def _does_not_fit(model: WorkloadModel, configuration: Configuration) -> bool:
    measured = model.measured
    if any(needs_no_less(configuration, killed) for killed in measured.did_not_fit):
        return True
    if any(fills_accelerators(configuration, killed) for killed in measured.overfilled):
        return True
    floor = floor_at(measured, configuration.vcpus, configuration.batch_size)
    if floor.completed_bytes is not None and memory_of(configuration) >= floor.completed_bytes:
        return False
    if floor.out_of_memory_bytes is not None and memory_of(configuration) <= floor.out_of_memory_bytes:
        return True
    anonymous = anonymous_bytes(measured, configuration.vcpus, configuration.batch_size)
    return anonymous is not None and memory_of(configuration) < anonymous


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

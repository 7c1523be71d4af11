"""Which configuration a question means that leaves values out: a measured machine, where one has what it names."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from sizer.model.advice import ENOUGH
from sizer.model.coordinates import disk_of, known, name_of_disk
from sizer.model.model import Gpus, MeasuredRange, MeasuredRate, WorkloadModel, others_of
from sizer.records import Configuration

AXES = ("gpu_count", "vcpus", "memory_bytes", "batch_size")
FREE = ("vcpus", "memory_bytes", "batch_size")
"""Numbers that a question may leave to those of the machines next to what it names."""


def filled(model: WorkloadModel, given: Mapping[str, Any]) -> Configuration:
    """The configuration with what is given (by field of Configuration), and the rest as it was measured.

    Every axis at its largest where that was measured, or lies within what was measured together: so it is wherever axes
    were crossed. Else the machine that was measured with all that is given: of these the usual accelerators, and of
    them the fastest. Else what lies between the two machines next to it, or goes on beyond the last two.
    """
    largest = _largest(model, given)
    rates = model.measured.rates
    if model.facts.core_seconds is not None or any(rate.configuration == largest for rate in rates):
        return largest
    named = {name: value for name, value in given.items() if _can_agree(model.measured, name, value)}
    if agreeing := [rate for rate in rates if _agrees(rate.configuration, named)]:
        return replace(_usual(model.measured, agreeing).configuration, **given)
    if killed := [each for each in model.measured.did_not_fit if _agrees(each, named)]:
        return replace(killed[0], **given)
    if _crossed(model, largest, given):
        return largest
    return replace(_near(model.measured, named) or largest, **given)


def _largest(model: WorkloadModel, given: Mapping[str, Any]) -> Configuration:
    """Each axis at its largest, on the usual disk and with the usual accelerators."""
    measured = model.measured
    usual = measured.gpus[0] if measured.gpus else Gpus()
    if "gpu" in given:
        usual = next((each for each in measured.gpus if each.gpu == given["gpu"]), Gpus(given["gpu"], usual.count))
    found = Configuration(
        vcpus=max(measured.vcpus, default=None),
        memory_bytes=max(measured.memory_bytes, default=None),
        disk=measured.disks[0].name if measured.disks else None,
        batch_size=max(measured.batch_size, default=None),
        gpu=usual.gpu,
        gpu_count=usual.count,
    )
    return replace(found, **given)


def _crossed(model: WorkloadModel, largest: Configuration, given: Mapping[str, Any]) -> bool:
    """Whether the largest of what is left out was measured with other values of what is given, or with none of two."""
    if not model.measured_together(largest):
        return False
    numbers = [name for name in AXES if given.get(name)]
    along = [model.measured.rates_along(name).get(others_of(largest, name), {}) for name in numbers]
    return len(numbers) != 1 or any(len(rates) > 1 for rates in along)


def _can_agree(measured: MeasuredRange, name: str, value: Any) -> bool:
    """Whether rows can have it: the table has the axis, and a disk is not one that only a what-if speaks of."""
    if name == "disk":
        return measured.disk(value) is not None
    return any(getattr(rate.configuration, name) is not None for rate in measured.rates)


def _agrees(configuration: Configuration, given: Mapping[str, Any]) -> bool:
    return all(
        disk_of(configuration) == name_of_disk(value) if name == "disk" else getattr(configuration, name) == value
        for name, value in given.items()
    )


def _usual(measured: MeasuredRange, rates: Sequence[MeasuredRate]) -> MeasuredRate:
    """Of machines that all agree: the accelerators and the disk that most runs had, then the fastest."""
    gpus = [(each.gpu, each.count) for each in measured.gpus]
    disks = [name_of_disk(each.name) for each in measured.disks]

    def preferred(rate: MeasuredRate) -> tuple[int, int, float]:
        where = rate.configuration
        return gpus.index((where.gpu, where.gpu_count)), disks.index(disk_of(where)), -rate.throughput.value

    return min(rates, key=preferred)


def _near(measured: MeasuredRange, given: Mapping[str, Any]) -> Configuration | None:
    """The machine next to what is given; None where none has its accelerator and disk.

    The numbers that are left out go along with one that is off what was measured, with the count of accelerators before
    others: 6 of them have vCPUs between those of 4 and 8.
    """
    numbers = {name: float(given[name]) for name in AXES if given.get(name)}
    names = {name: value for name, value in given.items() if name not in numbers}
    alike = [
        rate
        for rate in measured.rates
        if _agrees(rate.configuration, names) and all(getattr(rate.configuration, name) for name in numbers)
    ]
    if not alike:
        return None
    nearest = _nearest(measured, alike, numbers).configuration
    off = [name for name, value in numbers.items() if getattr(nearest, name) != value]
    if not off:
        return nearest
    axis, *others = off
    kept = {name: getattr(nearest, name) for name in ("gpu", "disk", *AXES) if name in numbers or name not in FREE}
    kept = {name: value for name, value in kept.items() if name not in off}
    by_value: dict[float, list[MeasuredRate]] = defaultdict(list)
    for rate in alike:
        if _agrees(rate.configuration, kept):
            by_value[getattr(rate.configuration, axis)].append(rate)
    rest = {name: numbers[name] for name in others}
    along = {value: _nearest(measured, rates, rest).configuration for value, rates in by_value.items()}
    return _gone_along(measured, nearest, axis, numbers[axis], along)


def _nearest(measured: MeasuredRange, rates: Sequence[MeasuredRate], numbers: Mapping[str, float]) -> MeasuredRate:
    """The least far in e-folds over these numbers; of several the usual."""

    def distance(rate: MeasuredRate) -> float:
        return sum(abs(math.log(value / getattr(rate.configuration, name))) for name, value in numbers.items())

    least = min(distance(rate) for rate in rates)
    return _usual(measured, [rate for rate in rates if distance(rate) <= least])


def _gone_along(
    measured: MeasuredRange, nearest: Configuration, axis: str, value: float, along: Mapping[float, Configuration]
) -> Configuration:
    """The nearest with its free numbers between those of its neighbours on the axis, or on beyond the last two."""
    below, above = (sorted(each for each in along if (each < value) is less) for less in (True, False))
    if below and above:
        one, other = below[-1], above[0]
    elif len(below or above) > 1:
        one, other = below[-2:] if below else above[:2]
    else:
        return nearest
    found: dict[str, Any] = {}
    for name in FREE:
        ends = getattr(along[one], name), getattr(along[other], name)
        varied = len(known(getattr(rate.configuration, name) for rate in measured.rates))
        if name == axis or None in ends or ends[0] == ends[1] or varied < ENOUGH:
            continue
        if below and above:
            number = ends[0] + (ends[1] - ends[0]) * (value - one) / (other - one)
        else:
            slope = math.log(ends[1] / ends[0]) / math.log(other / one)
            number = getattr(nearest, name) * (value / getattr(nearest, axis)) ** min(1.0, max(0.0, slope))
        found[name] = type(ends[0])(max(1, round(number)) if number >= 1 else number)
    return replace(nearest, **found)

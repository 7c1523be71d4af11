"""Which values of two axes were measured together: how two axes act on one another is what rates alone cannot tell."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations, permutations

from sizer.model.coordinates import disk_of
from sizer.model.model import MeasuredRange, WorkloadModel
from sizer.records import Bottleneck, Configuration

NUMBERS = ("vcpus", "memory_bytes", "batch_size")
SHOWN_BY_VCPUS = (Bottleneck.CPU, Bottleneck.SERIAL, Bottleneck.ACCELERATOR)
"""Bottlenecks that only runs at several vCPU values distinguish, where nothing was accounted."""


def measured_together(model: WorkloadModel, configuration: Configuration) -> bool:
    """Whether each two of its values lie within what was measured together.

    Two names (a disk, a kind and count of accelerator) were if some run had both; a name and a number if the number
    lies between those that were measured with the name; two numbers if one lies between those that were measured at
    the other, or at its nearest measured neighbours. Where the runs account for the CPU time of a sample, the demands
    of the stages tell axes apart, and every combination counts as measured together; likewise for memory where it is
    known how much of it cannot be dropped.
    """
    if model.facts.core_seconds is not None:
        return True
    measured = model.measured
    rows = [rate.configuration for rate in measured.rates]
    numbers = [name for name in NUMBERS if len(getattr(measured, name)) > 1]
    if any(trial.anonymous_bytes for trial in measured.trials) and "memory_bytes" in numbers:
        numbers.remove("memory_bytes")
    names: list[Callable[[Configuration], object]] = [_disk] * (len(measured.disks) > 1) + [_accelerators] * (
        len(measured.gpus) > 1
    )
    pair_of_names = len(names) < 2 or any(all(of(row) == of(configuration) for of in names) for row in rows)
    return (
        pair_of_names
        and all(
            _between(configuration, name, [row for row in rows if of(row) == of(configuration)])
            for of in names
            for name in numbers
        )
        and all(
            any(_between(configuration, other, _at(rows, one, configuration)) for one, other in permutations(pair))
            for pair in combinations(numbers, 2)
        )
    )


def shown(model: WorkloadModel, configuration: Configuration, bottleneck: Bottleneck) -> bool:
    """Whether the runs show that this binds: a CPU, a serial part or an accelerator by accounting, or as vCPUs vary.

    What vCPUs do on one disk shows nothing of another, nor on one kind and count of accelerator. The rate of an
    accelerator alone, where it is known, shows that it binds.
    """
    if bottleneck not in SHOWN_BY_VCPUS or model.facts.core_seconds is not None:
        return True
    if bottleneck is Bottleneck.ACCELERATOR and model.facts.accelerator_rates:
        return True
    measured = model.measured
    names = _names(measured)
    rows = [rate.configuration for rate in measured.rates]
    alike = {row.vcpus for row in rows if all(of(row) == of(configuration) for of in names)}
    return len(alike) > 1 or measured.evidence_at(configuration) is not None


def _names(measured: MeasuredRange) -> list[Callable[[Configuration], object]]:
    """The axes of names that were varied."""
    axes = ((_disk, len(measured.disks)), (_accelerators, len(measured.gpus)))
    return [of for of, values in axes if values > 1]


def _disk(configuration: Configuration) -> str:
    return disk_of(configuration)


def _accelerators(configuration: Configuration) -> tuple[str | None, int | None]:
    return configuration.gpu, configuration.gpu_count


def _between(configuration: Configuration, name: str, rows: Sequence[Configuration]) -> bool:
    """Whether its value of this axis lies between those of the rows."""
    here = getattr(configuration, name)
    known = [value for row in rows if (value := getattr(row, name)) is not None]
    return here is None or (bool(known) and min(known) <= here <= max(known))


def _at(rows: Sequence[Configuration], name: str, configuration: Configuration) -> list[Configuration]:
    """The rows with its value of this axis, or with the nearest measured ones below and above."""
    here = getattr(configuration, name)
    values = {value for row in rows if (value := getattr(row, name)) is not None}
    if here is None or not values:
        return list(rows)
    near = {max((v for v in values if v <= here), default=here), min((v for v in values if v >= here), default=here)}
    return [row for row in rows if getattr(row, name) in near]

"""One workload's machines that were measured, and what is asked of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from sizer.catalog import Catalog, InstanceType
from sizer.model import WorkloadModel
from sizer.recommend.accelerators import Accelerators
from sizer.recommend.comparison import kind_of
from sizer.recommend.growth import sizes_apart
from sizer.recommend.machines import Machine
from sizer.recommend.prices import usd_per_million
from sizer.recommend.quality import Quality
from sizer.records import (
    Bottleneck,
    Configuration,
    Figure,
    Objective,
    Reason,
    ReasonCode,
)


@dataclass(frozen=True)
class Binding:
    """What holds a machine back, where the runs show it; `shares` are those of the curve where it names none."""

    bottleneck: Bottleneck | None = None
    next_bottleneck: Bottleneck | None = None
    headroom: float | None = None
    reasons: tuple[Reason, ...] = ()
    shares: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class MeasuredChoice:
    """One workload's machines and what is asked of them. `retired` are those measured that nobody can rent any more.

    `other_inputs` are rates with synthetic input by kind and count of accelerator; `one_curve`: the machines are sizes
    of one kind, so that the model's curve describes them; `bindings` is what is known so far of what holds which back.
    """

    model: WorkloadModel
    objective: Objective
    catalog: Catalog
    quality: Quality
    machines: tuple[Machine, ...]
    retired: tuple[Machine, ...] = ()
    machine: InstanceType | None = None
    other_inputs: Mapping[Accelerators, float] = field(default_factory=dict)

    @cached_property
    def bindings(self) -> dict[tuple[Configuration, float, Bottleneck | None], Binding]:
        return {}

    @cached_property
    def one_curve(self) -> bool:
        kinds = {kind_of(each) for each in self.machines}
        named = any(each.rented is not None for each in self.machines)
        return len(kinds) == 1 and not named and self.model.posterior is not None and self.model.refused is None

    @cached_property
    def slips(self) -> tuple[Reason, ...]:
        """The machines of which one run must be wrong; else one that does not go with the next smaller one."""
        found = [
            Reason(ReasonCode.RUNS_APART, {"factor": each.apart}, each.spec) for each in self.machines if each.slipped
        ]
        odd = None if found else sizes_apart(self.machines)
        if odd is None:
            return tuple(found)
        figures = {"factor": max(odd.ratio, 1 / odd.ratio), "slower": odd.ratio < 1, "fewer": float(odd.fewer)}
        return (Reason(ReasonCode.SIZES_APART, figures, odd.machine.spec),)


def named_baseline(choice: MeasuredChoice) -> Machine | None:
    """The fastest that was measured on the machine that was named."""
    if choice.machine is None:
        return None
    found = [each for each in choice.machines if each.name in (choice.machine.name, choice.machine.instance_type)]
    return max(found, key=lambda each: each.rate, default=None)


def beside(code: ReasonCode, other: Machine, chosen: Machine, choice: MeasuredChoice) -> Reason:
    """Another machine beside the chosen one: its rate as a multiple, and the cost of the same work as a multiple."""
    priced = other.usd_per_hour is not None and chosen.usd_per_hour is not None
    figures: dict[str, Figure] = {
        "instance_type": other.name,
        "rate": other.rate,
        "speed": other.rate / chosen.rate,
        "cost": other.usd_a_sample / chosen.usd_a_sample if priced else None,
        "usd_per_million": of_million(other, choice),
    }
    return Reason(code, figures, other.spec)


def of_million(machine: Machine, choice: MeasuredChoice) -> float | None:
    return usd_per_million(machine.usd_per_hour, machine.rate, choice.model.sample_unit)

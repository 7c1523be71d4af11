"""What holds a machine back, by its accounting or by the curve of its kind."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from sizer.model import SHOWN_BY_VCPUS, predict, vcpus_of
from sizer.recommend.machines import Machine
from sizer.recommend.measured_choice import MeasuredChoice
from sizer.recommend.reasons import bound_by, next_bottleneck
from sizer.records import (
    Bottleneck,
    Prediction,
    Reason,
)

HALF = 0.5
"""Of the growth of vCPUs: with less than this of it in the rate, it is not the CPU that binds; with more, it is."""


@dataclass(frozen=True)
class Binding:
    """What holds a machine back, where the runs show it; `shares` are those of the curve where it names none."""

    bottleneck: Bottleneck | None = None
    next_bottleneck: Bottleneck | None = None
    headroom: float | None = None
    reasons: tuple[Reason, ...] = ()
    shares: dict[str, float] = field(default_factory=dict)


def binding(choice: MeasuredChoice, machine: Machine) -> Binding:
    """By its accounting; else by the curve of one kind of machine, where it shows that."""
    if machine.evidence is not None or not choice.one_curve or choice.slips:
        return Binding(machine.evidence)
    prediction: Prediction = predict(choice.model, machine.configuration)
    if prediction.bottleneck is Bottleneck.AMBIGUOUS:
        return Binding(shares=prediction.shares)
    if _contradicted(prediction.bottleneck, machine, choice.machines):
        return Binding()
    said = tuple(bound_by(choice.model, prediction, bound=True))
    return Binding(prediction.bottleneck, next_bottleneck(prediction, prediction.bottleneck), prediction.headroom, said)


def _contradicted(bottleneck: Bottleneck, machine: Machine, machines: Sequence[Machine]) -> bool:
    """Whether the next more vCPUs measured say otherwise: a busy CPU gains by them, and what else binds does not."""
    here = vcpus_of(machine.configuration)
    bare = replace(machine.configuration, vcpus=None, memory_bytes=None)
    more = [
        each
        for each in machines
        if replace(each.configuration, vcpus=None, memory_bytes=None) == bare and vcpus_of(each.configuration) > here
    ]
    if not more or bottleneck not in SHOWN_BY_VCPUS:
        return False
    following = min(more, key=lambda each: vcpus_of(each.configuration))
    gained = math.log(following.rate / machine.rate) / math.log(vcpus_of(following.configuration) / here)
    return (gained < HALF) is (bottleneck is Bottleneck.CPU)

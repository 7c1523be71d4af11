"""What holds a machine back, by its accounting or by the curve of its kind."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from sizer.model import predict, vcpus_of
from sizer.recommend.machines import Machine
from sizer.recommend.measured_choice import Binding, MeasuredChoice
from sizer.recommend.reasons import bound_by, next_bottleneck
from sizer.records import (
    Bottleneck,
    Prediction,
)

HALF = 0.5
"""Of the growth of vCPUs: with less than this of it in the rate, it is not the CPU that binds; with more, it is."""


def binding(choice: MeasuredChoice, machine: Machine) -> Binding:
    """By its accounting; else by the curve of one kind of machine, where it shows that. Found once for each."""
    key = machine.configuration, machine.rate, machine.evidence
    if key not in choice.bindings:
        choice.bindings[key] = _binding(choice, machine)
    return choice.bindings[key]


def _binding(choice: MeasuredChoice, machine: Machine) -> Binding:
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
    if bottleneck not in (Bottleneck.CPU, Bottleneck.SERIAL, Bottleneck.ACCELERATOR):
        return False
    here = vcpus_of(machine.configuration)
    bare = replace(machine.configuration, vcpus=None, memory_bytes=None)
    more = [
        each
        for each in machines
        if vcpus_of(each.configuration) > here and replace(each.configuration, vcpus=None, memory_bytes=None) == bare
    ]
    if not more:
        return False
    following = min(more, key=lambda each: vcpus_of(each.configuration))
    gained = math.log(following.rate / machine.rate) / math.log(vcpus_of(following.configuration) / here)
    return (gained < HALF) is (bottleneck is Bottleneck.CPU)

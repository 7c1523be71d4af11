"""Why the machines that cost less, or are smaller, were not taken."""

from __future__ import annotations

from dataclasses import replace

from sizer.recommend.comparison import MERITS, Comparison, Contender, hourly, kind_of
from sizer.recommend.machines import Machine
from sizer.recommend.measured_choice import MeasuredChoice, beside
from sizer.recommend.thresholds import DISK_LOSS
from sizer.records import (
    Configuration,
    Reason,
    ReasonCode,
    Rejection,
    Spec,
    reason,
)

MOST_REJECTED = 6
"""Cheaper machines of which it is said why they were not taken."""
SAME = 0.005
"""Shares that differ by less are the same in whole percents."""


def rejections(choice: MeasuredChoice, comparison: Comparison, chosen: Contender) -> tuple[Rejection, ...]:
    """Each machine that costs less an hour, or is smaller where no price is known, and what ran out of memory.

    And what would do the work for less if it answered soon enough.
    """
    taken = chosen.machine
    if taken.usd_per_hour is not None:
        cheaper = [each for each in comparison.priced if _speaks_against(each, chosen)]
        cheaper.sort(key=lambda each: -hourly(each.machine))
    else:
        cheaper = [
            each
            for each in comparison.contenders
            if kind_of(each.machine) == kind_of(taken) and each.machine.size < taken.size
        ]
        cheaper.sort(key=lambda each: each.machine.size, reverse=True)
    found = [_rejection(choice, each, taken) for each in cheaper[:MOST_REJECTED]]
    return (*found, *_did_not_fit(choice, taken))


def _speaks_against(each: Contender, chosen: Contender) -> bool:
    if each is chosen:
        return False
    cheaper = hourly(each.machine) < hourly(chosen.machine)
    return cheaper or (not each.prompt_enough and each.machine.cost < chosen.machine.cost)


def _rejection(choice: MeasuredChoice, each: Contender, taken: Machine) -> Rejection:
    machine, why = each.machine, (_why_not(choice, each, taken),)
    found = Rejection(machine.spec, why, _own_name(machine), machine.throughput, machine.rate / taken.rate)
    if machine.usd_per_hour is None or taken.usd_per_hour is None:
        return found
    saved = hourly(taken) - hourly(machine)
    return replace(found, usd_saved_per_hour=saved, saving=saved / hourly(taken))


def _own_name(machine: Machine) -> str | None:
    """What the table calls it."""
    return machine.name if machine.rented is not None else None


def _did_not_fit(choice: MeasuredChoice, taken: Machine) -> list[Rejection]:
    killed = choice.model.measured.did_not_fit[:MOST_REJECTED]
    return [Rejection(_spec_like(taken, each), (reason(ReasonCode.OUT_OF_MEMORY),)) for each in killed]


def _spec_like(machine: Machine, configuration: Configuration) -> Spec:
    """The configuration with the axes of a spec that the machine's has."""
    own = machine.spec
    gpu = configuration.gpu if configuration.gpu is not None else own.gpu
    return Spec(
        configuration.vcpus,
        configuration.memory_bytes,
        configuration.disk if own.disk is not None else None,
        configuration.batch_size,
        gpu,
        max(1, configuration.gpu_count or 0) if gpu is not None else 0,
        own.nodes,
    )


def _why_not(choice: MeasuredChoice, each: Contender, taken: Machine) -> Reason:
    objective, machine = choice.objective, each.machine
    if not each.prompt_enough and objective.latency_p99 is not None:
        return reason(ReasonCode.LATENCY_TOO_LONG, latency=machine.latency_p99, most=objective.latency_p99)
    if objective.rate is not None and not each.passes:
        figures = {"rate": machine.rate, "needed": objective.rate}
        return reason(ReasonCode.BELOW_RATE, **figures, probability=each.probability)
    if each.disk_loss > DISK_LOSS:
        return reason(ReasonCode.DISK_LOSES, loss=each.disk_loss, most=DISK_LOSS)
    share = each.fraction / objective.target
    if not each.passes and share >= 1 - SAME:
        return reason(ReasonCode.TARGET_UNLIKELY, probability=each.probability)
    if not each.passes:
        return reason(ReasonCode.OF_TARGET, share=share, bottleneck=None)
    if objective.rate is None and (objective.prefer == "fastest" or machine.usd_per_hour is None):
        return beside(ReasonCode.SLOWER_MACHINE, machine, taken, choice)
    if objective.counts == "balanced":
        merit = MERITS[objective.counts]
        figures = {"rate": machine.rate, "cost": merit(machine) / merit(taken)}
        return Reason(ReasonCode.DEARER_IN_TIME, figures, machine.spec)
    return beside(ReasonCode.DEARER_MACHINE, machine, taken, choice)

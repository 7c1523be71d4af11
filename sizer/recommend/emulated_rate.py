"""What the interval of an emulated GPU's rate makes of an answer, where the rate was not published for that GPU.

Runs wait for one rate, as if it were known. Where it was extrapolated or transferred, or its interval was given, the
answer must hold for what the real GPU may make.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import Any

from sizer.model import (
    NORMAL_90,
    WhatIf,
    WorkloadModel,
    measured_values,
    predict,
    rates,
    vcpus_of_ceiling,
)
from sizer.recommend import events
from sizer.recommend.accelerator_counts import accelerator_counts
from sizer.recommend.instead import judged_by
from sizer.recommend.jobs import time_of_job
from sizer.recommend.reasons import step_emulated
from sizer.recommend.scoring import exceeds, rounded
from sizer.recommend.thresholds import SURE
from sizer.records import (
    AcceleratorCount,
    Answer,
    Configuration,
    Estimate,
    Event,
    Job,
    NoAnswer,
    Objective,
    Option,
    Reason,
    ReasonCode,
    Run,
    reason,
)

RATES = 19
"""Equally likely rates at which a size is asked whether it still reaches the target: a probability in steps of 5 %."""

TOO_SLOW = (ReasonCode.NOTHING_IN_TIME, ReasonCode.NO_MACHINE_ENOUGH)


@dataclass(frozen=True)
class _Emulated:
    """The rate of one GPU as it was emulated, with its 90 %, in samples per second."""

    model: WorkloadModel
    rate: Estimate

    @property
    def ends(self) -> tuple[WhatIf, WhatIf]:
        """As slow, and as fast, as the GPU may be."""
        return WhatIf(gpu_speedup=self.rate.low / self.rate.value), WhatIf(gpu_speedup=self.rate.high / self.rate.value)

    def spread(self, at: Configuration, known: Estimate) -> Estimate:
        """A rate there with what it would be on a GPU of either end."""
        less, more = (predict(self.model, at, end).throughput for end in self.ends)
        return Estimate(known.value, min(known.low, less.low), max(known.high, more.high))

    def reaching(self, at: Configuration, target: float) -> float:
        """How likely the GPU is one with which that size reaches the target of the best measured one."""
        places = [*measured_values(self.model), at]
        reached = 0
        for index in range(RATES):
            deviations = NormalDist().inv_cdf((index + 0.5) / RATES)
            end = self.rate.low if deviations < 0 else self.rate.high
            factor = math.exp(abs(deviations) / NORMAL_90 * math.log(end / self.rate.value))
            mean = rates(self.model, places, WhatIf(gpu_speedup=factor)).centre
            reached += bool(mean[-1] >= mean.max() + math.log(target))
        return reached / RATES


def with_rate_of_emulated(found: Answer, model: WorkloadModel, runs: Sequence[Run], objective: Objective) -> Answer:
    """The answer with the rate that it rests on, and as far as it holds whatever the GPU makes within its interval."""
    if model.facts.device.kind != "emulated":
        return found
    if found.spec is None:
        return _too_slow(found, model)
    place = judged_by(model, found.spec)
    if place is None:
        return found
    if not any(each.code is ReasonCode.STEP_EMULATED for each in found.reasons):
        found = replace(found, reasons=(*found.reasons, *step_emulated(model, place.batch_size)))
    rate = _open_rate(model, place)
    if rate is None:
        return found
    emulated = _Emulated(model, rate)
    found = replace(found, reasons=(*found.reasons, _said(emulated, place)))
    try:
        return _widened(found, emulated, place, runs, objective)
    except NoAnswer:
        return replace(found, provisional=True)


def _too_slow(found: Answer, model: WorkloadModel) -> Answer:
    """Nothing is fast enough by this rate: with the rate, and how long the job takes whatever the GPU makes."""
    slow = next((each.spec for each in found.reasons if each.code in TOO_SLOW and each.spec is not None), None)
    place = judged_by(model, slow) if slow is not None else None
    if place is None:
        return found
    rate, job = _open_rate(model, place), found.job
    if rate is not None and job is not None:
        job = _job(job, _Emulated(model, rate).spread(place, predict(model, place).throughput))
    told = (_told_again(each, job) for each in found.reasons)
    return replace(found, reasons=(*told, *step_emulated(model, place.batch_size)), job=job)


def _open_rate(model: WorkloadModel, place: Configuration) -> Estimate | None:
    device = model.facts.device.at_batch(place.batch_size or model.facts.reference_batch)
    known = device.samples_per_second, device.rate_low, device.rate_high
    if device.kind != "emulated" or not device.rate_unsure or None in known:
        return None
    return Estimate(*(each or 0.0 for each in known))


def _said(emulated: _Emulated, place: Configuration) -> Reason:
    """What it asks for at either end, as far as accounting tells."""
    rate, model = emulated.rate, emulated.model
    asked = vcpus_of_ceiling(model, place) if model.facts.core_seconds and model.measured.vcpus else None
    said = reason(ReasonCode.EMULATED_RATE_OPEN, rate=rate.value, low=rate.low, high=rate.high)
    if asked is None:
        return said
    few, many = (asked.value * end / rate.value for end in (rate.low, rate.high))
    return replace(said, figures={**said.figures, "few": few, "many": many})


def _widened(
    found: Answer, emulated: _Emulated, place: Configuration, runs: Sequence[Run], objective: Objective
) -> Answer:
    known = found.throughput
    throughput = known if known is None else emulated.spread(place, known)
    beyond = found.beyond
    if beyond is not None:
        beyond = replace(beyond, throughput=emulated.spread(beyond.configuration, beyond.throughput))
    job = found.job if found.job is None or throughput is None else _job(found.job, throughput)
    sureness = _sureness(found, emulated, place, objective, throughput, job)
    likely = sureness["probability"]
    unsure = found.status == "recommended" and (likely is None or likely < SURE)
    chosen = found.chosen
    compared = (
        replace(each, throughput=throughput) if each is chosen and throughput is not None else each
        for each in found.alternatives
    )
    return replace(
        found,
        reasons=tuple(_told_again(each, job) for each in found.reasons),
        throughput=throughput,
        alternatives=tuple(compared),
        beyond=beyond,
        job=job,
        **sureness,
        provisional=found.provisional or unsure,
        options=tuple(_option(each, emulated, objective) for each in found.options),
        accelerator_counts=_counts(found.accelerator_counts, emulated, runs),
    )


def _told_again(said: Reason, job: Job | None) -> Reason:
    """What a reason says of the time of the job, as far off as the GPU may be."""
    if job is None or said.code not in (ReasonCode.JOB_TAKES, ReasonCode.NOTHING_IN_TIME):
        return said
    return replace(said, figures={**said.figures, **time_of_job(job.seconds), "probability": job.probability})


def _sureness(
    found: Answer,
    emulated: _Emulated,
    place: Configuration,
    objective: Objective,
    throughput: Estimate | None,
    job: Job | None,
) -> dict[str, Any]:
    """The probability and what it is that of; of a lower bound it is not known, since a slower GPU asks for less."""
    event, likely = found.probability_of, found.probability
    if event is None or likely is None:
        return events.UNKNOWN
    if event is Event.REACHES_TARGET:
        return events.known(min(likely, emulated.reaching(place, objective.target)), event)
    if event is Event.IN_TIME and job is not None:
        return events.known(job.probability, event)
    if event is Event.GIVES_RATE and throughput is not None and objective.rate is not None:
        return events.known(exceeds(throughput, objective.rate), event)
    return events.UNKNOWN


def _job(job: Job, rate: Estimate) -> Job:
    ends = (job.samples / each if each > 0 else math.inf for each in (rate.value, rate.high, rate.low))
    return replace(job, seconds=Estimate(*ends), probability=rounded(exceeds(rate, job.samples / job.within)))


def _option(option: Option, emulated: _Emulated, objective: Objective) -> Option:
    at = judged_by(emulated.model, option.spec)
    if at is None:
        return option
    likely = min(option.probability, emulated.reaching(at, objective.target))
    return replace(option, throughput=emulated.spread(at, option.throughput), probability=rounded(likely))


def _counts(
    counts: Sequence[AcceleratorCount], emulated: _Emulated, runs: Sequence[Run]
) -> tuple[AcceleratorCount, ...]:
    """Each number with what it would be on GPUs of either end."""
    ends = [
        {(each.gpu, each.count): each for each in accelerator_counts(emulated.model, runs, end).counts}
        for end in emulated.ends
    ]
    return tuple(_hull(each, [one[key] for one in ends if (key := (each.gpu, each.count)) in one]) for each in counts)


def _hull(own: AcceleratorCount, others: Sequence[AcceleratorCount]) -> AcceleratorCount:
    """It is fed where it would be on each, from the vCPUs that each asks for."""
    every = [own, *others]
    fed = [each.fed_vcpus for each in every]
    return replace(
        own,
        throughput=_joined(own.throughput, (each.throughput for each in every)),
        speed_up=_joined(own.speed_up, (each.speed_up for each in every)),
        efficiency=_joined(own.efficiency, (each.efficiency for each in every)),
        fed=all(each.fed for each in every),
        fed_vcpus=None if None in fed else max(each for each in fed if each is not None),
        asked_vcpus=own.asked_vcpus and _joined(own.asked_vcpus, (each.asked_vcpus for each in every)),
        side_by_side=own.side_by_side and _joined(own.side_by_side, (each.side_by_side for each in every)),
    )


def _joined(own: Estimate, every: Iterable[Estimate | None]) -> Estimate:
    """The own value, in an interval that holds those of all."""
    known = [each for each in every if each is not None]
    return Estimate(own.value, min(each.low for each in known), max(each.high for each in known))

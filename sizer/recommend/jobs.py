"""A job with a deadline: how long it takes on a spec, what it costs, and what is said where no spec is fast enough."""

from __future__ import annotations

from sizer.catalog import Catalog
from sizer.model import WorkloadModel, vcpus_of
from sizer.recommend.field import ScoredCandidate
from sizer.recommend.instances import cheapest
from sizer.recommend.machines import Machine
from sizer.recommend.scoring import exceeds, rounded, surely
from sizer.recommend.thresholds import SURE
from sizer.records import (
    LARGEST,
    SMALLEST,
    Configuration,
    Deadline,
    Estimate,
    Figure,
    Job,
    Prediction,
    Reason,
    ReasonCode,
    Spec,
    reason,
)

HOUR = 3600.0
UNLIKELY = 0.005
"""A probability that rounds to none: too late."""


def job_on(
    model: WorkloadModel, spec: Spec, configuration: Configuration, rate: Estimate, deadline: Deadline, catalog: Catalog
) -> Job:
    """The time and the price of the job on this spec; the price is that of the cheapest instance type that holds it."""
    seconds = _seconds(deadline.samples, rate)
    instance = cheapest(model, spec, configuration.batch_size, catalog)
    price = instance.usd_per_hour if instance else None
    return Job(
        samples=deadline.samples,
        within=deadline.seconds,
        seconds=seconds,
        probability=rounded(exceeds(rate, deadline.rate)),
        usd=price * seconds.value / HOUR if price is not None else None,
        instance_type=instance.name if instance and price is not None else None,
    )


def job_at(machine: Machine, deadline: Deadline) -> Job:
    """The time and the price of the job on a machine that was measured."""
    seconds = _seconds(deadline.samples, machine.throughput)
    price = machine.usd_per_hour
    return Job(
        samples=deadline.samples,
        within=deadline.seconds,
        seconds=seconds,
        probability=rounded(exceeds(machine.throughput, deadline.rate)),
        usd=price * seconds.value / HOUR if price is not None else None,
        instance_type=machine.name if price is not None else None,
    )


def _seconds(samples: float, rate: Estimate) -> Estimate:
    """Of the slow end of the rate the long end of the time; without end where the rate may be nothing."""
    longest = samples / rate.low if rate.low > 0 else float("inf")
    value, shortest = (min(samples / max(each, SMALLEST), LARGEST) for each in (rate.value, rate.high))
    return Estimate(value, shortest, longest)


def time_of_job(seconds: Estimate) -> dict[str, Figure]:
    """The figures of a reason that says how long a job takes."""
    return {"seconds": seconds.value, "low": seconds.low, "high": seconds.high}


def job_reasons(job: Job, doubtful: bool) -> list[Reason]:
    """Why the spec is in time, and the price of the whole job; `doubtful`: the runs that say so were disturbed."""
    likely: dict[str, Figure] = {"within": job.within, "probability": job.probability, "doubtful": doubtful}
    takes = reason(ReasonCode.JOB_TAKES, samples=job.samples, **time_of_job(job.seconds), **likely)
    if job.usd is None:
        return [takes, reason(ReasonCode.JOB_COST_UNKNOWN)]
    return [takes, reason(ReasonCode.JOB_COSTS, usd=job.usd, instance_type=job.instance_type)]


def too_late(fastest: Prediction, job: Job, spec: Spec) -> list[Reason]:
    """No spec measured is in time: the fastest, how long it takes, and how long would be enough."""
    figures: dict[str, Figure] = {
        "samples": job.samples,
        "within": job.within,
        "sure": SURE,
        "probability": job.probability,
        "bottleneck": fastest.bottleneck.value,
    }
    late = Reason(ReasonCode.NOTHING_IN_TIME, figures | time_of_job(job.seconds), spec)
    enough = surely(fastest.throughput, SURE)
    return [late, reason(ReasonCode.TIME_ENOUGH, seconds=job.samples / enough)] if enough > 0 else [late]


def why_not(scored: ScoredCandidate, chosen: ScoredCandidate, deadline: Deadline, bottleneck: str | None) -> Reason:
    """How long it takes, and how likely that is in time; or that the job costs more there."""
    score = scored.score
    seconds = deadline.samples / score.rate if score.rate > 0 else None
    if scored.passes:
        dearer = scored.usd_a_sample / chosen.usd_a_sample - 1
        return reason(ReasonCode.JOB_DEARER, seconds=seconds, dearer=dearer, bottleneck=bottleneck)
    if score.probability >= UNLIKELY:
        likely = score.probability
        return reason(ReasonCode.JOB_UNLIKELY, seconds=seconds, probability=likely, bottleneck=bottleneck)
    return reason(ReasonCode.JOB_TOO_LATE, seconds=seconds, bottleneck=bottleneck)


def beyond_in_time(beyond: Prediction, deadline: Deadline) -> Reason:
    """What a size above the most measured would make of the job: extrapolated."""
    seconds = _seconds(deadline.samples, beyond.throughput)
    return reason(ReasonCode.BEYOND_IN_TIME, vcpus=vcpus_of(beyond.configuration), **time_of_job(seconds))

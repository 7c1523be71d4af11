"""A job with a deadline: how long it takes, what it costs, and what is said where nothing is fast enough."""

from __future__ import annotations

from sizer.model.coordinates import vcpus_of
from sizer.recommend.table import SURE, Row, rounded
from sizer.records.answer import Job
from sizer.records.configuration import Estimate
from sizer.records.domains import LARGEST, SMALLEST
from sizer.records.prediction import Figure, Prediction, Reason, ReasonCode, reason
from sizer.records.study import Deadline

HOUR = 3600.0


def job_of(row: Row, deadline: Deadline) -> Job:
    """The time and the price of the job on what a row is; the price is that of the machine, without a disk."""
    each = row.candidate
    seconds, price = _seconds(deadline.samples, each.throughput), each.usd_per_hour
    return Job(
        samples=deadline.samples,
        within=deadline.seconds,
        seconds=seconds,
        probability=rounded(row.probability),
        usd=price * seconds.value / HOUR if price is not None else None,
        instance_type=each.name if price is not None else None,
    )


def _seconds(samples: float, rate: Estimate) -> Estimate:
    """Of the slow end of the rate the long end of the time; without end where the rate may be nothing."""
    longest = samples / rate.low if rate.low > 0 else float("inf")
    value, shortest = (min(samples / max(each, SMALLEST), LARGEST) for each in (rate.value, rate.high))
    return Estimate(value, shortest, longest)


def _time(seconds: Estimate) -> dict[str, Figure]:
    return {"seconds": seconds.value, "low": seconds.low, "high": seconds.high}


def job_reasons(job: Job, doubtful: bool) -> list[Reason]:
    """Why the spec is in time, and the price of the whole job; `doubtful`: the runs that say so were disturbed."""
    likely: dict[str, Figure] = {"within": job.within, "probability": job.probability, "doubtful": doubtful}
    takes = reason(ReasonCode.JOB_TAKES, samples=job.samples, **_time(job.seconds), **likely)
    return [takes, reason(ReasonCode.JOB_COSTS, usd=job.usd, instance_type=job.instance_type)]


def too_late(job: Job, row: Row, bottleneck: str | None) -> Reason:
    """Nothing measured is in time: the fastest, how long it takes, and how long would be enough."""
    slow = row.candidate.throughput.low
    figures: dict[str, Figure] = {
        "samples": job.samples,
        "within": job.within,
        "sure": SURE,
        "probability": job.probability,
        "bottleneck": bottleneck,
        "enough": job.samples / slow if slow > 0 else None,
    }
    return Reason(ReasonCode.NONE_ENOUGH, figures | _time(job.seconds), row.candidate.spec)


def beyond_in_time(beyond: Prediction, deadline: Deadline) -> Reason:
    """What a size above the most measured would make of the job: extrapolated."""
    seconds = _seconds(deadline.samples, beyond.throughput)
    return reason(ReasonCode.BEYOND, vcpus=vcpus_of(beyond.configuration), **_time(seconds))

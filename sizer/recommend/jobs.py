"""A job with a deadline: how long it takes on a spec, what it costs, and what is said where no spec is fast enough."""

from __future__ import annotations

from sizer.catalog import Catalog
from sizer.model import WorkloadModel, vcpus_of
from sizer.recommend.field import SURE, Judgement
from sizer.recommend.instances import cheapest
from sizer.recommend.judgement import exceeds, rounded, surely
from sizer.recommend.words import bound, chance, usd
from sizer.records import (
    LARGEST,
    SMALLEST,
    Configuration,
    Deadline,
    Estimate,
    Job,
    Prediction,
    Spec,
    format_number,
    format_seconds,
    format_vcpus,
    plural,
)

HOUR = 3600.0


def job_on(
    model: WorkloadModel, spec: Spec, stand: Configuration, rate: Estimate, deadline: Deadline, catalog: Catalog
) -> Job:
    """The time and the price of the job on this spec; the price is that of the cheapest instance type that holds it."""
    seconds = _seconds(deadline.samples, rate)
    instance = cheapest(model, spec, stand.batch_size, catalog)
    price = instance.usd_per_hour if instance else None
    return Job(
        samples=deadline.samples,
        within=deadline.seconds,
        seconds=seconds,
        probability=rounded(exceeds(rate, deadline.rate)),
        usd=price * seconds.value / HOUR if price is not None else None,
        instance_type=f"{instance.provider} {instance.instance_type}" if instance and price is not None else None,
    )


def _seconds(samples: float, rate: Estimate) -> Estimate:
    """Of the slow end of the rate the long end of the time; without end where the rate may be nothing."""
    longest = samples / rate.low if rate.low > 0 else float("inf")
    value, shortest = (min(samples / max(each, SMALLEST), LARGEST) for each in (rate.value, rate.high))
    return Estimate(value, shortest, longest)


def takes(job: Job, unit: str) -> str:
    """`1,200,000 images take 4 h 10 min (3 h 55 min to 4 h 30 min)`."""
    return f"{counted(job.samples, unit)} take {span(job.seconds)}"


def counted(samples: float, unit: str) -> str:
    """`1,200,000 images`: in full, since the person who asked knows the number."""
    whole = f"{samples:,.0f}" if samples >= 1 else format_number(samples)
    return f"{whole} {plural(unit)}"


def span(seconds: Estimate) -> str:
    """`4 h 10 min (3 h 55 min to 4 h 30 min)`; without an interval that rounding leaves empty."""
    value, low, high = (format_seconds(each) for each in (seconds.value, seconds.low, seconds.high))
    return value if low == high else f"{value} ({low} to {high})"


def job_reasons(model: WorkloadModel, job: Job, doubtful: bool) -> list[str]:
    """Why the spec is in time, and the price of the whole job; `doubtful`: the runs that say so were disturbed."""
    sure = f"within {format_seconds(job.within)} with a probability {chance(job.probability)}"
    sure += " as far as these runs can be trusted" if doubtful else ""
    told = f"{takes(job, model.sample_unit)}: {sure}, at the steady rate; starting up comes on top"
    return [told, priced(job)]


def priced(job: Job) -> str:
    """`the job costs $1.42 on aws c6i.xlarge`; an unknown price is said."""
    if job.usd is None:
        return "what the job costs is not known: no instance type of the catalogue that holds the spec has a price"
    return f"the job costs about {usd(job.usd)} on {job.instance_type}, by its hourly price and the expected time"


def too_late(model: WorkloadModel, fastest: Prediction, job: Job, where: str) -> list[str]:
    """No spec measured is in time: the fastest, how long it takes, and how long would be enough."""
    likely = f"in time with a probability {chance(job.probability)}" if job.probability >= 0.005 else "too late"
    enough = surely(fastest.throughput, SURE)
    told = [
        f"nothing that was measured finishes {counted(job.samples, model.sample_unit)} within "
        f"{format_seconds(job.within)} with a probability of {SURE:g}: the fastest, {where}, takes "
        f"{span(job.seconds)}, {likely}, {bound(fastest.bottleneck, model.facts.device)}"
    ]
    if enough > 0:
        told.append(f"{format_seconds(job.samples / enough)} would be time enough there")
    return told


def why_not(standing: Judgement, chosen: Judgement, deadline: Deadline) -> str:
    """`takes 9 h 12 min`, and how likely that is in time; or that the job costs more there."""
    time = format_seconds(deadline.samples / standing.judged.rate) if standing.judged.rate > 0 else "for ever"
    if standing.passes:
        dearer = standing.usd_a_sample / chosen.usd_a_sample - 1
        return f"takes {time}, in time, but the job costs {100 * dearer:.0f} % more"
    if standing.judged.probability >= 0.005:
        return f"takes {time}, in time with a probability of {standing.judged.probability:.2f} only"
    return f"takes {time}, too late"


def beyond_in_time(beyond: Prediction, deadline: Deadline) -> str:
    """What a size above the most measured would make of the job: extrapolated."""
    vcpus = format_vcpus(vcpus_of(beyond.configuration))
    return f"{vcpus} would take {span(_seconds(deadline.samples, beyond.throughput))} (extrapolated)"

"""Why a candidate is the answer, what holds it back, what a job takes there, and what else there is to know."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from sizer.model.edge import GAIN
from sizer.model.model import Gpus, WorkloadModel, disk_of, gpus_of, vcpus_of
from sizer.model.runs import label_at
from sizer.model.transfer import transferred
from sizer.recommend.candidates import Candidate, highest_rates, one_currency
from sizer.recommend.case import Case
from sizer.recommend.prices import gpu_gone, usd_per_million, volume_bytes
from sizer.recommend.rule import SURE, Row, is_sure, rounded
from sizer.recommend.sizes import memory_reasons
from sizer.records.answer import Event, Job
from sizer.records.domains import LARGEST, SMALLEST
from sizer.records.prediction import Bottleneck, Configuration, Estimate, Figure, Prediction, Reason, ReasonCode, reason
from sizer.records.study import Deadline

INTERVAL = {"rate_low": "low", "rate_high": "high", "rate_basis": "basis"}
"""What a reason calls the fields of a device that say how sure its rate is."""
MUCH_LESS = 0.8
"""Of the cost of the work on the answer: what costs less than that, but is slower than the target, is named."""
EFFICIENT = 0.8
"""Of the rate of each accelerator with fewer of them: what more of them lose beyond that is named."""
MUCH_BOUGHT = 0.02
"""Of the price of a disk, what is bought beside its size and worth a word: fio measures a little more than comes."""
NEXT_TO_NOTHING = 1e-4
"""A share of the time that is no limit."""


# What holds it back.


@dataclass(frozen=True)
class Binding:
    """What holds a candidate back, by its accounting or by the curve; None where neither says."""

    bottleneck: Bottleneck | None = None
    next_bottleneck: Bottleneck | None = None
    headroom: float | None = None
    prediction: Prediction | None = None

    @property
    def is_named(self) -> bool:
        return self.bottleneck not in (None, Bottleneck.AMBIGUOUS)


def binding(case: Case, candidate: Candidate, is_named: bool) -> Binding:
    """`is_named` False: the runs move by more than is at stake, so no bottleneck is named."""
    here = case.prediction(candidate)
    if candidate.evidence is not None and case.table.of_machines:
        return Binding(candidate.evidence)
    if here is None:
        return Binding()
    if not is_named or not here.shares or here.bottleneck is Bottleneck.AMBIGUOUS:
        return Binding(None if case.table.of_machines else Bottleneck.AMBIGUOUS, prediction=here)
    return Binding(here.bottleneck, next_bottleneck(here), here.headroom, here)


def next_bottleneck(prediction: Prediction) -> Bottleneck | None:
    """What would bind if the present bottleneck were relieved: the largest other share, where there is one."""
    bound, shares = prediction.bottleneck.value, prediction.shares
    others = {name: share for name, share in shares.items() if name != bound and share >= NEXT_TO_NOTHING}
    return Bottleneck(max(others, key=others.__getitem__)) if bound in shares and others else None


def _bound_by(model: WorkloadModel, bound: Binding) -> Iterator[Reason]:
    """What binds; nothing where the table shows no resource that could."""
    prediction, measured = bound.prediction, model.measured
    if prediction is None or (not prediction.shares and not measured.vcpus):
        return
    ordered = sorted(prediction.shares.items(), key=lambda item: item[1], reverse=True)
    shares: dict[str, Figure] = {}
    if ordered:
        shares = {"resources": tuple(name for name, _ in ordered), "shares": tuple(share for _, share in ordered)}
    rate = measured.rate_at(prediction.configuration)
    accounted: dict[str, Figure] = {}
    if rate is not None and rate.evidence is not None:
        accounted = {"accounted": rate.evidence.value, "busy": rate.busy}
    if bound.is_named:
        computes = _computes(model, prediction)
        figures = {**shares, **accounted, **({"computes": computes} if computes is not None else {})}
        yield reason(ReasonCode.BOUND_BY, bottleneck=prediction.bottleneck.value, **figures)
    elif shares and prediction.bottleneck is Bottleneck.AMBIGUOUS:
        yield reason(ReasonCode.BOTTLENECK_UNKNOWN, **shares, **accounted)
    else:
        of_one_size = len(measured.vcpus) == 1 and model.facts.core_seconds is not None and not shares
        one_size = {"one_size": True} if of_one_size else {}
        yield reason(ReasonCode.BOTTLENECK_UNKNOWN, **(shares if measured.vcpus else {}), **one_size)


def _computes(model: WorkloadModel, prediction: Prediction) -> float | None:
    """For how much of the time a GPU computes that waits for one thread; None where that is not what binds."""
    facts, place = model.facts, prediction.configuration
    alone = facts.accelerator_rates.get(label_at(facts, place))
    waits = prediction.bottleneck is Bottleneck.SERIAL and facts.device.kind == "cuda" and gpus_of(place) <= 1
    return min(1.0, prediction.throughput.value / alone) if waits and alone else None


# Why it is the answer.


def why(case: Case, chosen: Row, bound: Binding, probability: float) -> Iterator[Reason]:
    """The reasons of an answer, the most important first."""
    model, taken, objective = case.model, chosen.candidate, case.objective
    yield from case.outliers
    if case.table.of_machines:
        yield from _of_machines(case, chosen, probability)
        yield from _input(case, taken)
    else:
        yield from _asked(case, chosen)
        if objective.rate is None:
            assert case.best is not None, "sizes are held against the best"
            share: dict[str, Figure] = {"vcpus": taken.spec.vcpus, "share": chosen.fraction}
            yield reason(ReasonCode.GIVES, **share, rate=case.best_rate, best=case.best.vcpus)
        else:
            yield from _surer(case, chosen)
            yield from moved_there(case, taken)
    yield from _bound_by(model, bound)
    yield from _disks(case, taken, bound.prediction)
    if not case.table.of_machines:
        yield from _vcpus_reasons(model, taken)
        yield from memory_reasons(model, taken)
    yield from step_emulated(model, taken.place)


def _asked(case: Case, chosen: Row) -> Iterator[Reason]:
    """That it is in time, fast and soon enough, where that is asked for."""
    objective, taken = case.objective, chosen.candidate
    if objective.deadline is not None:
        yield from _in_time(job_of(chosen, objective.deadline), case.quality.rests_on_doubt(taken.place))
    elif objective.at_least is not None:
        likely = rounded(chosen.probability)
        yield reason(ReasonCode.GIVES, rate=taken.rate, needed=objective.at_least, probability=likely)
    if objective.latency_p99 is not None:
        latencies = {"latency": taken.latency_p99, "most_latency": objective.latency_p99}
        yield reason(ReasonCode.LATENCY, **latencies, probability=rounded(chosen.in_latency))


def _of_machines(case: Case, chosen: Row, probability: float) -> Iterator[Reason]:
    """What the work costs there, what is in doubt, the machine to compare with, the next and the fastest."""
    choice, taken = case.choice, chosen.candidate
    if chosen.sure and case.objective.deadline is None:
        yield _first(case, chosen)
        yield from _asked(case, chosen)
    else:
        yield from _asked(case, chosen)
        yield from _surer(case, chosen)
        yield _first(case, chosen)
    if case.baseline_name is not None and case.compared is None:
        yield reason(ReasonCode.BASELINE, instance_type=case.baseline_name)
    elif case.compared is not None and case.compared is not taken:
        yield _beside("baseline", case.compared, taken, case)
    yield from _close(case, chosen, probability)
    yield from _below_target(case, chosen)
    priced = [row.candidate for row in choice.others if row.candidate.usd_per_hour is not None or _by_rate(case)]
    if chosen.sure and priced and taken.usd_per_hour is not None:
        yield _beside("next", priced[0], taken, case)
    fastest = choice.fastest
    another = fastest.rate > taken.rate and fastest.but_for_disk != taken.but_for_disk
    if another and (not priced or fastest is not priced[0]):
        yield _beside("fastest", fastest, taken, case)


def _surer(case: Case, chosen: Row) -> Iterator[Reason]:
    """The best of those that are sure, where the chosen one is not."""
    surer = next((row for row in case.choice.others if row.sure), None)
    if surer is not None and not chosen.sure:
        yield _beside("surer", surer.candidate, chosen.candidate, case, probability=rounded(surer.chance))


def moved_there(case: Case, taken: Candidate) -> Iterator[Reason]:
    """From where the rate of an instance type was moved, and the size that would be chosen by rates there."""
    moved = transferred(case.model.facts, taken.place)
    if moved is not None:
        same = case.choice.chosen is not None and case.here == taken.spec.vcpus
        here: dict[str, Figure] = {} if same or case.here is None else {"vcpus": case.here}
        yield replace(moved, figures={**moved.figures, **here})


def _by_rate(case: Case) -> bool:
    return case.objective.counts == "fastest"


def _first(case: Case, chosen: Row) -> Reason:
    choice, taken, fastest = case.choice, chosen.candidate, _by_rate(case)
    by_price = taken.usd_per_hour is not None and not fastest
    counted, merit = choice.priced if by_price else choice.table.rows, choice.table.merit
    better = [row for row in choice.priced if merit(row) < merit(chosen)] if by_price else []
    # A machine is one whatever batch it was given.
    machines = {(replace(r.candidate.place, batch_size=None), r.candidate.rented, r.candidate.kind) for r in counted}
    figures: dict[str, Figure] = {
        "machines": float(len(machines)),
        "configurations": float(len(counted)),
        "instance_type": taken.name,
        "rate": taken.rate,
        "by": _by(case, taken, by_price),
        "nearly": fastest and taken.rate < choice.fastest.rate,
        "by_latency": not all(row.meets_latency for row in counted),
        "only_priced": by_price and len(counted) == 1,
        "spot": case.objective.spot,
        "usd_per_million": _of_million(taken, case),
        "usd_per_hour": taken.usd_per_hour,
        "surer": any(row.passes and not row.sure for row in better),
        "slower_cost_less": any(not row.passes for row in better),
    }
    if figures["by"] == "currency":
        figures["currency"] = one_currency(case.candidates)
    if len(case.candidates) == 1:
        figures["input"] = case.model.facts.feed.input if case.synthetic else None
        return Reason(ReasonCode.ONLY_MACHINE, figures, taken.spec)
    priced = taken.usd_per_hour is not None
    return Reason(ReasonCode.BEST_OF_MACHINES if priced else ReasonCode.UNPRICED, figures, taken.spec)


def _by(case: Case, taken: Candidate, by_price: bool) -> str:
    """What it is the best by; where no price is known, that may be what an accelerator makes, or the size or disk."""
    choice = case.choice
    if by_price:
        return "cost_and_time" if case.objective.counts == "balanced" else "cost"
    if not _by_rate(case) and one_currency(case.candidates) is not None:
        return "currency"
    if not _by_rate(case) and len({row.candidate.kind for row in choice.table.rows if row.passes}) > 1:
        return "accelerator"
    if _by_rate(case) or taken.rate == choice.fastest.rate:
        return "rate"
    return "disk" if len({one.but_for_disk for one in case.candidates}) == 1 else "size"


def _close(case: Case, chosen: Row, probability: float) -> Iterator[Reason]:
    """Why the choice is not sure: the target is only just kept, or others are close."""
    if case.choice.chosen is None or is_sure(probability):
        return
    objective = case.objective
    if rounded(chosen.chance) > probability:
        yield reason(ReasonCode.CHOICE_CLOSE, probability=probability, event=case.choice.event.value)
    elif objective.rate is None and objective.latency_p99 is None:
        event, share = Event.REACHES_TARGET.value, objective.target
        yield reason(ReasonCode.CHOICE_CLOSE, probability=probability, event=event, share=share)


def _below_target(case: Case, chosen: Row) -> Iterator[Reason]:
    """The fastest on which the work costs a good deal less, at a rate below the target; of its kind, if one is."""
    taken = chosen.candidate
    if case.objective.rate is not None or _by_rate(case) or taken.usd_per_hour is None:
        return
    slower = [row for row in case.choice.priced if row.meets_latency and not row.sure]
    cheaper = [row for row in slower if row.candidate.cost <= MUCH_LESS * taken.cost]
    alike = [row for row in cheaper if row.candidate.kind == taken.kind] or cheaper
    if cheaper:
        fastest = max(alike, key=lambda row: row.candidate.rate)
        yield _beside("cheaper", fastest.candidate, taken, case, target=math.floor(100 * fastest.fraction) / 100)


def _beside(role: str, other: Candidate, chosen: Candidate, case: Case, **more: Figure) -> Reason:
    """Another beside the chosen one, in its role: its rate, and the cost of the same work, as multiples."""
    priced = other.usd_per_hour is not None and chosen.usd_per_hour is not None
    cost = other.usd_a_sample / chosen.usd_a_sample if priced else None
    if one_currency((other, chosen)) is not None:
        cost = other.foreign_cost / chosen.foreign_cost
    figures: dict[str, Figure] = {
        "role": role,
        "instance_type": other.name,
        "rate": other.rate,
        "speed": other.rate / chosen.rate,
        "cost": cost,
        "usd_per_million": _of_million(other, case),
    }
    return Reason(ReasonCode.BESIDE, figures | more, other.spec)


def _of_million(candidate: Candidate, case: Case) -> float | None:
    return usd_per_million(candidate.usd_per_hour, candidate.rate, case.model.sample_unit)


def _input(case: Case, taken: Candidate) -> Iterator[Reason]:
    """That the rows are of another input than a job's; that its input holds it back, or what the accelerators do."""
    fed = case.model.facts.feed.input
    if fed != "disk":
        yield reason(ReasonCode.OTHER_INPUT, input=fed)
    without = case.without_input(taken) if fed == "disk" else None
    if without is not None:
        yield reason(ReasonCode.HELD_BACK, rate=without, speed=without / taken.rate)
    elif fed == "disk":
        yield from _efficiency(taken.accelerators, case.synthetic)
    elif fed == "synthetic":
        yield from _efficiency(
            taken.accelerators, highest_rates((one.accelerators, one.rate) for one in case.candidates)
        )


def _efficiency(accelerators: Gpus, rates: Mapping[Gpus, float]) -> Iterator[Reason]:
    """What each of several keeps of its rate beside the fewest measured, by rates without an input that could hold them
    back: what is lost then is lost in the exchange between accelerators, or on the host that feeds them."""
    count = accelerators.count or 0
    fewer = [one.count or 0 for one in rates if one.gpu == accelerators.gpu and 0 < (one.count or 0) < count]
    if fewer and accelerators in rates:
        least = min(fewer)
        share = rates[accelerators] / count / (rates[Gpus(accelerators.gpu, least)] / least)
        if share <= EFFICIENT:
            yield reason(ReasonCode.HELD_BACK, share=share, gpu_count=float(count), fewer=float(least))


def _vcpus_reasons(model: WorkloadModel, chosen: Candidate) -> Iterator[Reason]:
    values, judged = model.measured.vcpus, vcpus_of(chosen.place)
    if chosen.spec.vcpus is None:
        if chosen.spec.gpu is None:  # an accelerator comes with the vCPUs of its machine
            yield reason(ReasonCode.NOT_IN_TABLE, column="vcpus")
    elif len(values) == 1:
        yield reason(ReasonCode.NOT_VARIED, vcpus=judged)
    elif judged < chosen.spec.vcpus:
        yield reason(ReasonCode.SMALLEST_SOLD, vcpus=chosen.spec.vcpus, judged=judged)
    elif judged == values[0] > 1:
        yield reason(ReasonCode.FEWER_NOT_MEASURED, vcpus=judged)


def step_emulated(model: WorkloadModel, place: Configuration) -> Iterator[Reason]:
    """The rate that an emulated GPU has with this batch, how sure it is, and where it comes from."""
    facts = model.facts
    device = facts.device_called(place.gpu)
    if device.kind != "emulated":
        return
    here = device.at_batch(place.batch_size) if place.batch_size is not None else device
    rate = here.samples_per_second if device.batch_rates else facts.accelerator_rates.get(label_at(facts, place))
    interval = {INTERVAL[name]: value for name, value in vars(here).items() if name in INTERVAL and value is not None}
    yield reason(ReasonCode.EMULATED, rate=rate or None, source=here.source or None, **interval)


# The disk.

DISK_STAGES = ("disk_bandwidth", "disk_iops", "disk_write")
SLOWER = -0.02
"""A disk that loses more than this is called slower."""
NOTHING = 0.005
"""A gain that rounds to 0 % comes without rates."""
DISK_BINDS = 0.2
"""Of the time: a disk that takes more than this is said to hold back."""
DEPTH = 32
"""How many requests at once gave the IOPS of a disk (fio's queue depth): one alone takes no longer than as many do."""
SMALLEST_REQUEST, LARGEST_REQUEST = 4096, 2**20
"""Bytes: for how many requests there were at the most, and how long one took, where only bytes are known."""


def most_by_disk(model: WorkloadModel, here: Configuration, rate: float) -> float:
    """The most that any other disk can gain at `here`, where so many samples a second are made at the most.

    A stage with the share s of the time gains `1 / (1 - s) - 1` if it takes none: s is how long the bytes take, and the
    requests if each is waited for alone. Infinite where these were not accounted, or nothing is known of the disk.
    """
    facts, disk = model.facts, model.measured.disk(here.disk)
    if disk is None or facts.read_bytes is None or not disk.rates.read_bytes_per_second:
        return math.inf
    rates, written, read = disk.rates, facts.written_bytes or 0.0, disk.rates.read_bytes_per_second
    write = rates.write_bytes_per_second or read
    requests = (facts.read_ios or facts.read_bytes / SMALLEST_REQUEST) + (facts.write_ios or written / SMALLEST_REQUEST)
    one = DEPTH / rates.read_iops if rates.read_iops else LARGEST_REQUEST / read
    share = rate * (facts.read_bytes / read + written / write + requests * one)
    return share / (1 - share) if share < 1 else math.inf


def _disks(case: Case, chosen: Candidate, prediction: Prediction | None) -> Iterator[Reason]:
    """What the best other disk would buy; of a faster one than any measured, only that the disk still binds."""
    others = [one for one in case.candidates if one is not chosen and one.but_for_disk == chosen.but_for_disk]
    fastest = prediction
    if others:
        best = max(others, key=lambda one: one.rate)
        gain = best.rate / chosen.rate - 1
        if not case.table.of_machines:
            gain = min(gain, most_by_disk(case.model, chosen.place, chosen.throughput.high))
        yield _other_disk(chosen, best, gain)
        fastest = case.prediction(best) if gain > 0 else prediction
    yield from _bought(case, chosen)
    if case.table.of_machines:
        return
    share = 0.0 if fastest is None else sum(fastest.shares.get(stage, 0.0) for stage in DISK_STAGES)
    if share > DISK_BINDS:
        yield reason(ReasonCode.OTHER_DISK, share=share, only=not others)
    measured = case.model.measured.disk(chosen.place.disk)
    if measured is not None and measured.emulated:
        yield reason(ReasonCode.EMULATED, disk=chosen.place.disk)


def _bought(case: Case, chosen: Candidate) -> Iterator[Reason]:
    """What IOPS and MB/s cost that are paid for beside the size of a disk."""
    disk = case.model.measured.disk(chosen.place.disk)
    tier = case.catalog.tier(disk.catalog_name or disk.name or "") if disk is not None else None
    if disk is None or tier is None:
        return
    size = volume_bytes(disk)
    whole, bought = (usd(size, disk.rates) for usd in (tier.usd_per_month, tier.usd_bought))
    if whole is not None and bought is not None and bought > MUCH_BOUGHT * whole:
        figures = {"volume_bytes": float(size), "whole_usd": whole, "bought_usd": bought}
        yield reason(ReasonCode.PRICES, disk=tier.name, **figures)


def _other_disk(chosen: Candidate, best: Candidate, gain: float) -> Reason:
    """What the best of the other disks gains; a cheaper one is called slower if it is at all."""
    disks, cheaper = (disk_of(chosen.place), disk_of(best.place)), best.disk_usd_per_hour < chosen.disk_usd_per_hour
    named = dict(zip(("disk", "other"), disks, strict=True))
    if gain < (0 if cheaper else SLOWER):
        return reason(ReasonCode.OTHER_DISK, **named, loss=-gain if -gain >= NOTHING else None)
    then = chosen.rate * (1 + gain) if gain >= NOTHING else None
    return reason(ReasonCode.OTHER_DISK, **named, gain=max(0.0, gain), now=chosen.rate, then=then)


# A job with a deadline.


def job_of(row: Row, deadline: Deadline) -> Job:
    """The time and the price of the job on what a row is; the price is that of the machine, without a disk."""
    one = row.candidate
    seconds, price = _seconds(deadline.samples, one.throughput), one.usd_per_hour
    return Job(
        samples=deadline.samples,
        within=deadline.seconds,
        seconds=seconds,
        probability=rounded(row.probability),
        usd=price * seconds.value / 3600 if price is not None else None,
        instance_type=one.name if price is not None else None,
    )


def _seconds(samples: float, rate: Estimate) -> Estimate:
    """Of the slow end of the rate the long end of the time; without end where the rate may be nothing."""
    longest = samples / rate.low if rate.low > 0 else math.inf
    value, shortest = (min(samples / max(end, SMALLEST), LARGEST) for end in (rate.value, rate.high))
    return Estimate(value, shortest, longest)


def _interval(seconds: Estimate) -> dict[str, Figure]:
    return {"seconds": seconds.value, "low": seconds.low, "high": seconds.high}


def _in_time(job: Job, doubtful: bool) -> Iterator[Reason]:
    """Why the spec is in time, and the price of the whole job; `doubtful`: the runs that say so were disturbed."""
    likely: dict[str, Figure] = {"within": job.within, "probability": job.probability, "doubtful": doubtful}
    yield reason(ReasonCode.JOB_TAKES, samples=job.samples, **_interval(job.seconds), **likely)
    yield reason(ReasonCode.JOB_COSTS, usd=job.usd, instance_type=job.instance_type)


def too_late(job: Job, row: Row, bottleneck: Bottleneck | None) -> Reason:
    """Nothing measured is in time: the fastest, how long it takes, and how long would be enough."""
    slow = row.candidate.throughput.low
    figures: dict[str, Figure] = {
        "samples": job.samples,
        "within": job.within,
        "sure": SURE,
        "probability": job.probability,
        "bottleneck": None if bottleneck is None else bottleneck.value,
        "enough": job.samples / slow if slow > 0 else None,
    }
    return Reason(ReasonCode.NONE_ENOUGH, figures | _interval(job.seconds), row.candidate.spec)


def beyond_in_time(beyond: Prediction, deadline: Deadline) -> Reason:
    """What a size above the most measured would make of the job: extrapolated."""
    vcpus = vcpus_of(beyond.configuration)
    return reason(ReasonCode.BEYOND, vcpus=vcpus, **_interval(_seconds(deadline.samples, beyond.throughput)))


# What else there is to know.


def doubts(case: Case, chosen: Candidate | None) -> Iterator[Reason]:
    """What cannot be rented, prices that are not known, and what the runs say."""
    if case.retired:
        yield retired_reason(case.retired)
    device = case.model.facts.device
    gpu = None if chosen is None else chosen.accelerators.catalog_name(device)
    gone = None if gpu is None else gpu_gone(gpu, case.catalog, case.objective.spot)
    if gone is not None:
        yield gone
    if chosen is not None and gpu is None and device.kind == "cuda" and chosen.accelerators.number(device):
        yield reason(ReasonCode.PRICES, unnamed=True)
    unpriced = sum(one.usd_per_hour is None for one in case.candidates)
    if case.table.of_machines and 0 < unpriced < len(case.candidates):
        yield reason(ReasonCode.PRICES, unknown=float(unpriced), machines=float(len(case.candidates)))
    if case.objective.spot:
        yield reason(ReasonCode.PRICES, spot=True, known=any(one.rent is not None for one in case.candidates))
    if chosen is not None:
        yield from _beside_others(case, chosen)
    quality = case.quality
    yield from filter(None, (quality.starved, quality.doubtful, quality.failed))


def _beside_others(case: Case, chosen: Candidate) -> Iterator[Reason]:
    """That the rate told is not the one measured there, where other programs took a part of the host meanwhile."""
    cores = case.quality.others.get(chosen.place)
    measured = case.model.measured.rate_at(chosen.place)
    if cores is None or measured is None:
        return
    if abs(math.log(chosen.rate / measured.throughput.value)) > math.log1p(GAIN):
        figures = {"measured_rate": measured.throughput.value, "cores": cores, "rate": chosen.rate}
        yield reason(ReasonCode.MEASURED_BESIDE_OTHERS, **figures)


def retired_reason(machines: tuple[Candidate, ...], everything: bool = False) -> Reason:
    """The machines measured that nobody can rent any more, each with its year; whether that is everything measured."""
    years = dict.fromkeys((one.name or f"{one.spec.gpu_count} x {one.spec.gpu}", one.retired) for one in machines)
    names, retired = tuple(name for name, _ in years), tuple(float(year or 0) for _, year in years)
    gpu = next((one.spec.gpu for one in machines if one.spec.gpu), None)
    return reason(ReasonCode.RETIRED, names=names, years=retired, all=everything, gpu=gpu)

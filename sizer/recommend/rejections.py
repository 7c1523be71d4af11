"""What speaks against each candidate that is cheaper or smaller, and the smallest larger one that would pay."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

from sizer.model.model import vcpus_of
from sizer.model.prediction import predict, predict_several
from sizer.recommend.candidates import Candidate, family_memory
from sizer.recommend.case import Case
from sizer.recommend.reasons import NEXT_TO_NOTHING
from sizer.recommend.rule import DISK_LOSS, LITTLE, Row, rounded, table_of_sizes
from sizer.records.answer import Rejection, Upgrade
from sizer.records.prediction import (
    Bottleneck,
    Figure,
    Prediction,
    Reason,
    ReasonCode,
    Refusal,
    Spec,
    reason,
)

OF_VCPUS = (Bottleneck.CPU, Bottleneck.SERIAL, Bottleneck.ACCELERATOR, Bottleneck.AMBIGUOUS)
"""What runs at one number of vCPUs do not tell apart."""
MOST_REJECTED = 6
"""Cheaper ones of which it is said why they were not taken."""
SAME = 0.005
"""Shares and rates that differ by less are the same in whole percents."""
UNLIKELY = 0.005
"""A probability that rounds to none: too late."""
MOST_LOOKED_AT = 60
"""Larger specs, cheapest first, that are asked what binds them."""
SHOWN = 1.02
"""Of the best measured: a size between two measured ones that is said to be faster than both is the form's own."""


def rejections(case: Case, chosen: Row, bound: bool) -> tuple[Rejection, ...]:
    """Each that costs less an hour, or is smaller where no price is known: those that give what is asked for, the
    cheapest first, then the others, the nearest first; then what is not sold, and what ran out of memory. `bound`
    False: what binds is not known."""

    def order(row: Row) -> tuple[object, ...]:
        one = row.candidate
        price = 0.0 if math.isinf(chosen.candidate.hourly) else one.hourly
        return not row.sure, price if row.sure else -price, one.size

    rows = sorted(_cheaper(case, chosen), key=order)
    cheaper = [_rejection(row, chosen, _why_not(case, row, chosen, bound)) for row in rows[:MOST_REJECTED]]
    return (*cheaper, *_not_sold(case, chosen, bound), *_did_not_fit(case, chosen.candidate))


def _cheaper(case: Case, chosen: Row) -> Iterator[Row]:
    taken, of_machines = chosen.candidate, case.table.of_machines
    for row in case.table.rows:
        one = row.candidate
        if taken.usd_per_hour is None:
            cheaper = one.kind == taken.kind and one.size < taken.size
        else:
            as_dear = one.hourly == taken.hourly and one.size < taken.size and not of_machines
            cheaper = one.hourly < taken.hourly or as_dear or (not row.meets_latency and one.cost < taken.cost)
        if row is not chosen and cheaper and (of_machines or _is_neighbour(case, row, chosen)):
            yield row


def _is_neighbour(case: Case, row: Row, chosen: Row) -> bool:
    """Of sizes: one axis smaller, the others as chosen; of fewer vCPUs, the memory that does best. Of the instance
    types with as many vCPUs on that disk: the cheapest that gives what is asked for, else the likeliest to."""
    spec, taken = row.candidate.spec, chosen.candidate.spec
    if row.candidate.place.machine is not None:
        like = [one for one in case.table.rows if one.candidate.spec.vcpus == spec.vcpus]
        like = [one for one in like if one.candidate.spec.disk == taken.disk]
        sure = [one for one in like if one.sure]
        if sure:
            return row is min(sure, key=lambda one: one.candidate.hourly)
        return row is max(like, key=lambda one: (one.chance, one.candidate.rate), default=None)
    if spec.vcpus == taken.vcpus:
        return (spec.memory_bytes != taken.memory_bytes) + (spec.disk != taken.disk) == 1
    if (spec.vcpus or 0) > (taken.vcpus or 0) or spec.disk != taken.disk:
        return False
    size = replace(spec, memory_bytes=None)
    alike = [other for other in case.table.rows if replace(other.candidate.spec, memory_bytes=None) == size]
    return row is min(alike, key=lambda other: (-round(other.fraction, 3), other.candidate.hourly))


def _rejection(row: Row, chosen: Row, why: tuple[Reason, ...]) -> Rejection:
    """With what it would give and save, where that is known."""
    one, taken = row.candidate, chosen.candidate
    share = one.rate / taken.rate if taken.rate else None
    rejected = Rejection(one.spec, why, one.name if one.is_named else None, one.throughput, share)
    if one.rent is None or taken.rent is None or not one.exists:
        return rejected
    before, now = taken.rent + taken.disk_usd_per_hour, one.rent + one.disk_usd_per_hour
    return replace(rejected, usd_saved_per_hour=before - now, saving=1 - now / before) if before else rejected


def _why_not(case: Case, row: Row, chosen: Row, bound: bool) -> tuple[Reason, ...]:
    """How far from what is asked for, with what binds there; or why it was not taken all the same."""
    one, most = row.candidate, case.objective.latency_p99
    if not row.meets_latency:
        return (reason(ReasonCode.LATENCY, latency=one.latency_p99, most_latency=most),)
    gives = _gives(case, row, chosen, _bottleneck(case, one, bound))
    if not one.exists and one.spec.vcpus is not None:
        sold = float(family_memory(one.spec.vcpus)[-1])
        return (gives, reason(ReasonCode.NOT_SOLD, most=sold, vcpus=one.spec.vcpus))
    if row.disk_loss > DISK_LOSS:
        return (reason(ReasonCode.OTHER_DISK, loss=row.disk_loss, most_loss=DISK_LOSS),)
    return (gives,)


def _bottleneck(case: Case, candidate: Candidate, bound: bool) -> str | None:
    there = case.prediction(candidate) if case.model.measured.vcpus else None
    if there is None or there.bottleneck is Bottleneck.AMBIGUOUS or (not bound and there.bottleneck in OF_VCPUS):
        return None
    return str(there.bottleneck.value)


def _gives(case: Case, row: Row, chosen: Row, bottleneck: str | None) -> Reason:
    """How it does beside what is asked for, or beside the answer where it does as well."""
    objective, one, fastest = case.objective, row.candidate, case.objective.counts == "fastest"
    cost = case.table.merit(row) / case.table.merit(chosen)
    if row.sure and not fastest and cost < 1 + LITTLE and rounded(row.chance) < rounded(chosen.chance):
        # Fast enough, and no dearer: what is left is how sure that is.
        same = {"same_price": True} if cost > 1 - LITTLE else {"cost": cost}
        return reason(ReasonCode.GIVES, probability=row.chance, chosen_probability=chosen.chance, **same)
    if objective.deadline is not None:
        return _in_time(row, chosen, objective.deadline.samples, bottleneck)
    if objective.rate is not None and not row.sure:
        return reason(ReasonCode.GIVES, rate=one.rate, needed=objective.rate, probability=row.probability)
    if objective.rate is None and not case.table.of_machines and fastest:
        return reason(ReasonCode.GIVES, share=row.fraction, bottleneck=bottleneck)
    if objective.rate is None and not row.sure and not fastest:
        share = row.fraction / objective.target
        if share >= 1 - SAME:
            return reason(ReasonCode.GIVES, probability=row.probability)
        return reason(ReasonCode.GIVES, of_target=share, bottleneck=bottleneck)
    figures: dict[str, Figure] = {"rate": one.rate}
    before, now = chosen.candidate.hourly, one.hourly
    if row.sure and before < math.inf and 1 - now / before >= SAME:
        figures["saving"] = 1 - now / before
    if fastest or one.usd_per_hour is None:
        figures["speed"] = one.rate / chosen.candidate.rate
    else:
        figures["cost"] = cost
        figures["by"] = "cost_and_time" if objective.counts == "balanced" else "cost"
    return Reason(ReasonCode.GIVES, figures, one.spec)


def _in_time(row: Row, chosen: Row, samples: float, bottleneck: str | None) -> Reason:
    """How long the job takes, and how likely that is in time; or that it costs more there."""
    figures: dict[str, Figure] = {"seconds": samples / row.candidate.rate if row.candidate.rate > 0 else math.inf}
    if row.sure:
        figures["dearer"] = row.candidate.cost / chosen.candidate.cost - 1
    elif row.probability >= UNLIKELY:
        figures["probability"] = row.probability
    return reason(ReasonCode.JOB_TAKES, **figures, bottleneck=bottleneck)


def _not_sold(case: Case, chosen: Row, bound: bool) -> Iterator[Rejection]:
    """The most of fewer vCPUs that was measured, where the smallest size sold was chosen: a fraction of one, or vCPUs
    with which no family has as much memory."""
    taken, model, best = chosen.candidate, case.model, case.best
    if best is None or taken.spec.vcpus != min(one.spec.vcpus or 0 for one in case.candidates):
        return
    less = [vcpus for vcpus in model.measured.vcpus if vcpus < min(taken.spec.vcpus or 0, vcpus_of(taken.place))]
    if not less:
        return
    place = replace(taken.place, vcpus=less[-1])
    rate = predict(model, place).throughput
    smaller = replace(taken, spec=replace(taken.spec, vcpus=less[-1]), place=place, throughput=rate, offer=None)
    (row,) = table_of_sizes(model, [smaller], best, case.objective).rows
    why = _why_not(case, row, chosen, bound)
    if row.sure and smaller.exists:
        why = (_enough(case, row), reason(ReasonCode.NOT_SOLD))
    yield _rejection(row, chosen, why)


def _enough(case: Case, row: Row) -> Reason:
    objective = case.objective
    if objective.deadline is not None:
        return reason(ReasonCode.JOB_TAKES)
    if objective.rate is not None:
        return reason(ReasonCode.GIVES, rate=row.candidate.rate)
    return reason(ReasonCode.GIVES, of_target=row.fraction / objective.target, bottleneck=None)


def _did_not_fit(case: Case, taken: Candidate) -> Iterator[Rejection]:
    """What ran out of memory: the largest cap that was too small, or machines."""
    out, floor = (reason(ReasonCode.OUT_OF_MEMORY),), case.model.floor
    if case.table.of_machines:
        own = taken.spec
        for place in case.model.measured.did_not_fit[:MOST_REJECTED]:
            gpu, disk = place.gpu or own.gpu, None if own.disk is None else place.disk
            count = max(1, place.gpu_count or 0) if gpu is not None else 0
            spec = Spec(place.vcpus, place.memory_bytes, disk, place.batch_size, gpu, count, own.nodes)
            yield Rejection(spec, out)
    elif floor is not None and floor.too_small is not None:
        yield Rejection(replace(taken.spec, memory_bytes=floor.too_small), out)


# What would move the bottleneck.


def smallest_upgrade(case: Case, chosen: Candidate, here: Prediction) -> Upgrade | None:
    """The cheapest size that has no less of anything, is faster, and is bound by something else; None if none is."""
    shown = [row.candidate for row in case.table.rows if row.fraction <= SHOWN]
    dearer = [one for one in shown if (one.hourly, one.size) > (chosen.hourly, chosen.size)]
    larger = [one for one in dearer if _no_less(one, chosen)][:MOST_LOOKED_AT]
    for candidate, there in zip(larger, predict_several(case.model, [one.place for one in larger]), strict=True):
        if isinstance(there, Refusal):
            continue
        gain = there.throughput.value / here.throughput.value - 1 if here.throughput.value else 0.0
        if there.bottleneck not in (here.bottleneck, Bottleneck.AMBIGUOUS) and gain > SAME:
            return Upgrade(candidate.spec, there.bottleneck, gain)
    return None


def _no_less(candidate: Candidate, chosen: Candidate) -> bool:
    """Of vCPUs, memory and accelerators of one kind; another disk or kind is an upgrade by its price."""
    more, spec = candidate.spec, chosen.spec
    pairs = ((more.vcpus, spec.vcpus), (more.memory_bytes, spec.memory_bytes), (more.gpu_count, spec.gpu_count))
    return all((has or 0) >= (needed or 0) for has, needed in pairs) and candidate.exists


def upgrade_reasons(prediction: Prediction, upgrade: Upgrade | None) -> Iterator[Reason]:
    """How much faster it would be without its bottleneck, and the smallest spec that is bound by something else."""
    bound, gain = prediction.bottleneck.value, prediction.headroom
    others = {name: share for name, share in prediction.shares.items() if name != bound and share > NEXT_TO_NOTHING}
    if prediction.bottleneck is Bottleneck.AMBIGUOUS:
        return
    if gain is not None and others:
        yield reason(
            ReasonCode.NEXT_LIMIT, bottleneck=bound, gain=gain, next=max(others, key=lambda name: others[name])
        )
    if upgrade is not None:
        figures: dict[str, Figure] = {"gain": upgrade.gain, "bottleneck": upgrade.bottleneck.value}
        yield Reason(ReasonCode.NEXT_LIMIT, figures, upgrade.spec)

"""What speaks against each candidate that is cheaper or smaller."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

from sizer.model.coordinates import vcpus_of
from sizer.model.prediction import predict
from sizer.recommend.candidates import Candidate, family_memory
from sizer.recommend.case import Case
from sizer.recommend.table import DISK_LOSS, Row, table_of_sizes
from sizer.records.answer import Rejection
from sizer.records.configuration import Bottleneck, Configuration
from sizer.records.prediction import Figure, Reason, ReasonCode, Spec, reason

OF_VCPUS = (Bottleneck.CPU, Bottleneck.SERIAL, Bottleneck.ACCELERATOR, Bottleneck.AMBIGUOUS)
"""What runs at one number of vCPUs do not tell apart."""
MOST_REJECTED = 6
"""Cheaper ones of which it is said why they were not taken."""
SAME = 0.005
"""Shares that differ by less are the same in whole percents."""
UNLIKELY = 0.005
"""A probability that rounds to none: too late."""


def rejections(case: Case, chosen: Row, bound: bool) -> tuple[Rejection, ...]:
    """Each that costs less an hour, or is smaller where no price is known, the nearest first; then what is not sold,
    and what ran out of memory. `bound` False: what binds is not known."""
    rows = sorted(_cheaper(case, chosen), key=lambda row: (-_price(row.candidate, chosen), row.candidate.size))
    found = [_rejection(row, chosen, _why_not(case, row, chosen, bound)) for row in rows[:MOST_REJECTED]]
    return (*found, *_not_sold(case, chosen, bound), *_did_not_fit(case, chosen.candidate))


def _price(candidate: Candidate, chosen: Row) -> float:
    return 0.0 if math.isinf(chosen.candidate.hourly) else candidate.hourly


def _cheaper(case: Case, chosen: Row) -> Iterator[Row]:
    taken = chosen.candidate
    for row in case.table.rows:
        each = row.candidate
        if row is chosen:
            continue
        if taken.usd_per_hour is None:
            cheaper = each.kind == taken.kind and each.size < taken.size
        else:
            as_dear = each.hourly == taken.hourly and each.size < taken.size and not case.table.of_machines
            cheaper = each.hourly < taken.hourly or as_dear or (not row.prompt_enough and each.cost < taken.cost)
        if cheaper and (case.table.of_machines or _is_neighbour(case, row, chosen)):
            yield row


def _is_neighbour(case: Case, row: Row, chosen: Row) -> bool:
    """Of sizes: one axis smaller, the others as chosen; of fewer vCPUs, the memory that does best."""
    spec, taken = row.candidate.spec, chosen.candidate.spec
    if spec.vcpus == taken.vcpus:
        return (spec.memory_bytes != taken.memory_bytes) + (spec.disk != taken.disk) == 1
    if (spec.vcpus or 0) > (taken.vcpus or 0) or spec.disk != taken.disk:
        return False
    size = replace(spec, memory_bytes=None)
    alike = [each for each in case.table.rows if replace(each.candidate.spec, memory_bytes=None) == size]
    return row is min(alike, key=lambda each: (-round(each.fraction, 3), each.candidate.hourly))


def _rejection(row: Row, chosen: Row, why: tuple[Reason, ...]) -> Rejection:
    """With what it would give and save, where that is known."""
    each, taken = row.candidate, chosen.candidate
    share = each.rate / taken.rate if taken.rate else None
    found = Rejection(each.spec, why, each.name if each.rented is not None else None, each.throughput, share)
    before, now = _rented(taken), _rented(each)
    if not each.exists or math.isinf(before) or math.isinf(now) or not before:
        return found
    return replace(found, usd_saved_per_hour=before - now, saving=1 - now / before)


def _rented(candidate: Candidate) -> float:
    """USD an hour of what is rented, with its disk."""
    if candidate.offer is None or candidate.usd_per_hour is None:
        return candidate.hourly
    price = candidate.offer.usd_per_hour if candidate.rented is None else candidate.usd_per_hour
    return math.inf if price is None else price + candidate.disk_usd_per_hour


def _why_not(case: Case, row: Row, chosen: Row, bound: bool) -> tuple[Reason, ...]:
    """How far from what is asked for, with what binds there; then why it was not taken all the same."""
    each, objective = row.candidate, case.objective
    named = _bottleneck(case, each, bound)
    if not row.prompt_enough:
        return (reason(ReasonCode.LATENCY, latency=each.latency_p99, most_latency=objective.latency_p99),)
    if not each.exists and each.spec.vcpus is not None:
        most = float(family_memory(each.spec.vcpus)[-1])
        sold = reason(ReasonCode.NOT_SOLD, most=most, vcpus=each.spec.vcpus)
        return (_gives(case, row, chosen, named), sold)
    if row.disk_loss > DISK_LOSS:
        return (reason(ReasonCode.OTHER_DISK, loss=row.disk_loss, most_loss=DISK_LOSS),)
    return (_gives(case, row, chosen, named),)


def _bottleneck(case: Case, each: Candidate, bound: bool) -> str | None:
    found = case.prediction(each) if case.model.measured.vcpus else None
    if found is None or found.bottleneck is Bottleneck.AMBIGUOUS or (not bound and found.bottleneck in OF_VCPUS):
        return None
    return str(found.bottleneck.value)


def _gives(case: Case, row: Row, chosen: Row, bottleneck: str | None) -> Reason:
    """How it does beside what is asked for, or beside the answer where it does as well."""
    objective, each = case.objective, row.candidate
    if objective.deadline is not None:
        return _in_time(row, chosen, objective.deadline.samples, bottleneck)
    if objective.rate is not None and not row.sure:
        figures: dict[str, Figure] = {"rate": each.rate, "needed": objective.rate, "probability": row.probability}
        return reason(ReasonCode.GIVES, **figures)
    if objective.rate is None and not case.table.of_machines and objective.counts == "fastest":
        return reason(ReasonCode.GIVES, share=row.fraction, bottleneck=bottleneck)
    share = row.fraction / objective.target
    if objective.rate is None and not row.sure and objective.counts != "fastest":
        if share >= 1 - SAME:
            return reason(ReasonCode.GIVES, probability=row.probability)
        return reason(ReasonCode.GIVES, of_target=share, bottleneck=bottleneck)
    if objective.counts == "fastest" or each.usd_per_hour is None:
        return Reason(ReasonCode.GIVES, {"rate": each.rate, "speed": each.rate / chosen.candidate.rate}, each.spec)
    cost = case.table.merit(row) / case.table.merit(chosen)
    by = "cost_and_time" if objective.counts == "balanced" else "cost"
    return Reason(ReasonCode.GIVES, {"rate": each.rate, "cost": cost, "by": by}, each.spec)


def _in_time(row: Row, chosen: Row, samples: float, bottleneck: str | None) -> Reason:
    """How long the job takes, and how likely that is in time; or that it costs more there."""
    seconds = samples / row.candidate.rate if row.candidate.rate > 0 else math.inf
    if row.sure:
        dearer = row.candidate.cost / chosen.candidate.cost - 1
        return reason(ReasonCode.JOB_TAKES, seconds=seconds, dearer=dearer, bottleneck=bottleneck)
    if row.probability >= UNLIKELY:
        likely = row.probability
        return reason(ReasonCode.JOB_TAKES, seconds=seconds, probability=likely, bottleneck=bottleneck)
    return reason(ReasonCode.JOB_TAKES, seconds=seconds, bottleneck=bottleneck)


def _not_sold(case: Case, chosen: Row, bound: bool) -> Iterator[Rejection]:
    """The most of fewer vCPUs that was measured, where the smallest size sold was chosen: a fraction of one, or vCPUs
    with which no family has as much memory."""
    taken, model, best = chosen.candidate, case.model, case.best
    if best is None or taken.spec.vcpus != min(each.spec.vcpus or 0 for each in case.candidates):
        return
    less = [vcpus for vcpus in model.measured.vcpus if vcpus < min(taken.spec.vcpus or 0, vcpus_of(taken.place))]
    if not less:
        return
    place = replace(taken.place, vcpus=less[-1])
    rate = predict(model, place).throughput
    smaller = replace(taken, spec=replace(taken.spec, vcpus=less[-1]), place=place, throughput=rate)
    (row,) = table_of_sizes(model, [smaller], best, case.objective).rows
    why = _why_not(case, row, chosen, bound)
    if row.sure and smaller.exists:
        why = (_enough(case, row), reason(ReasonCode.NOT_SOLD))
    # What is not sold has no price to save.
    yield replace(_rejection(row, chosen, why), usd_saved_per_hour=None, saving=None)


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
    if not case.table.of_machines:
        if floor is not None and floor.out_of_memory_bytes is not None:
            yield Rejection(replace(taken.spec, memory_bytes=floor.out_of_memory_bytes), out)
        return
    for place in case.model.measured.did_not_fit[:MOST_REJECTED]:
        yield Rejection(_spec_like(taken.spec, place), out)


def _spec_like(own: Spec, place: Configuration) -> Spec:
    """The place with the axes that the spec has."""
    gpu = place.gpu if place.gpu is not None else own.gpu
    return Spec(
        place.vcpus,
        place.memory_bytes,
        place.disk if own.disk is not None else None,
        place.batch_size,
        gpu,
        max(1, place.gpu_count or 0) if gpu is not None else 0,
        own.nodes,
    )

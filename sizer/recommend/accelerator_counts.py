"""What each measured number of accelerators makes of a job: what one more buys, and what it asks for."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace

from sizer.model import (
    Gpus,
    MeasuredDisk,
    WhatIf,
    WorkloadModel,
    accelerators_alone,
    best_measured,
    gpus_of,
    predict,
    predict_several,
)
from sizer.recommend.scoring import vcpus_of_ceiling
from sizer.records import AcceleratorCount, Configuration, DiskRates, Estimate, NoAnswer, Prediction, Refusal

FED = 0.95
"""Of what the accelerators alone would make: from there on they are fed, and more vCPUs gain at most a twentieth."""
SHARED_DISK = 0.5
"""Of what a disk gives: if the jobs together use less, the share of each is no limit."""


def accelerator_counts(model: WorkloadModel) -> tuple[AcceleratorCount, ...]:
    """Each number of accelerators of each kind of which several numbers were measured, the fewest first."""
    if model.refused or not model.members:
        return ()
    best = best_measured(model).configuration
    return tuple(each for kind in _kinds(model) for each in _of_kind(model, best, kind))


def _kinds(model: WorkloadModel) -> Iterator[tuple[Gpus, ...]]:
    """The measured accelerators by kind, rising, where there are several numbers of it."""
    for label in dict.fromkeys(each.gpu for each in model.measured.gpus):
        alike = sorted((each for each in model.measured.gpus if each.gpu == label), key=lambda each: each.count or 0)
        if len(alike) > 1 and all(each.count for each in alike):
            yield tuple(alike)


def _of_kind(model: WorkloadModel, best: Configuration, kind: tuple[Gpus, ...]) -> Iterator[AcceleratorCount]:
    """All where all else is as at the best of the most accelerators; none where the runs do not say."""
    places = [replace(best, gpu=each.gpu, gpu_count=each.count) for each in kind]
    if not all(map(model.measured_together, places)):
        return
    fewest: Prediction | None = None
    for here in predict_several(model, places, with_headroom=False):
        if isinstance(here, Refusal) or here.out_of_memory or here.throughput.value <= 0:
            continue
        fewest = fewest or here
        with suppress(NoAnswer):
            yield _counted(model, here, fewest)


def _counted(model: WorkloadModel, here: Prediction, fewest: Prediction) -> AcceleratorCount:
    place, facts = here.configuration, model.facts
    count = gpus_of(place)
    speed_up = _ratio(here.throughput, fewest.throughput) if here is not fewest else Estimate(1.0, 1.0, 1.0)
    times = count / gpus_of(fewest.configuration)
    ceiling = accelerators_alone(model, place)
    jobs = _side_by_side(model, place) if count > 1 else None
    asked = vcpus_of_ceiling(model, place) if facts.core_seconds else None
    return AcceleratorCount(
        gpu=place.gpu,
        count=count,
        vcpus=place.vcpus,
        throughput=here.throughput,
        speed_up=speed_up,
        efficiency=Estimate(speed_up.value / times, speed_up.low / times, speed_up.high / times),
        bottleneck=here.bottleneck,
        ceiling=ceiling,
        fed=ceiling is not None and here.throughput.value >= FED * ceiling,
        fed_vcpus=_fed_vcpus(model, place, ceiling),
        asked_vcpus=Estimate(*asked) if asked is not None else None,
        read_bytes=_product(ceiling, facts.read_bytes),
        read_ios=_product(ceiling, facts.read_ios),
        side_by_side=None if jobs is None else _times(count, jobs.throughput),
        extrapolated=jobs is not None and jobs.extrapolated,
    )


def _fed_vcpus(model: WorkloadModel, place: Configuration, ceiling: float | None) -> float | None:
    """The fewest of the measured vCPUs from which all more keep the accelerators fed."""
    if ceiling is None:
        return None
    found, falling = None, tuple(reversed(model.measured.vcpus))
    known = predict_several(model, [replace(place, vcpus=vcpus) for vcpus in falling], with_headroom=False)
    for vcpus, there in zip(falling, known, strict=True):
        if isinstance(there, Refusal):
            continue
        if there.throughput.value < FED * ceiling:
            break
        found = vcpus
    return found


def _side_by_side(model: WorkloadModel, place: Configuration) -> Prediction | None:
    """One of the jobs that share everything evenly; None where the runs do not say what it makes."""
    count, measured = gpus_of(place), model.measured
    memory = place.memory_bytes
    if memory is not None and len(measured.memory_bytes) > 1:
        memory //= count
    share = replace(place, gpu_count=1, vcpus=None if place.vcpus is None else place.vcpus / count, memory_bytes=memory)
    with suppress(NoAnswer):
        alone = predict(model, share)
        disk = measured.disk(place.disk)
        if disk is not None and _is_shared(model, disk, count * alone.throughput.value):
            alone = replace(predict(model, share, WhatIf(disk_rates=_part(disk.rates, count))), extrapolated=True)
        return None if alone.out_of_memory or alone.throughput.value <= 0 else alone
    return None


def _is_shared(model: WorkloadModel, disk: MeasuredDisk, rate: float) -> bool:
    """Whether jobs that make `rate` samples a second together use so much of the disk that its share counts."""
    pairs = (
        (model.facts.read_bytes, disk.rates.read_bytes_per_second),
        (model.facts.read_ios, disk.rates.read_iops),
    )
    return any(need and most and rate * need > SHARED_DISK * most for need, most in pairs)


def _part(rates: DiskRates, count: int) -> DiskRates:
    return DiskRates(*(None if rate is None else rate / count for rate in vars(rates).values()))


def _times(count: int, rate: Estimate) -> Estimate:
    """Of as many runs of the same model: what it may be off by is the same for all of them."""
    return Estimate(count * rate.value, count * rate.low, count * rate.high)


def _ratio(rate: Estimate, other: Estimate) -> Estimate:
    """With the interval of two new runs, which are off independently."""
    ratio = rate.value / other.value
    below = math.hypot(_log(rate.value, rate.low), _log(other.high, other.value))
    above = math.hypot(_log(rate.high, rate.value), _log(other.value, other.low))
    return Estimate(ratio, ratio * math.exp(-below), ratio * math.exp(above))


def _log(more: float, less: float) -> float:
    """Ln of their ratio; the end of an interval that reaches 0 counts as a hundredth."""
    return math.log(max(1.0, more / less)) if less > 0 else math.log(100.0)


def _product(rate: float | None, each: float | None) -> float | None:
    return None if rate is None or each is None else rate * each

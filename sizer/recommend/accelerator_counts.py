"""What each measured number of accelerators makes of a job: what one more buys, and what it asks for."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from sizer.model.advice import counted_outcomes
from sizer.model.coordinates import gpus_of
from sizer.model.edge import accelerators_alone, best_place, vcpus_of_ceiling
from sizer.model.isolation import as_asked
from sizer.model.model import Gpus, MeasuredDisk, WhatIf, WorkloadModel
from sizer.model.prediction import predict, predict_several
from sizer.records.answer import AcceleratorCount
from sizer.records.configuration import Configuration, Estimate
from sizer.records.device import DiskRates
from sizer.records.errors import NoAnswer
from sizer.records.prediction import (
    Action,
    Prediction,
    ReasonCode,
    Refusal,
    Refused,
    Suggestion,
    reason,
)
from sizer.records.run import Run
from sizer.records.run_kinds import Outcome

FED = 0.95
"""Of what the accelerators alone would make: from there on they are fed, and more vCPUs gain at most a twentieth."""
SHARED_DISK = 0.5
"""Of what a disk gives: if the jobs together use less, the share of each is no limit."""


@dataclass(frozen=True)
class CountsCompared:
    """The numbers of accelerators of each kind, the fewest first, and why those that were asked for are missing."""

    counts: tuple[AcceleratorCount, ...] = ()
    missing: tuple[Refusal, ...] = ()


def accelerator_counts(model: WorkloadModel, runs: Sequence[Run], what_if: WhatIf = WhatIf()) -> CountsCompared:
    """Each kind of accelerator of which several numbers were measured, and what was asked for beside it."""
    found = [_of_kind(model, kind, what_if) for kind in _kinds(model)] if model.posterior is not None else []
    counts = tuple(each for one in found for each in one.counts)
    missing = [each for one in found for each in one.missing]
    failed = _failed(model, runs)
    missing += [failed] if failed is not None else []
    if not counts and not missing and model.refused is not None and len(_asked(runs)) > 1:
        missing = [model.refused]
    return CountsCompared(counts, tuple(missing))


def _kinds(model: WorkloadModel) -> Iterator[tuple[Gpus, ...]]:
    """The measured accelerators by kind, rising, where there are several numbers of it."""
    for label in dict.fromkeys(each.gpu for each in model.measured.gpus):
        alike = sorted((each for each in model.measured.gpus if each.gpu == label), key=lambda each: each.count or 0)
        if len(alike) > 1 and all(each.count for each in alike):
            yield tuple(alike)


def _of_kind(model: WorkloadModel, kind: tuple[Gpus, ...], what_if: WhatIf) -> CountsCompared:
    """All where all else is as at the best that most of them were measured with."""
    places = max((_together(model, place, kind) for place in _places(model, kind)), key=len)
    numbers = [float(each.count or 0) for each in kind]
    if len(places) < 2:
        return CountsCompared(missing=(_not_together(model, next(_places(model, kind)), numbers, []),))
    found: list[AcceleratorCount] = []
    missing: list[Refusal] = []
    fewest: Prediction | None = None
    for place in places:
        try:
            here = predict(model, place, what_if)
        except Refused as error:
            missing.append(error.refusal)
            continue
        if here.out_of_memory or here.throughput.value <= 0:
            out = reason(ReasonCode.OUT_OF_MEMORY, numbers=(float(gpus_of(place)),))
            missing.append(Refusal(out, _to_measure(model, replace(place, memory_bytes=None), gpus_of(place))))
            continue
        fewest = fewest or here
        found.append(_counted(model, here, fewest, what_if))
    there = [float(gpus_of(place)) for place in places]
    left = [number for number in numbers if number not in there]
    if left:
        missing.append(_not_together(model, places[0], left, there))
    return CountsCompared(tuple(found), tuple(missing))


def _places(model: WorkloadModel, kind: tuple[Gpus, ...]) -> Iterator[Configuration]:
    """Where they may be compared: at the best that the model knows, then where these were measured, fastest first."""
    if model.refused is None:
        yield best_place(model)
    alike = [rate for rate in model.measured.rates if rate.configuration.gpu == kind[0].gpu]
    for rate in sorted(alike, key=lambda each: -each.throughput.value):
        yield rate.configuration


def _together(model: WorkloadModel, at: Configuration, kind: tuple[Gpus, ...]) -> list[Configuration]:
    """That place with each of the numbers that were measured with all else of it."""
    places = [replace(at, gpu=each.gpu, gpu_count=each.count) for each in kind]
    if model.refused is not None:
        return [place for place in places if model.measured.rate_at(place) is not None]
    return places


def _not_together(
    model: WorkloadModel, at: Configuration, numbers: Sequence[float], others: Sequence[float]
) -> Refusal:
    """These numbers were measured with other limits or batches; the others with one another."""
    why = reason(ReasonCode.COUNTS_NOT_TOGETHER, numbers=tuple(numbers), others=tuple(others))
    lacking = next((each for each in numbers if each != gpus_of(at)), numbers[0])
    return Refusal(why, _to_measure(model, at, round(lacking)))


def _to_measure(model: WorkloadModel, at: Configuration, count: int) -> Suggestion:
    """A run with so many of them and all else as there, as far as it was varied."""
    measured = model.measured
    return Suggestion(
        Action.MEASURE,
        vcpus=() if at.vcpus is None else (at.vcpus,),
        memory_bytes=at.memory_bytes if len(measured.memory_bytes) > 1 else None,
        disk=at.disk if len(measured.disks) > 1 else None,
        batch_size=at.batch_size if len(measured.batch_size) > 1 else None,
        gpu=at.gpu,
        gpu_count=count,
    )


def _asked(runs: Sequence[Run]) -> set[int]:
    """The numbers of accelerators that runs of a whole workload were made with, whatever became of them."""
    return {_count(run) for run in as_asked(runs)}


def _count(run: Run) -> int:
    return max(1, gpus_of(run.configuration) or run.spec.gpu_count)


def _failed(model: WorkloadModel, runs: Sequence[Run]) -> Refusal | None:
    """Numbers with which no run completed, where others did."""
    known = {max(1, each.count or 0) for each in model.measured.gpus}
    lacking = sorted(_asked(runs) - known) if known else []
    if not lacking:
        return None
    ended = [run for run in as_asked(runs) if _count(run) in lacking]
    numbers = tuple(map(float, lacking))
    why = reason(ReasonCode.NO_RUN_COMPLETED, numbers=numbers, **counted_outcomes(run.outcome for run in ended))
    full = all(run.outcome is Outcome.OUT_OF_MEMORY for run in ended)
    return Refusal(why, None if full else Suggestion(Action.RETRY))


def _counted(model: WorkloadModel, here: Prediction, fewest: Prediction, what_if: WhatIf) -> AcceleratorCount:
    place, facts = here.configuration, model.facts
    count = gpus_of(place)
    speed_up = _ratio(here.throughput, fewest.throughput) if here is not fewest else Estimate(1.0, 1.0, 1.0)
    times = count / gpus_of(fewest.configuration)
    alone = accelerators_alone(model, place)
    ceiling = None if alone is None else alone * what_if.gpu_speedup
    jobs = _side_by_side(model, place, what_if) if count > 1 else None
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
        fed_vcpus=_fed_vcpus(model, place, ceiling, what_if),
        asked_vcpus=_times(what_if.gpu_speedup, asked) if asked is not None else None,
        read_bytes=_product(ceiling, facts.read_bytes),
        read_ios=_product(ceiling, facts.read_ios),
        side_by_side=None if jobs is None else _times(count, jobs.throughput),
        extrapolated=jobs is not None and jobs.extrapolated,
    )


def _fed_vcpus(model: WorkloadModel, place: Configuration, ceiling: float | None, what_if: WhatIf) -> float | None:
    """The fewest of the measured vCPUs from which all more keep the accelerators fed."""
    if ceiling is None:
        return None
    found, falling = None, tuple(reversed(model.measured.vcpus))
    known = predict_several(model, [replace(place, vcpus=vcpus) for vcpus in falling], what_if)
    for vcpus, there in zip(falling, known, strict=True):
        if isinstance(there, Refusal):
            continue
        if there.throughput.value < FED * ceiling:
            break
        found = vcpus
    return found


def _side_by_side(model: WorkloadModel, place: Configuration, what_if: WhatIf) -> Prediction | None:
    """One of the jobs that share everything evenly; None where the runs do not say what it makes."""
    count, measured = gpus_of(place), model.measured
    memory = place.memory_bytes
    if memory is not None and len(measured.memory_bytes) > 1:
        memory //= count
    share = replace(place, gpu_count=1, vcpus=None if place.vcpus is None else place.vcpus / count, memory_bytes=memory)
    with suppress(NoAnswer):
        alone = predict(model, share, what_if)
        disk = measured.disk(place.disk)
        if disk is not None and _is_shared(model, disk, count * alone.throughput.value):
            alone = replace(
                predict(model, share, replace(what_if, disk_rates=_part(disk.rates, count))), extrapolated=True
            )
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


def _times(count: float, rate: Estimate) -> Estimate:
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

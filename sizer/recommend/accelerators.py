"""What each measured number of accelerators makes of a job, and which GPU that was not measured would do it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property

from sizer.catalog.accelerator_rates import data_sheet
from sizer.catalog.catalog import Catalog
from sizer.catalog.gpu_transfer import ScalingEfficiency, scaling_efficiency
from sizer.catalog.machines import InstanceType
from sizer.catalog.processors import processor_of
from sizer.catalog.rate_estimate import RateEstimate, RateQuestion, published_gpus, smallest_memory
from sizer.model.edge import accelerators_alone, best_place, vcpus_of_ceiling
from sizer.model.memory import anonymous_bytes
from sizer.model.model import CPU_LABEL, Gpus, MeasuredDisk, WhatIf, WorkloadModel, gpus_of
from sizer.model.prediction import predict, predict_several
from sizer.model.refusals import counted_outcomes
from sizer.model.runs import as_asked, label_at
from sizer.model.transfer import knowing
from sizer.recommend.job_changes import judged_by
from sizer.recommend.prices import gpu_gone, usd_per_million
from sizer.records.answer import AcceleratorCount, AgainstCpu, Answer, GpuOption, NoGpuAnswer, PublishedRate, SecondGpu
from sizer.records.device import DiskRates
from sizer.records.messages import NoAnswer
from sizer.records.prediction import (
    Action,
    Bottleneck,
    Configuration,
    Estimate,
    Figure,
    Prediction,
    Reason,
    ReasonCode,
    Refusal,
    Refused,
    Suggestion,
    reason,
)
from sizer.records.run import Run
from sizer.records.run_kinds import Outcome
from sizer.records.study import Deadline, Objective, Workload

FED = 0.95
"""Of what the accelerators alone would make: from there on they are fed, and more vCPUs gain at most a twentieth."""
SHARED_DISK = 0.5
"""Of what a disk gives: if the jobs together use less, the share of each is no limit."""
WORTH = 1.05
"""Two are worth it where the work costs no more than this over one: the error of a price per sample is larger."""
ENDLESS = 1e6
"""An accelerator so many times as fast as the one measured never holds anything back."""
WIDEST = 10.0
"""Where an extrapolated input side may be so many times as fast at one end of its interval as at the other, it is not
known: between a machine that starves the GPU and one that feeds several nothing is decided."""


# How many.


def accelerator_counts(
    model: WorkloadModel, runs: Sequence[Run]
) -> tuple[tuple[AcceleratorCount, ...], tuple[Refusal, ...]]:
    """Each kind of accelerator of which several numbers were measured, the fewest first, and why those that were asked
    for are missing."""
    counts: list[AcceleratorCount] = []
    missing: list[Refusal] = []
    for kind in _kinds(model) if model.posterior is not None else ():
        _compare(model, kind, counts, missing)
    asked = {_count(run) for run in as_asked(runs)}
    measured = {max(1, gpus.count or 0) for gpus in model.measured.gpus}
    lacking = sorted(asked - measured)
    if measured and lacking:
        missing.append(_without_rate([run for run in as_asked(runs) if _count(run) in lacking], lacking))
    if not measured and not missing and model.refused is not None and len(asked) > 1:
        missing = [model.refused]
    return tuple(counts), tuple(missing)


def _count(run: Run) -> int:
    return max(1, gpus_of(run.configuration) or run.spec.gpu_count)


def _without_rate(runs: Sequence[Run], numbers: Sequence[int]) -> Refusal:
    """Of numbers with which no run completed, where others did."""
    ended = counted_outcomes(run.outcome for run in runs)
    full = all(run.outcome is Outcome.OUT_OF_MEMORY for run in runs)
    none = reason(ReasonCode.NO_RUN_COMPLETED, numbers=tuple(map(float, numbers)), **ended)
    return Refusal(none, None if full else Suggestion(Action.RETRY))


def _kinds(model: WorkloadModel) -> Iterator[tuple[Gpus, ...]]:
    """The measured accelerators by kind, rising, where there are several numbers of it."""
    for label in dict.fromkeys(gpus.gpu for gpus in model.measured.gpus):
        alike = sorted((gpus for gpus in model.measured.gpus if gpus.gpu == label), key=lambda gpus: gpus.count or 0)
        if len(alike) > 1 and all(gpus.count for gpus in alike):
            yield tuple(alike)


def _compare(
    model: WorkloadModel, kind: Sequence[Gpus], counts: list[AcceleratorCount], missing: list[Refusal]
) -> None:
    """All of a kind where all else is as at the best that most of them were measured with."""
    numbers = [float(gpus.count or 0) for gpus in kind]
    places = max((_together(model, place, kind) for place in _places(model, kind)), key=len)
    if len(places) < 2:
        missing.append(_not_together(model, next(_places(model, kind)), numbers, []))
        return
    fewest: Prediction | None = None
    for place in places:
        try:
            here = predict(model, place)
        except Refused as error:
            missing.append(error.refusal)
            continue
        if here.out_of_memory or here.throughput.value <= 0:
            out = reason(ReasonCode.OUT_OF_MEMORY, numbers=(float(gpus_of(place)),))
            missing.append(Refusal(out, _to_measure(model, replace(place, memory_bytes=None), gpus_of(place))))
            continue
        fewest = fewest or here
        counts.append(_counted(model, here, fewest))
    there = [float(gpus_of(place)) for place in places]
    left = [number for number in numbers if number not in there]
    if left:
        missing.append(_not_together(model, places[0], left, there))


def _places(model: WorkloadModel, kind: Sequence[Gpus]) -> Iterator[Configuration]:
    """Where they may be compared: at the best that the model knows, then where these were measured, fastest first."""
    if model.refused is None:
        yield best_place(model)
    alike = [rate for rate in model.measured.rates if rate.configuration.gpu == kind[0].gpu]
    for rate in sorted(alike, key=lambda rate: -rate.throughput.value):
        yield rate.configuration


def _together(model: WorkloadModel, at: Configuration, kind: Sequence[Gpus]) -> list[Configuration]:
    """That place with each of the numbers that were measured with all else of it."""
    places = [replace(at, gpu=gpus.gpu, gpu_count=gpus.count) for gpus in kind]
    return [place for place in places if model.refused is None or model.measured.rate_at(place) is not None]


def _not_together(
    model: WorkloadModel, at: Configuration, numbers: Sequence[float], others: Sequence[float]
) -> Refusal:
    """These numbers were measured with other limits or batches; the others with one another."""
    apart = reason(ReasonCode.COUNTS_NOT_TOGETHER, numbers=tuple(numbers), others=tuple(others))
    lacking = next((number for number in numbers if number != gpus_of(at)), numbers[0])
    return Refusal(apart, _to_measure(model, at, round(lacking)))


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


def _counted(model: WorkloadModel, here: Prediction, fewest: Prediction) -> AcceleratorCount:
    place, facts = here.configuration, model.facts
    count = gpus_of(place)
    speed_up = _ratio(here.throughput, fewest.throughput) if here is not fewest else Estimate(1.0, 1.0, 1.0)
    times = count / gpus_of(fewest.configuration)
    ceiling = accelerators_alone(model, place)
    jobs = _side_by_side(model, place) if count > 1 else None
    read_bytes, read_ios = (
        None if ceiling is None or value is None else ceiling * value for value in (facts.read_bytes, facts.read_ios)
    )
    # Of as many runs of the same model: what it may be off by is the same for all of them.
    together = () if jobs is None else (jobs.throughput.value, jobs.throughput.low, jobs.throughput.high)
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
        asked_vcpus=vcpus_of_ceiling(model, place) if facts.core_seconds else None,
        read_bytes=read_bytes,
        read_ios=read_ios,
        side_by_side=None if jobs is None else Estimate(*(count * end for end in together)),
        extrapolated=jobs is not None and jobs.extrapolated,
    )


def _fed_vcpus(model: WorkloadModel, place: Configuration, ceiling: float | None) -> float | None:
    """The fewest of the measured vCPUs from which all more keep the accelerators fed."""
    enough, falling = None, tuple(reversed(model.measured.vcpus)) if ceiling is not None else ()
    predicted = predict_several(model, [replace(place, vcpus=vcpus) for vcpus in falling])
    for vcpus, there in zip(falling, predicted, strict=True):
        if isinstance(there, Refusal):
            continue
        if there.throughput.value < FED * (ceiling or 0.0):
            break
        enough = vcpus
    return enough


def _side_by_side(model: WorkloadModel, place: Configuration) -> Prediction | None:
    """One of the jobs that share everything evenly; None where the runs do not say what it makes."""
    count, measured, memory = gpus_of(place), model.measured, place.memory_bytes
    if memory is not None and len(measured.memory_bytes) > 1:
        memory //= count
    share = replace(place, gpu_count=1, vcpus=None if place.vcpus is None else place.vcpus / count, memory_bytes=memory)
    with suppress(NoAnswer):
        alone, disk = predict(model, share), measured.disk(place.disk)
        if disk is not None and _is_shared(model, disk, count * alone.throughput.value):
            part = DiskRates(*(None if rate is None else rate / count for rate in vars(disk.rates).values()))
            alone = replace(predict(model, share, WhatIf(disk_rates=part)), extrapolated=True)
        return None if alone.out_of_memory or alone.throughput.value <= 0 else alone
    return None


def _is_shared(model: WorkloadModel, disk: MeasuredDisk, rate: float) -> bool:
    """Whether jobs that make `rate` samples a second together use so much of the disk that its share counts."""
    facts, rates = model.facts, disk.rates
    pairs = ((facts.read_bytes, rates.read_bytes_per_second), (facts.read_ios, rates.read_iops))
    return any(need and most and rate * need > SHARED_DISK * most for need, most in pairs)


def _ratio(rate: Estimate, other: Estimate) -> Estimate:
    """With the interval of two new runs, which are off independently."""
    ratio = rate.value / other.value
    below = math.hypot(_log(rate.value, rate.low), _log(other.high, other.value))
    above = math.hypot(_log(rate.high, rate.value), _log(other.value, other.low))
    return Estimate(ratio, ratio * math.exp(-below), ratio * math.exp(above))


def _log(more: float, less: float) -> float:
    """Ln of their ratio; the end of an interval that reaches 0 counts as a hundredth."""
    return math.log(max(1.0, more / less)) if less > 0 else math.log(100.0)


# Which GPU: the input side as measured here, the accelerator by published rates.


class InputNotKnown(NoAnswer):
    """What so many vCPUs feed does not follow from those that were measured."""

    def __init__(self, vcpus: float | None) -> None:
        super().__init__("input side not known")
        self.vcpus = vcpus


@dataclass(frozen=True)
class GpuJob:
    """One measured job with its answer, as a question about GPUs."""

    model: WorkloadModel
    workload: Workload
    precision: str | None
    answer: Answer
    catalog: Catalog
    deadline: Deadline | None

    @cached_property
    def here(self) -> Configuration | None:
        """The configuration that its input side is taken from: the answer's, else the fastest measured."""
        rates = self.model.measured.rates
        if self.answer.spec is not None:
            return judged_by(self.model, self.answer.spec)
        return max(rates, key=lambda rate: rate.throughput.value).configuration if rates else None

    @property
    def on_cpu(self) -> bool:
        """Whether the CPU computed the step where it was measured."""
        return self.here is not None and label_at(self.model.facts, self.here) == CPU_LABEL

    def fed(
        self, option: GpuOption, machine: InstanceType | None, vcpus: float | None, accelerator: Estimate
    ) -> GpuOption:
        """With the rate of the job with these vCPUs (as measured where None) and accelerators of that rate, what its
        input side allows, on the CPU of the machine where it is known how fast both are, and what binds. Raises
        NoAnswer where the runs say nothing of the input side."""
        assert self.here is not None, "asked only where something was measured"
        model, here = self.model, self.here if vcpus is None else replace(self.here, vcpus=vcpus)
        its = processor_of(machine) if machine is not None and len(model.facts.measured_on) == 1 else None
        if its is not None:
            model, here = knowing(model, [its]), replace(here, machine=its.name)
        no_step = WhatIf(step_elsewhere=True) if self.on_cpu else WhatIf(gpu_speedup=ENDLESS)
        prediction = predict(model, here, no_step)
        if prediction.out_of_memory:
            raise NoAnswer("out of memory")
        alone, extrapolated = prediction.throughput, prediction.extrapolated
        ceiling = None if self.on_cpu else accelerators_alone(model, here)
        if ceiling is None:  # the slower of two stages that overlap
            both = Estimate(*(min(getattr(alone, end), getattr(accelerator, end)) for end in ("value", "low", "high")))
        else:
            ends = (accelerator.low, accelerator.value, accelerator.high)
            low, value, high = (predict(model, here, WhatIf(gpu_speedup=end / ceiling)).throughput for end in ends)
            # No faster than either of the two, whatever a prediction adds for what it does not know.
            most = max(value.value, min(high.high, accelerator.high, alone.high))
            both = Estimate(value.value, min(low.low, value.value), most)
        surely_fed = accelerator.high < alone.low
        if extrapolated and not surely_fed and alone.high > WIDEST * alone.low:
            raise InputNotKnown(here.vcpus)
        slower = accelerator.value <= alone.value
        return replace(
            option,
            input_rate=alone,
            throughput=both,
            bottleneck=Bottleneck.ACCELERATOR if slower else prediction.bottleneck,
            bottleneck_sure=surely_fed or alone.high < accelerator.low,
            extrapolated=extrapolated,
            transferred=prediction.transferred is not None,
            vcpus=vcpus,
        )


def which_gpu(
    model: WorkloadModel, runs: Sequence[Run], answer: Answer, objective: Objective, catalog: Catalog
) -> tuple[GpuOption, ...]:
    """What each of the objective's GPUs would do for a workload, in the order that they were asked in."""
    if not runs:
        return tuple(GpuOption(name, NoGpuAnswer.NO_MODEL) for name in objective.gpus)
    workload = runs[-1].spec.workload
    precision = workload.precision if runs[-1].imported else workload.rate_precision
    job = GpuJob(model, workload, precision, answer, catalog, objective.deadline)
    return tuple(replace(_option(job, gpu), retired=gpu_gone(gpu, catalog, objective.spot)) for gpu in objective.gpus)


def with_nearest_sold(reasons: Sequence[Reason], runs: Sequence[Run], catalog: Catalog) -> tuple[Reason, ...]:
    """The reasons; with each that says that a GPU is not sold any more the one sold at a known price whose published
    rate for this job is nearest to its own, where published rates say so."""
    return tuple(_with_nearest(one, runs, catalog) if one.code is ReasonCode.RETIRED else one for one in reasons)


def _with_nearest(gone: Reason, runs: Sequence[Run], catalog: Catalog) -> Reason:
    named = [catalog.called(name) for name in gone.texts("names")] if gone.has("names") else []
    gpu = gone.text("gpu") if gone.has("gpu") else next((types[0].gpu for types in named if types), None)
    workload = runs[-1].spec.workload
    mode, precision = workload.rate_mode, workload.precision if runs[-1].imported else workload.rate_precision
    if gpu is None or mode is None or workload.network is None:
        return gone
    asked = RateQuestion(workload.network, mode, gpu, precision, runs[-1].spec.batch_size, workload.framework)
    own = catalog.estimated_rate(asked)
    sold = dict.fromkeys(i.gpu for i in catalog.offered if i.gpu is not None and i.usd_per_hour is not None)
    rates = [rate for name in sold if (rate := catalog.estimated_rate(replace(asked, gpu=name))) is not None]
    if own is None or not rates:
        return gone
    nearest = min(rates, key=lambda rate: abs(math.log(rate.samples_per_second / own.samples_per_second)))
    figures: dict[str, Figure] = {
        "nearest": nearest.gpu,
        "rate": nearest.samples_per_second,
        "low": nearest.low,
        "high": nearest.high,
    }
    return replace(gone, figures={**gone.figures, **figures})


def _option(job: GpuJob, gpu: str) -> GpuOption:
    mode, network, sheet = job.workload.rate_mode, job.workload.network, data_sheet(gpu)
    batch_size = None if job.here is None else job.here.batch_size
    memory = None if sheet is None else sheet.memory_bytes
    plain = GpuOption(gpu, gpu_memory_bytes=memory, network=network, batch_size=batch_size)
    if mode is None or network is None:
        return replace(plain, missing=NoGpuAnswer.NO_NETWORK)
    asked = RateQuestion(network, mode, gpu, job.precision, batch_size, job.workload.framework)
    published = job.catalog.estimated_rate(asked)
    if published is None:
        return replace(plain, missing=NoGpuAnswer.NO_RATE, published_on=published_gpus(job.catalog.rates, asked))
    enough, on_cpu = smallest_memory(job.catalog.rates, asked), None
    if job.on_cpu and job.here is not None:
        on_cpu = anonymous_bytes(job.model.measured, job.here.vcpus, job.here.batch_size)
    rate = published
    about = (rate.basis.value, rate.precision, rate.batch_size, rate.framework, rate.sources, rate.as_of, rate.known_on)
    plain = replace(
        plain,
        accelerator=PublishedRate(_estimate(rate), *about),
        needs_at_most_bytes=None if enough is None else round(enough),
        on_cpu_bytes=None if on_cpu is None else round(on_cpu),
    )
    plain = replace(plain, fits=_holds(plain))
    if job.here is None:
        return replace(plain, missing=NoGpuAnswer.NO_MODEL)
    if job.on_cpu and not job.model.facts.step_apart:
        return replace(plain, missing=NoGpuAnswer.STEP_NOT_SEPARATE)
    try:
        return OnGpu(job, asked, _estimate(published), plain).option()
    except InputNotKnown as error:
        return replace(plain, missing=NoGpuAnswer.INPUT_NOT_KNOWN, vcpus=error.vcpus)
    except NoAnswer:
        return replace(plain, missing=NoGpuAnswer.NO_MODEL)


def _estimate(estimate: RateEstimate | ScalingEfficiency) -> Estimate:
    value = estimate.samples_per_second if isinstance(estimate, RateEstimate) else estimate.value
    return Estimate(value, estimate.low, estimate.high)


def _holds(option: GpuOption) -> bool | None:
    """Whether its memory is known to be enough; None where that is not known."""
    enough, has = option.needs_at_most_bytes, option.gpu_memory_bytes
    return True if enough is not None and has is not None and has >= enough else None


Machine = tuple[GpuOption, Estimate, InstanceType | None]
"""A GPU in a machine: what it does there, its rate, and the machine."""


def _order(one: Machine) -> tuple[float, ...]:
    """As the instance types of an answer are ordered: prices of an unknown day last."""
    option, rate, machine = one
    return machine is not None and not machine.as_of, option.usd_per_million_samples or math.inf, -rate.value


@dataclass(frozen=True)
class OnGpu:
    """A job on one GPU, whose `rate` alone is published; `plain` is what is known of that."""

    job: GpuJob
    asked: RateQuestion
    rate: Estimate
    plain: GpuOption

    def option(self) -> GpuOption:
        """In the machine where a sample costs least, of those with the fewest GPUs that are priced; without one, on the
        vCPUs that were measured. Raises NoAnswer."""
        fewest = min((machine.gpu_count for machine in self._machines()), default=1)
        machines = [machine for machine in self._machines() if machine.gpu_count == fewest]
        option, rate, machine = self._cheapest(machines or [None])
        if machine is not None:
            option = replace(option, gpu_memory_bytes=machine.gpu_memory_bytes)
        option = replace(option, fits=_holds(option), against_cpu=_against_cpu(self.job, option))
        if option.gpu_count != 1:  # the smallest sold has more than one already
            return option
        try:
            return replace(option, second=self._second(option, rate))
        except InputNotKnown as error:
            return replace(option, second_missing=NoGpuAnswer.INPUT_NOT_KNOWN, second_vcpus=error.vcpus)
        except NoAnswer:
            return replace(option, second_missing=NoGpuAnswer.NO_MODEL)

    def _machines(self) -> Iterator[InstanceType]:
        """Those with this GPU and a price that hold what the job needs; no ARM, on which nothing was measured."""
        spec = self.job.answer.spec
        needed = (spec.memory_bytes if spec is not None else None) or 0
        for instance in self.job.catalog.instances(self.asked.gpu):
            if instance.usd_per_hour is not None and not instance.is_arm and instance.memory_bytes >= needed:
                yield instance

    def _cheapest(self, machines: Sequence[InstanceType | None]) -> Machine:
        """Where a sample costs least by a price whose day is known, then the fastest; raises InputNotKnown where it is
        known on none."""
        costs, errors = [], []
        for machine in machines:
            try:
                here = self.job.here
                vcpus = machine.vcpus if machine is not None else here.vcpus if here is not None else None
                costs.append(self._on(machine, vcpus, 1 if machine is None else machine.gpu_count))
            except InputNotKnown as error:
                errors.append(error)
        if not costs:
            raise min(errors, key=lambda error: error.vcpus or math.inf)
        return min(costs, key=_order)

    def _on(self, machine: InstanceType | None, vcpus: float | None, count: int) -> Machine:
        """The job on all GPUs of a machine, or on so many where none is sold."""
        job, unit = self.job, self.job.model.sample_unit
        option = replace(job.fed(self.plain, machine, vcpus, self._several(count)[0]), gpu_count=count)
        rate = option.throughput
        assert rate is not None, "the job is fed"
        if machine is not None:
            usd, spot = machine.usd_per_hour, machine.usd_per_hour_spot
            option = replace(
                option,
                provider=machine.provider,
                instance_type=machine.instance_type,
                usd_per_hour=usd,
                usd_per_hour_spot=spot,
                usd_per_million_samples=usd_per_million(usd, rate.value, unit),
                usd_per_million_samples_spot=usd_per_million(spot, rate.value, unit),
            )
        if job.deadline is not None:
            seconds = Estimate(*(job.deadline.samples / end for end in (rate.value, rate.high, rate.low)))
            usd = option.usd_per_hour
            option = replace(option, seconds=seconds, usd=None if usd is None else usd * seconds.value / 3600)
        return option, rate, machine

    def _several(self, count: int) -> tuple[Estimate, ScalingEfficiency]:
        """The rate of so many of them together, and what the all-reduce leaves of it."""
        asked, one = self.asked, self.rate
        scaled = scaling_efficiency(
            asked.network, asked.gpu, count, mode=asked.mode, precision=asked.precision, framework=asked.framework
        )
        # Of two independent halves in ln, the root of the sum of squares.
        below, above = (
            math.hypot(math.log(end / one.value), math.log(other / scaled.value))
            for end, other in ((one.low, scaled.low), (one.high, scaled.high))
        )
        value = one.value * count * scaled.value
        return Estimate(value, value * math.exp(-below), value * math.exp(above)), scaled

    def _second(self, one: GpuOption, now: Estimate) -> SecondGpu:
        """What a second one adds, in the cheapest machine with two."""
        scaled = self._several(2)[1]
        machines = [machine for machine in self._machines() if machine.gpu_count == 2]
        two, then, machine = self._cheapest(machines) if machines else self._on(None, one.vcpus, 2)
        gain = then.value / now.value
        least = min(gain, then.low / now.low)
        most = max(gain, min(2.0 * scaled.high, then.high / now.high))
        worth: list[bool | None] = [None]
        if two.usd_per_hour is not None and one.usd_per_hour is not None:
            worth = [two.usd_per_hour <= WORTH * one.usd_per_hour * times for times in (gain, least, most)]
        assert two.bottleneck is not None, "the job is fed"
        return SecondGpu(
            Estimate(gain, least, most),
            _estimate(scaled),
            scaled.basis,
            two.bottleneck,
            scaled.sources,
            None if machine is None else machine.name,
            two.usd_per_hour,
            two.usd_per_million_samples,
            worth[0],
            worth[0] is not None and len(set(worth)) == 1,
        )


def _against_cpu(job: GpuJob, option: GpuOption) -> AgainstCpu | None:
    """Beside the answer of a job that was measured on the CPU."""
    answer = job.answer
    if not job.on_cpu or answer.throughput is None or option.throughput is None:
        return None
    unit = job.model.sample_unit
    rates = [offer.throughput or answer.throughput for offer in answer.instances]
    rate = rates[0].value if rates else answer.throughput.value
    plain = [offer.usd_per_million_samples for offer in answer.instances]
    spot = [
        usd_per_million(offer.usd_per_hour_spot, its.value, unit)
        for offer, its in zip(answer.instances, rates, strict=True)
    ]

    def over(own: float | None, others: Sequence[float | None]) -> float | None:
        least = min((usd for usd in others if usd is not None), default=None)
        return None if own is None or not least else own / least

    ratios = over(option.usd_per_million_samples, plain), over(option.usd_per_million_samples_spot, spot)
    return AgainstCpu(rate / option.throughput.value, *ratios)

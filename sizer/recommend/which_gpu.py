"""Which GPU for a measured job: its input side as measured here, its accelerator by published rates."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

from sizer.catalog.catalog import Catalog, InstanceType
from sizer.catalog.data_sheets import data_sheet
from sizer.catalog.gpu_scaling import ScalingEfficiency, scaling_efficiency
from sizer.catalog.rate_estimate import RateEstimate, RateQuestion, published_gpus, smallest_memory
from sizer.model.memory import anonymous_bytes
from sizer.model.model import WorkloadModel
from sizer.recommend.gpu_job import Fed, GpuJob, InputNotKnown
from sizer.recommend.machine_prices import gpu_gone, is_arm
from sizer.recommend.prices import usd_per_million
from sizer.records.answer import Answer
from sizer.records.configuration import Estimate
from sizer.records.errors import NoAnswer
from sizer.records.gpu_options import AgainstCpu, GpuOption, NoGpuAnswer, PublishedRate, SecondGpu
from sizer.records.kinds import KINDS
from sizer.records.run import Run
from sizer.records.study import Deadline

WORTH = 1.05
"""Two are worth it where the work costs no more than this over one: the error of a price per sample is larger."""


def which_gpu(
    model: WorkloadModel,
    runs: Sequence[Run],
    answer: Answer,
    names: Sequence[str],
    catalog: Catalog,
    deadline: Deadline | None,
    spot: bool = False,
) -> tuple[GpuOption, ...]:
    """What each of these GPUs would do for a workload, in the order that they were asked in.

    `spot`: the prices of the catalogue are those of spare capacity.
    """
    if not runs:
        return tuple(GpuOption(name, NoGpuAnswer.NO_MODEL) for name in names)
    workload = runs[-1].spec.workload
    precision = workload.precision if runs[-1].imported else workload.rate_precision
    job = GpuJob(model, workload, precision, answer, catalog, deadline)
    options = ((_option(job, name), gpu_gone(name, catalog, spot)) for name in names)
    return tuple(replace(option, retired=gone) for option, gone in options)


def _option(job: GpuJob, gpu: str) -> GpuOption:
    mode, network = KINDS[job.workload.kind].rate_mode, job.workload.network
    sheet = data_sheet(gpu)
    plain = GpuOption(gpu, gpu_memory_bytes=None if sheet is None else sheet.memory_bytes)
    if mode is None or network is None:
        return replace(plain, missing=NoGpuAnswer.NO_NETWORK)
    asked = RateQuestion(network, mode, gpu, job.precision, job.batch_size, job.workload.framework)
    found = job.catalog.estimated_rate(asked)
    if found is None:
        return replace(plain, missing=NoGpuAnswer.NO_RATE, published_on=published_gpus(job.catalog.rates, asked))
    enough = smallest_memory(job.catalog.rates, asked)
    plain = replace(
        plain,
        accelerator=_published(found),
        needs_at_most_bytes=None if enough is None else round(enough),
        on_cpu_bytes=_on_cpu(job),
    )
    plain = replace(plain, fits=_holds(plain))
    if job.here is None:
        return replace(plain, missing=NoGpuAnswer.NO_MODEL)
    if job.on_cpu and not job.model.facts.step_apart:
        return replace(plain, missing=NoGpuAnswer.STEP_NOT_SEPARATE)
    try:
        return _answered(job, plain, asked, found)
    except InputNotKnown as error:
        return replace(plain, missing=NoGpuAnswer.INPUT_NOT_KNOWN, vcpus=error.vcpus)
    except NoAnswer:
        return replace(plain, missing=NoGpuAnswer.NO_MODEL)


def _published(found: RateEstimate) -> PublishedRate:
    return PublishedRate(
        _estimate(found),
        found.basis.value,
        found.precision,
        found.batch_size,
        found.framework,
        found.sources,
        found.as_of,
        found.known_on,
    )


def _estimate(found: RateEstimate | ScalingEfficiency) -> Estimate:
    value = found.samples_per_second if isinstance(found, RateEstimate) else found.value
    return Estimate(value, found.low, found.high)


def _on_cpu(job: GpuJob) -> int | None:
    """Bytes that the job needed where it computed on the CPU."""
    here = job.here
    needed = anonymous_bytes(job.model.measured, here.vcpus, here.batch_size) if job.on_cpu and here else None
    return None if needed is None else round(needed)


def _holds(option: GpuOption) -> bool | None:
    """Whether its memory is known to be enough; None where that is not known."""
    enough, has = option.needs_at_most_bytes, option.gpu_memory_bytes
    return True if enough is not None and has is not None and has >= enough else None


def _answered(job: GpuJob, plain: GpuOption, asked: RateQuestion, found: RateEstimate) -> GpuOption:
    """In the machine where a sample costs least, of those with the fewest GPUs that are priced; without one, on the
    vCPUs that were measured."""
    machines = [machine for machine in _machines(job, plain.gpu) if machine.gpu_count == _fewest(job, plain.gpu)]
    best, machine, fed = min(
        _known(job, asked, found, machines),
        key=lambda each: (each[0].usd_per_million_samples or math.inf, -(each[2].throughput.value)),
    )
    option = replace(
        best,
        missing=None,
        accelerator=plain.accelerator,
        gpu_memory_bytes=plain.gpu_memory_bytes if machine is None else machine.gpu_memory_bytes,
        needs_at_most_bytes=plain.needs_at_most_bytes,
        on_cpu_bytes=plain.on_cpu_bytes,
    )
    return replace(
        _with_second(job, asked, found, option, fed), fits=_holds(option), against_cpu=_against_cpu(job, option)
    )


def _known(
    job: GpuJob, asked: RateQuestion, found: RateEstimate, machines: Sequence[InstanceType]
) -> list[tuple[GpuOption, InstanceType | None, Fed]]:
    """The job on each of these machines, without one as measured; raises InputNotKnown where it is known on none."""
    known, errors = [], []
    for machine in machines or (None,):
        try:
            known.append(_on(job, asked, found, machine))
        except InputNotKnown as error:
            errors.append(error)
    if not known:
        raise min(errors, key=lambda error: error.vcpus or math.inf)
    return known


def _machines(job: GpuJob, gpu: str) -> Iterator[InstanceType]:
    """Those with this GPU and a price that hold what the job needs; no ARM, on which nothing was measured."""
    spec = job.answer.spec
    needed = (spec.memory_bytes if spec is not None else None) or 0
    for each in job.catalog.instances(gpu):
        if each.usd_per_hour is not None and not is_arm(each) and each.memory_bytes >= needed:
            yield each


def _fewest(job: GpuJob, gpu: str) -> int:
    return min((each.gpu_count for each in _machines(job, gpu)), default=1)


def _on(
    job: GpuJob, asked: RateQuestion, found: RateEstimate, machine: InstanceType | None
) -> tuple[GpuOption, InstanceType | None, Fed]:
    """The job on a machine, all of whose GPUs it uses."""
    count = 1 if machine is None else machine.gpu_count
    vcpus = job.here.vcpus if machine is None and job.here is not None else machine.vcpus if machine else None
    fed = job.fed(vcpus, _several(asked, _estimate(found), count)[0])
    rate, unit = fed.throughput.value, job.model.sample_unit
    usd, spot = (None, None) if machine is None else (machine.usd_per_hour, machine.usd_per_hour_spot)
    samples = None if job.deadline is None else job.deadline.samples
    option = GpuOption(
        asked.gpu,
        input_rate=fed.input_rate,
        throughput=fed.throughput,
        bottleneck=fed.bottleneck,
        bottleneck_sure=fed.sure,
        extrapolated=fed.extrapolated,
        gpu_count=count,
        vcpus=vcpus,
        provider=None if machine is None else machine.provider,
        instance_type=None if machine is None else machine.instance_type,
        usd_per_hour=usd,
        usd_per_hour_spot=spot,
        usd_per_million_samples=usd_per_million(usd, rate, unit),
        usd_per_million_samples_spot=usd_per_million(spot, rate, unit),
    )
    if samples is not None:
        seconds = Estimate(samples / rate, samples / fed.throughput.high, samples / fed.throughput.low)
        option = replace(option, seconds=seconds, usd=None if usd is None else usd * seconds.value / 3600)
    return option, machine, fed


def _several(asked: RateQuestion, one: Estimate, count: int) -> tuple[Estimate, ScalingEfficiency]:
    """The rate of so many of them together, and what the all-reduce leaves of it."""
    scaled = scaling_efficiency(
        asked.network, asked.gpu, count, mode=asked.mode, precision=asked.precision, framework=asked.framework
    )
    rate = Estimate(
        one.value * count * scaled.value,
        *(one.value * count * scaled.value * math.exp(side * _half(one, scaled, side)) for side in (-1, 1)),
    )
    return rate, scaled


def _half(one: Estimate, scaled: ScalingEfficiency, side: int) -> float:
    """Of two independent halves in ln, the root of the sum of squares."""
    ends = (one.low, scaled.low) if side < 0 else (one.high, scaled.high)
    return math.hypot(math.log(ends[0] / one.value), math.log(ends[1] / scaled.value))


def _with_second(job: GpuJob, asked: RateQuestion, found: RateEstimate, one: GpuOption, fed: Fed) -> GpuOption:
    """With twice as many of one; nothing of that where a machine has more than one already: the smallest sold."""
    if one.gpu_count != 1:
        return one
    try:
        return replace(one, second=_twice(job, asked, found, one, fed))
    except InputNotKnown as error:
        return replace(one, second_missing=NoGpuAnswer.INPUT_NOT_KNOWN, second_vcpus=error.vcpus)
    except NoAnswer:
        return replace(one, second_missing=NoGpuAnswer.NO_MODEL)


def _twice(job: GpuJob, asked: RateQuestion, found: RateEstimate, one: GpuOption, fed: Fed) -> SecondGpu:
    both, scaled = _several(asked, _estimate(found), 2)
    machines = [each for each in _machines(job, one.gpu) if each.gpu_count == 2]
    choices = _known(job, asked, found, machines) if machines else []
    two, machine, fed_two = min(
        choices,
        key=lambda each: each[0].usd_per_million_samples or math.inf,
        default=(None, None, job.fed(one.vcpus, both)),
    )
    gain = fed_two.throughput.value / fed.throughput.value
    least = min(gain, fed_two.throughput.low / fed.throughput.low)
    most = max(gain, min(2.0 * scaled.high, fed_two.throughput.high / fed.throughput.high))
    usd = None if two is None else two.usd_per_million_samples
    worth = [_is_worth(one, two, times) for times in (gain, least, most)]
    return SecondGpu(
        Estimate(gain, least, most),
        _estimate(scaled),
        scaled.basis,
        fed_two.bottleneck,
        scaled.sources,
        None if machine is None else machine.name,
        None if machine is None else machine.usd_per_hour,
        usd,
        worth[0],
        worth[0] is not None and len(set(worth)) == 1,
    )


def _is_worth(one: GpuOption, two: GpuOption | None, gain: float) -> bool | None:
    """Whether a sample costs no more on two that are `gain` times as fast; None where a price is not known."""
    if two is None or two.usd_per_hour is None or one.usd_per_hour is None:
        return None
    return two.usd_per_hour <= WORTH * one.usd_per_hour * gain


def _against_cpu(job: GpuJob, option: GpuOption) -> AgainstCpu | None:
    """Beside the answer of a job that was measured on the CPU."""
    answer = job.answer
    if not job.on_cpu or answer.throughput is None or option.throughput is None:
        return None
    offers = [offer for offer in answer.instances if offer.usd_per_million_samples is not None]
    plain = min((offer.usd_per_million_samples or math.inf for offer in offers), default=None)
    spots = [
        usd_per_million(offer.usd_per_hour_spot, answer.throughput.value, job.model.sample_unit)
        for offer in answer.instances
    ]
    spot = min((usd for usd in spots if usd is not None), default=None)

    def over(own: float | None, other: float | None) -> float | None:
        return None if own is None or not other else own / other

    return AgainstCpu(
        answer.throughput.value / option.throughput.value,
        over(option.usd_per_million_samples, plain),
        over(option.usd_per_million_samples_spot, spot),
    )

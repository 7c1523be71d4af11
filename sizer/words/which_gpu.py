"""What a GPU that was asked about would do for a job: one headline each, and what is known behind it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from sizer.records.configuration import Bottleneck, Estimate
from sizer.records.device import Device
from sizer.records.gpu_options import AgainstCpu, GpuOption, NoGpuAnswer, PublishedRate, SecondGpu
from sizer.records.units import format_bytes, format_seconds, format_usd
from sizer.words.figures import figure_interval, rate_interval, share_interval, usd_interval, with_interval
from sizer.words.language import _
from sizer.words.names import Terms, listed, resource_name, row
from sizer.words.reasons import reason_sentence
from sizer.words.units import several_of, vcpus_in_words

_MISSING: dict[NoGpuAnswer, Callable[[GpuOption], str]] = {
    NoGpuAnswer.NO_RATE: lambda option: _no_rate(option),
    NoGpuAnswer.NO_NETWORK: lambda option: _("published rates are of networks by name, and this job has none of them"),
    NoGpuAnswer.STEP_NOT_SEPARATE: lambda option: _(
        "what the input costs the CPU was not measured apart from the step; write `isolate: true` in the workload"
    ),
    NoGpuAnswer.INPUT_NOT_KNOWN: lambda option: _input_not_known(option),
    NoGpuAnswer.NO_MODEL: lambda option: _("the runs do not say how fast the input side is there"),
}


def _input_not_known(option: GpuOption) -> str:
    if option.vcpus is None:
        return _("how fast the input side is there is not known; a run without a limit of vCPUs would show it")
    return _(
        "what {vcpus} feed there does not follow from those that were measured; a run with as many would show it",
        vcpus=vcpus_in_words(option.vcpus),
    )


def _no_rate(option: GpuOption) -> str:
    if option.published_on:
        return _(
            "no published rate says how fast it is; of this network there are rates on {gpus}",
            gpus=listed(option.published_on),
        )
    return _("no published rate of this network is known on any GPU")


def gpu_option_lines(option: GpuOption, terms: Terms) -> list[str]:
    """The headline, then what is known behind it."""
    sentences = (
        "" if option.retired is None else reason_sentence(option.retired, terms),
        _accelerator(option, terms),
        _memory(option),
        _second(option.second, option, terms) if option.second is not None else _no_second(option),
        _against_cpu(option.against_cpu, option) if option.against_cpu is not None else "",
    )
    return [gpu_headline(option, terms), *filter(None, sentences)]


def gpus_compared(options: Sequence[GpuOption], terms: Terms) -> list[str]:
    """Which does the work for least and which is the fastest, each with those that may be instead by their intervals.

    Empty where fewer than two have an answer; of cost only what has a price. What nobody can rent is not compared.
    """
    answered = [each for each in options if each.throughput is not None and each.retired is None]
    priced = [(each, cost) for each in answered if (cost := _cost(each)) is not None]
    said = []
    if len(priced) > 1:
        least, cost = min(priced, key=lambda each: each[1].value)
        others = [each for each, other in priced if each is not least and other.low <= cost.high]
        price = format_usd(cost.value)
        known = {"gpu": gpus_named(least), "price": price, "units": several_of(terms.unit)}
        said.append(
            _(
                "{gpu} does the work for least, {price} a million {units}; by the intervals {others} may, too.",
                others=listed([gpus_named(each) for each in others]),
                **known,
            )
            if others
            else _("{gpu} does the work for least, {price} a million {units}.", **known)
        )
    if len(answered) > 1:
        rates = [(each, each.throughput) for each in answered if each.throughput is not None]
        best, rate = max(rates, key=lambda each: each[1].value)
        others = [each for each, other in rates if each is not best and other.high >= rate.low]
        known = {"gpu": gpus_named(best), "rate": rate_interval(rate, terms.unit)}
        said.append(
            _(
                "{gpu} is the fastest, {rate}; by the intervals {others} may be, too.",
                others=listed([gpus_named(each) for each in others]),
                **known,
            )
            if others
            else _("{gpu} is the fastest, {rate}.", **known)
        )
    return said


def _cost(option: GpuOption) -> Estimate | None:
    """Of a million samples; None where the machine has no price."""
    rate, cost = option.throughput, option.usd_per_million_samples
    return None if rate is None or cost is None else _by_rate(cost, rate)


def _by_rate(at_value: float, rate: Estimate) -> Estimate:
    """What falls as a rate rises, such as a price of the work, with the interval that the rate's makes of it."""
    longest = at_value * rate.value / rate.low if rate.low > 0 else math.inf
    return Estimate(at_value, at_value * rate.value / rate.high, longest)


def no_gpu_answer(option: GpuOption) -> str:
    """`no answer: no published rate of this network is known on any GPU`."""
    return _("no answer: {why}", why=_MISSING[option.missing or NoGpuAnswer.NO_MODEL](option))


def gpu_headline(option: GpuOption, terms: Terms) -> str:
    """`T4: 111 images/s (61–200), bound by the GPU; aws g4dn.xlarge, $0.526 an hour, $1.32 ($0.731 to $2.40) a million
    images`."""
    if option.missing is not None or option.throughput is None:
        return _("{gpu}: {answer}", gpu=option.gpu, answer=no_gpu_answer(option))
    rate = rate_interval(option.throughput, terms.unit)
    machine = machine_and_cost(option, terms)
    return _(
        "{gpu}: {rate}, {bound}; {machine}",
        gpu=gpus_named(option),
        rate=rate,
        bound=bound_there(option),
        machine=machine,
    )


def gpus_named(option: GpuOption) -> str:
    """`T4`, `8 x H200`."""
    return option.gpu if option.gpu_count == 1 else f"{option.gpu_count} x {option.gpu}"


def bound_there(option: GpuOption) -> str:
    """`bound by the GPU`, `perhaps bound by the CPU`: of the machine with this GPU."""
    named = _("the GPU") if option.bottleneck is Bottleneck.ACCELERATOR else _resource(option)
    if option.bottleneck in (None, Bottleneck.AMBIGUOUS):
        return _("with no clear bottleneck")
    if option.bottleneck_sure:
        return _("bound by {resource}", resource=named)
    return _("probably bound by {resource}", resource=named)


def _resource(option: GpuOption) -> str:
    return resource_name(option.bottleneck or Bottleneck.AMBIGUOUS, Device())


def machine_and_cost(option: GpuOption, terms: Terms) -> str:
    """`aws g4dn.xlarge (4 vCPUs), $0.526 an hour, $1.32 ($0.731 to $2.40) a million images`; no price is said, too."""
    if option.usd_per_hour is None:
        there = "" if option.vcpus is None else vcpus_in_words(option.vcpus)
        return row(filter(None, (there, _("price unknown"))))
    machine = f"{option.provider} {option.instance_type}"
    said = [
        machine
        if option.vcpus is None
        else _("{machine} ({vcpus})", machine=machine, vcpus=vcpus_in_words(option.vcpus)),
        _("{price} an hour", price=format_usd(option.usd_per_hour)),
    ]
    rate = option.throughput
    if rate is not None and option.usd_per_million_samples is not None:
        million = usd_interval(_by_rate(option.usd_per_million_samples, rate))
        said.append(_("{price} a million {units}", price=million, units=several_of(terms.unit)))
    if rate is not None and option.usd_per_million_samples_spot is not None:
        million = usd_interval(_by_rate(option.usd_per_million_samples_spot, rate))
        said.append(_("{price} a million {units} at spot prices", price=million, units=several_of(terms.unit)))
    if rate is not None and option.seconds is not None and option.usd is not None:
        ends = (format_seconds(each) for each in (option.seconds.low, option.seconds.high))
        time = with_interval(format_seconds(option.seconds.value), *ends)
        price = usd_interval(_by_rate(option.usd, rate))
        said.append(_("the whole job {time} and {price}", time=time, price=price))
    return row(said)


def _accelerator(option: GpuOption, terms: Terms) -> str:
    """Where its own rate comes from, and what the input side gives beside it."""
    found = option.accelerator
    if found is None:
        return ""
    if option.input_rate is None:
        return published_rate(found, terms)
    feeds = rate_interval(option.input_rate, terms.unit)
    own = published_rate(found, terms)
    if option.extrapolated:
        return _("{own} The input side, as measured here, feeds {rate} there (extrapolated).", own=own, rate=feeds)
    return _("{own} The input side, as measured here, feeds {rate} there.", own=own, rate=feeds)


def published_rate(found: PublishedRate, terms: Terms) -> str:
    """`Published: 111 images/s (61–200) for one, TensorFlow, fp32, batch 32 (PROFET measurements, 2021).`."""
    settings = row(
        filter(
            None,
            (
                found.framework,
                found.precision,
                "" if found.batch_size is None else _("batch {size}", size=found.batch_size),
            ),
        )
    )
    known = {
        "rate": rate_interval(found.rate, terms.unit),
        "settings": settings,
        "source": row([*found.sources, found.as_of]),
        "gpus": listed(found.known_on),
    }
    if found.basis == "transferred":
        return _("One of it, transferred from {gpus}: {rate} with {settings} ({source}).", **known)
    if found.basis == "interpolated":
        return _("One of it, between published batch sizes: {rate} with {settings} ({source}).", **known)
    if found.basis == "extrapolated":
        return _("One of it, beyond the published batch sizes: {rate} with {settings} ({source}).", **known)
    return _("One of it, published: {rate} with {settings} ({source}).", **known)


def _memory(option: GpuOption) -> str:
    has, enough = option.gpu_memory_bytes, option.needs_at_most_bytes
    if has is None:
        return ""
    if enough is None and option.on_cpu_bytes is not None:
        return _(
            "It has {has} of memory; the job needed {needed} on the CPU, and a GPU needs workspace beyond that.",
            has=format_bytes(has),
            needed=format_bytes(option.on_cpu_bytes),
        )
    if enough is None:
        return _("It has {has} of memory; what the job needs is not known.", has=format_bytes(has))
    known = {"has": format_bytes(has), "enough": format_bytes(enough)}
    if option.fits:
        return _("It has {has} of memory, and {enough} are known to be enough.", **known)
    return _("It has {has} of memory, where {enough} are known to be enough: less may be too little.", **known)


def _second(second: SecondGpu, one: GpuOption, terms: Terms) -> str:
    """What a second one gives, and whether it is worth its price."""
    gain = figure_interval(second.gain)
    if second.worth is None:
        return _("Two: {gain} times the rate of one; no machine with two is priced.", gain=gain)
    price = usd_interval(_by_rate(second.usd_per_million_samples or 0.0, _of_both(second, one)))
    known = {"gain": gain, "machine": second.instance_type, "price": price, "units": several_of(terms.unit)}
    if not second.worth_sure:
        return _(
            "Whether two ({machine}) are worth it is open: {gain} times the rate of one, {price} a million {units}.",
            **known,
        )
    if second.worth:
        return _("Two ({machine}) are worth it: {gain} times the rate of one, {price} a million {units}.", **known)
    return _("Two ({machine}) cost more: {gain} times the rate of one, {price} a million {units}.", **known)


def _of_both(second: SecondGpu, one: GpuOption) -> Estimate:
    """The rate of two: that of one, times what the second gains."""
    gain, rate = second.gain, one.throughput or Estimate(1.0, 1.0, 1.0)
    return Estimate(rate.value * gain.value, rate.low * gain.low, rate.high * gain.high)


def _no_second(option: GpuOption) -> str:
    """Why nothing is said of a second one; empty where none is asked about."""
    if option.second_missing is None:
        return ""
    if option.second_missing is NoGpuAnswer.INPUT_NOT_KNOWN and option.second_vcpus is not None:
        return _(
            "What two would do is not known: what {vcpus} feed there does not follow from those that were measured; a "
            "run with as many would show it.",
            vcpus=vcpus_in_words(option.second_vcpus),
        )
    return _("What two would do is not known: the runs do not say how fast the input side is there.")


def _against_cpu(ratios: AgainstCpu, option: GpuOption) -> str:
    """Time and cost of the work over those on the CPU, as far off as the GPU's rate is."""
    rate = option.throughput or Estimate(1.0, 1.0, 1.0)
    time = share_interval(_by_rate(ratios.time_ratio, rate))
    if ratios.cost_ratio is None:
        return _("It takes {time} of the time on the CPU; what it costs cannot be compared without a price.", time=time)
    cost = share_interval(_by_rate(ratios.cost_ratio, rate))
    if ratios.cost_ratio_spot is None:
        return _(
            "It takes {time} of the time on the CPU and {cost} of the cost on demand; spot prices are not known.",
            time=time,
            cost=cost,
        )
    return _(
        "It takes {time} of the time on the CPU, {cost} of the cost on demand and {spot} of the cost at spot prices.",
        time=time,
        cost=cost,
        spot=share_interval(_by_rate(ratios.cost_ratio_spot, rate)),
    )

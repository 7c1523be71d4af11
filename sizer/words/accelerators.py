"""What accelerators and batches make of a job: a GPU that was asked about, several of them, and the batch size."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from sizer.records.answer import (
    AcceleratorCount,
    AgainstCpu,
    Answer,
    BatchAdvice,
    BatchCurve,
    BatchPoint,
    GpuOption,
    NoGpuAnswer,
    PublishedRate,
    SecondGpu,
    StepFit,
)
from sizer.records.configuration import Bottleneck, Estimate
from sizer.records.device import GIVEN_IN_STUDY, GIVEN_IN_TABLE, BatchRate, Device
from sizer.records.prediction import Refusal
from sizer.records.run_kinds import LargestBatch
from sizer.records.units import RELATIVE, format_number, format_seconds, format_usd
from sizer.words.answers import refusal_sentences
from sizer.words.language import (
    N_,
    Sentence,
    _,
    a_sample,
    answered_rate,
    brief,
    clauses,
    figure_interval,
    from_to,
    interval,
    operations,
    paragraph,
    percent,
    rate_in_words,
    rate_interval,
    row,
    sentence,
    several_of,
    transfer,
    vcpus_in_words,
    with_interval,
)
from sizer.words.names import (
    Terms,
    accelerator_name,
    accelerators_name,
    bound_in_words,
    largest_batch_sentence,
    resource_name,
)
from sizer.words.reasons import reason_sentence

# A GPU that was asked about.
_MISSING: Mapping[NoGpuAnswer, str] = {
    NoGpuAnswer.NO_RATE: N_(
        "no published rate [[published_on?says how fast it is; of this network there are rates on "
        "{published_on:and}]][[!published_on?of this network is known on any GPU]]"
    ),
    NoGpuAnswer.NO_NETWORK: N_("published rates are of networks by name, and this job has none of them"),
    NoGpuAnswer.STEP_NOT_SEPARATE: N_(
        "what the input costs the CPU was not measured apart from the step; write `isolate: true` in the workload"
    ),
    NoGpuAnswer.INPUT_NOT_KNOWN: N_(
        "[[what {vcpus:vcpus} feed there does not follow from those that were measured; a run with as many would show "
        "it]][[!vcpus?how fast the input side is there is not known; a run without a limit of vCPUs would show it]]"
    ),
    NoGpuAnswer.NO_MODEL: N_("the runs do not say how fast the input side is there"),
}


def gpu_option_lines(option: GpuOption, terms: Terms) -> list[str]:
    """The headline, then what is known behind it."""
    sentences = (
        "" if option.retired is None else reason_sentence(option.retired, terms),
        "" if option.accelerator is None else _own_rate(option.accelerator, option, terms),
        _gpu_memory(option),
        _second(option.second, option, terms) if option.second is not None else _no_second(option),
        _against_cpu(option.against_cpu, option) if option.against_cpu is not None else "",
    )
    return [_gpu_headline(option, terms), *filter(None, sentences)]


_LEAST = Sentence(
    "{gpu} does the work for least, {price:usd} a million {units}[[; by the intervals {others:and} may, too]]."
)
_FASTEST = Sentence("{gpu} is the fastest, {rate}[[; by the intervals {others:and} may be, too]].")


def gpus_compared(options: Sequence[GpuOption], terms: Terms) -> list[str]:
    """Which does the work for least and which is the fastest, each with those that may be instead by their intervals.

    Empty where fewer than two have an answer; of cost only what has a price. What nobody can rent is not compared.
    """
    rates = [(each, each.throughput) for each in options if each.throughput is not None and each.retired is None]
    priced = [
        (each, _by_rate(each.usd_per_million_samples, rate))
        for each, rate in rates
        if each.usd_per_million_samples is not None
    ]
    sentences = []
    if len(priced) > 1:
        least, cost = min(priced, key=lambda each: each[1].value)
        others = [gpus_named(each) for each, other in priced if each is not least and other.low <= cost.high]
        sentences.append(_LEAST(gpus_named(least), cost.value, several_of(terms.unit), others))
    if len(rates) > 1:
        best, rate = max(rates, key=lambda each: each[1].value)
        others = [gpus_named(each) for each, other in rates if each is not best and other.high >= rate.low]
        sentences.append(_FASTEST(gpus_named(best), rate_interval(rate, terms.unit), others))
    return sentences


def _by_rate(at_value: float, rate: Estimate) -> Estimate:
    """What falls as a rate rises, such as a price of the work, with the interval that the rate's makes of it."""
    longest = at_value * rate.value / rate.low if rate.low > 0 else math.inf
    return Estimate(at_value, at_value * rate.value / rate.high, longest)


def no_gpu_answer(option: GpuOption) -> str:
    """`no answer: no published rate of this network is known on any GPU`."""
    return _("no answer: {why}", why=_(_MISSING[option.missing or NoGpuAnswer.NO_MODEL], **vars(option)))


def _gpu_headline(option: GpuOption, terms: Terms) -> str:
    """`T4: 111 images/s (61–200), bound by the GPU; aws g4dn.xlarge, $0.526 an hour, $1.32 ($0.731 to $2.40) a million
    images`."""
    if option.missing is not None or option.throughput is None:
        return _("{gpu}: {answer}", gpu=option.gpu, answer=no_gpu_answer(option))
    rate, machine = (rate_interval(option.throughput, terms.unit), machine_and_cost(option, terms))
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
    if option.bottleneck in (None, Bottleneck.AMBIGUOUS):
        return _("with no clear bottleneck")
    gpu = option.bottleneck is Bottleneck.ACCELERATOR
    resource = _("the GPU") if gpu else resource_name(option.bottleneck, Device())
    return _("[[unsure?probably ]]bound by {resource}", unsure=not option.bottleneck_sure, resource=resource)


def machine_and_cost(option: GpuOption, terms: Terms) -> str:
    """`aws g4dn.xlarge (4 vCPUs), $0.526 an hour, $1.32 ($0.731 to $2.40) a million images`; no price is said, too."""
    vcpus = "" if option.vcpus is None else vcpus_in_words(option.vcpus)
    if option.usd_per_hour is None:
        return row([vcpus, _("price unknown")])
    rate, units = option.throughput, several_of(terms.unit)
    parts = [
        _("{option.provider} {option.instance_type}[[ ({vcpus})]]", option=option, vcpus=vcpus),
        _("{price} an hour", price=format_usd(option.usd_per_hour)),
    ]
    if rate is not None and option.usd_per_million_samples is not None:
        price = interval(_by_rate(option.usd_per_million_samples, rate), format_usd)
        parts.append(_("{price} a million {units}", price=price, units=units))
    if rate is not None and option.usd_per_million_samples_spot is not None:
        price = interval(_by_rate(option.usd_per_million_samples_spot, rate), format_usd)
        parts.append(_("{price} a million {units} at spot prices", price=price, units=units))
    if rate is not None and option.seconds is not None and option.usd is not None:
        time, price = (interval(option.seconds, format_seconds), interval(_by_rate(option.usd, rate), format_usd))
        parts.append(_("the whole job {time} and {price}", time=time, price=price))
    return row(parts)


def _own_rate(found: PublishedRate, option: GpuOption, terms: Terms) -> str:
    """Where its own rate comes from, and what the input side gives beside it."""
    feeds = "" if option.input_rate is None else rate_interval(option.input_rate, terms.unit)
    own = published_rate(found, terms)
    if not feeds:
        return own
    return _(
        "{own} The input side, as measured here, feeds {rate} there[[beyond? (extrapolated)]].",
        own=own,
        rate=feeds,
        beyond=option.extrapolated,
    )


_PUBLISHED: Mapping[str, str] = {
    "transferred": N_("One of it, transferred from {known_on:and}: {rate} with {settings} ({source})."),
    "interpolated": N_("One of it, between published batch sizes: {rate} with {settings} ({source})."),
    "extrapolated": N_("One of it, beyond the published batch sizes: {rate} with {settings} ({source})."),
    "published": N_("One of it, published: {rate} with {settings} ({source})."),
}


def published_rate(found: PublishedRate, terms: Terms) -> str:
    """`Published: 111 images/s (61–200) for one, TensorFlow, fp32, batch 32 (PROFET measurements, 2021).`."""
    batch = "" if found.batch_size is None else _("batch {size}", size=found.batch_size)
    return _(
        _PUBLISHED.get(found.basis or "", _PUBLISHED["published"]),
        rate=rate_interval(found.rate, terms.unit),
        settings=row([found.framework or "", found.precision or "", batch]),
        source=row([*found.sources, found.as_of]),
        known_on=found.known_on,
    )


_GPU_MEMORY: Mapping[str, str] = {
    "enough": N_(
        "It has {gpu_memory_bytes:bytes} of memory, [[fits?and ]][[!fits?where ]]{needs_at_most_bytes:bytes} are "
        "known to be enough[[!fits?: less may be too little]]."
    ),
    "cpu": N_(
        "It has {gpu_memory_bytes:bytes} of memory; the job needed {on_cpu_bytes:bytes} on the CPU, and a GPU needs "
        "workspace beyond that."
    ),
    "unknown": N_("It has {gpu_memory_bytes:bytes} of memory; what the job needs is not known."),
}


def _gpu_memory(option: GpuOption) -> str:
    if option.gpu_memory_bytes is None:
        return ""
    on_cpu = "unknown" if option.on_cpu_bytes is None else "cpu"
    return _(_GPU_MEMORY[on_cpu if option.needs_at_most_bytes is None else "enough"], **vars(option))


def _second(second: SecondGpu, one: GpuOption, terms: Terms) -> str:
    """What a second one gives, and whether it is worth its price."""
    gain, rate = second.gain, one.throughput or Estimate(1.0, 1.0, 1.0)
    if second.worth is None:
        return _("Two: {gain} times the rate of one; no machine with two is priced.", gain=figure_interval(gain))
    both = Estimate(rate.value * gain.value, rate.low * gain.low, rate.high * gain.high)
    verdict = "open" if not second.worth_sure else "worth" if second.worth else "dear"
    return _(
        _WORTH[verdict],
        gain=figure_interval(gain),
        machine=second.instance_type,
        price=interval(_by_rate(second.usd_per_million_samples or 0.0, both), format_usd),
        units=several_of(terms.unit),
    )


_WORTH: Mapping[str, str] = {
    "open": N_(
        "Whether two ({machine}) are worth it is open: {gain} times the rate of one, {price} a million {units}."
    ),
    "worth": N_("Two ({machine}) are worth it: {gain} times the rate of one, {price} a million {units}."),
    "dear": N_("Two ({machine}) cost more: {gain} times the rate of one, {price} a million {units}."),
}


def _no_second(option: GpuOption) -> str:
    """Why nothing is said of a second one; empty where none is asked about."""
    if option.second_missing is None:
        return ""
    input_unknown = option.second_missing is NoGpuAnswer.INPUT_NOT_KNOWN and option.second_vcpus is not None
    why = _(_MISSING[NoGpuAnswer.INPUT_NOT_KNOWN if input_unknown else NoGpuAnswer.NO_MODEL], vcpus=option.second_vcpus)
    return _("What two would do is not known: {why}.", why=why)


def _against_cpu(ratios: AgainstCpu, option: GpuOption) -> str:
    """Time and cost of the work over those on the CPU, as far off as the GPU's rate is."""
    rate = option.throughput or Estimate(1.0, 1.0, 1.0)
    time, cost, spot = (
        "" if ratio is None else interval(_by_rate(ratio, rate), percent)
        for ratio in (ratios.time_ratio, ratios.cost_ratio, ratios.cost_ratio_spot)
    )
    if not cost:
        return _("It takes {time} of the time on the CPU; what it costs cannot be compared without a price.", time=time)
    return _(
        "It takes {time} of the time on the CPU and {cost} of the cost on demand[[, {spot} at spot prices]][[!spot?; "
        "spot prices are not known]].",
        time=time,
        cost=cost,
        spot=spot,
    )


# Several accelerators: what one more buys, where they are fed, and jobs side by side.
BUYS = 1.1
"""From this speed-up on one more accelerator is worth a thought: a tenth is about what hosts of a kind differ by."""
OPEN = 1.25
"""An interval that reaches this speed-up does not say that one more accelerator buys little."""
FED = 0.95
"""Of the ceiling, from where accelerators count as fed: an interval that reaches it leaves open whether they are."""


def accelerator_counts_lines(answer: Answer, terms: Terms) -> list[str]:
    """One line for each number of accelerators, then what follows from them; none where one number was asked for."""
    lines = [_count_line(each, terms) for each in answer.accelerator_counts]
    return [*lines, *accelerator_counts_sentences(answer, terms)]


def accelerator_counts_sentences(answer: Answer, terms: Terms) -> list[str]:
    """What one more buys, where each number is fed, whether jobs side by side make more, what is only stated, and why
    numbers that were asked for are missing."""
    sentences = []
    for alike in _kinds(answer.accelerator_counts):
        one, other, most = alike[0], alike[1], alike[-1]
        fed = [(count_name(each, terms), fed_in_words(each)) for each in alike]
        sentences += [_buys(one, other, terms), sentence(clauses(f"{name} {text}" for name, text in fed if text))]
        if most.side_by_side is not None:
            sentences.append(_side_by_side(most, most.side_by_side, terms))
        sentences.append(_stated(most, terms))
    missing = [each for each in answer.accelerator_counts_missing if not _is_said(each, answer)]
    return [*filter(None, sentences), *(refusal_sentences(each, terms) for each in missing)]


def _is_said(missing: Refusal, answer: Answer) -> bool:
    """Whether it is why there is no answer at all."""
    return answer.status == "refused" and missing.reason in answer.reasons


def count_name(each: AcceleratorCount, terms: Terms) -> str:
    """`2 x emulated V100`."""
    return accelerators_name(each.gpu, each.count, terms.device)


def speed_up_in_words(each: AcceleratorCount) -> str:
    """`1.9 (1.85 to 1.95)`."""
    return interval(each.speed_up, lambda value: f"{value:.2f}")


def efficiency_in_words(each: AcceleratorCount) -> str:
    """`95 % (92 % to 98 %)`."""
    return interval(each.efficiency, percent)


def fed_in_words(each: AcceleratorCount) -> str:
    """`fed from 2 vCPUs`, `not fed by 2 vCPUs (asks for 2.9 to 3.1 vCPUs)`; empty where no accounting shows it."""
    if each.ceiling is None:
        return ""
    if each.fed_vcpus is not None:
        return _("fed from {vcpus:vcpus}", vcpus=each.fed_vcpus)
    if each.vcpus is not None and each.throughput.high >= FED * each.ceiling:
        return _("perhaps fed by {vcpus:vcpus}", vcpus=each.vcpus)
    asked, missing = each.asked_vcpus, ""
    if each.vcpus is not None and asked is not None and round(asked.high, 1) > each.vcpus:
        missing = from_to(*(format_number(round(value, 1)) for value in (asked.low, asked.high)))
    return _("not fed[[ by {vcpus:vcpus}]][[ (asks for {range} vCPUs)]]", vcpus=each.vcpus, range=missing)


def disk_asked(each: AcceleratorCount) -> str:
    """`41.5 MB/s, 280 IOPS`; empty where a sample reads nothing, or it is not known what."""
    return row(
        [transfer(each.read_bytes) if each.read_bytes else "", operations(each.read_ios) if each.read_ios else ""]
    )


def side_by_side_in_words(each: AcceleratorCount, terms: Terms) -> str:
    """`1,490 images/s ±2.0 %`, with a mark of its own where it is extrapolated; empty for one."""
    if each.side_by_side is None:
        return ""
    value = " ".join(answered_rate(each.side_by_side, terms.unit))
    return _("{value}[[beyond?, extrapolated]]", value=value, beyond=each.extrapolated)


def _kinds(counts: Sequence[AcceleratorCount]) -> list[list[AcceleratorCount]]:
    """Those of one kind together, the fewest first, where several remain."""
    kinds = dict.fromkeys(each.gpu for each in counts)
    alike = [[each for each in counts if each.gpu == kind] for kind in kinds]
    return [each for each in alike if len(each) > 1]


def _count_line(each: AcceleratorCount, terms: Terms) -> str:
    faster = each.speed_up.value != 1
    return _(
        "{machine}: {rate}[[; {speed_up} times as fast; efficiency {share:share}]][[; asks the disk for {disk}]]",
        machine=count_name(each, terms),
        rate=" ".join(answered_rate(each.throughput, terms.unit)),
        speed_up=speed_up_in_words(each) if faster else "",
        share=each.efficiency.value,
        disk=disk_asked(each),
    )


def _buys(one: AcceleratorCount, other: AcceleratorCount, terms: Terms) -> str:
    """What the next number of accelerators buys, with all else as much as was measured."""
    buys = other.speed_up.low >= BUYS
    little = other.speed_up.value < BUYS and other.speed_up.high < OPEN
    verdict = _(
        N_("{count:g} accelerators make {speed_up} times as much as {fewer:g}.")
        if buys
        else N_("{count:g} accelerators make hardly more than {fewer:g}: {speed_up} times as much.")
        if little
        else N_("Whether {count:g} accelerators pay is open: {speed_up} times as much as {fewer:g}."),
        count=other.count,
        fewer=one.count,
        speed_up=speed_up_in_words(other),
    )
    if other.bottleneck in (Bottleneck.ACCELERATOR, Bottleneck.AMBIGUOUS) or one.vcpus is None:
        return verdict
    bound = bound_in_words(other.bottleneck, terms.device)
    return paragraph([verdict, _("With {vcpus:vcpus} it is then {bound}.", vcpus=one.vcpus, bound=bound)])


def _side_by_side(most: AcceleratorCount, jobs: Estimate, terms: Terms) -> str:
    return _(
        N_(
            "{count:g} jobs side by side, one accelerator each with its share of all else, make more together than "
            "one job on all: {jobs} against {together}.[[beyond? The share of one job is outside what was measured.]]"
        )
        if jobs.low > most.throughput.high
        else N_(
            "One job on all {count:g} accelerators makes more than {count:g} jobs side by side, each with its share "
            "of all else: {together} against {jobs}.[[beyond? The share of one job is outside what was measured.]]"
        )
        if jobs.high < most.throughput.low
        else N_(
            "Between one job on all {count:g} accelerators and {count:g} jobs side by side, each with its share of "
            "all else, there is no clear difference: {together} against {jobs}.[[beyond? The share of one job is "
            "outside what was measured.]]"
        ),
        count=most.count,
        jobs=" ".join(answered_rate(jobs, terms.unit)),
        together=" ".join(answered_rate(most.throughput, terms.unit)),
        beyond=most.extrapolated,
    )


def _stated(most: AcceleratorCount, terms: Terms) -> str:
    """That what emulated accelerators lose to each other is not measured; empty of real ones."""
    speed_up, source = terms.device.speed_up(most.count), terms.device.scaling_source
    if terms.device.kind != "emulated" or speed_up is None or source is None:
        return ""
    return _(
        "What they lose to each other [[study?is stated in the study file]][[table?was given in the imported table "
        "and not measured here]][[source?is published and not measured]]: {accelerators} make {efficiency:tenths} of "
        "as many alone[[ ({source})]].",
        study=source == GIVEN_IN_STUDY,
        table=source == GIVEN_IN_TABLE,
        source="" if source in (GIVEN_IN_STUDY, GIVEN_IN_TABLE) else source,
        accelerators=count_name(most, terms),
        efficiency=speed_up / most.count,
    )


def accelerator_counts_note(counts: Sequence[AcceleratorCount]) -> str:
    """Under the table of them: where they are compared, and what those of its columns mean that it has."""
    return _(
        "[[All with {vcpus:vcpus}, the most measured. ]]Each accelerator has a batch of its own. Intervals are those "
        "of new runs (90 %).[[fed? Fed: they make 95 % of what they would alone.]][[disk? The disk is asked for what "
        "they use when they are fed.]]",
        vcpus=counts[0].vcpus,
        fed=any(map(fed_in_words, counts)),
        disk=any(map(disk_asked, counts)),
    )


# Batch sizes: which one, what a step takes by it, and the largest that fits.
batch_question = Sentence("Which batch size?")
"""What the chart of batch sizes answers."""


def batch_sentences(advice: BatchAdvice, terms: Terms, curve: BatchCurve | None = None) -> list[str]:
    """Which batch size and what a step takes, by the first curve or the one given, then the largest that fits."""
    shown = curve or (advice.curves[0] if advice.curves else None)
    sentences = []
    if shown is not None:
        enough = (
            _("It is known to run in {size:bytes} of memory.", size=advice.memory_bytes) if advice.memory_bytes else ""
        )
        sentences += [_which_batch(shown, terms, advice), enough, _step_line(shown, terms)]
        sentences += [_beyond(shown, advice.largest)] if shown.rising else []
        sentences += [_not_measured(terms)] if shown.emulated else []
    if advice.largest is not None:
        sentences.append(largest_batch_sentence(advice.largest))
    return [*filter(None, sentences)]


def batch_point(point: BatchPoint, unit: str) -> str:
    """`batch 64: 3.1 ms an image, 200 ms a step, 320 images/s, 2 runs`."""
    return _(
        "batch {size}: {cost}, {step:brief} a step, {rate}, {runs:runs}",
        size=point.batch_size,
        cost=a_sample(brief(point.seconds_per_sample), unit),
        step=point.step_seconds,
        rate=rate_in_words(point.throughput.value, unit),
        runs=point.runs,
    )


def _which_batch(curve: BatchCurve, terms: Terms, advice: BatchAdvice) -> str:
    """`A batch of 64 is the smallest within 5 % of the best rate (219 images/s at 128).`"""
    if advice.batch_size is not None and advice.batch_size < curve.enough:
        return _("A batch of {size} is the largest measured that is known to fit.", size=advice.batch_size)
    best = next(point for point in curve.points if point.batch_size == curve.best)
    smallest = min(point.batch_size for point in curve.points)
    values = {
        "size": curve.enough,
        "best": curve.best,
        "rate": rate_in_words(best.throughput.value, terms.unit),
        "others": curve.open,
        "least": curve.enough == smallest and not curve.open,
        "alone": curve.enough != smallest and not curve.open,
        "unsure": not curve.sure and not curve.open,
    }
    if curve.enough == curve.best:
        return _(
            "A batch of {size}[[least?, the smallest measured,]] gave the best rate ({rate})[[alone?, and no smaller "
            "one is within 5 % of it]][[; the runs leave open whether {others:and} would be within 5 % of it]].",
            **values,
        )
    return _(
        "A batch of {size} is [[unsure?most likely ]]the smallest measured within 5 % of the best rate ({rate} at "
        "{best})[[; the runs leave open whether {others:and} would be, too]][[unsure?; the runs leave it open]].",
        **values,
    )


def _step_line(curve: BatchCurve, terms: Terms) -> str:
    """What a step takes; empty where rates are relative, which have no time."""
    if terms.unit == RELATIVE:
        return ""
    if curve.launch is None or curve.slope is None:
        return _(
            "The time of a step is not a fixed part and one for each of its samples: no line fits what was measured."
        )
    launch, slope = (
        interval(each, brief) if each.has_interval else brief(each.value) for each in (curve.launch, curve.slope)
    )
    exact = not curve.launch.has_interval
    return _(
        "A step takes {launch} whatever its batch, and {slope}[[exact?; how far these may be off is not "
        "known]][[two?, by two batch sizes alone]].",
        launch=launch,
        slope=a_sample(slope, terms.unit),
        exact=exact,
        two=curve.fit is StepFit.UNTESTED and not exact,
    )


def _not_measured(terms: Terms) -> str:
    """What an emulated accelerator's curve does and does not show."""
    device, name = terms.device, accelerator_name(terms.device)
    if not device.batch_rates:
        return _(
            "The {accelerator} was emulated with one rate for all batch sizes, so this does not show what it gains by "
            "a larger batch.",
            accelerator=name,
        )
    sources = dict.fromkeys(each.source for each in device.batch_rates)
    given = GIVEN_IN_TABLE in sources or GIVEN_IN_STUDY in sources
    text = _(
        "What the {accelerator} takes for each batch size [[table?was given in the imported table and not measured "
        "here]][[study?was given in the study file and not measured here]][[follows from published rates and was not "
        "measured here: {sources}]].",
        accelerator=name,
        table=GIVEN_IN_TABLE in sources,
        study=GIVEN_IN_STUDY in sources and GIVEN_IN_TABLE not in sources,
        sources="" if given else "; ".join(sources),
    )
    beyond = [] if given else [each for each in device.batch_rates if each.basis == "extrapolated"]
    return paragraph([text, *(_extrapolated(each, terms) for each in beyond)])


def _extrapolated(rate: BatchRate, terms: Terms) -> str:
    """No rate was published of so large, or so small, a batch."""
    text = rate_in_words(rate.samples_per_second, terms.unit)
    if rate.low is not None and rate.high is not None:
        text = with_interval(text, format_number(rate.low), format_number(rate.high))
    return _("At a batch of {size} it is extrapolated: {rate}.", size=rate.batch_size, rate=text)


def _beyond(curve: BatchCurve, largest: LargestBatch | None) -> str:
    too_large = largest.too_large if largest is not None else None
    return _(
        "By that, a larger batch would give more still: within 5 % of the most from {size} on, which [[fits?is "
        "extrapolated]][[!fits?does not fit]].",
        size=curve.beyond,
        fits=too_large is None or (curve.beyond or 0) < too_large,
    )

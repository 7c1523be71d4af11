"""What accelerators and batches make of a job: a GPU that was asked about, several of them, and the batch size."""

from __future__ import annotations

import math
from collections.abc import Sequence

from sizer.records import answer as records
from sizer.records.answer import AcceleratorCount, Answer, BatchAdvice, BatchCurve, BatchPoint, GpuOption, NoGpuAnswer
from sizer.records.device import GIVEN_IN_STUDY, GIVEN_IN_TABLE, Device
from sizer.records.prediction import Bottleneck, Estimate
from sizer.records.run_kinds import LargestBatch
from sizer.records.units import RELATIVE, format_number
from sizer.words import language, names
from sizer.words.language import N_, Sentence, Templates, _, paragraph, row, sentence
from sizer.words.names import Terms, accelerators_name
from sizer.words.reasons.phrasing import reason_sentence, refusal_sentences

# A GPU that was asked about.
_MISSING: Templates[NoGpuAnswer, str] = {
    NoGpuAnswer.NO_RATE: "no published rate [[published_on?says how fast it is; of this network there "
    "are rates on {published_on:and}]][[!published_on?of this network is known on any GPU]]; one run "
    "of [[{network}]][[!network?it]] there[[ at a batch of {batch_size}]] would give it, as a row of a "
    "file for `--catalog`",
    NoGpuAnswer.NO_NETWORK: "published rates are of networks by name, and this job has none of them; "
    "one run of it there would show its rate",
    NoGpuAnswer.STEP_NOT_SEPARATE: "what the input costs the CPU was not measured apart from the step; "
    "write `isolate: true` in the workload",
    NoGpuAnswer.INPUT_NOT_KNOWN: "how fast the input side is [[with {vcpus:vcpus} ]]there is not known; "
    "a run [[with as many ]][[!vcpus?without a limit of vCPUs ]]would show it",
    NoGpuAnswer.NO_MODEL: "the runs do not say how fast the input side is there",
}
_PUBLISHED: Templates[str, str] = {
    "transferred": "One of it, transferred from {own.known_on:and}: {own.rate:rate/unit} with {settings} ({source}).",
    "interpolated": "One of it, between published batch sizes: {own.rate:rate/unit} with {settings} ({source}).",
    "extrapolated": "One of it, beyond the published batch sizes: {own.rate:rate/unit} with {settings} ({source}).",
    "published": "One of it, published: {own.rate:rate/unit} with {settings} ({source}).",
}
_FEEDS = N_(
    "[[fed?The input side, as measured here]][[one.transferred? and moved to its CPU]][[, feeds "
    "{one.input_rate:rate/unit} there]][[beyond? (extrapolated)]][[fed?.]]"
)
_GPU_MEMORY = N_(
    "[[It has {one.gpu_memory_bytes:bytes} of memory]][[one.fits?, and]][[tight?, where]][[enough? "
    "{one.needs_at_most_bytes:bytes} are known to be enough]][[tight?: less may be too "
    "little]][[cpu?; the job needed {one.on_cpu_bytes:bytes} on the CPU, and a GPU needs workspace "
    "beyond that]][[unknown?; what the job needs is not known]][[one.gpu_memory_bytes?.]]"
)
_TWO = N_(
    "Two[[ ({two.instance_type})]]: {gain} times the rate of one[[, {price:usd} a million "
    "{unit:units}]][[!price?; no machine with two is priced]][[worth?: they are worth it]][[dear?: "
    "they cost more]][[open?: whether they are worth it is open]]."
)
_AGAINST_CPU = N_(
    "It takes {time:share} of the time on the CPU[[ and {cost:share} of the cost on demand]][[!cost?; "
    "what it costs cannot be compared without a price]][[, {spot:share} at spot prices]]."
)


def gpu_option_lines(option: GpuOption, terms: Terms) -> list[str]:
    """The headline, then what is known behind it."""
    rate, ratios = option.throughput or Estimate(1.0, 1.0, 1.0), option.against_cpu
    fed = _(
        _FEEDS, one=option, unit=terms.unit, beyond=option.input_rate and option.extrapolated, fed=option.input_rate
    )
    lines = (
        "" if option.retired is None else reason_sentence(option.retired, terms),
        "" if option.accelerator is None else paragraph([_published_rate(option.accelerator, terms), fed]),
        _gpu_memory(option),
        _second(option, rate, terms),
        ""
        if ratios is None
        else _(
            _AGAINST_CPU,
            time=_by_rate(ratios.time_ratio, rate),
            cost=_by_rate(ratios.cost_ratio, rate),
            spot=_by_rate(ratios.cost_ratio_spot, rate),
        ),
    )
    return [_gpu_headline(option, terms), *filter(None, lines)]


_LEAST = Sentence(
    "{gpu} does the work for least, {price:usd} a million {unit:units}[[; by the intervals {others:and} may, too]]."
)
_FASTEST = Sentence("{gpu} is the fastest, {rate:rate/unit}[[; by the intervals {others:and} may be, too]].")


def gpus_compared(options: Sequence[GpuOption], terms: Terms) -> list[str]:
    """Which does the work for least and which is the fastest, each with those that may be instead by their intervals.

    Empty where fewer than two have an answer; of cost only what has a price. What nobody can rent is not compared.
    """
    rates = {
        gpus_named(option): option.throughput for option in options if option.throughput and option.retired is None
    }
    prices = {gpus_named(option): option.usd_per_million_samples for option in options}
    costs = {name: cost for name, rate in rates.items() if (cost := _by_rate(prices[name], rate)) is not None}
    sentences = []
    if len(costs) > 1:
        least, cost = min(costs.items(), key=lambda item: item[1].value)
        others = [name for name, other in costs.items() if name != least and other.low <= cost.high]
        sentences.append(_LEAST(gpu=least, price=cost.value, unit=terms.unit, others=others))
    if len(rates) > 1:
        best, rate = max(rates.items(), key=lambda item: item[1].value)
        others = [name for name, other in rates.items() if name != best and other.high >= rate.low]
        sentences.append(_FASTEST(gpu=best, rate=rate, unit=terms.unit, others=others))
    return sentences


def _by_rate(value: float | None, rate: Estimate) -> Estimate | None:
    """What falls as a rate rises, such as a price of the work, with the interval that the rate's makes of it."""
    if value is None:
        return None
    return Estimate(value, value * rate.value / rate.high, value * rate.value / rate.low if rate.low > 0 else math.inf)


def no_gpu_answer(option: GpuOption) -> str:
    """`no answer: no published rate of this network is known on any GPU`."""
    return _("no answer: {why}", why=_(_MISSING[option.missing or NoGpuAnswer.NO_MODEL], **vars(option)))


def _gpu_headline(option: GpuOption, terms: Terms) -> str:
    """`T4: 111 images/s (61–200), bound by the GPU; aws g4dn.xlarge, $0.526 an hour, $1.32 ($0.731 to $2.40) a million
    images`."""
    if option.missing is not None or option.throughput is None:
        return _("{gpu}: {answer}", gpu=option.gpu, answer=no_gpu_answer(option))
    return _(
        "{gpu}: {option.throughput:rate/unit}, {bound}; {machine}",
        gpu=gpus_named(option),
        option=option,
        unit=terms.unit,
        bound=bound_there(option),
        machine=machine_and_cost(option, terms),
    )


def gpus_named(option: GpuOption) -> str:
    """`T4`, `8 x H200`."""
    return option.gpu if option.gpu_count == 1 else f"{option.gpu_count} x {option.gpu}"


def bound_there(option: GpuOption) -> str:
    """`bound by the GPU`, `perhaps bound by the CPU`: of the machine with this GPU."""
    if option.bottleneck in (None, Bottleneck.AMBIGUOUS):
        return _("with no clear bottleneck")
    gpu = option.bottleneck is Bottleneck.ACCELERATOR
    resource = _("the GPU") if gpu else names.resource_name(option.bottleneck, Device())
    return _("[[unsure?probably ]]bound by {resource}", unsure=not option.bottleneck_sure, resource=resource)


def machine_and_cost(option: GpuOption, terms: Terms) -> str:
    """`aws g4dn.xlarge (4 vCPUs), $0.526 an hour, $1.32 ($0.731 to $2.40) a million images`; no price is said, too."""
    rate = option.throughput or Estimate(1.0, 1.0, 1.0)
    if option.usd_per_hour is None:
        return row([_("[[{option.vcpus:vcpus}]]", option=option), _("price unknown")])
    return _(
        "{option.provider} {option.instance_type}[[ ({option.vcpus:vcpus})]], {option.usd_per_hour:usd} "
        "an hour[[, {million:usd} a million {unit:units}]][[, {spot:usd} at spot prices]][[, the whole "
        "job {option.seconds:time} and {usd:usd}]]",
        option=option,
        unit=terms.unit,
        million=_by_rate(option.usd_per_million_samples, rate),
        spot=_by_rate(option.usd_per_million_samples_spot, rate),
        usd=_by_rate(option.usd, rate),
    )


def _published_rate(own: records.PublishedRate, terms: Terms) -> str:
    """`Published: 111 images/s (61–200) for one, TensorFlow, fp32, batch 32 (PROFET measurements, 2021).`."""
    batch = "" if own.batch_size is None else names.batch_named(own.batch_size)
    return _(
        _PUBLISHED.get(own.basis or "", _PUBLISHED["published"]),
        own=own,
        unit=terms.unit,
        settings=row([own.framework or "", own.precision or "", batch]),
        source=row([*own.sources, own.as_of]),
    )


def _gpu_memory(option: GpuOption) -> str:
    has, enough = bool(option.gpu_memory_bytes), bool(option.needs_at_most_bytes)
    return _(
        _GPU_MEMORY,
        one=option,
        enough=has and enough,
        tight=has and enough and not option.fits,
        cpu=has and not enough and option.on_cpu_bytes,
        unknown=has and not enough and not option.on_cpu_bytes,
    )


def _second(option: GpuOption, rate: Estimate, terms: Terms) -> str:
    """What a second one gives and whether it is worth its price, or why that is not known; empty where none is asked
    about."""
    two, missing = option.second, option.second_missing
    if two is None:
        by_input = missing is NoGpuAnswer.INPUT_NOT_KNOWN and option.second_vcpus is not None
        why = _MISSING[NoGpuAnswer.INPUT_NOT_KNOWN if by_input else NoGpuAnswer.NO_MODEL]
        unknown = _("What two would do is not known: {why}.", why=_(why, vcpus=option.second_vcpus))
        return "" if missing is None else unknown
    gain, priced = two.gain, two.worth is not None
    both = Estimate(rate.value * gain.value, rate.low * gain.low, rate.high * gain.high)
    return _(
        _TWO,
        two=two,
        gain=language.figure_interval(gain),
        price=_by_rate(two.usd_per_million_samples or 0.0, both) if priced else None,
        unit=terms.unit,
        worth=priced and two.worth_sure and two.worth,
        dear=priced and two.worth_sure and not two.worth,
        open=priced and not two.worth_sure,
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
    lines = [
        _(
            "{machine}: {count.throughput:answered/unit}[[faster?; {count.speed_up:times_over} times as fast; "
            "efficiency {share:share}]][[; asks the disk for {disk}]]",
            machine=count_name(count, terms),
            count=count,
            unit=terms.unit,
            faster=count.speed_up.value != 1,
            share=count.efficiency.value,
            disk=disk_asked(count),
        )
        for count in answer.accelerator_counts
    ]
    return [*lines, *accelerator_counts_sentences(answer, terms)]


def accelerator_counts_sentences(answer: Answer, terms: Terms) -> list[str]:
    """What one more buys, where each number is fed, whether jobs side by side make more, what is only stated, and why
    numbers that were asked for are missing."""
    sentences = []
    for alike in _kinds(answer.accelerator_counts):
        fed = ((count_name(count, terms), fed_in_words(count)) for count in alike)
        sentences += [
            _buys(alike[0], alike[1], terms),
            sentence(language.clauses(f"{name} {text}" for name, text in fed if text)),
            _side_by_side(alike[-1], terms),
            _stated(alike[-1], terms),
        ]
    refused = answer.reasons if answer.status == "refused" else ()
    missing = [refusal for refusal in answer.accelerator_counts_missing if refusal.reason not in refused]
    return [*filter(None, sentences), *(refusal_sentences(refusal, terms) for refusal in missing)]


def count_name(count: AcceleratorCount, terms: Terms) -> str:
    """`2 x emulated V100`."""
    return accelerators_name(count.gpu, count.count, terms.device)


def fed_in_words(count: AcceleratorCount) -> str:
    """`fed from 2 vCPUs`, `not fed by 2 vCPUs (asks for 2.9 to 3.1 vCPUs)`; empty where no accounting shows it."""
    if count.ceiling is None:
        return ""
    if count.fed_vcpus is not None:
        return _("fed from {vcpus:vcpus}", vcpus=count.fed_vcpus)
    if count.vcpus is not None and count.throughput.high >= FED * count.ceiling:
        return _("perhaps fed by {vcpus:vcpus}", vcpus=count.vcpus)
    asked, missing = count.asked_vcpus, ""
    if count.vcpus is not None and asked is not None and round(asked.high, 1) > count.vcpus:
        missing = language.from_to(*(format_number(round(value, 1)) for value in (asked.low, asked.high)))
    return _("not fed[[ by {vcpus:vcpus}]][[ (asks for {range} vCPUs)]]", vcpus=count.vcpus, range=missing)


def disk_asked(count: AcceleratorCount) -> str:
    """`41.5 MB/s, 280 IOPS`; empty where a sample reads nothing, or it is not known what."""
    return names.rate_pair(count.read_bytes or None, count.read_ios or None)


def side_by_side_in_words(count: AcceleratorCount, terms: Terms) -> str:
    """`1,490 images/s ±2.0 %`, with a mark of its own where it is extrapolated; empty for one."""
    jobs = count.side_by_side
    return _("[[{jobs:answered/unit}]][[beyond?, extrapolated]]", jobs=jobs, unit=terms.unit,
             beyond=jobs and count.extrapolated)  # fmt: skip


def _kinds(counts: Sequence[AcceleratorCount]) -> list[list[AcceleratorCount]]:
    """Those of one kind together, the fewest first, where several remain."""
    kinds = dict.fromkeys(count.gpu for count in counts)
    alike = [[count for count in counts if count.gpu == kind] for kind in kinds]
    return [counts_alike for counts_alike in alike if len(counts_alike) > 1]


def _buys(one: AcceleratorCount, other: AcceleratorCount, terms: Terms) -> str:
    """What the next number of accelerators buys, with all else as much as was measured."""
    little = other.speed_up.value < BUYS and other.speed_up.high < OPEN
    return _(
        "{other.count:g} accelerators make {other.speed_up:times_over} times as much as "
        "{one.count:g}[[little?: hardly more]][[open?: whether they pay is open]].[[bound? With "
        "{one.vcpus:vcpus} it is then {other.bottleneck:bound/terms.device}.]]",
        one=one,
        other=other,
        terms=terms,
        little=little,
        open=other.speed_up.low < BUYS and not little,
        bound=other.bottleneck not in (Bottleneck.ACCELERATOR, Bottleneck.AMBIGUOUS) and one.vcpus is not None,
    )


def _side_by_side(most: AcceleratorCount, terms: Terms) -> str:
    jobs = most.side_by_side
    if jobs is None:
        return ""
    return _(
        "{most.count:g} jobs side by side, one accelerator each with its share of all else, make "
        "{jobs:answered/unit}, one job on all {most.throughput:answered/unit}[[unclear?: no clear "
        "difference]].[[most.extrapolated? The share of one job is outside what was measured.]]",
        most=most,
        jobs=jobs,
        unit=terms.unit,
        unclear=jobs.low <= most.throughput.high and jobs.high >= most.throughput.low,
    )


def _stated(most: AcceleratorCount, terms: Terms) -> str:
    """That what emulated accelerators lose to each other is not measured; empty of real ones."""
    speed_up, source = terms.device.speed_up(most.count), terms.device.scaling_source
    if terms.device.kind != "emulated" or speed_up is None or source is None:
        return ""
    return _(
        "What they lose to each other is {source}, and was not measured here: {accelerators} make "
        "{efficiency:tenths} of as many alone.",
        source=names.rate_source(source),
        accelerators=count_name(most, terms),
        efficiency=speed_up / most.count,
    )


def accelerator_counts_note(counts: Sequence[AcceleratorCount]) -> str:
    """Under the table of them: where they are compared, and what those of its columns mean that it has."""
    return _(
        "[[All with {vcpus:vcpus}, the most measured. ]]Each accelerator has a batch of its own. "
        "Intervals are those of new runs (90 %).[[fed? Fed: they make 95 % of what they would "
        "alone.]][[disk? The disk is asked for what they use when they are fed.]]",
        vcpus=counts[0].vcpus,
        fed=any(map(fed_in_words, counts)),
        disk=any(map(disk_asked, counts)),
    )


# Batch sizes: which one, what a step takes by it, and the largest that fits.
batch_question = Sentence("Which batch size?")
"""What the chart of batch sizes answers."""


def batch_sentences(advice: BatchAdvice, terms: Terms, curve: BatchCurve | None = None) -> list[str]:
    """Which batch size and what a step takes, by the first curve or the one given, then the largest that fits."""
    shown, largest = curve or next(iter(advice.curves), None), advice.largest
    of_curve: list[str] = []
    if shown is not None:
        beyond = _(
            "[[By that, a larger batch would give more still: within 5 % of the most from {size} on, which is "
            "]][[fits?extrapolated.]][[large?too large.]]",
            size=shown.beyond if shown.rising else None,
            fits=shown.rising and not _is_too_large(shown.beyond, largest),
            large=shown.rising and _is_too_large(shown.beyond, largest),
        )
        of_curve = [
            _which_batch(shown, terms, advice),
            _("[[It is known to run in {size:bytes} of memory.]]", size=advice.memory_bytes),
            _step_line(shown, terms),
            beyond,
            _not_measured(terms) if shown.emulated else "",
        ]
    return [*filter(None, of_curve), *([sentence(names.largest_in_words(largest))] if largest is not None else [])]


def _is_too_large(size: int | None, largest: LargestBatch | None) -> bool:
    return largest is not None and largest.too_large is not None and (size or 0) >= largest.too_large


def batch_point(point: BatchPoint, unit: str) -> str:
    """`batch 64: 3.1 ms an image, 200 ms a step, 320 images/s, 2 runs`."""
    return _(
        "batch {point.batch_size}: {point.seconds_per_sample:each/unit}, {point.step_seconds:brief} a "
        "step, {rate:rate/unit}, {point.runs:runs}",
        point=point,
        rate=point.throughput.value,
        unit=unit,
    )


def _which_batch(curve: BatchCurve, terms: Terms, advice: BatchAdvice) -> str:
    """`A batch of 64 is the smallest within 5 % of the best rate (219 images/s at 128).`"""
    if advice.batch_size is not None and advice.batch_size < curve.enough:
        return _("A batch of {size} is the largest measured that is known to fit.", size=advice.batch_size)
    best = next(point for point in curve.points if point.batch_size == curve.best)
    is_best, alone = curve.enough == curve.best, not curve.open
    return _(
        "A batch of {curve.enough} [[best?gave the best rate]][[!best?is ]][[unsure?most likely "
        "]][[!best?the smallest measured within 5 % of the best rate]] ({rate:rate/unit}[[at? at "
        "{curve.best}]])[[least?; no smaller one was measured]][[alone?; no smaller one is within 5 % of "
        "it]][[; the runs leave open whether {curve.open:and} would be, too]].",
        curve=curve,
        rate=best.throughput.value,
        unit=terms.unit,
        best=is_best,
        at=not is_best,
        unsure=not is_best and alone and not curve.sure,
        least=is_best and alone and curve.enough == min(point.batch_size for point in curve.points),
        alone=is_best and alone and curve.enough != min(point.batch_size for point in curve.points),
    )


def _step_line(curve: BatchCurve, terms: Terms) -> str:
    """What a step takes; empty where rates are relative, which have no time."""
    if terms.unit == RELATIVE:
        return ""
    if curve.launch is None or curve.slope is None:
        return _("No line fits what was measured: the time of a step is no fixed part and one for each of its samples.")
    exact = not curve.launch.has_interval
    launch, slope = (estimate.value if exact else estimate for estimate in (curve.launch, curve.slope))
    return _(
        "A step takes {launch:brief} whatever its batch, and {slope:each/unit}[[exact?; how far these may "
        "be off is not known]][[two?, by two batch sizes alone]].",
        launch=launch,
        slope=slope,
        unit=terms.unit,
        exact=exact,
        two=curve.fit is records.StepFit.UNTESTED and not exact,
    )


def _not_measured(terms: Terms) -> str:
    """What an emulated accelerator's curve does and does not show."""
    rates = terms.device.batch_rates
    if not rates:
        return _(
            "The {accelerator} was emulated with one rate for all batch sizes, so this does not show what it "
            "gains by a larger batch.",
            accelerator=names.accelerator_name(terms.device),
        )
    sources = list(dict.fromkeys(rate.source for rate in rates))
    given = next((source for source in (GIVEN_IN_TABLE, GIVEN_IN_STUDY) if source in sources), None)
    return _(
        "What the {accelerator} takes for each batch size is {source}, and was not measured here.",
        accelerator=names.accelerator_name(terms.device),
        source=names.rate_source(given or "; ".join(sources)),
    )

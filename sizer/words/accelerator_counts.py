"""What several accelerators make of a job: what one more buys, where they are fed, and jobs side by side."""

from __future__ import annotations

from collections.abc import Sequence

from sizer.records.answer import AcceleratorCount, Answer
from sizer.records.configuration import Bottleneck, Estimate
from sizer.records.device import GIVEN_IN_STUDY, GIVEN_IN_TABLE
from sizer.records.prediction import Refusal
from sizer.records.units import format_number
from sizer.words.answers import refusal_sentences
from sizer.words.figures import answered_rate, from_to, operations, paragraph, sentence, transfer, with_interval
from sizer.words.language import _
from sizer.words.names import Terms, accelerators_name, bound_in_words, clauses, row
from sizer.words.units import percent, vcpus_in_words

BUYS = 1.1
"""From this speed-up on one more accelerator is worth a thought: a tenth is about what hosts of a kind differ by."""
OPEN = 1.25
"""An interval that reaches this speed-up does not say that one more accelerator buys little."""
FED = 0.95
"""Of the ceiling, from where accelerators count as fed: an interval that reaches it leaves open whether they are."""


def accelerator_counts_lines(answer: Answer, terms: Terms) -> list[str]:
    """One line for each number of accelerators, then what follows from them; none where one number was asked for."""
    return [*(_line(each, terms) for each in answer.accelerator_counts), *accelerator_counts_sentences(answer, terms)]


def accelerator_counts_sentences(answer: Answer, terms: Terms) -> list[str]:
    """What one more buys, where each number is fed, whether jobs side by side make more, what is only stated, and why
    numbers that were asked for are missing."""
    said = []
    for alike in _kinds(answer.accelerator_counts):
        one, other, most = alike[0], alike[1], alike[-1]
        said += [_buys(one, other, terms), _fed(alike, terms)]
        if most.side_by_side is not None:
            said.append(_side_by_side(most, most.side_by_side, terms))
        said += _stated(most, terms)
    said += [refusal_sentences(each, terms) for each in answer.accelerator_counts_missing if not _is_said(each, answer)]
    return [*filter(None, said)]


def _is_said(missing: Refusal, answer: Answer) -> bool:
    """Whether it is why there is no answer at all."""
    return answer.status == "refused" and missing.reason in answer.reasons


def count_name(each: AcceleratorCount, terms: Terms) -> str:
    """`2 x emulated V100`."""
    return accelerators_name(each.gpu, each.count, terms.device)


def speed_up_in_words(each: AcceleratorCount) -> str:
    """`1.9 (1.85 to 1.95)`."""
    return _interval(each.speed_up)


def efficiency_in_words(each: AcceleratorCount) -> str:
    """`95 % (92 % to 98 %)`."""
    found = each.efficiency
    return with_interval(percent(found.value), percent(found.low), percent(found.high))


def fed_in_words(each: AcceleratorCount) -> str:
    """`fed from 2 vCPUs`, `not fed by 2 vCPUs (asks for 2.9 to 3.1 vCPUs)`; empty where no accounting shows it."""
    if each.ceiling is None:
        return ""
    if each.fed_vcpus is not None:
        return _("fed from {vcpus}", vcpus=vcpus_in_words(each.fed_vcpus))
    if each.vcpus is None:
        return _("not fed")
    here, asked = vcpus_in_words(each.vcpus), each.asked_vcpus
    if each.throughput.high >= FED * each.ceiling:
        return _("perhaps fed by {vcpus}", vcpus=here)
    if asked is None or round(asked.high, 1) <= each.vcpus:
        return _("not fed by {vcpus}", vcpus=here)
    low, high = (format_number(round(value, 1)) for value in (asked.low, asked.high))
    return _("not fed by {vcpus} (asks for {range} vCPUs)", vcpus=here, range=from_to(low, high))


def disk_asked(each: AcceleratorCount) -> str:
    """`41.5 MB/s, 280 IOPS`; empty where a sample reads nothing, or it is not known what."""
    parts = [transfer(each.read_bytes)] if each.read_bytes else []
    parts += [operations(each.read_ios)] if each.read_ios else []
    return row(parts)


def side_by_side_in_words(each: AcceleratorCount, terms: Terms) -> str:
    """`1,490 images/s ±2.0 %`, with a mark of its own where it is extrapolated; empty for one."""
    if each.side_by_side is None:
        return ""
    value = " ".join(answered_rate(each.side_by_side, terms.unit))
    return _("{value}, extrapolated", value=value) if each.extrapolated else value


def _kinds(counts: Sequence[AcceleratorCount]) -> list[list[AcceleratorCount]]:
    """Those of one kind together, the fewest first, where several remain."""
    kinds = dict.fromkeys(each.gpu for each in counts)
    alike = [[each for each in counts if each.gpu == kind] for kind in kinds]
    return [each for each in alike if len(each) > 1]


def _line(each: AcceleratorCount, terms: Terms) -> str:
    figures = [" ".join(answered_rate(each.throughput, terms.unit))]
    if each.speed_up.value != 1:
        figures.append(_("{speed_up} times as fast", speed_up=speed_up_in_words(each)))
        figures.append(_("efficiency {share}", share=percent(each.efficiency.value)))
    disk = disk_asked(each)
    figures += [_("asks the disk for {rates}", rates=disk)] if disk else []
    return _("{machine}: {figures}", machine=count_name(each, terms), figures=clauses(figures))


def _buys(one: AcceleratorCount, other: AcceleratorCount, terms: Terms) -> str:
    """What the next number of accelerators buys, with all else as much as was measured."""
    figures = {
        "count": format_number(other.count),
        "fewer": format_number(one.count),
        "speed_up": speed_up_in_words(other),
        "bound": bound_in_words(other.bottleneck, terms.device),
    }
    if one.vcpus is not None:
        figures["vcpus"] = vcpus_in_words(one.vcpus)
    if other.speed_up.low >= BUYS:
        verdict = _("{count} accelerators make {speed_up} times as much as {fewer}.", **figures)
    elif other.speed_up.value < BUYS and other.speed_up.high < OPEN:
        verdict = _("{count} accelerators make hardly more than {fewer}: {speed_up} times as much.", **figures)
    else:
        verdict = _("Whether {count} accelerators pay is open: {speed_up} times as much as {fewer}.", **figures)
    if other.bottleneck in (Bottleneck.ACCELERATOR, Bottleneck.AMBIGUOUS) or one.vcpus is None:
        return verdict
    return paragraph([verdict, _("With {vcpus} it is then {bound}.", **figures)])


def _fed(alike: Sequence[AcceleratorCount], terms: Terms) -> str:
    parts = [(count_name(each, terms), fed_in_words(each)) for each in alike]
    told = [_("{accelerators} {fed}", accelerators=name, fed=fed) for name, fed in parts if fed]
    return sentence(clauses(told)) if told else ""


def _side_by_side(most: AcceleratorCount, jobs: Estimate, terms: Terms) -> str:
    figures = {
        "count": format_number(most.count),
        "jobs": " ".join(answered_rate(jobs, terms.unit)),
        "together": " ".join(answered_rate(most.throughput, terms.unit)),
    }
    if jobs.low > most.throughput.high:
        said = _(
            "{count} jobs side by side, one accelerator each with its share of all else, make more together than one "
            "job on all: {jobs} against {together}.",
            **figures,
        )
    elif jobs.high < most.throughput.low:
        said = _(
            "One job on all {count} accelerators makes more than {count} jobs side by side, each with its share of all "
            "else: {together} against {jobs}.",
            **figures,
        )
    else:
        said = _(
            "Between one job on all {count} accelerators and {count} jobs side by side, each with its share of all "
            "else, there is no clear difference: {together} against {jobs}.",
            **figures,
        )
    beyond = _("The share of one job is outside what was measured.") if most.extrapolated else ""
    return paragraph([said, *([beyond] if beyond else [])])


def _stated(most: AcceleratorCount, terms: Terms) -> list[str]:
    """That what emulated accelerators lose to each other is not measured."""
    speed_up, source = terms.device.speed_up(most.count), terms.device.scaling_source
    if terms.device.kind != "emulated" or speed_up is None or source is None:
        return []
    figures = {"accelerators": count_name(most, terms), "efficiency": percent(speed_up / most.count, 1)}
    if source == GIVEN_IN_STUDY:
        return [
            _(
                "What they lose to each other is stated in the study file: {accelerators} make {efficiency} of as "
                "many alone.",
                **figures,
            )
        ]
    if source == GIVEN_IN_TABLE:
        return [
            _(
                "What they lose to each other was given in the imported table and not measured here: {accelerators} "
                "make {efficiency} of as many alone.",
                **figures,
            )
        ]
    return [
        _(
            "What they lose to each other is published and not measured: {accelerators} make {efficiency} of as many "
            "alone ({source}).",
            **figures,
            source=source,
        )
    ]


def _interval(found: Estimate) -> str:
    return with_interval(*(f"{each:.2f}" for each in (found.value, found.low, found.high)))


def accelerator_counts_note(counts: Sequence[AcceleratorCount]) -> str:
    """Under the table of them: where they are compared, and what those of its columns mean that it has."""
    vcpus = counts[0].vcpus
    where = [] if vcpus is None else [_("All with {vcpus}, the most measured.", vcpus=vcpus_in_words(vcpus))]
    known = [_("Fed: they make 95 % of what they would alone.")] if any(map(fed_in_words, counts)) else []
    known += [_("The disk is asked for what they use when they are fed.")] if any(map(disk_asked, counts)) else []
    return paragraph(
        [
            *where,
            _("Each accelerator has a batch of its own. Intervals are those of new runs (90 %)."),
            *known,
        ]
    )

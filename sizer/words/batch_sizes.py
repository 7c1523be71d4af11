"""Sentences about the batch size: which one, what a step takes by it, and the largest that fits."""

from __future__ import annotations

from collections.abc import Sequence

from sizer.records.batch_sizes import (
    BatchAdvice,
    BatchCurve,
    BatchPoint,
    LargestBatch,
    SearchEnd,
    StepFit,
)
from sizer.records.device import GIVEN_IN_STUDY, GIVEN_IN_TABLE, BatchRate
from sizer.records.run_kinds import MemoryPlace
from sizer.records.units import RELATIVE, format_bytes, format_number
from sizer.words.figures import brief, capital, paragraph, with_interval
from sizer.words.language import _, _n
from sizer.words.names import Terms, accelerator_name, clauses, gpu_name, listed
from sizer.words.units import a_sample, rate_in_words


def batch_sentences(advice: BatchAdvice, terms: Terms, curve: BatchCurve | None = None) -> list[str]:
    """Which batch size and what a step takes, by the first curve or the one given, then the largest that fits."""
    shown = curve or (advice.curves[0] if advice.curves else None)
    said = [] if shown is None else [which_batch(shown, terms, advice), _enough_memory(advice), *_line(shown, terms)]
    if shown is not None and shown.rising:
        said.append(_beyond(shown, advice.largest))
    if shown is not None and shown.emulated:
        said.append(_not_measured(terms))
    if advice.largest is not None:
        said.append(largest_batch_sentence(advice.largest))
    return [each for each in said if each]


def batch_question() -> str:
    """What the chart of batch sizes answers."""
    return _("Which batch size?")


def batch_point(point: BatchPoint, unit: str) -> str:
    """`batch 64: 3.1 ms an image, 200 ms a step, 320 images/s, 2 runs`."""
    return _n(
        "batch {size}: {each}, {step} a step, {rate}, {count} run",
        "batch {size}: {each}, {step} a step, {rate}, {count} runs",
        point.runs,
        size=point.batch_size,
        each=a_sample(brief(point.seconds_per_sample), unit),
        step=brief(point.step_seconds),
        rate=rate_in_words(point.throughput.value, unit),
    )


def largest_batch_sentence(found: LargestBatch) -> str:
    """`The largest batch that fits 4 GiB is 96; 128 ran out of memory.`"""
    return _("{clause}.", clause=capital(largest_in_words(found)))


def which_batch(curve: BatchCurve, terms: Terms, advice: BatchAdvice) -> str:
    """`A batch of 64 is the smallest within 5 % of the best rate (219 images/s at 128).`"""
    best = next(point for point in curve.points if point.batch_size == curve.best)
    known = {
        "size": curve.enough,
        "best": curve.best,
        "rate": rate_in_words(best.throughput.value, terms.unit),
        "others": listed([str(batch) for batch in curve.open]),
    }
    if advice.batch_size is not None and advice.batch_size < curve.enough:
        known["size"] = advice.batch_size
        return _("A batch of {size} is the largest measured that is known to fit.", **known)
    if curve.enough == curve.best:
        if curve.open:
            return _(
                "A batch of {size} gave the best rate ({rate}); the runs leave open whether {others} would be within "
                "5 % of it.",
                **known,
            )
        if curve.enough == min(point.batch_size for point in curve.points):
            return _("A batch of {size}, the smallest measured, gave the best rate ({rate}).", **known)
        return _("A batch of {size} gave the best rate ({rate}), and no smaller one is within 5 % of it.", **known)
    if curve.open:
        return _(
            "A batch of {size} is the smallest measured within 5 % of the best rate ({rate} at {best}); the runs leave "
            "open whether {others} would be, too.",
            **known,
        )
    if not curve.sure:
        return _(
            "A batch of {size} is most likely the smallest measured within 5 % of the best rate ({rate} at {best}); "
            "the runs leave it open.",
            **known,
        )
    return _("A batch of {size} is the smallest measured within 5 % of the best rate ({rate} at {best}).", **known)


def _enough_memory(advice: BatchAdvice) -> str:
    if advice.memory_bytes is None:
        return ""
    return _("It is known to run in {memory} of memory.", memory=format_bytes(advice.memory_bytes))


def _line(curve: BatchCurve, terms: Terms) -> list[str]:
    """What a step takes; nothing where rates are relative, which have no time."""
    if terms.unit == RELATIVE:
        return []
    if curve.launch is None or curve.slope is None:
        return [
            _("The time of a step is not a fixed part and one for each of its samples: no line fits what was measured.")
        ]
    launch, slope = (
        with_interval(brief(each.value), brief(each.low), brief(each.high)) if each.has_interval else brief(each.value)
        for each in (curve.launch, curve.slope)
    )
    known = {"launch": launch, "slope": a_sample(slope, terms.unit)}
    if not curve.launch.has_interval:
        return [
            _("A step takes {launch} whatever its batch, and {slope}; how far these may be off is not known.", **known)
        ]
    if curve.fit is StepFit.UNTESTED:
        return [_("A step takes {launch} whatever its batch, and {slope}, by two batch sizes alone.", **known)]
    return [_("A step takes {launch} whatever its batch, and {slope}.", **known)]


def _not_measured(terms: Terms) -> str:
    """What an emulated accelerator's curve does and does not show."""
    device = terms.device
    known = {"accelerator": accelerator_name(device)}
    if not device.batch_rates:
        return _(
            "The {accelerator} was emulated with one rate for all batch sizes, so this does not show what it gains by "
            "a larger batch.",
            **known,
        )
    told = dict.fromkeys(each.source for each in device.batch_rates)
    if GIVEN_IN_TABLE in told:
        return _(
            "What the {accelerator} takes for each batch size was given in the imported table and not measured here.",
            **known,
        )
    if GIVEN_IN_STUDY in told:
        return _(
            "What the {accelerator} takes for each batch size was given in the study file and not measured here.",
            **known,
        )
    said = _(
        "What the {accelerator} takes for each batch size follows from published rates and was not measured here: "
        "{sources}.",
        **known,
        sources="; ".join(told),
    )
    beyond = [each for each in device.batch_rates if each.basis == "extrapolated"]
    return paragraph([said, *(_extrapolated(each, terms) for each in beyond)])


def _extrapolated(rate: BatchRate, terms: Terms) -> str:
    """No rate was published of so large, or so small, a batch."""
    told = rate_in_words(rate.samples_per_second, terms.unit)
    if rate.low is not None and rate.high is not None:
        told = with_interval(told, format_number(rate.low), format_number(rate.high))
    return _("At a batch of {size} it is extrapolated: {rate}.", size=rate.batch_size, rate=told)


def _beyond(curve: BatchCurve, largest: LargestBatch | None) -> str:
    known = {"size": curve.beyond}
    too_large = largest.too_large if largest is not None else None
    if too_large is not None and (curve.beyond or 0) >= too_large:
        return _(
            "By that, a larger batch would give more still: within 5 % of the most from {size} on, which does not fit.",
            **known,
        )
    return _(
        "By that, a larger batch would give more still: within 5 % of the most from {size} on, which is extrapolated.",
        **known,
    )


def largest_batch_of(workload: str, found: LargestBatch) -> str:
    """`train: the largest batch that fits 4 GiB is 96; 128 ran out of memory.`"""
    return _("{workload}: {largest}.", workload=workload, largest=largest_in_words(found))


def largest_in_words(found: LargestBatch | None) -> str:
    """`the largest batch that fits 4 GiB is 96; 128 ran out of memory`, or why it is not known."""
    if found is None:
        return _("the largest batch that fits was not searched for")
    said = [_bounds(found), *_ended(found)]
    if found.pipeline_alone:
        said.append(_("that is for the input pipeline alone: the framework of a real GPU needs more"))
    return clauses(said)


def _bounds(found: LargestBatch) -> str:
    known = {"size": found.batch_size, "failed": found.too_large, "memory": _memory(found)}
    if found.ended is SearchEnd.NOTHING_FITS:
        return _("not even a batch of 1 fits {memory}", **known)
    if found.batch_size is None:
        return _("no batch was found that fits {memory}", **known)
    if found.too_large is None:
        return _("a batch of {size} fits {memory}", **known)
    if found.ended is SearchEnd.CLOSE:
        return _("the largest batch that fits {memory} is {size}; {failed} ran out of memory", **known)
    return _("a batch of {size} fits {memory}, and {failed} ran out of memory", **known)


def _memory(found: LargestBatch) -> str:
    if found.where is MemoryPlace.GPU:
        return _("the memory of the {gpu}", gpu=gpu_name(found.gpu)) if found.gpu else _("the memory of the GPU")
    if found.gpu:
        return _("a machine with the {gpu}", gpu=gpu_name(found.gpu))
    return _("the memory that it had") if found.memory_bytes is None else format_bytes(found.memory_bytes)


def _ended(found: LargestBatch) -> Sequence[str]:
    failed = {"failed": found.failed}
    return {
        SearchEnd.MOST_TRIED: [_("that was the largest to be tried")],
        SearchEnd.WHOLE_DATA: [_("a larger one would be more than the data set has")],
        SearchEnd.TOO_SLOW: [_("{failed} did not make enough steps in its time, so none larger was tried", **failed)],
        SearchEnd.CRASHED: [_("{failed} crashed, which shows nothing about memory", **failed)],
        SearchEnd.MOST_RUNS: [_("the search was given up")],
        SearchEnd.UNFINISHED: [_("the search is not finished")],
    }.get(found.ended, [])

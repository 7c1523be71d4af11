"""What the runs leave open, and what one more would settle."""

from __future__ import annotations

from sizer.records import Reason, ReasonCode, format_number
from sizer.words.language import _, _n
from sizer.words.names import Terms, either, listed, outcomes_counted, spec_name
from sizer.words.reasons.figures import Sentences, vcpus_of
from sizer.words.units import rate_in_words


def _doubts_listed(reason: Reason) -> str:
    """`known by one reading`."""
    words = {
        "one_reading": _("known by one reading"),
        "other_batch_size": _("of another batch size than the study gives"),
    }
    return either([words.get(doubt, doubt) for doubt in reason.texts("doubts")])


def _runs_doubtful(r: Reason, t: Terms) -> str:
    count = round(r.number("doubtful"))
    known = {"completed": format_number(r.number("completed")), "doubts": _doubts_listed(r)}
    if r.text("repeat_how") == "counter":
        return _n(
            "{count} of {completed} runs was {doubts}; let the pattern read a counter (`step`), too.",
            "{count} of {completed} runs were {doubts}; let the pattern read a counter (`step`), too.",
            count,
            **known,
        )
    if r.text("repeat_how") == "batch_size":
        return _n(
            "{count} of {completed} runs was {doubts}; give the `batch_size` that its log tells.",
            "{count} of {completed} runs were {doubts}; give the `batch_size` that their logs tell.",
            count,
            **known,
        )
    return _n("{count} of {completed} runs was {doubts}.", "{count} of {completed} runs were {doubts}.", count, **known)


def _rates_mistold(r: Reason, t: Terms) -> str:
    said = _how_mistold(r)
    if r.has("alike"):
        return said
    return _("{mistold} They are not all wrong alike, so another spec may be the answer.", mistold=said)


def _how_mistold(r: Reason) -> str:
    count, known = round(r.number("mistold")), {"completed": format_number(r.number("completed"))}
    if r.text("correct") == "batches":
        return _n(
            "The log of {count} of {completed} runs most likely tells a rate of batches, so neither samples a second "
            "nor what they cost are known: give `batches` in place of `rate` in the pattern.",
            "The logs of {count} of {completed} runs most likely tell a rate of batches, so neither samples a second "
            "nor what they cost are known: give `batches` in place of `rate` in the pattern.",
            count,
            **known,
        )
    if r.text("correct") == "counter":
        return _n(
            "The log of {count} of {completed} runs most likely has a line of each of several processes, so neither "
            "samples a second nor what they cost are known: let one of them print, or let the pattern read a counter "
            "(`step`), too.",
            "The logs of {count} of {completed} runs most likely have a line of each of several processes, so neither "
            "samples a second nor what they cost are known: let one of them print, or let the pattern read a counter "
            "(`step`), too.",
            count,
            **known,
        )
    return _n(
        "The log of {count} of {completed} runs tells another rate than its lines come at, so neither samples a "
        "second nor what they cost are known: check the unit of the pattern's groups.",
        "The logs of {count} of {completed} runs tell other rates than their lines come at, so neither samples a "
        "second nor what they cost are known: check the unit of the pattern's groups.",
        count,
        **known,
    )


def _runs_failed(r: Reason, t: Terms) -> str:
    return _n(
        "{count} of {runs} runs gave no rate ({outcomes}).",
        "{count} of {runs} runs gave no rate ({outcomes}).",
        round(r.number("failed")),
        runs=format_number(r.number("runs")),
        outcomes=outcomes_counted(r.texts("outcomes"), r.numbers("counts")),
    )


def _run_would_settle(r: Reason, t: Terms) -> str:
    return _("Of all runs, one more with {spec} would tell most.", spec="" if r.spec is None else spec_name(r.spec, t))


_C = ReasonCode
SENTENCES: Sentences = {
    _C.ONLY_MEASURED_SIZES: lambda r, t: _(
        "No axis was measured at three values, so only what was measured is compared."
    ),
    _C.RATES_MISTOLD: _rates_mistold,
    _C.JOBS_MIXED: lambda r, t: _(
        "Rows of one configuration differ by a factor of up to {factor}, and in {columns}: they may be different jobs.",
        factor=f"{r.number('factor'):.2f}",
        columns=listed([f"`{column}`" for column in r.texts("columns")]),
    ),
    _C.RUNS_DOUBTFUL: _runs_doubtful,
    _C.RUNS_STARVED: lambda r, t: _n(
        "In {count} of {runs} runs others had a part of its vCPUs, so its rate is a lower bound: measure on a quiet "
        "host.",
        "In {count} of {runs} runs others had a part of the vCPUs, so their rates are lower bounds: measure on a quiet "
        "host.",
        round(r.number("starved")),
        runs=f"{r.number('completed'):g}",
    ),
    _C.RUNS_FAILED: _runs_failed,
    _C.MEASURED_BESIDE_OTHERS: lambda r, t: _(
        "Measured there were {measured} while something else used {cores} cores of the host; {rate} are what the "
        "fitted curve, which rests on all runs, makes of it.",
        measured=rate_in_words(r.number("measured"), t.unit),
        cores=f"{r.number('cores'):.2g}",
        rate=rate_in_words(r.number("rate"), t.unit),
    ),
    _C.FINDS_THE_KNEE: lambda r, t: _(
        "The rate still rises at the most measured; if it no longer does at {vcpus}, the knee is found.",
        vcpus=vcpus_of(r, "size"),
    ),
    _C.MORE_MEMORY_MAY_PAY: lambda r, t: _("More memory may still pay."),
    _C.THREE_VALUES: lambda r, t: _("With three values, what lies between them can be predicted."),
    _C.NEED_NOT_MEASURED: lambda r, t: _("How many it needs was not measured."),
    _C.RUN_WOULD_SETTLE: _run_would_settle,
    _C.MORE_VCPUS_UNSETTLED: lambda r, t: _("It is not clear whether more vCPUs pay."),
    _C.FEWEST_ENOUGH: lambda r, t: _("The fewest measured are enough, so fewer may be, too."),
    _C.RATE_UNKNOWN: lambda r, t: _("Its rate there was not measured."),
    _C.MEMORY_UNTRIED: lambda r, t: _("Whether that is enough memory was not measured."),
    _C.RUNS_NOT_MADE: lambda r, t: _("The study's plan has runs that are not made yet."),
}

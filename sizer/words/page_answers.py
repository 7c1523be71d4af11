"""An answer as the page says it: the sentence of its card, what was asked for, the job, the baseline, the offers."""

from __future__ import annotations

from collections.abc import Sequence

from sizer.recommend import SURE
from sizer.records import (
    Answer,
    Baseline,
    InstanceOffer,
    Job,
    Objective,
    Reason,
    ReasonCode,
    Recommendation,
    format_bytes,
    format_seconds,
    format_usd,
)
from sizer.words.answers import MOST_REASONS, NOTES, family_sentences, reasons_said, suggestion_sentences
from sizer.words.figures import chance, more_or_less, of_its_rate, paragraph, samples_counted, with_interval
from sizer.words.language import _, without_marks
from sizer.words.names import Terms, listed
from sizer.words.reasons import reason_sentence
from sizer.words.units import percent, rate_in_words, several_of, vcpus_in_words

NOT_SETTLED = (ReasonCode.VCPUS_UNSETTLED, ReasonCode.SIZE_OPEN, ReasonCode.MEMORY_UNSETTLED)
OF_THE_JOB = (
    ReasonCode.JOB_TAKES,
    ReasonCode.JOB_COSTS,
    ReasonCode.JOB_COST_UNKNOWN,
    ReasonCode.NOTHING_IN_TIME,
    ReasonCode.TIME_ENOUGH,
)
NOT_SURE = (
    ReasonCode.CHOICE_CLOSE,
    ReasonCode.TARGET_CLOSE,
    ReasonCode.RUNS_APART,
    ReasonCode.PRICES_UNKNOWN,
    ReasonCode.ONLY_MEASURED_SIZES,
    ReasonCode.RATES_MISTOLD,
)
"""Why an answer is provisional, each a sentence of its own."""
Fact = tuple[str, str, str]
"""Label, value, and what must be known of it."""


def status_in_words(answer: Answer) -> tuple[str, str]:
    """The word and the sign of the badge: only an answer that its runs support gets the tick.

    One that nothing shows to be a lower bound, or whose runs are doubtful, says that instead.
    """
    if answer.edge == "unsettled":
        return _("not settled"), "?"
    if answer.provisional and answer.status == "recommended":
        return _("provisional"), "!"
    if answer.job is not None and answer.status == "refused":
        return _("too late"), "?"
    return {
        "recommended": (_("recommended"), "✓"),
        "at_least": (_("at least"), "≥"),
        "refused": (_("no answer"), "?"),
    }[answer.status]


def answer_sentences(answer: Answer | None, objective: Objective, terms: Terms, measured: bool) -> str:
    """The answer in plain words, with what leaves it open; `measured`: some run had the spec that is recommended."""
    if answer is None:
        return _("No answer has been computed for this workload.")
    if answer.spec is None or answer.status == "refused":
        return _("Nothing that was measured is in time.") if answer.job else _("Not enough data for a recommendation.")
    parts = [_plain(reason, terms) for reason in _opening(answer)]
    if answer.edge == "unsettled":
        parts.append(_("So this is the best guess so far: what lies beyond was not measured."))
    elif answer.status == "at_least":
        parts.append(_("So this is a lower bound: what lies beyond was not measured."))
    else:
        parts = [*_first(answer, objective, terms), *parts]
    if answer.provisional and not set(NOT_SURE) & {reason.code for reason in answer.reasons}:
        parts.append(_("It is provisional: the runs are not good enough for more."))
    if not measured:
        parts.append(_("Predicted, not measured."))
    return paragraph(parts)


def other_reasons(answer: Answer, terms: Terms) -> tuple[list[str], list[str]]:
    """The reasons that are not in its sentence: those that are said at once, and those that fold away."""
    opening = _opening(answer)
    first, folded = reasons_said([reason for reason in answer.reasons if reason not in opening])
    return [_plain(reason, terms) for reason in first], [_plain(reason, terms) for reason in folded]


def page_reasons(answer: Answer, terms: Terms) -> tuple[list[str], list[str]]:
    """Why the answer is so: the three most important reasons, and those that fold away."""
    first = [reason for reason in answer.reasons if reason.code not in NOTES][:MOST_REASONS]
    folded = [reason for reason in answer.reasons if reason not in first]
    return [_plain(reason, terms) for reason in first], [_plain(reason, terms) for reason in folded]


def next_run_sentences(answer: Answer, terms: Terms) -> str:
    """What to measure next, without marks around names; empty where nothing is suggested."""
    if answer.next_run is None:
        return ""
    with without_marks():
        return suggestion_sentences(answer.next_run, terms)


def next_run_title(answer: Answer) -> str:
    """The label before the next run: whether it would settle an answer, or help to any."""
    if answer.status == "at_least" or answer.provisional:
        return _("What would settle it:")
    return _("What would help:")


def _opening(answer: Answer) -> tuple[Reason, ...]:
    """The reasons that belong into the sentence: the job in its time, why it is a lower bound, what is not settled."""
    if answer.job is not None:
        return tuple(reason for reason in answer.reasons if reason.code in OF_THE_JOB)
    doubts = tuple(reason for reason in answer.reasons if reason.code in (*NOT_SETTLED, *NOT_SURE))
    return doubts or (answer.reasons[:1] if answer.status == "at_least" else ())


def _plain(reason: Reason, terms: Terms) -> str:
    """As the page shows it, which sets no names apart."""
    with without_marks():
        return reason_sentence(reason, terms)


def _first(answer: Answer, objective: Objective, terms: Terms) -> list[str]:
    """What the objective made of it; nothing where no price is known, which is the first reason."""
    if not answer.alternatives:
        return [_chosen(objective, answer, terms)]
    unpriced = any(reason.code is ReasonCode.PRICES_UNKNOWN for reason in answer.reasons)
    return [] if unpriced else [_of_machines(objective, terms)]


def _of_machines(objective: Objective, terms: Terms) -> str:
    """Which of the machines that were measured it is."""
    share = percent(objective.target)
    if objective.deadline is not None:
        return _("Of the machines that finish the job in time, the one on which it costs least.")
    if objective.at_least is not None:
        return _(
            "Of the machines that give at least {rate}, the one on which the work costs least.",
            rate=rate_in_words(objective.at_least, terms.unit),
        )
    if objective.prefer == "fastest":
        return _("The cheapest of the fastest machines, those within 1 % of the highest rate.")
    if objective.prefer == "balanced":
        return _(
            "The least price × time, of the machines that keep at least {share} of the best throughput with their kind "
            "and count of accelerators.",
            share=share,
        )
    return _(
        "The machine on which the work costs least, of those that keep at least {share} of the best throughput with "
        "their kind and count of accelerators.",
        share=share,
    )


def _chosen(objective: Objective, answer: Answer, terms: Terms) -> str:
    """What the objective made of it; a target that no spec is sure to reach is said."""
    share, likely = percent(objective.target), answer.probability
    if objective.deadline is not None:
        return _("Of the specs that finish the job in time, the one on which it costs least.")
    if objective.at_least is not None:
        rate = rate_in_words(objective.at_least, terms.unit)
        return _("Of the specs that give at least {rate}, the one on which the work costs least.", rate=rate)
    if objective.prefer == "fastest":
        return _("The cheapest of the fastest specs, those within 1 % of the highest rate.")
    if likely is not None and likely < SURE:
        return _(
            "No spec is sure to keep {share} of the best throughput; this is the likeliest (probability {chance}).",
            share=share,
            chance=chance(likely),
        )
    if objective.prefer == "balanced":
        return _(
            "Of the specs that keep at least {share} of the best throughput, the one of the least price × time.",
            share=share,
        )
    return _("The cheapest spec that keeps at least {share} of the best throughput.", share=share)


def objective_in_words(objective: Objective, compared: bool = False) -> str:
    """What was asked for, in one sentence; `compared`: every answer is a choice between machines that were measured."""
    share = percent(objective.target)
    if objective.deadline is not None:
        return _(
            "The spec on which {samples} cost least of those that finish them within {time}.",
            samples=samples_counted(objective.deadline.samples, "sample"),
            time=format_seconds(objective.deadline.seconds),
        )
    if objective.at_least is not None:
        rate = rate_in_words(objective.at_least, "sample")
        return _("The spec on which the work costs least, of those that give at least {rate}.", rate=rate)
    if compared and objective.prefer == "cheapest":
        return _(
            "Where the work costs least, of machines that keep {share} of the best throughput with their kind and "
            "count of accelerators.",
            share=share,
        )
    return {
        "cheapest": _("The cheapest spec that keeps {share} of the best throughput.", share=share),
        "fastest": _("The fastest spec; of specs within 1 % of one another, the cheapest."),
        "balanced": _(
            "The least price × time among the specs that keep {share} of the best throughput.",
            share=share,
        ),
    }.get(objective.prefer) or _("{goal}, at {share} of the best throughput.", goal=objective.prefer, share=share)


def family_facts(recommendation: Recommendation, emulated: Sequence[str]) -> list[Fact]:
    """What one instance family must offer for all workloads, with labels, and which of its disks are emulated."""
    labels = {
        "vcpus": _("vCPUs"),
        "gib_per_vcpu": _("GiB of memory a vCPU"),
        "disk": _("Disk tier"),
        "not_covered": _("Not covered"),
    }
    note = {"disk": _("emulated: {names}", names=listed(emulated)) if emulated else ""}
    return [(labels[key], text, note.get(key, "")) for key, text in family_sentences(recommendation).items()]


def bounded_spec(answer: Answer, spec: str) -> str:
    """The spec of an answer, saying where it is a lower bound or not settled."""
    if answer.edge == "unsettled":
        return _("{spec} so far", spec=spec)
    return _("at least {spec}", spec=spec) if answer.status == "at_least" else spec


def job_fact(job: Job, unit: str) -> Fact:
    """The job's time with its interval, and its price."""
    value, low, high = (format_seconds(each) for each in (job.seconds.value, job.seconds.low, job.seconds.high))
    likely = _(
        "{probability} likely within {time}", probability=chance(job.probability), time=format_seconds(job.within)
    )
    price = _("price unknown")
    if job.usd is not None:
        price = _("{price} on {type}", price=format_usd(job.usd), type=job.instance_type)
    return samples_counted(job.samples, unit), with_interval(value, low, high), f"{likely} · {price}"


def baseline_fact(baseline: Baseline, spec: str, fastest: bool = False) -> Fact | None:
    """What the answer saves against it; None where there is nothing larger to compare with. `spec` is its own.

    `fastest`: it is the fastest machine of a comparison, and not the largest configuration.
    """
    same = baseline.saving is not None and abs(baseline.saving) < 0.005
    if baseline.share == 1 and same:
        return None
    if baseline.saving is None:
        saved = _("price unknown")
    elif same:
        saved = _("the same an hour")
    else:
        saved = _("{change} an hour", change=more_or_less(-baseline.saving))
    figures = {"saved": saved, "rate": of_its_rate(baseline.share)}
    value = (
        _("{saved}, at {rate} (extrapolated)", **figures)
        if baseline.extrapolated
        else _("{saved}, at {rate}", **figures)
    )
    if baseline.named and baseline.instance_type:
        return _("Against {type}", type=baseline.instance_type), value, spec
    return _("Against the fastest measured") if fastest else _("Against the largest measured"), value, spec


def offer_parts(offer: InstanceOffer) -> list[str]:
    """`8 vCPUs`, `32 GiB`, `1 × V100`: what is known of its size."""
    known = [vcpus_in_words(offer.vcpus)] if offer.vcpus else []  # a table may not say how many
    known += [format_bytes(offer.memory_bytes)] if offer.memory_bytes else []
    return known + ([f"{offer.gpu_count} × {offer.gpu}"] if offer.gpu else [])


def offer_shape(offer: InstanceOffer) -> str:
    """`8 vCPUs · 32 GiB · 1 × V100`."""
    return " · ".join([*offer_parts(offer), *([] if offer.gpu else [_("no GPU")])])


def offer_name(offer: InstanceOffer) -> str:
    """`aws g4dn.xlarge`; a table may name a type alone."""
    return " ".join(filter(None, (offer.provider, offer.instance_type)))


def offer_source(offer: InstanceOffer) -> tuple[str, str]:
    """Where its price is from, and of which day; empty for a table's own."""
    if not offer.as_of:
        return _("the imported table"), ""
    return offer.source, _("as of {date}", date=offer.as_of)


def offer_price(offer: InstanceOffer) -> str:
    """`$3.912/h`, or that it is unknown."""
    return an_hour(offer.usd_per_hour) if offer.usd_per_hour is not None else _("price unknown")


def an_hour(usd: float) -> str:
    """`$3.912/h`."""
    return f"{format_usd(usd)}/h"


def price_of_samples(offer: InstanceOffer, unit: str) -> str:
    """`$4.2 per million images`; empty where it is unknown."""
    return per_million(offer.usd_per_million_samples, unit)


def per_million(usd: float | None, unit: str) -> str:
    """`$4.2 per million images`; empty where it is unknown."""
    return _("{price} per million {units}", price=format_usd(usd), units=several_of(unit)) if usd is not None else ""

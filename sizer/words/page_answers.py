"""An answer as the page says it: the sentence of its card, what was asked for, the job, the baseline, the offers."""

from __future__ import annotations

from dataclasses import replace

from sizer.records.answer import Answer, InstanceOffer
from sizer.records.prediction import Reason, ReasonCode
from sizer.records.study import Objective
from sizer.records.units import format_bytes, format_seconds, format_usd
from sizer.words.answers import MOST_REASONS, NOTES, suggestion_sentences
from sizer.words.figures import samples_counted
from sizer.words.language import _, without_marks
from sizer.words.names import Terms
from sizer.words.reasons import reason_sentence
from sizer.words.units import percent, rate_in_words, several_of, vcpus_in_words

SAID_BESIDE = (ReasonCode.BEYOND, ReasonCode.OTHER_DISK)
"""What a fact with a badge, or the answer beside the picture of the disks, says already."""
Fact = tuple[str, str, str]
"""Label, value, and what must be known of it."""


def page_reasons(answer: Answer, terms: Terms) -> tuple[list[str], list[str]]:
    """Why the answer is so: the three most important reasons that nothing beside them says; those that fold away."""
    first = [reason for reason in answer.reasons if reason.code not in (*NOTES, *SAID_BESIDE)][:MOST_REASONS]
    folded = [reason for reason in answer.reasons if reason not in first]
    return [_plain(reason, terms) for reason in first], [_plain(reason, terms) for reason in folded]


def next_run_sentences(answer: Answer, terms: Terms) -> str:
    """What to measure next, without marks around names; empty where nothing is suggested."""
    if answer.next_run is None:
        return ""
    # What stands among the reasons is not said again.
    suggested = replace(answer.next_run, why=None) if answer.next_run.why in answer.reasons else answer.next_run
    with without_marks():
        return suggestion_sentences(suggested, terms)


def next_run_title(answer: Answer) -> str:
    """The label before the next run: whether it would settle an answer, or help to any."""
    if answer.status == "at_least" or answer.provisional:
        return _("What would settle it:")
    return _("What would help:")


def _plain(reason: Reason, terms: Terms) -> str:
    """As the page shows it, which sets no names apart."""
    with without_marks():
        return reason_sentence(reason, terms)


def objective_in_words(objective: Objective, compared: bool = False, accelerators: bool = False) -> str:
    """What was asked for; `compared`: every answer is a choice between machines that were measured, some of them with
    `accelerators`.
    """
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
        if accelerators:
            return _(
                "Least cost for the same work. A machine counts if it reaches {share} of the best throughput measured "
                "with the same accelerators.",
                share=share,
            )
        return _(
            "Least cost for the same work. A machine counts if it reaches {share} of the best throughput.", share=share
        )
    return {
        "cheapest": _("The cheapest spec that keeps {share} of the best throughput.", share=share),
        "fastest": _("The fastest spec; of specs within 1 % of one another, the cheapest."),
        "balanced": _(
            "The least price × time among the specs that keep {share} of the best throughput.",
            share=share,
        ),
    }.get(objective.prefer) or _("{goal}, at {share} of the best throughput.", goal=objective.prefer, share=share)


def offer_parts(offer: InstanceOffer) -> list[str]:
    """`8 vCPUs`, `32 GiB`, `1 × V100`: what is known of its size."""
    known = [vcpus_in_words(offer.vcpus)] if offer.vcpus else []  # a table may not say how many
    known += [format_bytes(offer.memory_bytes)] if offer.memory_bytes else []
    return known + ([f"{offer.gpu_count} × {offer.gpu}"] if offer.gpu else [])


_PROVIDERS = {"aws": "AWS", "azure": "Azure", "gcp": "GCP", "alibaba": "Alibaba Cloud"}


def provider_name(provider: str) -> str:
    """As people write it; one that is not of the catalogue stays as it is."""
    return _PROVIDERS.get(provider, provider)


def offer_called(offer: InstanceOffer) -> str:
    """`AWS g4dn.xlarge`, to be read."""
    return offer.called(provider_name(offer.provider))


def offer_name(offer: InstanceOffer) -> str:
    """`aws g4dn.xlarge`, as it is typed."""
    return offer.called(offer.provider)


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

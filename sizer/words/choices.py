"""What else could be chosen, as the page says it: each preference's own spec, and why no cheaper one was taken."""

from __future__ import annotations

from collections.abc import Sequence

from sizer.records.answer import Answer, Option, Rejection
from sizer.records.prediction import Prediction
from sizer.records.units import format_usd
from sizer.words.figures import rate_interval
from sizer.words.language import _
from sizer.words.names import Terms, listed, resource_name, spec_name, with_instance
from sizer.words.units import percent, vcpus_in_words

LITTLE = 0.0005
"""A share of a price below which there is no difference to speak of."""


def preferences_in_words(option: Option) -> str:
    """`cheapest`, `balanced and fastest`; what has no price is called by what it is."""
    if option.usd_per_hour is None:
        most = _("most for each accelerator") if option.spec.gpu_count else _("smallest")
        names = {"cheapest": most, "balanced": most, "fastest": _("fastest")}
    else:
        names = {"cheapest": _("cheapest"), "balanced": _("balanced"), "fastest": _("fastest")}
    return listed(list(dict.fromkeys(names[each] for each in option.preferences)))


def options_title(options: Sequence[Option]) -> str:
    """Over the table of what each preference takes."""
    priced = any(each.usd_per_hour is not None for each in options)
    return _("Cheapest, balanced, fastest") if priced else _("Small or fast")


def rejected_title(rejected: Sequence[Rejection]) -> str:
    """Over the table of specs that were not taken."""
    priced = any(each.usd_saved_per_hour is not None for each in rejected)
    return _("Why not a smaller or cheaper one") if priced else _("Why not a smaller one")


def one_choice_in_words(answer: Answer) -> str:
    """Where every preference takes the same spec; empty where they differ or none is known."""
    if len(answer.options) != 1 or len(answer.options[0].preferences) < 2:
        return ""
    if answer.options[0].usd_per_hour is None:
        return ""  # Cheap and balanced mean nothing without a price.
    if answer.status == "at_least":
        return _("Within what was measured, the cheapest, the balanced and the fastest choice are this same spec.")
    return _("The cheapest, the balanced and the fastest choice are this same spec.")


def option_price(option: Option) -> str:
    """`$0.085`, or that it is unknown."""
    return format_usd(option.usd_per_hour) if option.usd_per_hour is not None else _("unknown")


def option_price_of_million(option: Option) -> str:
    """`$0.319`; empty where it is unknown."""
    price = option.usd_per_million_samples
    return format_usd(price) if price is not None else ""


def option_bound(option: Option, terms: Terms) -> str:
    """What holds it back."""
    return resource_name(option.bottleneck, terms.device) if option.bottleneck is not None else _("not known")


def rejected_rate(rejection: Rejection, terms: Terms) -> tuple[str, str]:
    """What the cheaper spec would give, and which share of the answer's rate that is; empty where it gives nothing."""
    if rejection.throughput is None:
        return "", ""
    rate = rate_interval(rejection.throughput, terms.unit)
    if rejection.share is None:
        return rate, ""
    return rate, _("{share} of the answer's", share=percent(rejection.share))


def rejected_saving(rejection: Rejection) -> tuple[str, str]:
    """What it would cost less an hour, and which share of the answer's price that is."""
    if rejection.usd_saved_per_hour is None or rejection.saving is None:
        return "", ""
    if rejection.saving < -LITTLE:
        more = format_usd(-rejection.usd_saved_per_hour)
        return _("nothing, it costs {price} an hour more", price=more), ""
    if rejection.saving < LITTLE:
        return _("nothing"), ""
    saved = _("{price} an hour", price=format_usd(rejection.usd_saved_per_hour))
    return saved, percent(rejection.saving)


def rejected_spec(rejection: Rejection, terms: Terms) -> str:
    return with_instance(spec_name(rejection.spec, terms, " · "), rejection.instance_type)


def beyond_in_words(prediction: Prediction, terms: Terms) -> tuple[str, str]:
    """What lies beyond the largest measured: where, and the rate there."""
    vcpus = prediction.configuration.vcpus
    label = _("At {vcpus}", vcpus=vcpus_in_words(vcpus)) if vcpus is not None else _("Beyond what was measured")
    return label, rate_interval(prediction.throughput, terms.unit)

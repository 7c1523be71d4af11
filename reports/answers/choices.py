"""Why the answer is what it is, what each preference would take, and why no cheaper spec was taken."""

from __future__ import annotations

from typing import Any

from sizer.recommend.table import SURE
from sizer.records.answer import Answer, Option, Rejection
from sizer.words.answers import (
    beyond_in_words,
    one_choice_in_words,
    option_bound,
    option_price,
    options_title,
    preferences_in_words,
    rejected_rate,
    rejected_saving,
    rejected_spec,
    rejected_title,
    rejection_sentences,
    usd_or_nothing,
)
from sizer.words.language import _, capital, chance, rate_interval
from sizer.words.names import resource_name
from sizer.words.page import spec_line
from sizer.words.verdict import Badge, BadgeKind, badge, next_run_sentences, next_run_title, page_reasons

from ..doubts import failures
from ..subject import Subject
from . import preprocessing

MOST_REJECTED = 6
"""Cheaper specs shown at once; the others are folded away."""


def reasoning(subject: Subject) -> dict[str, Any]:
    """Reasons, the figures that belong to them, and what to do next."""
    answer = subject.answer or Answer(subject.name, "refused")
    reasons, more_reasons = page_reasons(answer, subject.terms)
    failed = failures.failed(subject) if answer.status == "refused" else []
    return {
        "reasons": reasons,
        "more_reasons": more_reasons,
        "facts": _facts(answer, subject),
        "next_run": next_run_sentences(answer, subject.terms),
        "next_run_title": next_run_title(answer),
        "failed_log": failures.log(failed[0]) if failed and not subject.study.imported else "",
    }


def _facts(answer: Answer, subject: Subject) -> list[dict[str, Any]]:
    """What lies beside the answer and beyond it."""
    found: list[dict[str, Any]] = []
    if answer.next_bottleneck is not None:
        found.append(_fact(_("Next in line"), resource_name(answer.next_bottleneck, subject.device)))
    if answer.runner_up is not None:
        spec = spec_line(answer.runner_up, subject.study, subject.device)
        found.append(_fact(_("Runner-up"), spec))
    if answer.beyond is not None:
        label, rate = beyond_in_words(answer.beyond, subject.terms)
        found.append(_fact(label, rate, badge=badge(BadgeKind.EXTRAPOLATED)))
    if answer.throughput is not None and not answer.rate_in_doubt and preprocessing.applies(subject):
        seconds, human = preprocessing.time_for(preprocessing.IMAGENET_IMAGES, answer.throughput)
        found.append(_fact(_("ImageNet's 1,281,167 images"), seconds, human))
    return found


def _fact(label: str, value: str, under: str = "", badge: Badge | None = None) -> dict[str, Any]:
    return {"label": label, "value": value, "under": under, "badge": badge}


def options(subject: Subject) -> dict[str, Any]:
    """A row for each spec that some preference takes; the sentence where all of them take the same."""
    answer = subject.answer
    if answer is None or answer.rate_in_doubt:
        return {"title": "", "rows": [], "same": ""}
    known = answer.options if len(answer.options) > 1 else ()
    return {
        "title": options_title(known),
        "rows": [_option(each, answer, subject) for each in known],
        "same": one_choice_in_words(answer),
    }


def _option(option: Option, answer: Answer, subject: Subject) -> dict[str, Any]:
    sure = answer.provisional and option.probability >= SURE
    return {
        "name": capital(preferences_in_words(option)),
        "spec": spec_line(option.spec, subject.study, subject.device),
        "throughput": rate_interval(option.throughput, subject.unit),
        "hour": option_price(option),
        "instance": option.instance_type or "",
        "million": usd_or_nothing(option.usd_per_million_samples),
        "probability": "" if sure else chance(option.probability),
        "bound": option_bound(option, subject.terms) if option.bottleneck is not None else "",
        "is_answer": option.spec == answer.spec and option.throughput == answer.throughput,
    }


def rejected(subject: Subject) -> dict[str, Any]:
    """A row for each cheaper spec: those shown at once, and those folded away."""
    found = subject.answer.rejected if subject.answer is not None else ()
    rows = [_rejected(each, subject) for each in found]
    return {
        "rejected_title": rejected_title(found),
        "rejected": rows[:MOST_REJECTED],
        "more_rejected": rows[MOST_REJECTED:],
    }


def _rejected(each: Rejection, subject: Subject) -> dict[str, Any]:
    rate, share = rejected_rate(each, subject.terms)
    saved, saving = rejected_saving(each)
    return {
        "spec": rejected_spec(each, subject.terms),
        "rate": rate,
        "share": share,
        "saved": saved,
        "saving": saving,
        "why": rejection_sentences(each, subject.terms),
    }

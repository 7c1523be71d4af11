"""Each reason as a sentence, or two: what is known, as an engineer would say it to a colleague."""

from __future__ import annotations

from collections.abc import Iterable

from sizer.records.prediction import Reason
from sizer.words.language import _, conditions_of, fields_of, without_optional
from sizer.words.names import Terms
from sizer.words.reasons.fields import field
from sizer.words.reasons.sentences import SENTENCES


def reason_sentence(reason: Reason, terms: Terms) -> str:
    """What is known, by the first template whose figures are all there; empty where none has them."""
    templates = SENTENCES[reason.code]
    variants = (templates,) if isinstance(templates, str) else templates
    return next(filter(None, (_sentence(template, reason, terms) for template in variants)), "")


def reason_sentences(reasons: Iterable[Reason], terms: Terms) -> list[str]:
    """Each of several reasons."""
    return [reason_sentence(reason, terms) for reason in reasons]


def _sentence(template: str, reason: Reason, terms: Terms) -> str:
    values = {name: field(name, reason, terms) for name in (*fields_of(template), *conditions_of(template))}
    return _(template, **values) if all(map(values.get, fields_of(without_optional(template)))) else ""

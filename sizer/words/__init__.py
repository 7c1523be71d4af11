"""Every sentence that a person reads, made from records, in the language of that person."""

from __future__ import annotations

from sizer.words.answers import (
    family_sentences,
    headline,
    offer_notes,
    place_name,
    prediction_line,
    reason_sentences,
    refusal_sentences,
    rejection_sentences,
    suggestion_sentences,
    verdict,
)
from sizer.words.language import ENGLISH, in_language, languages
from sizer.words.model import assumptions, model_summary, parameter_name, source_name
from sizer.words.names import (
    Terms,
    accelerator_name,
    accelerators_name,
    bound_by,
    disk_name,
    resource_name,
    spec_name,
    terms_of,
)
from sizer.words.reasons import reason_sentence

__all__ = [
    "ENGLISH",
    "Terms",
    "accelerator_name",
    "accelerators_name",
    "assumptions",
    "bound_by",
    "disk_name",
    "family_sentences",
    "headline",
    "in_language",
    "languages",
    "model_summary",
    "offer_notes",
    "parameter_name",
    "place_name",
    "prediction_line",
    "reason_sentence",
    "reason_sentences",
    "refusal_sentences",
    "rejection_sentences",
    "resource_name",
    "source_name",
    "spec_name",
    "suggestion_sentences",
    "terms_of",
    "verdict",
]

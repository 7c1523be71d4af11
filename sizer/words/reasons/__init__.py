"""Each reason as a sentence, or two: what is known, as an engineer would say it to a colleague."""

from __future__ import annotations

from sizer.records.prediction import Reason
from sizer.words.names import Terms
from sizer.words.reasons import machines, runs, sizes
from sizer.words.reasons.templates import Sentences, in_order

SENTENCES: Sentences = {**runs.SENTENCES, **sizes.SENTENCES, **machines.SENTENCES}


def reason_sentence(reason: Reason, terms: Terms) -> str:
    """What is known, in words."""
    return in_order(reason, terms, SENTENCES)

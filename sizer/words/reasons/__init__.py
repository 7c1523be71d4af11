"""Each reason as a sentence, or two: what is known, as an engineer would say it to a colleague."""

from __future__ import annotations

from sizer.records import Reason
from sizer.words.names import Terms
from sizer.words.reasons import (
    alternatives,
    chosen_spec,
    jobs,
    machines,
    memory,
    no_answer,
    open_questions,
    scaling,
    several,
)
from sizer.words.reasons.figures import Sentences

_SENTENCES: Sentences = {
    **no_answer.SENTENCES,
    **scaling.SENTENCES,
    **jobs.SENTENCES,
    **open_questions.SENTENCES,
    **chosen_spec.SENTENCES,
    **memory.SENTENCES,
    **alternatives.SENTENCES,
    **machines.SENTENCES,
    **several.SENTENCES,
}


def reason_sentence(reason: Reason, terms: Terms) -> str:
    """What is known, in words."""
    return _SENTENCES[reason.code](reason, terms)

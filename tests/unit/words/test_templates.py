"""Each kind of reason has its sentences, and these name fields that there are."""

from __future__ import annotations

import pytest

from sizer.records.prediction import ReasonCode, reason
from sizer.words.language import fields_of
from sizer.words.names import Terms
from sizer.words.reasons import SENTENCES, reason_sentence
from sizer.words.reasons.fields import FIELDS


@pytest.mark.parametrize("code", ReasonCode)
def test_a_kind_has_sentences_with_known_fields(code: ReasonCode) -> None:
    templates = [template for sentence in SENTENCES[code] for template in sentence]
    assert templates
    assert {name for template in templates for name in fields_of(template.message)} <= set(FIELDS)


def test_the_fullest_template_is_said() -> None:
    """A sentence whose figures are not all there gives way to the next."""
    terms = Terms("train", "image")
    rises = reason(ReasonCode.RISES, vcpus=4.0, gain=0.2)
    assert (
        reason_sentence(rises, terms) == "The rate still rises at 4 vCPUs, the most measured: 8 vCPUs should gain 20 %."
    )
    assert reason_sentence(reason(ReasonCode.RISES, vcpus=4.0), terms) == (
        "The rate still rises at 4 vCPUs, the most measured."
    )
    assert reason_sentence(reason(ReasonCode.RISES, memory_bytes=2.0**30), terms) == (
        "The rate still rises at 1 GiB of memory, the most measured."
    )

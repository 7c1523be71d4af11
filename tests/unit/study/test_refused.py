"""Each way to write a study file wrong is one sentence with its line, the key and what to write."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from sizer.records.messages import InputError
from sizer.records.study import Study
from sizer.words.language import in_words

CASES = yaml.safe_load(Path(__file__).with_name("refused.yaml").read_text("utf-8"))


@pytest.mark.parametrize("case", CASES, ids=[case["says"][:60] for case in CASES])
def test_it_is_refused_in_one_sentence(parse: Callable[..., Study], case: dict[str, str]) -> None:
    """Of several mistakes the first is said, and never a value of `env`."""
    with pytest.raises(InputError) as refused:
        parse(case["study"])
    sentence = in_words(refused.value)
    assert sentence.startswith(f"study.yaml {case['says']}")
    assert "\n" not in sentence
    assert "hush" not in sentence

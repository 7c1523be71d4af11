"""Quantities as people read them, and templates that are filled with them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from sizer.records.configuration import Estimate
from sizer.records.prediction import ReasonCode, reason
from sizer.words import language
from sizer.words.language import QUANTITIES, Counted, Sentence, _, fields_of
from sizer.words.names import Terms
from sizer.words.reasons import reason_sentence
from sizer.words.reasons.fields import FIELDS
from sizer.words.reasons.sentences import SENTENCES

BY_FORM = [
    # Data is shown in powers of ten, as disks are sold.
    ("volume", (45_200_000, "45.2 MB"), (110_000, "110 kB"), (6, "6 B"), (1.5e9, "1.5 GB"), (0, "0 B")),
    # Whole percent; what is small but not nothing does not read as nothing.
    ("share", (0.973, "97 %"), (0.001, "< 1 %"), (0, "0 %"), (1.004, "100 %")),
    ("small", (0.0034, "0.3 %"), (0.12, "12 %"), (0.0002, "< 0.1 %"), (0.0, "0.0 %"), (0.0999, "10 %")),
    ("vcpus", (0.5, "0.5 vCPU"), (1.0, "1 vCPU"), (4.0, "4 vCPUs")),
    # Finite measurements never give 1 or 0.
    ("chance", (1.0, "above 0.99"), (0.0, "below 0.01"), (0.934, "0.93")),
    # What a sample waits may be nanoseconds.
    ("brief", (2.5, "2.5 s"), (0.0012, "1.2 ms"), (23.6e-9, "23.6 ns"), (0.0, "0 ms"), (4.4e-4, "440 µs")),
    # No percentage above 300, nothing negative that is more.
    ("times", (0.13, "13 %"), (1.4, "140 %"), (6.9, "6.9 times"), (27.38, "27.4 times")),
    ("gain", (0.12, "12 %"), (3.0, "300 %"), (6.9, "a factor of 7.9")),
    ("change", (0.12, "+12 %"), (-0.03, "-3 %"), (6.9, "a factor of 7.9")),
    ("more", (-0.05, "5 % less"), (0.12, "12 % more"), (26.38, "27.4 times as much"), (0.0, "0 % more")),
    ("runs", (1, "1 run"), (2000, "2,000 runs")),
    ("some", ("abc", "`a`, `b` and `c`"), ("abcdefghi", "`a`, `b`, `c`, `d`, `e`, `f`, `g` and 2 more")),
]


@pytest.mark.parametrize(("form", "value", "text"), [(form, *case) for form, *cases in BY_FORM for case in cases])
def test_a_quantity_is_written_by_its_form(form: str, value: Any, text: str) -> None:
    assert QUANTITIES[form](value) == text == _(f"{{x:{form}}}", x=value)


RATE, ONE_RUN = Estimate(183.2, 177.9, 188.4), Estimate(480.0, 480.0, 480.0)


@pytest.mark.parametrize(
    ("write", "values", "text"),
    [
        (language.rate_interval, (RATE, "image"), "183 images/s (178–188)"),
        (language.rate_interval, (Estimate(219.1, 219.0, 219.2), "image"), "219 images/s"),
        (language.half_width, (ONE_RUN,), "1 run"),
        (language.half_width, (Estimate(480.0, 470.0, 490.0),), "±2.1 %"),
        (language.of_its_rate, (0.98,), "98 % of its rate"),
        (language.of_its_rate, (6.9,), "6.9 times its rate"),
        (language.signed_bytes, (1229,), "+1.2 KiB"),
        (language.signed_bytes, (-300,), "−300 B"),
        (language.signed_bytes, (0.2,), "0 B"),
        # Rounded like any other, unless that would make it look like what was asked for.
        (language.rate_beside, (170.966, 110.0, "image"), "171 images/s"),
        (language.rate_beside, (105.863, 105.9, "image"), "105.863 images/s"),
        (language.rate_beside, (105.863, 106.0, "image"), "105.863 images/s"),
        (language.sentence, ("the CPU binds",), "The CPU binds."),
        (language.sentence, ("Already one.",), "Already one."),
    ],
)
def test_a_figure_says_what_is_known_of_it(write: Callable[..., str], values: tuple[object, ...], text: str) -> None:
    assert write(*values) == text


def test_a_part_of_a_template_is_said_where_it_has_its_values() -> None:
    """Or on a condition; 0 and an empty list are nothing."""
    template = Sentence("{runs:runs}[[, {failed} failed]][[again?, again]][[!again?, once]][[ of {names:and}]]")
    assert template(3) == "3 runs, once"
    assert template(1, 2, ("a", "b"), again=True) == "1 run, 2 failed, again of a and b"
    assert template(runs=1, failed=0, names=()) == "1 run, once"
    with pytest.raises(TypeError, match="takes 3 values, not 4"):
        template(1, 2, 3, 4)


def test_a_template_may_name_fields_and_count() -> None:
    """Of an object, of a sequence; braces in a value mean nothing."""
    assert Sentence("{each.value:number} of {names[1]}")(RATE, ("a", "{b}")) == "183 of {b}"
    counted = Counted("{count} run is in {place}", "{count} runs are in {place}")
    assert (counted(1, "a"), counted(place="b", count=2000)) == ("1 run is in a", "2,000 runs are in b")


@pytest.mark.parametrize("code", ReasonCode)
def test_a_kind_of_reason_has_sentences_with_known_fields(code: ReasonCode) -> None:
    assert {name for template in SENTENCES[code] for name in fields_of(template)} <= set(FIELDS)


@pytest.mark.parametrize(
    ("figures", "text"),
    [
        (
            {"vcpus": 4.0, "gain": 0.2},
            "The rate still rises at 4 vCPUs, the most measured: twice as much should gain 20 %.",
        ),
        ({"vcpus": 4.0}, "The rate still rises at 4 vCPUs, the most measured."),
        ({"memory_bytes": 2.0**30}, "The rate still rises at 1 GiB of memory, the most measured."),
        (
            {"gpu_count": 2.0, "gain": 6.9},
            "The rate still rises at 2 accelerators, the most measured: twice as much should gain a factor of 7.9.",
        ),
    ],
)
def test_one_sentence_is_said_of_every_axis(figures: dict[str, float], text: str) -> None:
    assert reason_sentence(reason(ReasonCode.RISES, **figures), Terms("train", "image")) == text

"""No percentage above 300, nothing negative that is `more`, no `1 x cpu`, and a single run without an interval."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from sizer.records.answer import Alternative, Answer, Baseline
from sizer.records.configuration import Estimate
from sizer.records.prediction import Figure, Reason, ReasonCode, Spec, reason
from sizer.words.answers import alternative_line, alternative_remark, reason_sentences
from sizer.words.language import change, gain, half_width, more_or_less, of_its_rate, times
from sizer.words.names import Terms, spec_name
from sizer.words.verdict import against_sentence

TERMS = Terms("train")
K80, P100 = Spec(None, gpu="K80", gpu_count=1), Spec(None, gpu="P100", gpu_count=1)


def said(code: ReasonCode, spec: Spec | None = None, **figures: Figure) -> str:
    (sentence,) = reason_sentences(Answer("train", "recommended", reasons=(Reason(code, figures, spec),)), TERMS)
    return sentence


@pytest.mark.parametrize(
    ("factor", "text"), [(0.13, "13 %"), (1.4, "140 %"), (6.9, "6.9 times"), (27.38, "27.4 times")]
)
def test_many_times_are_no_percentage(factor: float, text: str) -> None:
    """A factor below one and a half is a share, a larger one a number of times."""
    assert times(factor) == text


@pytest.mark.parametrize(("share", "text"), [(0.12, "12 %"), (3.0, "300 %"), (6.9, "a factor of 7.9")])
def test_a_gain(share: float, text: str) -> None:
    """Up to 300 % it is a percentage."""
    assert gain(share) == text


@pytest.mark.parametrize(("share", "text"), [(0.12, "+12 %"), (-0.03, "-3 %"), (6.9, "a factor of 7.9")])
def test_a_change(share: float, text: str) -> None:
    """It has its sign where it is a percentage."""
    assert change(share) == text


@pytest.mark.parametrize(
    ("share", "text"), [(-0.05, "5 % less"), (0.12, "12 % more"), (26.38, "27.4 times as much"), (0.0, "0 % more")]
)
def test_another_price(share: float, text: str) -> None:
    """What is less is never a negative more."""
    assert more_or_less(share) == text


@pytest.mark.parametrize(
    ("share", "text"), [(0.98, "98 % of its rate"), (1.56, "156 % of its rate"), (6.9, "6.9 times its rate")]
)
def test_another_rate(share: float, text: str) -> None:
    """Of the baseline's."""
    assert of_its_rate(share) == text


@pytest.mark.parametrize(
    ("bottleneck", "dearer", "text"),
    [
        (None, 0.2, "Takes 1 h 00 min, in time; the job costs 20 % more."),
        (None, -0.05, "Takes 1 h 00 min, in time; the job costs 5 % less."),
        ("cpu", 26.0, "Takes 1 h 00 min, in time, bound by the CPU; the job costs 27 times as much."),
        ("cpu", -0.05, "Takes 1 h 00 min, in time, bound by the CPU; the job costs 5 % less."),
    ],
)
def test_the_price_of_a_job_elsewhere(bottleneck: str | None, dearer: float, text: str) -> None:
    """Dearer, cheaper, or many times dearer."""
    assert said(ReasonCode.JOB_TAKES, seconds=3600.0, dearer=dearer, bottleneck=bottleneck) == text


BASELINE: Mapping[str, Figure] = {
    "share": 6.9,
    "dearer": 26.38,
    "baseline_usd": 1.14,
    "instance_type": "aws c6i.xlarge",
    "answer_usd": 31.21,
    "answer_instance": "aws p3.16xlarge",
    "named": False,
    "extrapolated": False,
    "disk_not_counted": False,
}


@pytest.mark.parametrize(
    ("changes", "end"),
    [
        ({}, "27.4 times as much, at 6.9 times its rate."),
        ({"named": True}, "27.4 times as much, at 6.9 times its rate."),
        ({"dearer": -0.75, "share": 0.98}, "75 % less, at 98 % of its rate."),
        ({"extrapolated": True}, "at 6.9 times its rate (extrapolated)."),
        ({"disk_not_counted": True}, "at 6.9 times its rate, disk prices not counted."),
        (
            {"disk_not_counted": True, "extrapolated": True, "share": 0.98},
            "at 98 % of its rate (extrapolated), disk prices not counted.",
        ),
    ],
)
def test_a_baseline_of_another_size(changes: Mapping[str, Figure], end: str) -> None:
    """Neither 2638 % more nor 690 % of its rate."""
    sentence = said(ReasonCode.BASELINE, Spec(4.0), **{**BASELINE, **changes})
    assert sentence.endswith(end)


def test_a_baseline_on_the_page() -> None:
    """The same there."""
    rate = Estimate(690, 680, 700)
    answer = Answer("train", "recommended", P100, rate, baseline=Baseline(K80, rate, 6.9, saving=-26.38))
    found = against_sentence(answer, 0.95, TERMS)
    assert found.startswith("With 1 x P100 instead of 1 x K80, the largest measured, it has 6.9 times the throughput")
    assert found.endswith("costs 27.4 times as much an hour; the same work costs 297 % more.")


@pytest.mark.parametrize(
    ("code", "figures"),
    [
        (ReasonCode.RISES, {"gpu_count": 2.0}),
        (ReasonCode.RISES, {"batch_size": 64.0}),
        (ReasonCode.RISES, {"vcpus": 8.0}),
        (ReasonCode.OTHER_DISK, {"disk": "hdd", "other": "nvme"}),
        (ReasonCode.NEXT_LIMIT, {"next": "cpu"}),
    ],
)
def test_a_large_gain_in_a_sentence(code: ReasonCode, figures: Mapping[str, Figure]) -> None:
    """A step that gained 690 % made it nearly eight times as fast."""
    sentence = said(code, gain=6.9, **figures)
    assert "690" not in sentence
    assert "a factor of 7.9" in sentence


def test_no_accelerator_is_no_kind() -> None:
    """`1 x cpu` is what a table calls it."""
    assert spec_name(Spec(4.0, gpu="cpu", gpu_count=1), TERMS) == "4 vCPUs, no accelerator"


def test_the_bottleneck_is_not_guessed_without_figures() -> None:
    """Where no vCPUs were given, nothing is said of shares."""
    assert said(ReasonCode.BOTTLENECK_UNKNOWN) == "The bottleneck there is not known."


def test_one_run_has_no_interval() -> None:
    """±0.0 % would be a claim."""
    assert half_width(Estimate(480.0, 480.0, 480.0)) == "1 run"
    assert half_width(Estimate(480.0, 470.0, 490.0)) == "±2.1 %"


LINE = Alternative(P100, Estimate(1800, 1710, 1890), "azure NC6s v2", 2.07, 0.319)


@pytest.mark.parametrize(
    ("alternative", "text"),
    [
        (LINE, "1 x P100 (azure NC6s v2): 1,800 samples/s, $2.07 an hour, $0.319 a million samples"),
        (
            replace(LINE, instance_type=None, usd_per_hour=None, usd_per_million_samples=None),
            "1 x P100: 1,800 samples/s, price unknown",
        ),
        (
            replace(LINE, spec=Spec(None)),
            "no accelerator (azure NC6s v2): 1,800 samples/s, $2.07 an hour, $0.319 a million samples",
        ),
    ],
)
def test_an_alternative_in_a_line(alternative: Alternative, text: str) -> None:
    """What it is, how fast, what an hour and the work cost."""
    assert alternative_line(alternative, TERMS) == text


def test_relative_rates_cost_no_dollars() -> None:
    """A million of nothing has no price."""
    relative = replace(LINE, throughput=Estimate(2.1, 2, 2.2), usd_per_million_samples=None)
    line = alternative_line(relative, Terms("train", "relative"))
    assert line == "1 x P100 (azure NC6s v2): 2.10 times the reference, $2.07 an hour"
    (sentence,) = reason_sentences(
        Answer(
            "train",
            "recommended",
            reasons=(
                reason(
                    ReasonCode.BEST_OF_MACHINES,
                    by="cost",
                    usd_per_million=485.0,
                    machines=3.0,
                    configurations=3.0,
                    instance_type="aws x",
                ),
            ),
        ),
        Terms("train", "relative"),
    )
    assert sentence == "The same work costs the least on aws x, of 3 machines measured."


def test_what_an_alternative_is_beside_the_others() -> None:
    """In words, not by a colour alone."""
    slow = Alternative(K80, Estimate(480, 456, 504), "aws p2.xlarge", 0.9, 0.521, dominated=True)
    fast = replace(
        LINE, spec=replace(P100, gpu_count=4), throughput=Estimate(7105, 6750, 7460), usd_per_million_samples=0.324
    )
    answer = Answer("train", "recommended", P100, LINE.throughput, alternatives=(LINE, fast, slow))
    assert [alternative_remark(each, answer) for each in answer.alternatives] == [
        "the answer, least cost",
        "fastest",
        "dominated",
    ]
    assert answer.front == (LINE, fast)

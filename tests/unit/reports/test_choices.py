"""Why an answer is so, what else could be chosen, and why no cheaper spec was taken, as the section shows it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sizer.bundled.reports.subject import Material, Subject, subjects
from sizer.bundled.reports.workloads import IMAGENET_IMAGES, MOST_REJECTED, options, reasoning, rejected, time_for
from sizer.records.answer import Answer, Option, Rejection
from sizer.records.prediction import ReasonCode, Spec, reason
from sizer.records.run import Bottleneck, Estimate
from sizer.records.units import GIB
from tests.reported_study import INFER, TRAIN

CHEAP, FAST = Spec(2.0, GIB, "medium", 32), Spec(8.0, GIB, "fast", 32)


@pytest.fixture(scope="module")
def trained(material: Material) -> Subject:
    return next(subject for subject in subjects(material) if subject.name == TRAIN.name)


def _answered(subject: Subject, **changed: object) -> Subject:
    assert subject.answer is not None
    return replace(subject, answer=replace(subject.answer, **changed))  # type: ignore[arg-type]


def _option(preferences: tuple[str, ...], spec: Spec, rate: float, usd: float | None) -> Option:
    estimate = Estimate(rate, rate * 0.95, rate * 1.05)
    return Option(preferences, spec, estimate, 0.97, Bottleneck.CPU, "aws c6i.large", usd, None)


def test_three_reasons_are_said_and_the_others_fold(trained: Subject) -> None:
    """Those that must be known of every answer fold, too."""
    many = [reason(ReasonCode.OUT_OF_MEMORY), reason(ReasonCode.EMULATED, disk="slow")]
    many += [reason(ReasonCode.FEWER_NOT_MEASURED, vcpus=float(each)) for each in range(1, 5)]
    shown = reasoning(_answered(trained, reasons=tuple(many)))
    assert len(shown["reasons"]) == 3
    assert len(shown["more_reasons"]) == 3
    assert not any("emulated" in each for each in shown["reasons"])


def test_what_is_extrapolated_has_its_badge(material: Material, trained: Subject) -> None:
    """Beside what comes next and what comes near."""
    facts = {each["label"]: each for each in reasoning(trained)["facts"]}
    assert facts["Next in line"]["value"] == "CPU"
    assert facts["Runner-up"]["value"] == "2 vCPUs · 1 GiB · disk fast (emulated) · batch 32"
    inferred = next(subject for subject in subjects(material) if subject.name == INFER.name)
    assert reasoning(inferred)["next_run"].startswith("Measure infer-squeezenet at 4 vCPUs")


def test_a_row_for_each_choice(trained: Subject) -> None:
    """With what it costs; the answer is marked, and an unknown price is not 0."""
    assert trained.answer is not None
    rate = trained.answer.throughput
    assert rate is not None
    first = replace(_option(("cheapest", "balanced"), CHEAP, rate.value, 0.085), throughput=rate)
    shown = options(_answered(trained, options=(first, _option(("fastest",), FAST, 219.0, None))))
    assert all(row["bound"] for row in shown["rows"])
    assert [row["name"] for row in shown["rows"]] == [("Cheapest and balanced", "the answer"), ("Fastest", "")]
    assert [row["is_answer"] for row in shown["rows"]] == [True, False]
    assert [row["hour"][0] for row in shown["rows"]] == ["$0.085", "unknown"]
    assert shown["same"] == ""


def test_one_choice_is_a_sentence(trained: Subject) -> None:
    """And none where rates are known to be wrong, or nothing was chosen."""
    one = (_option(("cheapest", "balanced", "fastest"), CHEAP, 214.0, 0.085),)
    shown = options(_answered(trained, options=one))
    assert shown["rows"] == []
    assert shown["same"] == "The cheapest, the balanced and the fastest choice are this same spec."
    assert options(_answered(trained, options=one, status="at_least"))["same"].startswith("Within what was measured")
    assert options(_answered(trained, options=one, rate_in_doubt=True)) == options(replace(trained, answer=None))
    assert options(_answered(trained, options=()))["same"] == ""


def test_a_provisional_answer_is_not_shown_as_sure(trained: Subject) -> None:
    """Its probability would be that of runs that nobody should rely on."""
    both = (_option(("cheapest",), CHEAP, 214.0, 0.08), _option(("balanced", "fastest"), FAST, 219.0, 0.3))
    shown = options(_answered(trained, options=both, provisional=True))
    assert [row["probability"] for row in shown["rows"]] == ["", ""]


def test_a_choice_without_a_price_is_called_by_what_it_is(trained: Subject) -> None:
    """Nothing is known to be cheap."""
    machines = Spec(None, gpu="T4", gpu_count=1), Spec(None, gpu="V100", gpu_count=2)
    for (small, fast), called in (((CHEAP, FAST), "Smallest"), (machines, "Most for each accelerator")):
        both = (_option(("cheapest", "balanced"), small, 214.0, None), _option(("fastest",), fast, 219.0, None))
        shown = options(_answered(trained, options=both))
        assert shown["title"] == "Small or fast"
        assert [row["name"][0] for row in shown["rows"]] == [called, "Fastest"]
    one = replace(both[0], preferences=("cheapest", "balanced", "fastest"))
    assert options(_answered(trained, options=(one,)))["same"] == ""


def test_a_cheaper_spec_says_what_it_gives_saves_and_why_not(trained: Subject) -> None:
    """What is not known is empty; no more than six are shown at once."""
    why = (reason(ReasonCode.GIVES, of_target=0.64, bottleneck="cpu"),)
    slow = Rejection(CHEAP, why, None, Estimate(100.0, 95.0, 105.0), 0.5, 0.04, 0.31)
    same = replace(slow, usd_saved_per_hour=0.0, saving=0.0)
    dearer = replace(slow, usd_saved_per_hour=-0.01, saving=-0.1)
    lost = Rejection(CHEAP, (reason(ReasonCode.OUT_OF_MEMORY),))
    shown = rejected(_answered(trained, rejected=(slow, same, dearer, lost, slow, slow, slow)))
    rows = shown["rejected"]
    assert len(rows) == MOST_REJECTED
    assert len(shown["more_rejected"]) == 1
    assert shown["rejected_title"] == "Why not a smaller or cheaper one"
    assert rejected(_answered(trained, rejected=(lost,)))["rejected_title"] == "Why not a smaller one"
    first, second, third, fourth = rows[:4]
    assert first["rate"] == ("100 images/s (95–105)", "50 % of the answer's")
    assert first["saved"] == ("$0.04 an hour", "31 %")
    assert first["why"] == "Reaches 64 % of the target, bound by the CPU."
    assert second["saved"][0] == "nothing"
    assert third["saved"][0] == "nothing, it costs $0.01 an hour more"
    assert (*fourth["rate"], *fourth["saved"], fourth["why"]) == ("", "", "", "", "Runs out of memory.")


def test_without_an_answer_nothing_is_rejected(trained: Subject) -> None:
    assert rejected(replace(trained, answer=None))["rejected"] == []
    assert reasoning(replace(trained, answer=Answer(TRAIN.name, "refused")))["reasons"] == []


@pytest.mark.parametrize(
    ("samples", "rate", "said"),
    [
        (
            IMAGENET_IMAGES,
            Estimate(182.7, 178.0, 188.0),
            ("7,010 s (6,810–7,200)", "1 h 57 min (1 h 54 min to 2 h 00 min)"),
        ),
        (1000, Estimate(10.0, 0.0, 20.0), ("100 s (from 50)", "1 min 40 s")),
        (100, Estimate(10.0, 10.0, 10.0), ("10 s", "")),
        (100, Estimate(0.0, 0.0, 0.0), ("unknown", "")),
    ],
)
def test_the_time_for_imagenet_is_in_seconds_and_in_words(samples: int, rate: Estimate, said: tuple[str, str]) -> None:
    """A rate that may be nothing leaves the longest time open; below a minute the seconds say it all."""
    assert time_for(samples, rate) == said

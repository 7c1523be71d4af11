"""Whether the rate still rises where measuring stopped is said as surely as the runs support, and no surer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from sizer.records import Answer, Bottleneck, Run

Ask = Callable[..., Answer]
Curve = Callable[..., list[Run]]
NOISY = ((0.5, 60), (1, 118), (2, 105))
CONTENDED = ("contended: something else on this host used 1.10 cores meanwhile",)
IMPRECISE = ("imprecise: ±19.6% after 5 s, where ±3.0% was asked for",)


def warned(runs: list[Run], *warnings: tuple[str, ...]) -> list[Run]:
    return [replace(run, warnings=each) for run, each in zip(runs, warnings, strict=True)]


def test_noise_is_no_rise(curve: Curve, ask: Ask) -> None:
    """A flat end with wide intervals is recommended, with the doubt said and the run that would settle it."""
    answer = ask(curve(*NOISY, spread=0.15))
    assert answer.status == "recommended"
    assert answer.beyond is None
    assert (
        "whether more vCPUs pay is not settled: twice the 2 vCPUs measured should gain about 0 %" in answer.reasons[0]
    )
    assert "still rises" not in " ".join(answer.reasons)
    assert answer.next_run == "measure `train` at 4 vCPUs: whether more vCPUs pay is not settled"


def test_disturbed_runs_cannot_tell_what_binds(curve: Curve, ask: Ask) -> None:
    """Where the curve is open and its runs were disturbed, no bottleneck is named, and repeating them is the advice."""
    answer = ask(warned(curve(*NOISY, spread=0.15), CONTENDED, CONTENDED + IMPRECISE, CONTENDED))
    assert (answer.status, answer.bottleneck, answer.next_bottleneck) == ("recommended", Bottleneck.AMBIGUOUS, None)
    assert "3 of 3 runs were contended or imprecise; repeat them on a quiet host" in answer.reasons
    assert any(reason.startswith("what binds there is not known") for reason in answer.reasons)
    assert not any("bound" in each.why or "held back" in each.why for each in answer.rejected)
    assert answer.next_run is not None
    assert answer.next_run.startswith("repeat `train` at 0.5, 1 and 2 vCPUs on a quiet host")


@pytest.mark.parametrize("spread", [0.01, 0.1, 0.2])
def test_a_curve_that_rises_is_at_least_however_noisy(curve: Curve, ask: Ask, spread: float) -> None:
    """A CPU-bound curve is never called recommended, disturbed or not."""
    runs = curve((0.5, 50), (1, 100), (2, 190), spread=spread)
    for answer in (ask(runs), ask(warned(runs, CONTENDED, CONTENDED, CONTENDED))):
        assert (answer.status, answer.bottleneck) == ("at_least", Bottleneck.CPU)
        assert "the rate still rises at 2 vCPUs, the most measured" in answer.reasons
    assert "3 of 3 runs were contended; repeat them on a quiet host" in answer.reasons


def test_a_plateau_is_settled(curve: Curve, ask: Ask) -> None:
    """908 at 64 vCPUs where the model expects 909 at 128 is no lower bound."""
    answer = ask(curve((1, 100), (2, 195), (4, 370), (8, 640), (16, 830), (32, 895), (64, 908)))
    assert answer.status == "recommended"
    assert "not settled" not in " ".join(answer.reasons)


def test_a_gain_below_what_counts_is_no_rise(curve: Curve, ask: Ask) -> None:
    """Where twice the vCPUs should gain 4 %, the answer stands, with the doubt said."""
    answer = ask(curve((0.5, 50), (1, 100), (2, 110)))
    assert answer.status == "recommended"
    assert "should gain about 4 %, and more than 5 % with a probability of" in answer.reasons[0]


def test_an_answer_from_imprecise_runs_says_so(curve: Curve, ask: Ask) -> None:
    """Runs that were short or imprecise are counted, and asked for again, for longer."""
    answer = ask(warned(curve((1, 100), (2, 101), (4, 100)), IMPRECISE, (), ("page cache warm: 60%",)))
    assert "1 of 3 runs were imprecise; repeat them for longer" in answer.reasons
    assert answer.next_run is None

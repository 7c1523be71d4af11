"""An answer whose runs something speaks against does not pass for a sure one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from sizer.recommend.next_run import for_host
from sizer.records.answer import Action, Answer, Suggestion
from sizer.records.run import Outcome, Run, RunWarning, WarningKind
from sizer.words import Terms, suggestion_sentences

Ask = Callable[..., Answer]
Curve = Callable[..., list[Run]]
KNEE = ((1, 100), (2, 197), (4, 300), (8, 303), (16, 304))
CONTENDED = (RunWarning(WarningKind.CONTENDED, {"cores": 1.1}),)


def marked(runs: list[Run], warnings: tuple[RunWarning, ...], *vcpus: float) -> list[Run]:
    return [replace(run, warnings=warnings) if run.configuration.vcpus in vcpus else run for run in runs]


@pytest.mark.parametrize("doubt", ["contended", "stolen", "drifting", "imprecise", "unsettled", "short"])
def test_mostly_marked_runs_make_an_answer_provisional(curve: Curve, ask: Ask, doubt: str) -> None:
    """The status stays, the flag and the remedy are beside it."""
    answer = ask(marked(curve(*KNEE), (RunWarning(WarningKind(doubt)),), 1, 2, 4))
    assert (answer.status, answer.provisional) == ("recommended", True)
    assert answer.next_run is not None
    assert answer.next_run.startswith("Repeat `train`")


def test_one_marked_run_elsewhere_does_not(curve: Curve, ask: Ask) -> None:
    """A doubt that the answer does not rest on is a reason and no more; one at the chosen size is."""
    runs = curve(*KNEE)
    assert not ask(marked(runs, CONTENDED, 1)).provisional
    at_chosen = ask(marked(runs, CONTENDED, 4))
    assert at_chosen.provisional
    assert at_chosen.next_run == "Repeat `train` at 4 vCPUs on a quiet host. Every run of that size was contended."
    again = replace(runs[2], spec=replace(runs[2].spec, repeat=1))
    assert not ask([*marked(runs, CONTENDED, 4), again]).provisional


def test_clean_runs_are_not_provisional(curve: Curve, ask: Ask) -> None:
    """Warnings that say nothing against a rate do not count."""
    assert not ask(
        marked(curve(*KNEE), (RunWarning(WarningKind.PAGE_CACHE_WARM, {"share": 0.6}),), 1, 2, 4, 8, 16)
    ).provisional


def test_a_size_that_is_not_sure_to_be_enough_is_provisional(curve: Curve, ask: Ask) -> None:
    """The likeliest of sizes of which none passes does not look like one that does, and repeats are the run to make."""
    runs = curve((1, 180), (2, 205), (4, 178), (8, 215), (16, 180), (32, 214), (64, 181), spread=0.1)
    answer = ask(runs)
    assert answer.status == "recommended"
    assert answer.probability is not None
    assert answer.provisional == (answer.probability < 0.9)
    assert not answer.provisional or answer.next_run


@pytest.mark.parametrize(
    ("points", "edge"),
    [
        (((1, 100), (2, 195), (4, 380)), "rising"),
        (((0.5, 60), (1, 118), (2, 105)), "unsettled"),
        (KNEE, "settled"),
        (((1, 100), (2, 190)), "settled"),
    ],
)
def test_what_leaves_an_answer_open_is_told_apart(
    curve: Curve, ask: Ask, points: tuple[tuple[float, float], ...], edge: str
) -> None:
    """A rate that rises is a lower bound; one of which nobody knows is not called that."""
    answer = ask(curve(*points, spread=0.15 if edge == "unsettled" else 0.01))
    assert answer.edge == edge
    assert (edge != "settled") == (answer.status == "at_least")


@pytest.mark.parametrize(
    ("advice", "cpus", "larger"),
    [
        (Suggestion(Action.MEASURE, vcpus=(8.0, 16.0)), 4, True),
        (Suggestion(Action.MEASURE, vcpus=(8.0, 16.0)), 16, False),
        (Suggestion(Action.MEASURE, vcpus=(8.0, 16.0)), None, False),
        (Suggestion(Action.MEASURE, vcpus=(0.5,)), 2, False),
        (Suggestion(Action.REPEAT, vcpus=(1.0, 2.0, 16.0)), 4, False),
        (Suggestion(Action.MEASURE, memory_bytes=64 * 2**30), 2, False),
    ],
)
def test_a_run_for_a_larger_host_says_so(advice: Suggestion, cpus: float | None, larger: bool) -> None:
    """More vCPUs than the measuring host has cannot be measured there."""
    placed = for_host(advice, cpus)
    assert placed.needs_larger_host == larger
    words = suggestion_sentences(placed, Terms("x"))
    assert ("larger host" in words) == larger
    assert not larger or words.endswith("which has 4 vCPUs.")


def test_a_refusal_names_the_larger_host_once(curve: Curve, ask: Ask) -> None:
    """The suggestion says it, and no reason says it again."""
    answer = ask(curve((1, 100), (2, 190)), host_vcpus=2)
    assert answer.next_run is not None
    assert "on a larger host" in answer.next_run
    assert not any("host" in reason for reason in answer.reasons)


def test_a_job_that_crashes_is_to_be_mended(make_run: Callable[..., Run], ask: Ask) -> None:
    """No larger host, no more vCPUs: the log."""
    answer = ask([make_run(None, c, outcome=Outcome.CRASHED) for c in (1, 2, 4)], host_vcpus=2)
    assert answer.status == "refused"
    assert answer.next_run is not None
    assert "in the log of a run" in answer.next_run
    assert "host" not in answer.next_run


def test_one_marked_run_is_singular(curve: Curve, ask: Ask) -> None:
    """`1 of 5 runs was`, `2 of 5 runs were`."""
    runs = curve(*KNEE)
    assert any(each.startswith("1 of 5 runs was contended") for each in ask(marked(runs, CONTENDED, 1)).reasons)
    assert any(each.startswith("2 of 5 runs were contended") for each in ask(marked(runs, CONTENDED, 1, 2)).reasons)

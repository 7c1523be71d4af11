"""What is said of runs that are chosen."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sizer.plan.chosen import NextRun, PlanEnd
from sizer.records.study import PlanEndKind, RunReason, RunReasonKind
from sizer.records.units import GIB
from sizer.words.studies.planning import (
    chosen_in_words,
    chosen_runs,
    going_on_with,
    plan_ended,
    plan_ended_line,
    reason_in_words,
    start_to_come,
)
from tests.unit.plan.machine import chooser_of, study_of

SENTENCES = [
    (RunReason(RunReasonKind.START), "the first runs show the most, the least and the middle"),
    (RunReason(RunReasonKind.ONLY_ONE), "it is the only configuration"),
    (RunReason(RunReasonKind.NOT_SEEN, {}, ("vcpus",)), "no run with these vCPUs completed yet"),
    (RunReason(RunReasonKind.NOT_SEEN, {}, ("disk",)), "no run was on this disk yet"),
    (RunReason(RunReasonKind.NOT_SEEN, {}, ("memory",)), "no run had this memory yet"),
    (RunReason(RunReasonKind.NOT_SEEN, {}, ("batch_size",)), "no run had this batch size yet"),
    (RunReason(RunReasonKind.NOT_SEEN, {}, ("gpu_count",)), "no run had so many accelerators yet"),
    (RunReason(RunReasonKind.BETWEEN_VCPUS, {"low": 2, "high": 8}), "between 2 and 8 vCPUs the answer is open"),
    (
        RunReason(RunReasonKind.BETWEEN_MEMORY, {"low": 2.0 * GIB, "high": 8.0 * GIB}),
        "between 2 GiB and 8 GiB of memory the answer is open",
    ),
    (RunReason(RunReasonKind.BETWEEN_DISKS, {}, ("fast", "slow")), "whether the answer is disk fast or slow is open"),
    (
        RunReason(RunReasonKind.NOT_SURE, {"vcpus": 4.0, "probability": 0.71}),
        "that 4 vCPUs are enough is not sure enough: 71 %",
    ),
    (RunReason(RunReasonKind.NOT_SURE, {"probability": 0.71}), "the answer is not sure enough: 71 %"),
    (RunReason(RunReasonKind.OWN_RUN), "the answer itself was not measured yet"),
    (RunReason(RunReasonKind.NOT_COMPARED), "the answer is the best of what was measured, and this was not yet"),
    (RunReason(RunReasonKind.NOT_FITTED), "the runs so far do not carry an answer"),
    (RunReason(RunReasonKind.HOST_AGAIN, {"runs": 8.0}), "to see whether the host has changed in 8 runs"),
    (
        RunReason(RunReasonKind.HOST_OPEN, {}, ("train",)),
        "how slow the host was meanwhile leaves the answer of `train` open",
    ),
]


@pytest.mark.parametrize(("why", "sentence"), SENTENCES)
def test_why_a_run_is_made(why: RunReason, sentence: str) -> None:
    """One plain sentence."""
    assert reason_in_words(why) == sentence


def test_every_kind_is_said() -> None:
    """None is without its sentence."""
    assert {why.kind for why, _ in SENTENCES} == set(RunReasonKind)


def test_a_run_with_its_reason() -> None:
    """One of a configuration that was measured before says so."""
    why = RunReason(RunReasonKind.BETWEEN_VCPUS, {"low": 2.0, "high": 8.0})
    again = RunReason(why.kind, why.figures, again=True)
    assert chosen_in_words("train, 4 vCPUs", why) == "train, 4 vCPUs: between 2 and 8 vCPUs the answer is open"
    assert chosen_in_words("train, 4 vCPUs", again) == "train, 4 vCPUs, again: between 2 and 8 vCPUs the answer is open"


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        (PlanEndKind.SETTLED, "every answer is settled after 5 runs of 3 min 00 s together"),
        (
            PlanEndKind.BUDGET,
            "the budget has no room for another run after 5 runs of 3 min 00 s together; still open: `b`",
        ),
        (PlanEndKind.RUNS, "as many runs are made as were allowed: 5; still open: `b`"),
        (
            PlanEndKind.NOTHING_LEFT,
            "no single run that is left would tell much after 5 runs of 3 min 00 s together; still open: `b`",
        ),
    ],
)
def test_why_no_further_run_is_made(kind: PlanEndKind, said: str) -> None:
    """With what is still open."""
    left = () if kind is PlanEndKind.SETTLED else ("b",)
    assert plan_ended(PlanEnd(kind, ("a",), left, 5, 180.0)) == said


@pytest.mark.parametrize(
    ("kind", "left", "failed", "said"),
    [
        (
            PlanEndKind.NOTHING_LEFT,
            ("b",),
            ("b",),
            "no single run that is left would tell much after 5 runs of 3 min 00 s together; no run of `b` completed",
        ),
        (
            PlanEndKind.NOTHING_LEFT,
            ("b", "c"),
            ("c",),
            "no single run that is left would tell much after 5 runs of 3 min 00 s together; still open: `b`; no run "
            "of `c` completed",
        ),
        (
            PlanEndKind.RUNS,
            ("b", "c"),
            ("b", "c"),
            "as many runs are made as were allowed: 5; no run of `b` and `c` completed",
        ),
    ],
)
def test_what_failed_in_every_run_is_told_apart_from_what_is_open(
    kind: PlanEndKind, left: tuple[str, ...], failed: tuple[str, ...], said: str
) -> None:
    """No run would settle it before its cause is mended."""
    assert plan_ended(PlanEnd(kind, ("a",), left, 5, 180.0, failed)) == said


@pytest.mark.parametrize(
    ("kind", "runs", "said"),
    [
        (PlanEndKind.SETTLED, 1, "every answer is settled after 1 run of 30 s"),
        (PlanEndKind.RUNS, 1, "as many runs are made as were allowed: 1"),
        (PlanEndKind.BUDGET, 0, "the budget has no room for a first run"),
        (PlanEndKind.BUDGET, 1, "the budget has no room for another run after 1 run of 30 s"),
        (PlanEndKind.NOTHING_LEFT, 1, "no single run that is left would tell much after 1 run of 30 s"),
    ],
)
def test_one_run_and_none_are_said_as_such(kind: PlanEndKind, runs: int, said: str) -> None:
    assert plan_ended(PlanEnd(kind, ("a",), (), runs, 30.0 * runs)) == said


def bounded(kind: PlanEndKind, enough: float) -> PlanEnd:
    """Ended by a bound after five runs, before the first one of a study."""
    then = NextRun(chooser_of(study_of("b")).start()[0], RunReason(RunReasonKind.NOT_SEEN, {}, ("vcpus",)))
    return PlanEnd(kind, ("a",), ("b",), 5, 180.0, then=then, enough=enough)


def test_a_bound_says_what_a_larger_one_would_measure_and_what_to_type() -> None:
    """The next run with its reason, in each place where the end is told."""
    end = bounded(PlanEndKind.RUNS, 10)
    said = (
        "as many runs are made as were allowed: 5; still open: `b`; the next would be b 16 vCPUs: no run with these "
        "vCPUs completed yet"
    )
    command = "sizer run s/study.yaml --out s --runs 10"
    assert plan_ended_line(end, (), "s", ()) == f"{said}; to go on, type: {command}"
    assert chosen_runs(end, (), to_go_on=True) == f"Its runs were chosen one after another: {said}. To go on:"
    assert going_on_with((), "s", end) == command
    assert going_on_with((), "s", bounded(PlanEndKind.BUDGET, 301.0)).endswith(" --budget 6m")
    assert plan_ended_line(replace(end, then=None, enough=None), (), "s", ()).endswith("; still open: `b`")


def test_a_dry_run_that_goes_on_tells_what_is_left_from_what_is_there() -> None:
    """In all, of a study without runs; of another, how many more."""
    assert start_to_come(12, 60.0, 0).endswith(": 12 runs in all at the most, about 1 min 00 s")
    assert start_to_come(1, 60.0, 2).endswith(": 1 run more at the most, about 1 min 00 s; 2 finished")
    assert "what is searched for after that: 3 runs more" in start_to_come(3, 60.0, 2, others=True)

"""What is said of runs that are chosen."""

from __future__ import annotations

import pytest

from sizer.records import GIB
from sizer.records.adaptive import PlanEnd, PlanEndKind, RunReason, RunReasonKind
from sizer.words import chosen_in_words, plan_ended, reason_in_words

SENTENCES = [
    (RunReason(RunReasonKind.START), "the first runs show the most, the least and the middle"),
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
    (
        RunReason(RunReasonKind.BETWEEN_DISKS, {}, ("fast", "slow")),
        "whether the answer is disk fast or slow is open",
    ),
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
        (PlanEndKind.RUNS, "5 runs are made, as many as were allowed; still open: `b`"),
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
            "no run of `b` completed; no further one is made after 5 runs of 3 min 00 s together",
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
            "5 runs are made, as many as were allowed; no run of `b` and `c` completed",
        ),
    ],
)
def test_what_failed_in_every_run_is_told_apart_from_what_is_open(
    kind: PlanEndKind, left: tuple[str, ...], failed: tuple[str, ...], said: str
) -> None:
    """No run would settle it before its cause is mended."""
    assert plan_ended(PlanEnd(kind, ("a",), left, 5, 180.0, failed)) == said

"""An answer whose runs something speaks against does not pass for a sure one."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta, timezone

import pytest

from sizer.catalog.catalog import Catalog
from sizer.model.fitting import fit
from sizer.recommend.case import rate_contradicted
from sizer.recommend.edges import for_host
from sizer.recommend.recommendation import recommend
from sizer.records.answer import Answer
from sizer.records.configuration import Bottleneck
from sizer.records.device import Device
from sizer.records.prediction import Action, ReasonCode, Suggestion
from sizer.records.run import Demand, Evidence, EvidenceKind, Run, RunWarning, WarningKind
from sizer.records.run_kinds import Outcome
from sizer.records.study import Deadline, Objective
from sizer.words.answers import conclusion_line, headline
from sizer.words.names import Terms
from sizer.words.reasons import reason_sentence
from sizer.words.reasons.suggestions import suggestion_sentences

Ask = Callable[..., Answer]
Curve = Callable[..., list[Run]]
P100 = Device("emulated", gpu="P100", samples_per_second=219.0)
KNEE = ((1, 100), (2, 197), (4, 300), (8, 303), (16, 304))


def marked(runs: list[Run], warnings: tuple[RunWarning, ...], *vcpus: float) -> list[Run]:
    return [replace(run, warnings=warnings) if run.configuration.vcpus in vcpus else run for run in runs]


def test_a_warning_is_of_its_run_and_no_verdict(curve: Curve, ask: Ask) -> None:
    """However many runs have one: where their figures leave the answer as sure as before, it is no less of one."""
    runs = curve((1, 100), (2, 197), (4, 303), (8, 303), (16, 304))
    clean, slightly = ask(runs), marked(runs, (RunWarning(WarningKind.CONTENDED, {"cores": 0.06}),), 1, 2, 4, 8, 16)
    answer = ask(slightly)
    assert (answer.status, answer.provisional, answer.spec) == ("recommended", False, clean.spec)
    assert not any("contended" in reason for reason in answer.reasons)


def test_what_a_warning_may_have_done_makes_an_answer_less_sure(curve: Curve, ask: Ask) -> None:
    """Runs from which others took half of the CPUs do not show that 4 vCPUs are enough as those of a quiet host do."""
    runs = curve(*KNEE)
    clean, taken = ask(runs), ask(marked(runs, (RunWarning(WarningKind.CONTENDED, {"cores": 4.0}),), 1, 2, 4, 8, 16))
    assert (clean.spec.vcpus, clean.provisional) == (4, False)
    same = taken.spec is not None and taken.spec.vcpus == 4 and taken.status == "recommended"
    assert not same or (taken.probability or 0) < clean.probability


def test_an_answer_that_falls_short_says_which_run_would_make_it_surer(curve: Curve, ask: Ask) -> None:
    runs = curve((1, 180), (2, 205), (4, 178), (8, 215), (16, 180), (32, 214), (64, 181), spread=0.1)
    answer = ask(runs)
    assert answer.provisional == (answer.status == "recommended" and (answer.probability or 0) < 0.9)
    if answer.provisional:
        assert answer.next_run is not None
        assert re.match(r"(Repeat|Measure) `train` at [0-9]+ vCPUs?\. Of all runs, one more with ", answer.next_run)


def test_clean_runs_are_not_provisional(curve: Curve, ask: Ask) -> None:
    """Warnings that say nothing against a rate do not count."""
    assert not ask(
        marked(curve(*KNEE), (RunWarning(WarningKind.PAGE_CACHE_WARM, {"share": 0.6}),), 1, 2, 4, 8, 16)
    ).provisional


def mistold(runs: list[Run], kind: WarningKind, *factors: float) -> list[Run]:
    """Runs whose logs tell a batch so many times as long as their lines show."""
    return [
        replace(run, warnings=(RunWarning(kind, {"told": factor * 0.05, "seen": 0.05}),))
        for run, factor in zip(runs, factors, strict=True)
    ]


@pytest.mark.parametrize(
    ("kind", "why", "what"),
    [
        ("batches_for_samples", "give `batches` in place of `rate` in the pattern.", "Name the group `batches`"),
        (
            "lines_of_ranks",
            "let the pattern read a counter (`step`), too.",
            "Let the pattern of `train` read a counter",
        ),
        ("told_unlike_seen", "check the unit of the pattern's groups.", "Correct the units in the pattern of `train`"),
    ],
)
def test_a_rate_known_to_be_wrong_is_no_sure_answer(curve: Curve, ask: Ask, kind: str, why: str, what: str) -> None:
    """However quiet the host was: the first reason says so and what to do, and no cost of samples is told."""
    answer = ask(mistold(curve(*KNEE), WarningKind(kind), 32, 32.4, 31.8, 32, 32))
    assert (answer.status, answer.provisional) == ("recommended", True)
    assert "5 of 5 runs" in answer.reasons[0]
    assert answer.reasons[0].endswith(why)
    assert answer.next_run.startswith(what)
    assert answer.instances
    assert all(instance.usd_per_million_samples is None for instance in answer.instances)
    assert answer.spec == ask(curve(*KNEE)).spec


def test_rates_wrong_by_several_factors_do_not_even_compare_specs(curve: Curve, ask: Ask) -> None:
    """One right run among wrong ones, and factors that differ."""
    for factors in ((32, 32, 16, 32, 32),):
        answer = ask(mistold(curve(*KNEE), WarningKind.BATCHES_FOR_SAMPLES, *factors))
        assert answer.reasons[0].endswith("They are not all wrong alike, so another spec may be the answer.")
    runs = curve(*KNEE)
    one = [*mistold(runs[:1], WarningKind.TOLD_UNLIKE_SEEN, 2.5), *runs[1:]]
    assert ask(one).provisional
    assert ask(one).reasons[0].startswith("In 1 of 5 runs the log tells another rate than its lines come at")
    assert "not all wrong alike" in ask(one).reasons[0]


def test_no_deadline_is_met_by_a_rate_known_to_be_wrong(curve: Curve, ask: Ask) -> None:
    """Time needs true rates."""
    runs = mistold(curve(*KNEE), WarningKind.BATCHES_FOR_SAMPLES, 32, 32, 32, 32, 32)
    for asked in ({"within": Deadline(1e6, 1e5)}, {"at_least": 10.0}):
        answer = ask(runs, **asked)
        assert answer.status == "refused"
        assert answer.reasons[0].startswith("In 5 of 5 runs the log most likely tells a rate of batches")


def test_a_prediction_from_such_rates_is_warned_of(curve: Curve) -> None:
    """By the same sentence."""
    runs = curve(*KNEE)
    assert rate_contradicted(runs) is None
    mistold_reason = rate_contradicted(mistold(runs, WarningKind.TOLD_UNLIKE_SEEN, 2, 2, 2, 2, 2))
    assert mistold_reason is not None
    said = reason_sentence(mistold_reason, Terms("train", "image"))
    assert said.startswith("In 5 of 5 runs the log tells another rate than its lines come at")


def test_the_headline_leaves_out_a_rate_known_to_be_wrong(curve: Curve, catalog: Catalog) -> None:
    """And the line that a study ends with says why."""
    runs = mistold(curve(*KNEE), WarningKind.BATCHES_FOR_SAMPLES, 32, 32, 32, 32, 32)
    answer = recommend(fit(runs), runs, Objective(), catalog).workloads[0]
    terms = Terms("train", "image")
    said = headline(answer, terms)
    assert said.startswith("train: provisionally recommended 4 vCPUs")
    assert said.endswith("of which the rate in images/s is not known")
    assert "give `batches` in place of `rate`" in conclusion_line(answer, terms)


@pytest.mark.parametrize(
    ("doubt", "what"),
    [
        (RunWarning(WarningKind.ONE_READING), "Let the pattern of `train` read a counter (`step`), too"),
        (
            RunWarning(WarningKind.OTHER_BATCH_SIZE, {"told": 20, "given": 32}),
            "Give `train` the `batch_size` that its log tells",
        ),
    ],
)
def test_what_the_study_file_can_mend_is_said_so(curve: Curve, ask: Ask, doubt: RunWarning, what: str) -> None:
    """More seconds would not help."""
    answer = ask(marked(curve(*KNEE), (doubt,), 1, 2, 4, 8, 16))
    assert answer.provisional
    assert answer.next_run.startswith(what)


@pytest.mark.parametrize(
    ("points", "edge"),
    [
        (((1, 100), (2, 195), (4, 380)), "rising"),
        (((0.5, 60), (1, 118), (2, 117)), "unsettled"),
        (KNEE, "settled"),
        (((1, 100), (2, 190)), "settled"),
    ],
)
def test_what_leaves_an_answer_open_is_told_apart(
    curve: Curve, ask: Ask, points: tuple[tuple[float, float], ...], edge: str
) -> None:
    """A rate that rises is a lower bound; one of which nobody knows is not called that."""
    answer = ask(curve(*points, spread=0.2 if edge == "unsettled" else 0.01))
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
    assert "on a larger host" in answer.next_run
    assert not any("host" in reason for reason in answer.reasons)


def test_a_job_that_crashes_is_to_be_mended(make_run: Callable[..., Run], ask: Ask) -> None:
    """No larger host, no more vCPUs: what became of its runs."""
    answer = ask([make_run(None, c, outcome=Outcome.CRASHED) for c in (1, 2, 4)], host_vcpus=2)
    assert answer.status == "refused"
    assert "says how each run ended" in answer.next_run
    assert "host" not in answer.next_run


def test_doubtful_runs_are_counted(curve: Curve, ask: Ask) -> None:
    runs, one_reading = curve(*KNEE), (RunWarning(WarningKind.ONE_READING),)
    assert any(
        reason.startswith("In 1 of 5 runs the rate is known") for reason in ask(marked(runs, one_reading, 1)).reasons
    )
    assert any(
        reason.startswith("In 2 of 5 runs the rate is known") for reason in ask(marked(runs, one_reading, 1, 2)).reasons
    )


def demo_training(make_run: Callable[..., Run]) -> list[Run]:
    """A training on an emulated P100 as the demo measures it, and its reference, which the host slowed by 18 %."""
    began = datetime(2026, 11, 21, tzinfo=timezone.utc)
    reference = [make_run(rate, 2.0, name="inference", repeat=k) for k, rate in enumerate((84.0, 99.1, 85.0, 98.0))]
    training = []
    for c in (0.25, 0.5, 1.0, 2.0):
        for disk in ("nvme", "ssd", "standard"):
            rate = 205.0 if c == 0.25 else 219.0
            named = Bottleneck.CPU if c == 0.25 else Bottleneck.ACCELERATOR
            run = make_run(rate, c, device=P100, disk=disk, spread=1e-4 if c > 0.25 else 0.01)
            evidence = Evidence(named, {named.value: 0.99}, EvidenceKind.BUSIEST)
            training.append(replace(run, demand=Demand(core_seconds=0.0011, read_bytes=3e4), evidence=evidence))
    runs = [reference[0], *training[:4], reference[1], *training[4:8], reference[2], *training[8:], reference[3]]
    drifting = (RunWarning(WarningKind.DRIFTING, {"before": 84.0, "after": 99.1}),)
    return [
        replace(run, started_at=(began + timedelta(minutes=at)).isoformat(), warnings=drifting)
        for at, run in enumerate(runs)
    ]


def test_what_waits_for_an_accelerator_is_recommended_while_the_host_drifts(
    make_run: Callable[..., Run], catalog: Catalog
) -> None:
    """219 images/s at 0.5, 1 and 2 vCPUs on three disks: no noise of the CPUs could change that answer."""
    runs = demo_training(make_run)
    answers = {workload.workload: workload for workload in recommend(fit(runs), runs, Objective(), catalog).workloads}
    training = answers["train"]
    assert (training.status, training.provisional) == ("recommended", False)
    assert training.probability >= 0.99
    assert 0.5 <= training.spec.vcpus <= 1
    assert training.bottleneck is Bottleneck.ACCELERATOR


CLOSE = """
    workload,gpu,gpu_count,usd_per_hour,throughput
    train,T4,1,1.0,100
    train,T4,1,1.0,120
    train,V100,1,3.0,310
    train,V100,1,3.0,350
"""


def test_a_close_comparison_says_which_machine_to_measure_again(ask_table: Callable[..., Answer]) -> None:
    """The one whose next run makes the choice surest."""
    answer = ask_table(CLOSE)
    assert answer.provisional
    assert answer.next_run.why is not None
    why = answer.next_run.why
    assert why.code is ReasonCode.RUN_WOULD_SETTLE
    assert why.spec.gpu in ("T4", "V100")
